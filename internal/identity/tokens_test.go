package identity_test

import (
	"strings"
	"testing"
	"time"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/identity"
)

func TestTokenIsShownOnceAndStoredHashed(t *testing.T) {
	t.Parallel()
	h := build(t)
	token, bearer, err := h.ids.CreateToken(t.Context(), h.asViewer, identity.NewToken{Name: "ci"})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(bearer, identity.TokenPrefix) || len(bearer) != len(identity.TokenPrefix)+64 {
		t.Errorf("the credential %q is not cap_ and 256 bits", bearer)
	}
	if token.Scope != capability.ScopeRead {
		t.Errorf("scope %q, want read unless told", token.Scope)
	}
	if life := token.ExpiresAt.Sub(token.CreatedAt); life != identity.DefaultTokenLife {
		t.Errorf("lives %v", life)
	}
	var dump string
	err = h.db.QueryRow(t.Context(), `SELECT (SELECT json_agg(t) FROM tokens t)::text || (SELECT json_agg(a) FROM audit a)::text`).Scan(&dump)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(dump, strings.TrimPrefix(bearer, identity.TokenPrefix)) {
		t.Error("the credential is stored")
	}
}

func TestTokenInput(t *testing.T) {
	t.Parallel()
	h := build(t)
	for name, c := range map[string]struct {
		in         identity.NewToken
		path, code string
	}{
		"no name":    {identity.NewToken{}, "/name", "required"},
		"scope":      {identity.NewToken{Name: "t", Scope: "admin"}, "/scope", "unknown_choice"},
		"for ever":   {identity.NewToken{Name: "t", Life: 367 * 24 * time.Hour}, "/expires", "out_of_range"},
		"backwards":  {identity.NewToken{Name: "t", Life: -time.Hour}, "/expires", "out_of_range"},
		"two lines":  {identity.NewToken{Name: "a\nb"}, "/name", "control_characters"},
		"turned":     {identity.NewToken{Name: "a\u202eb"}, "/name", "control_characters"},
		"very long":  {identity.NewToken{Name: strings.Repeat("한", 65)}, "/name", "too_long"},
		"only space": {identity.NewToken{Name: " \u00a0"}, "/name", "required"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := h.ids.CreateToken(t.Context(), h.asMember, c.in)
			wantField(t, err, c.path, c.code)
		})
	}
}

func TestTokenCannotMakeTokens(t *testing.T) {
	t.Parallel()
	h := build(t)
	actor := h.asMember
	actor.Scope = capability.ScopeAgent
	_, _, err := h.ids.CreateToken(t.Context(), actor, identity.NewToken{Name: "t"})
	wantCode(t, err, "session_needed")
}

func TestTokensAreOnesOwn(t *testing.T) {
	t.Parallel()
	h := build(t)
	token, bearer, err := h.ids.CreateToken(t.Context(), h.asMember, identity.NewToken{Name: "t"})
	if err != nil {
		t.Fatal(err)
	}
	if all, err := h.ids.Tokens(t.Context(), h.admin.Subject); err != nil || len(all) != 0 {
		t.Errorf("another's list: %+v, %v", all, err)
	}
	for _, id := range []string{token.ID, "nonsense", "00000000-0000-0000-0000-000000000000"} {
		if err := h.ids.RevokeToken(t.Context(), h.admin.Subject, id); !fault.Is(err, fault.NotFound) {
			t.Errorf("revoking %s as another: got %v", id, err)
		}
	}
	if _, err := h.ids.ByToken(t.Context(), bearer, "acme"); err != nil {
		t.Errorf("the token died of another's try: %v", err)
	}
}

func TestIssueTokenByEmail(t *testing.T) {
	t.Parallel()
	h := build(t)
	_, bearer, err := h.ids.IssueToken(t.Context(), " Member@ACME.test", "globex", identity.NewToken{Name: "cli"})
	if err != nil {
		t.Fatal(err)
	}
	if p, err := h.ids.ByToken(t.Context(), bearer, "globex"); err != nil || p.Role != capability.RoleViewer {
		t.Errorf("got %+v, %v", p, err)
	}
	_, _, err = h.ids.IssueToken(t.Context(), "nobody@acme.test", "acme", identity.NewToken{Name: "cli"})
	wantCode(t, err, "no_such_user")
	_, _, err = h.ids.IssueToken(t.Context(), "admin@acme.test", "globex", identity.NewToken{Name: "cli"})
	wantCode(t, err, "not_a_member")
}
