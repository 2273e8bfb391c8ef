package web

import (
	"net/http"

	"capstore/internal/fault"
	"capstore/views"
)

func (s *Site) accountModelsPage(c *Ctx) error {
	everywhere, err := s.Workspace.ModelsEverywhere(c.R.Context(), c.Who.Subject)
	if err != nil {
		return err
	}
	var v views.AccountModels
	for _, choices := range everywhere {
		chooser := views.ModelChooser{
			Action: views.AccountModelsPath(), Workspace: choices.Workspace, Title: choices.WorkspaceName, ID: "model-" + choices.Workspace,
			Chosen: choices.Own, Models: modelOptions(choices.Models), None: c.T("models.follow_none"), State: c.modelState(choices, choices.Models),
		}
		if choices.Shared != "" {
			chooser.None = c.T("models.follow", "name", choices.Shared)
		}
		v.Choosers = append(v.Choosers, chooser)
	}
	return c.Render(http.StatusOK, views.AccountModelsPage(c.Page(c.T("account.models"), views.NavNone), v))
}

// chooseModel records what the member's own agent thinks with in one of his
// workspaces.
func (s *Site) chooseModel(c *Ctx) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	who, err := s.Root.Identity.PrincipalOf(c.R.Context(), c.Who.Subject, form.Get("workspace"))
	if err != nil {
		return err
	}
	if !who.IsMember() {
		return fault.Missing()
	}
	name := form.Get("model")
	back := Back(form.Get("next"), views.AccountModelsPath())
	err = s.Workspace.ChooseModel(c.R.Context(), who.Actor(), name)
	if _, again := shownAgain(err); again {
		return c.refusedChoice(back, err)
	}
	if err != nil {
		return err
	}
	text := c.T("models.own_follows", "workspace", who.WorkspaceName)
	if name != "" {
		text = c.T("models.own_set", "name", name, "workspace", who.WorkspaceName)
	}
	return c.Done(back, text)
}
