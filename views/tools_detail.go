package views

import (
	"context"

	"capstore/internal/i18n"
	"capstore/views/ui"
)

// Tool is the page of one row of what a member's agent carries.
type Tool struct {
	ToolRow
	Transport string // one sentence with the real target
	Functions []ToolFunction
	// AuthorsWord says that the server itself has not been asked for its functions:
	// they are its author's word.
	AuthorsWord bool
	// Said is what the server answered when it was last asked; nil while it was
	// not. ProbeHref asks it; "" for what is no server or does not run.
	Said      *ServerSaid
	ProbeHref string
	Held      HeldDefinitions
	// Needed is what the agent does not carry though this requires it, and
	// Leaning what requires this.
	Needed  []string
	Leaning []Use

	Secrets  []ToolSecret
	Settings []ToolSetting
	Form     Form
	// BindReason says why the viewer may not bind secrets and who can; "" when
	// he may.
	BindReason string
	// BoundElsewhere says that the secret stands in a hand-wired server's entry.
	BoundElsewhere bool

	// RunHref starts a conversation with it; "" with the reason when it cannot
	// run.
	RunHref   string
	RunReason string
	EditHref  string // "" where the viewer may not edit it
	StoreHref string // "" for what is not in the store
	SetupHref string // where its settings are filled in; "" for nowhere
	Digest    string
	Scope     string
}

// ToolFunction is one function under the name that the model sees.
type ToolFunction struct {
	Name    string
	Text    string // what it does, in its server's words
	Write   bool
	Allowed bool
	Refused string // why it is not allowed, "" when it is
}

// ToolSecret is a declared secret with what it is bound to.
type ToolSecret struct {
	Name        string
	Description string
	Bound       string
	// Satisfied says that the member's calls can be given it, Own that it is
	// his own rather than the workspace's.
	Satisfied bool
	Own       bool
	Options   []ui.Option
	NewHref   string // where one is made in place
}

// ToolSetting is a variable of the adoption.
type ToolSetting struct {
	Name        string
	Description string
	Value       string
	Missing     bool
}

func (s ToolSecret) state(ctx context.Context) ui.BadgeArgs {
	switch {
	case s.Satisfied && s.Own:
		return ui.BadgeArgs{Label: i18n.T(ctx, "tools.secret_own"), Tone: ui.Success, Icon: ui.IconCheck}
	case s.Satisfied:
		return ui.BadgeArgs{Label: i18n.T(ctx, "tools.secret_set"), Tone: ui.Success, Icon: ui.IconCheck}
	case s.Bound != "":
		return ui.BadgeArgs{Label: i18n.T(ctx, "tools.secret_gone"), Tone: ui.Warning, Icon: ui.IconWarning}
	}
	return ui.BadgeArgs{Label: i18n.T(ctx, "tools.secret_unbound"), Tone: ui.Warning, Icon: ui.IconWarning}
}

func (s ToolSecret) field(f Form) ui.Field {
	field := f.Field("secretBindings."+s.Name, s.Name)
	field.Help = s.Description
	return field
}

func (f ToolFunction) class(ctx context.Context) ui.BadgeArgs {
	if f.Write {
		return ui.BadgeArgs{Label: i18n.T(ctx, "tools.writes"), Tone: ui.Warning}
	}
	return ui.BadgeArgs{Label: i18n.T(ctx, "tools.reads")}
}

func (v Tool) facts(ctx context.Context) []ui.Fact {
	facts := []ui.Fact{{Label: i18n.T(ctx, "tools.fact_kind"), Text: i18n.T(ctx, "kind."+v.Kind)}}
	if v.Version != "" {
		facts = append(facts, ui.Fact{Label: i18n.T(ctx, "tools.fact_version"), Text: v.Version, Mono: true})
	}
	facts = append(facts, ui.Fact{Label: i18n.T(ctx, "tools.fact_scope"), Text: i18n.T(ctx, "tools.scope_"+v.Scope)})
	if v.Digest != "" {
		facts = append(facts, ui.Fact{Label: i18n.T(ctx, "tools.fact_digest"), Body: ui.Digest(i18n.T(ctx, "tools.fact_digest"), v.Digest)})
	}
	return facts
}

func functionColumns(ctx context.Context) []ui.Column {
	return []ui.Column{{Label: i18n.T(ctx, "tools.function")}, {Label: i18n.T(ctx, "tools.does")}, {Label: i18n.T(ctx, "tools.may_run")}}
}

// noFunctions is the key of why there are none.
func (v Tool) noFunctions() string {
	switch v.Kind {
	case "hook", "command":
		return "tools.no_functions_" + v.Kind
	}
	return "tools.no_functions"
}

// withoutSetup is the row for a page that shows what is missing itself.
func (r ToolRow) withoutSetup() ToolRow {
	r.Setup = false
	return r
}
