package web

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/google/uuid"

	"capstore/internal/agent"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/workspace"
	"capstore/views"
	"capstore/views/ui"
)

// composerChoices fills in what the conversation may think with and how freely
// it may act, with what is chosen.
func (s *Site) composerChoices(c *Ctx, out *views.Composer, conv agent.Conversation, mode capability.PermissionMode, sent url.Values) error {
	choices, err := s.Workspace.ModelChoices(c.R.Context(), c.Actor())
	if err != nil {
		return err
	}
	models, err := s.Workspace.Models(c.R.Context(), c.Actor())
	if err != nil {
		return err
	}
	model, own := conv.Model, string(conv.Mode)
	if sent != nil {
		model, own = sent.Get("model"), sent.Get("permission")
	}
	followed, _ := choices.Pick(models, "") // one that cannot be used is said when it is
	out.Models = c.modelOptions(models, followed, model)
	out.Direct = model == "" && followed.From == workspace.FromNone
	if out.Direct && capability.May(c.Actor(), capability.ActSettings, capability.Ownership{}) == nil {
		out.AddModel = views.ModelsPath(c.Who.Workspace)
	}
	if !out.Direct {
		out.Modes, out.ModesHelp = c.modeOptions(mode, own), c.T("chat.mode_help", "mode", c.T("chat.mode_"+string(mode)))
	}
	return nil
}

// modelOptions lead with what is followed; none where no model is registered.
func (c *Ctx) modelOptions(models []workspace.Model, followed workspace.Chosen, chosen string) []ui.Option {
	if len(models) == 0 {
		return nil
	}
	follow := c.T("chat.model_direct")
	if followed.From != workspace.FromNone {
		follow = c.T("chat.model_from_"+string(followed.From), "name", followed.Model.Name)
	}
	out := []ui.Option{{Label: follow, Selected: chosen == ""}}
	known := chosen == ""
	for _, m := range models {
		known = known || m.Name == chosen
		out = append(out, ui.Option{Value: m.Name, Label: m.Name, Selected: m.Name == chosen})
	}
	if !known {
		out = append(out, ui.Option{Value: chosen, Label: c.T("chat.model_gone", "name", chosen), Selected: true})
	}
	return out
}

// modeOptions lead with the workspace's mode. A conversation may only be
// stricter than that.
func (c *Ctx) modeOptions(shared capability.PermissionMode, chosen string) []ui.Option {
	out := []ui.Option{{Label: c.T("chat.mode_" + string(shared)), Selected: chosen == ""}}
	for _, mode := range capability.PermissionModes {
		if mode == shared {
			continue
		}
		o := ui.Option{Value: string(mode), Label: c.T("chat.mode_" + string(mode)), Selected: string(mode) == chosen}
		if capability.StricterOf(shared, mode) != mode {
			o.Reason = c.T("chat.mode_looser")
		}
		out = append(out, o)
	}
	return out
}

// chooseFor sets what was picked for the conversation, where that is new. A form
// without the pickers changes nothing.
func (s *Site) chooseFor(c *Ctx, conv agent.Conversation, form url.Values) error {
	model, mode := conv.Model, conv.Mode
	if form.Has("model") {
		model = form.Get("model")
	}
	if form.Has("permission") {
		mode = capability.PermissionMode(form.Get("permission"))
	}
	if model == conv.Model && mode == conv.Mode {
		return nil
	}
	return s.Agent.Choose(c.R.Context(), c.Actor(), conv.ID, model, mode)
}

// chatComposer is the composer alone, in the state that the address asks for.
func (s *Site) chatComposer(c *Ctx) error {
	var conv agent.Conversation
	if text := c.R.URL.Query().Get("id"); text != "" {
		id, err := uuid.Parse(text)
		if err != nil {
			return fault.Missing()
		}
		if conv, err = s.Agent.Conversation(c.R.Context(), c.Actor(), id); err != nil {
			return err
		}
	}
	composer, err := s.composer(c, conv, views.Form{})
	if err != nil {
		return err
	}
	return c.Render(http.StatusOK, views.ComposerBox(composer))
}

// chatComplete lists what a line that begins with a slash may become.
func (s *Site) chatComplete(c *Ctx) error {
	snap, err := s.Agent.Bind(c.R.Context(), c.Actor())
	if err != nil {
		return err
	}
	query := c.R.URL.Query()
	var list []views.Completion
	for _, one := range agent.Complete(snap, query.Get("q")) {
		made := views.Completion{Insert: one.Insert, Label: one.Label, Hint: one.Hint, Description: one.Description, Kind: one.Kind}
		if name, ok := strings.CutPrefix(one.Label, "/tool "); ok && one.Kind == agent.KindOfTool {
			made.Kind = kindOfTool(name)
			made.Pick = &views.ComposerPick{Workspace: c.Who.Workspace, ID: query.Get("id"), Panel: c.inPanel(), Tool: name}
		}
		list = append(list, made)
	}
	return c.Render(http.StatusOK, views.Completions(list))
}
