package views

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"capstore/internal/i18n"
	"capstore/views/ui"
)

// Models is what the agents of a workspace may think with.
type Models struct {
	Workspace string
	Rows      []ModelRow
	Default   ModelChooser // of the workspace
	Own       ModelState   // of the reader
	// Reason says why the reader cannot change any of it and who can; "" when
	// he can.
	Reason string
}

// ModelRow is a registered model in a list.
type ModelRow struct {
	Workspace     string
	Name          string
	Provider      string // anthropic or openai
	Host          string // that answers for it
	BaseURL       string
	Underlying    string
	Secret        string // its name
	Key           string // none, own, shared or missing
	Input         string // dollars for a million tokens, "" for not known
	Cached        string
	Output        string
	ContextTokens int
	Default       bool // the workspace thinks with it
	ChosenBy      int  // members who chose it for themselves
	By            string
	Changed       time.Time
}

// Model is one registered model.
type Model struct {
	ModelRow
	// Reason says why the reader cannot change it and who can; "" when he can.
	Reason string
}

// ModelState is what the reader's agent thinks with.
type ModelState struct {
	Name    string // "" for none
	From    string // member, workspace or none
	Problem string // why it cannot be used, and what to do
}

// ModelChooser is a form with which a model is chosen.
type ModelChooser struct {
	Action    string
	Workspace string
	Title     string
	ID        string // of its field, where a page has several
	Chosen    string // "" for none
	Models    []ModelOption
	// None is what choosing nothing means.
	None  string
	Error string
	State ModelState
}

// ModelOption is a model that may be chosen.
type ModelOption struct{ Name, Underlying string }

// ModelPreset is a way to begin the form of a model.
type ModelPreset struct {
	ID       string
	Provider string
	BaseURL  string
	Example  string // of a model's name there
	Secret   string // what the key is called; "" where none is asked for
}

// ModelForm registers a model or changes one.
type ModelForm struct {
	Workspace string
	Form      Form
	Name      string // of the one that is changed; "" for a new one
	Preset    ModelPreset
	Now       ModelRow // what is registered
	Revision  string
	Secrets   []string // names that are stored
	NewSecret string   // name under which a pasted key would be stored
	Reason    string
}

// ModelRemoval is the question before a model is removed.
type ModelRemoval struct {
	ModelRow
	Reason string
}

// AccountModels is what the member's agents think with, a chooser for each
// workspace.
type AccountModels struct{ Choosers []ModelChooser }

// meta is what there is to know of it in a list, besides where it is.
func (r ModelRow) meta(ctx context.Context) []string {
	out := []string{i18n.T(ctx, "models.price_line", "price", r.price(ctx)), i18n.T(ctx, "models.key_line", "key", r.keyLine(ctx))}
	if used := r.users(ctx); used != "" {
		out = append(out, i18n.T(ctx, "models.used_line", "who", used))
	}
	return out
}

func (r ModelRow) keyLine(ctx context.Context) string {
	if r.Secret == "" {
		return r.keyText(ctx)
	}
	return r.Secret
}

func (r ModelRow) href() string { return ModelPath(r.Workspace, r.Name) }

// price is what it costs in one line.
func (r ModelRow) price(ctx context.Context) string {
	if r.Input == "" && r.Output == "" {
		return i18n.T(ctx, "models.price_unknown")
	}
	return i18n.T(ctx, "models.price_both", "input", dollars(ctx, r.Input), "output", dollars(ctx, r.Output))
}

func dollars(ctx context.Context, amount string) string {
	if amount == "" {
		return "?"
	}
	return i18n.T(ctx, "models.dollars", "amount", amount)
}

// keyText says where the model's key comes from.
func (r ModelRow) keyText(ctx context.Context) string { return i18n.T(ctx, "models.key_"+r.Key) }

func (r ModelRow) keyTone() ui.Tone {
	if r.Key == "missing" {
		return ui.Warning
	}
	return ui.Neutral
}

// users says who thinks with it, "" for nobody.
func (r ModelRow) users(ctx context.Context) string {
	var who []string
	if r.Default {
		who = append(who, i18n.T(ctx, "models.used_workspace"))
	}
	if r.ChosenBy > 0 {
		who = append(who, i18n.N(ctx, "models.used_members", r.ChosenBy))
	}
	return strings.Join(who, ", ")
}

