package identity

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/pg"
)

// Membership is one workspace that a person belongs to.
type Membership struct {
	Workspace string
	Name      string
	Role      capability.Role
}

// Principal is who a request comes from and, when it names a workspace that he
// belongs to, his standing there. Outside of one Workspace and Role are empty,
// so that nothing derived from it sees or may do anything.
type Principal struct {
	Subject     string
	Email       string
	Name        string
	Locale      string // "" follows the browser
	Theme       string // "" follows the system
	HasPassword bool   // false: signs in another way

	Workspace     string
	WorkspaceName string
	Role          capability.Role

	// Scope and TokenID are set when a token was presented. Scope is empty
	// for a session, which nothing narrows.
	Scope   capability.Scope
	TokenID string

	Memberships []Membership // by name
	Dismissed   []string     // hints put away
	// Waiting is how many calls wait for his word in the workspace, 100 for that
	// and more; it is not counted for a token.
	Waiting int
}

// Actor is the principal as the kernel's table of rights knows him.
func (p Principal) Actor() capability.Actor {
	return capability.Actor{Workspace: p.Workspace, Subject: p.Subject, Role: p.Role, Scope: p.Scope}
}

// Viewer is the principal as the reach rule knows him.
func (p Principal) Viewer() capability.Viewer { return p.Actor().Viewer() }

// IsMember reports whether the principal acts in a workspace that he belongs to.
func (p Principal) IsMember() bool { return p.Role != "" }

// PrincipalOf loads a signed-in person in one statement. A workspace that does
// not exist and one that he does not belong to give the same principal,
// without a role; workspace "" asks for none. A subject that is nobody's is
// Unauthenticated.
func (s *Service) PrincipalOf(ctx context.Context, subject, workspace string) (Principal, error) {
	id, err := uuid.Parse(subject)
	if err != nil {
		return Principal{}, signInFirst()
	}
	rows, err := s.q.Principal(ctx, s.db, id)
	if err != nil {
		return Principal{}, pg.Fault(fmt.Errorf("load principal: %w", err))
	}
	if len(rows) == 0 {
		return Principal{}, signInFirst()
	}
	r := rows[0]
	p := Principal{
		Subject: r.ID.String(), Email: r.Email, Name: r.Name, Locale: r.Locale, Theme: r.Theme,
		HasPassword: r.HasPassword, Dismissed: r.Dismissed,
	}
	for _, r := range rows {
		p.join(r.Workspace, r.WorkspaceName, r.Role)
		if r.Workspace != nil && *r.Workspace == workspace {
			p.Waiting = int(r.Waiting)
		}
	}
	p.enter(workspace)
	return p, nil
}

// ByToken finds whom a personal access token speaks for, in one statement. A
// token acts in its own workspace alone: asked for another, the principal has
// no role, as if he were no member. With workspace "" it is the token's own.
// Unknown, revoked and expired tokens give the same Unauthenticated fault.
func (s *Service) ByToken(ctx context.Context, bearer, workspace string) (Principal, error) {
	rows, err := s.q.PrincipalByToken(ctx, s.db, hashOf(bearer))
	if err != nil {
		return Principal{}, pg.Fault(fmt.Errorf("load principal by token: %w", err))
	}
	if len(rows) == 0 {
		return Principal{}, fault.New(fault.Unauthenticated, "invalid_token", "The access token is not valid or has expired.").
			Do("Make a new token on your account page.")
	}
	r := rows[0]
	p := Principal{
		Subject: r.ID.String(), Email: r.Email, Name: r.Name, Locale: r.Locale, Theme: r.Theme,
		HasPassword: r.HasPassword, Dismissed: r.Dismissed,
		Scope: capability.Scope(r.Scope), TokenID: r.TokenID.String(),
	}
	for _, r := range rows {
		p.join(r.Workspace, r.WorkspaceName, r.Role)
	}
	if workspace == "" || workspace == r.TokenWorkspace {
		p.enter(r.TokenWorkspace)
	}
	return p, nil
}

// join adds a membership row; a person without any has one row of nulls.
func (p *Principal) join(workspace, name, role *string) {
	if workspace == nil || name == nil || role == nil {
		return
	}
	p.Memberships = append(p.Memberships, Membership{*workspace, *name, capability.Role(*role)})
}

func (p *Principal) enter(workspace string) {
	for _, m := range p.Memberships {
		if m.Workspace == workspace {
			p.Workspace, p.WorkspaceName, p.Role = m.Workspace, m.Name, m.Role
		}
	}
}

// hashOf is what is stored of a credential of 256 random bits. Such a one
// cannot be guessed, so a fast hash is enough.
func hashOf(credential string) []byte {
	sum := sha256.Sum256([]byte(strings.TrimSpace(credential)))
	return sum[:]
}

func signInFirst() *fault.Fault {
	return fault.New(fault.Unauthenticated, "signed_out", "You are not signed in.").Do("Sign in and try again.")
}
