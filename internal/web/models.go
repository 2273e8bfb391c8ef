package web

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/httpd"
	"capstore/internal/workspace"
	"capstore/views"
	"capstore/views/ui"
)

func (s *Site) modelRoutes() []Route {
	return []Route{
		{Method: "GET", Pattern: "/{workspace}/settings/models", Access: Member, handler: s.modelsPage},
		{Method: "GET", Pattern: "/{workspace}/settings/models/new", Access: Member, handler: s.newModelPage},
		{Method: "POST", Pattern: "/{workspace}/settings/models/new", Access: Member, handler: s.newModel},
		{Method: "GET", Pattern: "/{workspace}/settings/models/{name}", Access: Member, handler: s.modelPage},
		{Method: "GET", Pattern: "/{workspace}/settings/models/{name}/edit", Access: Member, handler: s.editModelPage},
		{Method: "POST", Pattern: "/{workspace}/settings/models/{name}/edit", Access: Member, handler: s.editModel},
		{Method: "POST", Pattern: "/{workspace}/settings/models/{name}/test", Access: Member, handler: s.testModel},
		{Method: "GET", Pattern: "/{workspace}/settings/models/{name}/remove", Access: Member, handler: s.removeModelPage},
		{Method: "POST", Pattern: "/{workspace}/settings/models/{name}/remove", Access: Member, handler: s.removeModel},
		{Method: "POST", Pattern: "/{workspace}/settings/agent/model", Access: Member, handler: s.setDefaultModel},
		{Method: "GET", Pattern: "/{workspace}/settings/usage", Access: Member, handler: s.usagePage},
		{Method: "GET", Pattern: "/account/models", Access: SignedIn, handler: s.accountModelsPage},
		{Method: "POST", Pattern: "/account/models", Access: SignedIn, handler: s.chooseModel},
	}
}

func (s *Site) modelsPage(c *Ctx) error {
	models, choices, err := s.modelsAnd(c)
	if err != nil {
		return err
	}
	ws := c.Who.Workspace
	v := views.Models{Workspace: ws, Own: c.modelState(choices, models), Reason: c.modelReason(), Default: views.ModelChooser{
		Action: views.DefaultModelPath(ws), Title: c.T("models.workspace"), Chosen: choices.Shared, Models: modelOptions(models), None: c.T("models.nothing"),
	}}
	for _, m := range models {
		v.Rows = append(v.Rows, modelRow(ws, m, choices))
	}
	return c.Render(http.StatusOK, views.ModelsPage(c.Page(c.T("settings.models"), views.NavSettings), v))
}

// modelsAnd reads the workspace's models, and what it and the reader chose.
func (s *Site) modelsAnd(c *Ctx) ([]workspace.Model, workspace.Choices, error) {
	models, err := s.Workspace.Models(c.R.Context(), c.Actor())
	if err != nil {
		return nil, workspace.Choices{}, err
	}
	choices, err := s.Workspace.ModelChoices(c.R.Context(), c.Actor())
	return models, choices, err
}

// modelReason says why the reader cannot register models and who can; "" when
// he can.
func (c *Ctx) modelReason() string {
	if capability.May(c.Actor(), capability.ActSettings, capability.Ownership{}) != nil {
		return c.T("models.reason")
	}
	return ""
}

func modelRow(ws string, m workspace.Model, choices workspace.Choices) views.ModelRow {
	row := views.ModelRow{
		Workspace: ws, Name: m.Name, Provider: string(m.Provider), BaseURL: m.BaseURL, Host: m.BaseURL, Underlying: m.Underlying,
		Secret: m.Secret, Key: keyState(m), Input: m.Price.Input, Cached: m.Price.Cached, Output: m.Price.Output,
		ContextTokens: m.ContextTokens, Default: choices.Shared == m.Name, ChosenBy: m.ChosenBy, By: m.By.Name, Changed: m.UpdatedAt,
	}
	if u, err := url.Parse(m.BaseURL); err == nil {
		row.Host = u.Host
	}
	return row
}

