package views

import (
	"context"
	"time"

	"github.com/a-h/templ"

	"capstore/internal/i18n"
	"capstore/views/ui"
)

// Agent is what the workspace's agent is given.
type Agent struct {
	Workspace    string
	Version      int // of the settings; 0 is the default that nobody changed
	Adopted      []AdoptedRow
	Servers      []ServerRow
	Hooks        []HookRow
	Commands     []CommandRow
	Mode         string
	Model        string // that the workspace chose, "" for none
	Instructions string
	Policies     []PolicyRow
	// Reason says why the viewer cannot change any of it and who can; "" when
	// he can.
	Reason string
}

// PolicyRow is a rule that binds every member.
type PolicyRow struct {
	Effect string // ask or deny
	Match  string
	Note   string
}

// AdoptedRow is a pinned capability with what it is allowed.
type AdoptedRow struct {
	ToolRow
	Source   string
	ID       string
	Writes   string // what it may change, in words
	Bindings []string
	At       time.Time
	// Held says what keeps it from working, "" when nothing does.
	Held string
}

// ServerRow is an MCP server that was wired by hand.
type ServerRow struct {
	ToolRow
	Secret string // the name of its secret, "" for none
	Writes string
}

// AgentForm changes the agent's instructions and permission mode.
type AgentForm struct {
	Workspace    string
	Form         Form
	Version      int
	Mode         string
	Instructions string
	// Stale is how the present instructions differ from what was typed, after
	// somebody else changed them meanwhile.
	Stale []Change
	// ModeReason says why the viewer cannot change the mode and who can.
	ModeReason string
	Reason     string
}

// ServerForm wires an MCP server by hand.
type ServerForm struct {
	Workspace string
	Form      Form
	Secrets   []string // the names that are stored
	Reason    string
}

// Ending is the question before an adoption or a server is taken away.
type Ending struct {
	Action  string
	Name    string
	Ref     string
	Leaning []Use
	Back    string
	Reason  string
	Server  bool
}

func (v Ending) key(part string) string {
	if v.Server {
		return "agent.server_remove_" + part
	}
	return "agent.end_" + part
}

func (r AdoptedRow) args(ctx context.Context) ui.RowArgs {
	meta := []string{r.Writes}
	meta = append(meta, r.Bindings...)
	return ui.RowArgs{
		Kind: r.Kind, Name: r.Name, Href: r.href(), Ref: r.Ref, Version: r.Version, Text: r.Text, Badges: r.badges(ctx),
		Meta: append(meta, r.Rest...), At: r.At, Reason: r.reasonLine(ctx), Remedy: r.adoptedRemedy(), Marks: r.marks(ctx), RefHref: r.sourceHref(),
	}
}

// reasonLine says what keeps it from working, else that a later version waits.
func (r AdoptedRow) reasonLine(ctx context.Context) string {
	if r.Held == "" && r.Update != "" {
		return i18n.T(ctx, "agent.pinned", "version", r.Version)
	}
	return r.Held
}

func (r AdoptedRow) adoptedRemedy() templ.Component {
	if r.Update == "" && !r.Setup {
		return nil
	}
	return adoptedRemedy(r)
}

// editHref is where the adoption's bindings and opt-ins are changed.
func (r AdoptedRow) editHref() string { return AdoptPath(r.Workspace, r.Source, r.ID, r.Version) }

func (r AdoptedRow) updateHref() string { return AdoptPath(r.Workspace, r.Source, r.ID, r.Update) }

func (r ServerRow) args(ctx context.Context) ui.RowArgs {
	meta := []string{r.Writes}
	if r.Secret != "" {
		meta = append(meta, i18n.T(ctx, "agent.server_secret", "name", r.Secret))
	}
	args := r.ToolRow.args(ctx)
	args.Meta, args.Reason, args.Remedy = meta, "", nil
	if r.Setup {
		args.Reason, args.Remedy = r.Reason, toolRemedy(r.onlySetup())
	}
	return args
}

func (r ToolRow) onlySetup() ToolRow {
	r.Follow, r.Shadow = false, nil
	return r
}

// permissionModes are the modes from strictest to loosest.
var permissionModes = []string{"plan", "ask", "auto", "bypass"}

func (v AgentForm) modes(ctx context.Context) []ui.Option {
	var out []ui.Option
	chosen := v.Form.Value("permissionMode", v.Mode)
	for _, mode := range permissionModes {
		o := ui.Option{Value: mode, Label: i18n.T(ctx, "agent.mode_"+mode), Help: i18n.T(ctx, "agent.mode_"+mode+"_help"), Selected: mode == chosen}
		if mode != v.Mode {
			o.Reason = v.ModeReason
		}
		out = append(out, o)
	}
	return out
}

func (v ServerForm) secrets(ctx context.Context) []ui.Option {
	chosen := v.Form.Value("authSecret", "")
	out := []ui.Option{{Value: "", Label: i18n.T(ctx, "agent.server_no_secret"), Selected: chosen == ""}}
	for _, name := range v.Secrets {
		out = append(out, ui.Option{Value: name, Label: name, Selected: name == chosen})
	}
	return out
}
