package ops

import (
	"context"
	"net/http"
	"time"

	"capstore/internal/capability"
	"capstore/internal/identity"
	"capstore/internal/secret"
)

// Secret is what may be known of a secret: everything but its value.
type Secret struct {
	Name          string    `json:"name"`
	Personal      bool      `json:"personal"`
	CreatedBy     string    `json:"createdBy"`
	CreatedByName string    `json:"createdByName"`
	CreatedAt     time.Time `json:"createdAt"`
	UpdatedAt     time.Time `json:"updatedAt"`
	Revision      int64     `json:"revision" doc:"1, and one more with each replacement."`
	MayChange     bool      `json:"mayChange"`
}

// StoredSecret is a secret that was set just now.
type StoredSecret struct {
	Secret
	Notices []secret.Notice `json:"notices" doc:"What its owner should know of the value, such as a dropped line break."`
}

// HTTPStatus tells a new secret from a replaced one.
func (s StoredSecret) HTTPStatus() int {
	if s.Revision == 1 {
		return http.StatusCreated
	}
	return http.StatusOK
}

type createSecret struct {
	Body NewSecret `body:""`
}

// NewSecret is a secret with its name.
type NewSecret struct {
	Name string `json:"name"`
	SecretValue
}

type setSecret struct {
	Name string      `path:"name" doc:"The secret's name."`
	Body SecretValue `body:""`
}

// SecretValue goes in and never comes out.
type SecretValue struct {
	Value    string `json:"value" writeOnly:"true"`
	Personal bool   `json:"personal,omitempty" doc:"One's own rather than the workspace's."`
}

type deleteSecret struct {
	Name     string `path:"name" doc:"The secret's name."`
	Personal bool   `query:"personal" doc:"One's own rather than the workspace's."`
}

func secretOperations(s Services) []Operation {
	return []Operation{
		declare(Meta{
			Name: "list_secrets", Method: http.MethodGet, Path: tenant + "/secrets", Area: AreaSecrets,
			Action: capability.ActOwnRead, ReadOnly: true, Summary: "The names of the workspace's secrets and of one's own.",
		}, s.listSecrets),
		declare(Meta{
			Name: "create_secret", Method: http.MethodPost, Path: tenant + "/secrets", Area: AreaSecrets, Action: capability.ActSecrets,
			Guarded: true, Confidential: true, Success: http.StatusCreated, Summary: "Add a secret of the workspace or of one's own; a name that is in use is a conflict.",
			Example: `{"name": "SIGNING_KEY", "value": "a long random text"}`,
		}, s.createSecret),
		declare(Meta{
			Name: "set_secret", Method: http.MethodPut, Path: tenant + "/secrets/{name}", Area: AreaSecrets, Action: capability.ActSecrets,
			Guarded: true, Confidential: true, Summary: "Set a secret or replace its value.", Example: `{"value": "a long random text", "personal": true}`,
		}, s.setSecret),
		declare(Meta{
			Name: "delete_secret", Method: http.MethodDelete, Path: tenant + "/secrets/{name}", Area: AreaSecrets, Action: capability.ActSecrets,
			Guarded: true, Success: http.StatusNoContent, Summary: "Remove a secret; what is bound to it needs setup.",
		}, s.deleteSecret),
	}
}

func (s Services) listSecrets(ctx context.Context, who identity.Principal, _ Nothing) (List[Secret], error) {
	if err := capability.May(who.Actor(), capability.ActOwnRead, capability.Ownership{}); err != nil {
		return List[Secret]{}, err
	}
	infos, err := s.Secrets.List(ctx, who.Actor())
	return listOf(infos, func(i secret.Info) Secret { return Secret(i) }), err
}

func (s Services) createSecret(ctx context.Context, who identity.Principal, in createSecret) (StoredSecret, error) {
	return storedSecret(s.Secrets.Set(ctx, who.Actor(), secret.NewSecret{
		Name: in.Body.Name, Value: secret.NewValue(in.Body.Value), Personal: in.Body.Personal, New: true,
	}))
}

func (s Services) setSecret(ctx context.Context, who identity.Principal, in setSecret) (StoredSecret, error) {
	return storedSecret(s.Secrets.Set(ctx, who.Actor(), secret.NewSecret{
		Name: in.Name, Value: secret.NewValue(in.Body.Value), Personal: in.Body.Personal,
	}))
}

func storedSecret(s secret.Stored, err error) (StoredSecret, error) {
	return StoredSecret{Secret: Secret(s.Info), Notices: list(s.Notices)}, err
}

func (s Services) deleteSecret(ctx context.Context, who identity.Principal, in deleteSecret) (Empty, error) {
	return Empty{}, s.Secrets.Delete(ctx, who.Actor(), in.Name, in.Personal)
}