// keyState says where the model's key comes from for the reader.
func keyState(m workspace.Model) string {
	switch {
	case m.Secret == "":
		return "none"
	case m.OwnSecret:
		return "own"
	case m.SharedSecret:
		return "shared"
	}
	return "missing"
}

func modelOptions(models []workspace.Model) (out []views.ModelOption) {
	for _, m := range models {
		out = append(out, views.ModelOption{Name: m.Name, Underlying: m.Underlying})
	}
	return out
}

// modelState is what the reader's agent thinks with where a conversation chose
// nothing of its own.
func (c *Ctx) modelState(choices workspace.Choices, models []workspace.Model) views.ModelState {
	chosen, err := choices.Pick(models, "")
	state := views.ModelState{Name: chosen.Model.Name, From: string(chosen.From)}
	if err != nil {
		f := fault.From(err)
		state.Problem = strings.TrimSpace(views.FaultText(c.Locale, f) + " " + views.FaultAction(c.Locale, f))
	}
	return state
}

func (s *Site) modelPage(c *Ctx) error {
	row, err := s.modelNamed(c)
	if err != nil {
		return err
	}
	return c.Render(http.StatusOK, views.ModelPage(c.modelSubpage(row.Name), views.Model{ModelRow: row, Reason: c.modelReason()}))
}

// modelNamed is the model that the path names.
func (s *Site) modelNamed(c *Ctx) (views.ModelRow, error) {
	m, err := s.Workspace.Model(c.R.Context(), c.Actor(), c.R.PathValue("name"))
	if err != nil {
		return views.ModelRow{}, err
	}
	choices, err := s.Workspace.ModelChoices(c.R.Context(), c.Actor())
	return modelRow(c.Who.Workspace, m, choices), err
}

// modelSubpage is the frame of a page below the models'.
func (c *Ctx) modelSubpage(title string) views.Page {
	p := c.Page(title, views.NavSettings)
	p.Crumbs = []ui.Crumb{{Label: c.T("settings.models"), Href: views.ModelsPath(c.Who.Workspace)}, {Label: title}}
	return p
}

func (s *Site) removeModelPage(c *Ctx) error {
	row, err := s.modelNamed(c)
	if err != nil {
		return err
	}
	v := views.ModelRemoval{ModelRow: row, Reason: c.modelReason()}
	if v.Reason == "" && row.Default {
		v.Reason = c.T("models.remove_default_text")
	}
	return c.Render(http.StatusOK, views.RemoveModelPage(c.modelSubpage(row.Name), v))
}

func (s *Site) removeModel(c *Ctx) error {
	name := c.R.PathValue("name")
	if err := s.Workspace.DeleteModel(c.R.Context(), c.Actor(), name, 0); err != nil {
		return err
	}
	return c.Done(views.ModelsPath(c.Who.Workspace), c.T("models.removed", "name", name))
}

// setDefaultModel sets what the workspace thinks with.
func (s *Site) setDefaultModel(c *Ctx) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	name, text := form.Get("model"), c.T("models.default_none")
	if name != "" {
		text = c.T("models.default_set", "name", name)
	}
	_, err = s.Workspace.Change(c.R.Context(), c.Actor(), workspace.AnyVersion, "", func(config *capability.AgentConfig) error {
		config.Model = name
		return nil
	})
	back := Back(form.Get("next"), views.ModelsPath(c.Who.Workspace))
	if _, again := shownAgain(err); again {
		return c.refusedChoice(back, err)
	}
	if err != nil {
		return err
	}
	return c.Done(back, text)
}

// refusedChoice goes back to where a model was chosen and says why it cannot
// be.
func (c *Ctx) refusedChoice(back string, err error) error {
	form := show(c.Locale, nil, err)
	c.site.Root.AddFlash(c.W, c.R, httpd.Flash{Tone: string(ui.Danger), Text: form.Summary[0].Text})
	return c.Redirect(back)
}

// secretNames are those that the reader's calls can be given, sorted.
func (s *Site) secretNames(c *Ctx) ([]string, error) {
	known, err := s.Secrets.List(c.R.Context(), c.Actor())
	if err != nil {
		return nil, err
	}
	var names []string
	for _, info := range known {
		names = append(names, info.Name)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}
