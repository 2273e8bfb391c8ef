package ops

import (
	"context"
	"net/http"

	"capstore/internal/capability"
	"capstore/internal/identity"
)

// Me is who asks, as the server knows him.
type Me struct {
	Subject     string       `json:"subject"`
	Email       string       `json:"email"`
	Name        string       `json:"name"`
	Memberships []Membership `json:"memberships" doc:"The workspaces that the person belongs to."`
	Token       *MyToken     `json:"token" doc:"The token that was presented; null for a session."`
	Config      ServerConfig `json:"config"`
}

// Membership is one workspace of a person.
type Membership struct {
	Workspace string          `json:"workspace"`
	Name      string          `json:"name"`
	Role      capability.Role `json:"role"`
}

// MyToken is what the presented token is good for.
type MyToken struct {
	ID        string           `json:"id"`
	Workspace string           `json:"workspace"`
	Scope     capability.Scope `json:"scope"`
}

// ServerConfig is what the operator decided as far as a client needs it to
// hide what would be refused.
type ServerConfig struct {
	AllowMemberPublicPublish bool `json:"allowMemberPublicPublish"`
}

func meOperations(s Services) []Operation {
	return []Operation{
		declare(Meta{
			Name: "get_me", Method: http.MethodGet, Path: "/me", Area: AreaMe, ReadOnly: true,
			Summary: "Who asks: subject, memberships and what the server allows.",
		}, func(_ context.Context, who identity.Principal, _ Nothing) (Me, error) {
			me := Me{
				Subject: who.Subject, Email: who.Email, Name: who.Name, Memberships: []Membership{},
				Config: ServerConfig{AllowMemberPublicPublish: s.Catalog.Policy().AllowMemberPublic},
			}
			for _, m := range who.Memberships {
				me.Memberships = append(me.Memberships, Membership(m))
			}
			if who.TokenID != "" {
				me.Token = &MyToken{ID: who.TokenID, Workspace: who.Workspace, Scope: who.Scope}
			}
			return me, nil
		}),
	}
}
