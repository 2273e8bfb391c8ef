package identity

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"capstore/db"
	"capstore/internal/fault"
	"capstore/internal/pg"
)

// User is a person's account as others may name it.
type User struct {
	Subject string
	Email   string
	Name    string
}

// NewUser is what an account is made from. Password "" makes one that cannot
// sign in by password.
type NewUser struct {
	Email    string
	Name     string
	Password string
}

// CreateUser makes an account and returns it. It is the operator's: others
// join by Setup or an invitation. An e-mail in use is a Conflict, whatever
// its case.
func (s *Service) CreateUser(ctx context.Context, in NewUser) (User, error) {
	var form input
	prepared, err := s.prepareUser(ctx, &form, in)
	if err != nil {
		return User{}, err
	}
	err = s.db.Tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		return s.insertUser(ctx, tx, prepared)
	})
	return userOf(prepared), err
}

// prepareUser checks the input, the form's other faults included, and hashes
// the password, which takes too long for a transaction.
func (s *Service) prepareUser(ctx context.Context, form *input, in NewUser) (db.InsertUserParams, error) {
	out := db.InsertUserParams{ID: newID(), Email: form.email(in.Email), Name: form.name("/name", "A person", in.Name)}
	password := in.Password
	if password != "" {
		password = form.password("/password", password)
	}
	if err := form.err(); err != nil || password == "" {
		return out, err
	}
	hash, err := s.hash(ctx, password)
	out.PasswordHash = &hash
	return out, err
}

func (s *Service) insertUser(ctx context.Context, tx pgx.Tx, user db.InsertUserParams) error {
	n, err := s.q.InsertUser(ctx, tx, user)
	if err != nil {
		return err
	}
	if n == 0 {
		f := fault.New(fault.Conflict, "email_taken", "An account with this e-mail address exists already.").
			Do("Sign in with it, or use another address.")
		f.Fields = []fault.Field{{Path: "/email", Code: "taken", Message: "An account with this address exists already."}}
		return f
	}
	return pg.Audit(ctx, tx, pg.Entry{Subject: user.ID.String(), Action: "user.create", Target: user.Email})
}

func userOf(u db.InsertUserParams) User {
	return User{Subject: u.ID.String(), Email: u.Email, Name: u.Name}
}

// UserByEmail finds an account for the operator and for the demo's sign-in.
// When there is none, the fault says so: it must not answer a stranger.
func (s *Service) UserByEmail(ctx context.Context, email string) (User, error) {
	u, err := s.q.UserByEmail(ctx, s.db, foldEmail(email))
	if none(err) {
		return User{}, fault.New(fault.NotFound, "no_such_user", "No account has the e-mail address %s.", foldEmail(email)).
			Do("Make one with: capstore user create.")
	}
	if err != nil {
		return User{}, pg.Fault(fmt.Errorf("find user: %w", err))
	}
	return User{Subject: u.ID.String(), Email: u.Email, Name: u.Name}, nil
}

// ChangePassword replaces a person's password and ends his sessions but the
// one whose Sessions.Key is keep. The present password is asked for where
// there is one, under the same throttle as a sign-in.
func (s *Service) ChangePassword(ctx context.Context, subject, present, next, keep string) error {
	id, err := subjectID(subject)
	if err != nil {
		return err
	}
	var form input
	next = form.password("/newPassword", next)
	if err := form.err(); err != nil {
		return err
	}
	user, err := s.q.UserByID(ctx, s.db, id)
	if err != nil {
		return pg.Fault(fmt.Errorf("find user: %w", err))
	}
	if err := s.checkPresent(ctx, user, present); err != nil {
		return err
	}
	hash, err := s.hash(ctx, next)
	if err != nil {
		return err
	}
	return s.db.Tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if err := s.q.SetPasswordHash(ctx, tx, db.SetPasswordHashParams{ID: id, PasswordHash: &hash}); err != nil {
			return err
		}
		if _, err := s.q.EndOtherSessions(ctx, tx, db.EndOtherSessionsParams{Subject: id, Keep: keep}); err != nil {
			return err
		}
		return pg.Audit(ctx, tx, pg.Entry{Subject: subject, Action: "user.password", Target: user.Email})
	})
}

func (s *Service) checkPresent(ctx context.Context, user db.UserByIDRow, present string) error {
	if user.PasswordHash == nil {
		return nil
	}
	account := "a:" + user.Email
	if err := s.attempt(ctx, account, "i:"); err != nil {
		return err
	}
	ok, err := s.matches(ctx, signInPassword(present), user.PasswordHash)
	if err != nil {
		return err
	}
	if !ok {
		return fault.Fields([]fault.Field{{Path: "/password", Code: "wrong", Message: "This is not your present password."}})
	}
	return pg.Fault(s.q.ForgetFailures(ctx, s.db, account))
}

// Profile is what a person decides about himself.
type Profile struct {
	Name   string
	Locale string // a code of i18n.Languages, or ""
	Theme  string // one of Themes
}

// SetProfile replaces a person's profile.
func (s *Service) SetProfile(ctx context.Context, subject string, in Profile) error {
	id, err := subjectID(subject)
	if err != nil {
		return err
	}
	var form input
	name := form.name("/name", "A person", in.Name)
	form.locale(in.Locale)
	form.oneOf("/theme", in.Theme, Themes)
	if err := form.err(); err != nil {
		return err
	}
	return s.db.Tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		n, err := s.q.SetProfile(ctx, tx, db.SetProfileParams{ID: id, Name: name, Locale: in.Locale, Theme: in.Theme})
		if err != nil {
			return err
		}
		if n == 0 {
			return fault.Missing()
		}
		return pg.Audit(ctx, tx, pg.Entry{Subject: subject, Action: "user.profile"})
	})
}

// Dismiss puts a hint away for good; a second time changes nothing.
func (s *Service) Dismiss(ctx context.Context, subject, hint string) error {
	id, err := subjectID(subject)
	if err != nil {
		return err
	}
	if !hintPattern.MatchString(hint) {
		return fault.Missing()
	}
	_, err = s.q.DismissHint(ctx, s.db, db.DismissHintParams{ID: id, Hint: hint})
	return pg.Fault(err)
}
