package views

import (
	"context"
	"slices"
	"time"

	"capstore/internal/i18n"
	"capstore/views/ui"

	"github.com/a-h/templ"
)

// Secrets is the list of a workspace's secrets and the member's own ones.
type Secrets struct {
	Workspace string
	Shared    []SecretRow
	Own       []SecretRow
	// Reason says why the viewer cannot make a workspace secret and who can;
	// "" when he can.
	Reason string
	// Next is where an action on the member's own secrets leads back to.
	Next string
}

// SecretRow is what may be known of a secret. Its value is not.
type SecretRow struct {
	Name      string
	Personal  bool
	By        string
	Created   time.Time
	Updated   time.Time
	Replaced  bool
	MayChange bool
	UsedBy    []Use
}

// Use is something that a secret is bound to.
type Use struct{ Label, Href string }

// SecretForm makes a secret or replaces its value.
type SecretForm struct {
	Workspace string
	Form      Form
	Name      string // of the stored one; "" for a new one
	Personal  bool
	Next      string
	// Reason says why the viewer can make only his own; "" when he may both.
	Reason string
}

// SecretDeletion is the question before a secret is deleted.
type SecretDeletion struct {
	Workspace string
	Next      string
	SecretRow
}

// AccountSecrets is the member's own secrets in one of his workspaces.
type AccountSecrets struct {
	Secrets
	Workspaces []Workspace
}

func secretColumns(ctx context.Context) []ui.Column {
	return []ui.Column{
		{Label: i18n.T(ctx, "secrets.name")}, {Label: i18n.T(ctx, "secrets.changed")}, {Label: i18n.T(ctx, "secrets.used_by")},
		{Label: i18n.T(ctx, "common.actions"), Hidden: true},
	}
}

// back is where the form's way out leads.
func (v SecretForm) back() string { return backOr(v.Next, SecretsPath(v.Workspace)) }

func (v SecretDeletion) back() string { return backOr(v.Next, SecretsPath(v.Workspace)) }

func backOr(next, fallback string) string {
	if next == "" {
		return fallback
	}
	return next
}

func (v SecretForm) action() string {
	if v.Name == "" {
		return NewSecretPath(v.Workspace, "", false, "")
	}
	return SecretPath(v.Workspace, v.Name, false, "")
}

func (v SecretForm) owners(ctx context.Context) []ui.Option {
	personal := v.Form.Value("personal", mark(v.Personal || v.Reason != "")) != ""
	return []ui.Option{
		{Value: "", Label: i18n.T(ctx, "secrets.shared"), Help: i18n.T(ctx, "secrets.shared_help"), Icon: ui.IconPeople, Selected: !personal, Reason: v.Reason},
		{Value: "1", Label: i18n.T(ctx, "secrets.own"), Help: i18n.T(ctx, "secrets.own_help"), Icon: ui.IconLock, Selected: personal},
	}
}

func (v AccountSecrets) chips() []ui.Chip {
	var chips []ui.Chip
	for _, ws := range v.Workspaces {
		chips = append(chips, ui.Chip{Label: ws.Name, Href: AccountSecretsPath(ws.Slug), Current: ws.Slug == v.Workspace})
	}
	return chips
}

func secretsKey(personal bool) string {
	if personal {
		return "secrets.own"
	}
	return "secrets.shared"
}

func secretsID(personal bool) string {
	if personal {
		return "secrets-own"
	}
	return "secrets-shared"
}

// anyLocked reports whether the viewer may not change one of them.
func anyLocked(rows []SecretRow) bool {
	return slices.ContainsFunc(rows, func(r SecretRow) bool { return !r.MayChange })
}

// secretAttrs hide what is typed, keep its line breaks, and keep the browser
// from remembering it.
func secretAttrs() templ.Attributes {
	return templ.Attributes{
		"class": "textarea font-mono secret-text", "spellcheck": "false", "autocapitalize": "off", "autocomplete": "off",
		"data-1p-ignore": true,
	}
}
