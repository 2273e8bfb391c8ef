package identity

import (
	"context"
	"crypto/subtle"
	"fmt"

	"github.com/jackc/pgx/v5"

	"capstore/db"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/pg"
)

// NewSetup is what the first admin gives.
type NewSetup struct {
	NewUser
	Slug          string // of the first workspace
	WorkspaceName string
	Token         string // what RequireSetupToken returned, where it was called
}

// SetupNeeded reports whether nobody has an account yet.
func (s *Service) SetupNeeded(ctx context.Context) (bool, error) {
	has, err := s.q.HasUsers(ctx, s.db)
	if err != nil {
		return false, pg.Fault(fmt.Errorf("look for users: %w", err))
	}
	return !has, nil
}

// RequireSetupToken makes Setup ask for a token, and returns it for the
// operator's eyes. A server that others can reach needs it, or the first
// stranger to come by would be its admin. It keeps for the life of the process.
func (s *Service) RequireSetupToken() string {
	s.setupMu.Lock()
	defer s.setupMu.Unlock()
	if s.setupToken == "" {
		s.setupToken = newCredential("setup_")
	}
	return s.setupToken
}

// SetupTokenRequired reports whether Setup asks for a token.
func (s *Service) SetupTokenRequired() bool {
	s.setupMu.Lock()
	defer s.setupMu.Unlock()
	return s.setupToken != ""
}

// Setup makes the first account with the first workspace, whose admin it is.
// Once anyone has an account it is a Conflict; of two at once one wins.
func (s *Service) Setup(ctx context.Context, in NewSetup) (User, error) {
	var form input
	if !s.rightSetupToken(in.Token) {
		form.fault("/token", "wrong", "This is not the setup token that the server printed when it started.")
	}
	if in.Password == "" {
		form.password("/password", "")
	}
	name := form.workspace(in.Slug, "/workspaceName", in.WorkspaceName)
	// Asked again under the lock; here it keeps strangers from having
	// passwords hashed for ever after.
	if err := s.stillNeeded(ctx, s.db); err != nil {
		return User{}, err
	}
	user, err := s.prepareUser(ctx, &form, in.NewUser)
	if err != nil {
		return User{}, err
	}
	err = s.db.Tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if err := s.q.LockSetup(ctx, tx); err != nil {
			return err
		}
		if err := s.stillNeeded(ctx, tx); err != nil {
			return err
		}
		if err := s.insertUser(ctx, tx, user); err != nil {
			return err
		}
		return s.insertWorkspace(ctx, tx, user.ID, in.Slug, name)
	})
	return userOf(user), err
}

func (s *Service) stillNeeded(ctx context.Context, handle db.DBTX) error {
	has, err := s.q.HasUsers(ctx, handle)
	if err != nil {
		return pg.Fault(fmt.Errorf("look for users: %w", err))
	}
	if has {
		return fault.New(fault.Conflict, "already_set_up", "This server has been set up already.").
			Do("Sign in, or ask an admin for an invitation.")
	}
	return nil
}

func (s *Service) rightSetupToken(got string) bool {
	s.setupMu.Lock()
	defer s.setupMu.Unlock()
	return s.setupToken == "" || subtle.ConstantTimeCompare([]byte(s.setupToken), []byte(got)) == 1
}

// workspace checks a new workspace and returns its name, the slug when it has
// none of its own.
func (in *input) workspace(slug, path, name string) string {
	in.fields = append(in.fields, capability.ValidSlug(slug)...)
	if name == "" {
		return slug
	}
	return in.name(path, "A workspace", name)
}
