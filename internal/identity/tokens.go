package identity

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"capstore/db"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/pg"
)

// How long a personal access token may live.
const (
	DefaultTokenLife = 30 * 24 * time.Hour
	MaxTokenLife     = 366 * 24 * time.Hour
)

// TokenPrefix begins every personal access token, so that scanners of leaked
// credentials know one when they see it.
const TokenPrefix = "cap_"

// Token is a personal access token as its owner may see it again: never the
// credential itself.
type Token struct {
	ID         string
	Workspace  string
	Name       string
	Scope      capability.Scope
	CreatedAt  time.Time
	ExpiresAt  time.Time
	LastUsedAt *time.Time // to the minute; nil when never
	Expired    bool
}

// NewToken is what a token is made from.
type NewToken struct {
	Name  string
	Scope capability.Scope // "" is read
	Life  time.Duration    // 0 is DefaultTokenLife
}

// CreateToken makes a token for the actor in his workspace and returns it with
// the credential, which is not kept and cannot be shown again. A token cannot
// make tokens: it would outlive its own revocation.
func (s *Service) CreateToken(ctx context.Context, actor capability.Actor, in NewToken) (Token, string, error) {
	if err := capability.May(actor, capability.ActOwn, capability.Ownership{}); err != nil {
		return Token{}, "", err
	}
	if actor.Scope != capability.ScopeSession {
		return Token{}, "", fault.Deny("session_needed", "An access token cannot make another one.",
			"Sign in and make it on your account page.")
	}
	return s.issue(ctx, actor.Subject, actor.Workspace, in)
}

// IssueToken is CreateToken for the operator, who names the person by e-mail.
// Somebody who is no member of the workspace gets none.
func (s *Service) IssueToken(ctx context.Context, email, workspace string, in NewToken) (Token, string, error) {
	user, err := s.UserByEmail(ctx, email)
	if err != nil {
		return Token{}, "", err
	}
	return s.issue(ctx, user.Subject, workspace, in)
}

func (s *Service) issue(ctx context.Context, subject, workspace string, in NewToken) (Token, string, error) {
	id, err := subjectID(subject)
	if err != nil {
		return Token{}, "", err
	}
	in, err = in.checked()
	if err != nil {
		return Token{}, "", err
	}
	credential := newCredential(TokenPrefix)
	out := Token{ID: newID().String(), Workspace: workspace, Name: in.Name, Scope: in.Scope}
	err = s.db.Tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := s.q.RoleOf(ctx, tx, db.RoleOfParams{Workspace: workspace, Subject: id}); none(err) {
			return fault.New(fault.NotFound, "not_a_member", "There is no such workspace, or this person is not a member of it.").
				Do("Check the workspace's short name, or invite the person first.")
		} else if err != nil {
			return err
		}
		row, err := s.q.InsertToken(ctx, tx, db.InsertTokenParams{
			ID: uuid.MustParse(out.ID), Subject: id, Workspace: workspace, TokenHash: hashOf(credential),
			Name: in.Name, Scope: string(in.Scope), TtlSecs: in.Life.Seconds(),
		})
		if err != nil {
			return err
		}
		out.CreatedAt, out.ExpiresAt = row.CreatedAt, row.ExpiresAt
		return pg.Audit(ctx, tx, pg.Entry{
			Workspace: workspace, Subject: subject, Action: "token.create", Target: out.ID,
			Detail: map[string]any{"name": in.Name, "scope": in.Scope, "expiresAt": row.ExpiresAt},
		})
	})
	if err != nil {
		return Token{}, "", err
	}
	return out, credential, nil
}

func (in NewToken) checked() (NewToken, error) {
	if in.Scope == "" {
		in.Scope = capability.ScopeRead
	}
	if in.Life == 0 {
		in.Life = DefaultTokenLife
	}
	var form input
	in.Name = form.name("/name", "A token", in.Name)
	if !slices.Contains(capability.Scopes, in.Scope) {
		form.fault("/scope", "unknown_choice", "A scope is read, write or agent.")
	}
	if in.Life < time.Minute || in.Life > MaxTokenLife {
		form.fault("/expires", "out_of_range", "A token lives between a minute and 366 days.")
	}
	return in, form.err()
}

// Tokens lists a person's tokens in all workspaces, newest first, expired ones
// included and revoked ones not.
func (s *Service) Tokens(ctx context.Context, subject string) ([]Token, error) {
	id, err := subjectID(subject)
	if err != nil {
		return nil, err
	}
	rows, err := s.q.ListTokens(ctx, s.db, id)
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("list tokens: %w", err))
	}
	out := make([]Token, len(rows))
	for i, r := range rows {
		out[i] = Token{
			r.ID.String(), r.Workspace, r.Name, capability.Scope(r.Scope),
			r.CreatedAt, r.ExpiresAt, r.LastUsedAt, r.Expired,
		}
	}
	return out, nil
}

// RevokeToken ends a person's own token at once. Another's is missing, and so
// is one that was revoked before.
func (s *Service) RevokeToken(ctx context.Context, subject, tokenID string) error {
	id, err := subjectID(subject)
	if err != nil {
		return err
	}
	token, err := subjectID(tokenID)
	if err != nil {
		return err
	}
	return s.db.Tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		row, err := s.q.RevokeToken(ctx, tx, db.RevokeTokenParams{ID: token, Subject: id})
		if err != nil {
			return err
		}
		return pg.Audit(ctx, tx, pg.Entry{
			Workspace: row.Workspace, Subject: subject, Action: "token.revoke", Target: tokenID,
			Detail: map[string]string{"name": row.Name},
		})
	})
}

// newCredential is the prefix and 256 random bits, in letters and digits that
// a double click selects whole.
func newCredential(prefix string) string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails
	return prefix + hex.EncodeToString(b)
}