func (v Model) facts(ctx context.Context) []ui.Fact {
	facts := []ui.Fact{
		{Label: i18n.T(ctx, "models.provider"), Text: i18n.T(ctx, "models.provider_"+v.Provider)},
		{Label: i18n.T(ctx, "models.underlying"), Text: v.Underlying, Mono: true},
		{Label: i18n.T(ctx, "models.base_url"), Text: v.BaseURL, Mono: true},
		{Label: i18n.T(ctx, "models.key"), Body: modelKey(v.ModelRow)},
		{Label: i18n.T(ctx, "models.price"), Text: v.price(ctx)},
	}
	if v.Cached != "" {
		facts = append(facts, ui.Fact{Label: i18n.T(ctx, "models.price_cached"), Text: dollars(ctx, v.Cached)})
	}
	if v.ContextTokens > 0 {
		facts = append(facts, ui.Fact{Label: i18n.T(ctx, "models.context"), Text: i18n.T(ctx, "models.tokens", "n", i18n.From(ctx).Number(int64(v.ContextTokens)))})
	}
	used := v.users(ctx)
	if used == "" {
		used = i18n.T(ctx, "models.used_nobody")
	}
	return append(facts, ui.Fact{Label: i18n.T(ctx, "models.chosen"), Text: used},
		ui.Fact{Label: i18n.T(ctx, "models.changed"), Body: modelChange(v.ModelRow)})
}

// sentence says what the agent thinks with and whose choice that is.
func (s ModelState) sentence(ctx context.Context) string {
	return i18n.T(ctx, "models.state_"+s.From, "name", s.Name)
}

func (v ModelChooser) options(ctx context.Context) []ui.Option {
	out := []ui.Option{{Value: "", Label: v.None, Selected: v.Chosen == ""}}
	there := v.Chosen == ""
	for _, m := range v.Models {
		there = there || m.Name == v.Chosen
		out = append(out, ui.Option{Value: m.Name, Label: m.label(ctx), Selected: m.Name == v.Chosen})
	}
	if !there {
		out = append(out, ui.Option{Value: v.Chosen, Label: i18n.T(ctx, "models.gone", "name", v.Chosen), Selected: true})
	}
	return out
}

func (m ModelOption) label(ctx context.Context) string {
	if m.Underlying == m.Name {
		return m.Name
	}
	return i18n.T(ctx, "models.option", "name", m.Name, "model", m.Underlying)
}

func (v ModelChooser) field() ui.Field {
	return ui.Field{Name: "model", ID: v.ID, Label: v.Title, Error: v.Error, Optional: true, Unmarked: true}
}

func (v ModelForm) action() string {
	if v.Name == "" {
		return NewModelPath(v.Workspace, v.Preset.ID)
	}
	return EditModelPath(v.Workspace, v.Name)
}

func (v ModelForm) back() string {
	if v.Name == "" {
		return ModelsPath(v.Workspace)
	}
	return ModelPath(v.Workspace, v.Name)
}

func (v ModelForm) value(name, now, preset string) string {
	if v.Name == "" {
		now = preset
	}
	return v.Form.Value(name, now)
}

func (v ModelForm) providers(ctx context.Context) []ui.Option {
	chosen := v.value("provider", v.Now.Provider, v.Preset.Provider)
	var out []ui.Option
	for _, p := range []string{"anthropic", "openai"} {
		out = append(out, ui.Option{Value: p, Label: i18n.T(ctx, "models.protocol_"+p), Selected: p == chosen})
	}
	return out
}

// presetSecret is the key that the preset's models use, where it is stored.
func (v ModelForm) presetSecret() string {
	if slices.Contains(v.Secrets, v.Preset.Secret) {
		return v.Preset.Secret
	}
	return ""
}

func (v ModelForm) secrets(ctx context.Context) []ui.Option {
	chosen := v.value("secret", v.Now.Secret, v.presetSecret())
	out := []ui.Option{{Value: "", Label: i18n.T(ctx, "models.no_key"), Selected: chosen == ""}}
	there := chosen == ""
	for _, name := range v.Secrets {
		there = there || name == chosen
		out = append(out, ui.Option{Value: name, Label: name, Selected: name == chosen})
	}
	if !there {
		out = append(out, ui.Option{Value: chosen, Label: i18n.T(ctx, "models.secret_missing", "name", chosen), Selected: true})
	}
	return out
}

// contextText is the size as it is typed, "" for not known.
func (v ModelForm) contextText() string {
	if v.Now.ContextTokens == 0 {
		return ""
	}
	return strconv.Itoa(v.Now.ContextTokens)
}
