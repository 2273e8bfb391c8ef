package identity

import (
	"context"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"golang.org/x/text/unicode/norm"

	"capstore/db"
	"capstore/internal/fault"
	"capstore/internal/pg"
)

// How many sign-ins may fail within the window before the next is refused
// unheard. An address gets more, since a whole office may stand behind it.
const (
	failuresPerAccount = 10
	failuresPerAddress = 40
	failureWindow      = 15 * time.Minute
)

// SignIn checks an e-mail and a password and returns the subject. An unknown
// e-mail and a wrong password give the same Unauthenticated fault after the
// same work; too many failures for the account or from the address give a
// Limited one whose retryAfterSec says when to come back. The address is what
// pg.WithAddress recorded. The session is Sessions.Begin's to make.
func (s *Service) SignIn(ctx context.Context, email, password string) (string, error) {
	email = signInEmail(email)
	account, address := "a:"+email, "i:"+pg.Address(ctx)
	if err := s.attempt(ctx, account, address); err != nil {
		return "", err
	}
	user, err := s.q.UserByEmail(ctx, s.db, email)
	if err != nil && !none(err) {
		return "", pg.Fault(fmt.Errorf("find user: %w", err))
	}
	ok, err := s.matches(ctx, signInPassword(password), user.PasswordHash)
	if err != nil {
		return "", err
	}
	if !ok {
		return "", s.refuseSignIn(ctx, user)
	}
	err = s.db.Tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if err := s.q.ForgetFailures(ctx, tx, account); err != nil {
			return err
		}
		return s.q.ForgetOneFailure(ctx, tx, address)
	})
	return user.ID.String(), err
}

// signInEmail bounds what is counted and looked up; what is too long was never
// accepted, and all of it counts as one account.
func signInEmail(email string) string {
	if email = foldEmail(email); len(email) > maxEmail {
		return ""
	}
	return email
}

// signInPassword bounds what is hashed; what is too long was never accepted.
func signInPassword(password string) string {
	if utf8.RuneCountInString(password) > maxPassword {
		return ""
	}
	return norm.NFC.String(password)
}

// attempt counts a sign-in as failed before it is tried, and success takes it
// back: otherwise a hundred at once would all find the count still low.
func (s *Service) attempt(ctx context.Context, account, address string) error {
	return s.db.Tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if err := s.count(ctx, tx, account, failuresPerAccount); err != nil {
			return err
		}
		if address == "i:" {
			return nil // the command line
		}
		return s.count(ctx, tx, address, failuresPerAddress)
	})
}

func (s *Service) count(ctx context.Context, tx pgx.Tx, key string, limit int64) error {
	if err := s.q.LockSignIn(ctx, tx, key); err != nil {
		return err
	}
	seen, err := s.q.CountFailures(ctx, tx, db.CountFailuresParams{Key: key, WindowSecs: failureWindow.Seconds()})
	if err != nil {
		return err
	}
	if seen.Failures >= limit {
		return tooMany(int(seen.RetrySecs))
	}
	return s.q.InsertFailure(ctx, tx, key)
}

// tooMany is not audited: the failures that led here are, and an attacker
// could otherwise fill the table.
func tooMany(secs int) *fault.Fault {
	secs = max(secs, 1)
	return fault.New(fault.Limited, "too_many_sign_ins", "There were too many failed sign-ins.").
		Do(fmt.Sprintf("Wait %d minutes and try again.", (secs+59)/60)).With("retryAfterSec", secs)
}

// refuseSignIn leaves a trace that names a known account only: what was typed
// as an e-mail may well be a password.
func (s *Service) refuseSignIn(ctx context.Context, user db.UserByEmailRow) error {
	err := s.db.Tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		return pg.Audit(ctx, tx, pg.Entry{Action: "signin.refuse", Target: user.Email})
	})
	if err != nil {
		return err
	}
	return fault.New(fault.Unauthenticated, "wrong_credentials", "The e-mail or the password is wrong.").
		Do("Check both and try again.")
}
