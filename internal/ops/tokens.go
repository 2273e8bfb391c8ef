package ops

import (
	"context"
	"net/http"
	"time"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/identity"
)

// Token is a personal access token without its credential.
type Token struct {
	ID         string           `json:"id"`
	Name       string           `json:"name"`
	Scope      capability.Scope `json:"scope"`
	CreatedAt  time.Time        `json:"createdAt"`
	ExpiresAt  time.Time        `json:"expiresAt"`
	LastUsedAt *time.Time       `json:"lastUsedAt" doc:"To the minute; null when never."`
	Expired    bool             `json:"expired"`
}

// IssuedToken is a token with its credential, which is not kept.
type IssuedToken struct {
	Token
	Credential string `json:"token" doc:"The credential; shown this once."`
}

type createToken struct {
	Body NewToken `body:""`
}

// NewToken is what a token is made from.
type NewToken struct {
	Name          string           `json:"name"`
	Scope         capability.Scope `json:"scope,omitempty" enum:"read,write,agent" doc:"read unless told."`
	ExpiresInDays int              `json:"expiresInDays,omitempty" doc:"30 unless told, at most 366."`
}

type tokenPath struct {
	ID string `path:"id" doc:"The token's id."`
}

func tokenOperations(s Services) []Operation {
	return []Operation{
		declare(Meta{
			Name: "list_tokens", Method: http.MethodGet, Path: tenant + "/tokens", Area: AreaTokens,
			Action: capability.ActOwnRead, ReadOnly: true, Summary: "One's own tokens for the workspace, newest first.",
		}, s.tokens),
		declare(Meta{
			Name: "create_token", Method: http.MethodPost, Path: tenant + "/tokens", Area: AreaTokens, Action: capability.ActOwn,
			Guarded: true, Confidential: true, Success: http.StatusCreated,
			Summary: "Make a token for oneself; only a session can.", Example: `{"name": "Night job", "scope": "read", "expiresInDays": 7}`,
		}, s.createToken),
		declare(Meta{
			Name: "revoke_token", Method: http.MethodDelete, Path: tenant + "/tokens/{id}", Area: AreaTokens, Action: capability.ActOwn,
			Guarded: true, Success: http.StatusNoContent, Summary: "End one of one's own tokens at once.",
		}, s.revokeToken),
	}
}

func tokenOf(t identity.Token) Token {
	return Token{
		ID: t.ID, Name: t.Name, Scope: t.Scope, CreatedAt: t.CreatedAt, ExpiresAt: t.ExpiresAt, LastUsedAt: t.LastUsedAt, Expired: t.Expired,
	}
}

func (s Services) tokens(ctx context.Context, who identity.Principal, _ Nothing) (List[Token], error) {
	here, err := s.tokensHere(ctx, who, capability.ActOwnRead)
	return listOf(here, tokenOf), err
}

// tokensHere are the person's tokens for the workspace that he acts in: a
// token for one workspace neither sees nor ends those for another.
func (s Services) tokensHere(ctx context.Context, who identity.Principal, action capability.Action) ([]identity.Token, error) {
	if err := capability.May(who.Actor(), action, capability.Ownership{}); err != nil {
		return nil, err
	}
	all, err := s.Identity.Tokens(ctx, who.Subject)
	var here []identity.Token
	for _, t := range all {
		if t.Workspace == who.Workspace {
			here = append(here, t)
		}
	}
	return here, err
}

func (s Services) createToken(ctx context.Context, who identity.Principal, in createToken) (IssuedToken, error) {
	const maxDays = int(identity.MaxTokenLife / (24 * time.Hour))
	if d := in.Body.ExpiresInDays; d < 0 || d > maxDays {
		return IssuedToken{}, refused("/expiresInDays", "out_of_range", "A token lives 1 to %d days.", maxDays)
	}
	t, credential, err := s.Identity.CreateToken(ctx, who.Actor(), identity.NewToken{
		Name: in.Body.Name, Scope: in.Body.Scope, Life: time.Duration(in.Body.ExpiresInDays) * 24 * time.Hour,
	})
	return IssuedToken{Token: tokenOf(t), Credential: credential}, err
}

func (s Services) revokeToken(ctx context.Context, who identity.Principal, in tokenPath) (Empty, error) {
	here, err := s.tokensHere(ctx, who, capability.ActOwn)
	if err != nil {
		return Empty{}, err
	}
	for _, t := range here {
		if t.ID == in.ID {
			return Empty{}, s.Identity.RevokeToken(ctx, who.Subject, t.ID)
		}
	}
	return Empty{}, fault.Missing()
}
