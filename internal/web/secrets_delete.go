package web

import (
	"net/http"

	"capstore/views"
)

func (s *Site) deleteSecretPage(c *Ctx) error {
	query := c.R.URL.Query()
	row, err := s.changeable(c, query)
	if err != nil {
		return err
	}
	return c.Render(http.StatusOK, views.DeleteSecretPage(c.Page(c.T("settings.secrets"), views.NavSettings), views.SecretDeletion{
		Workspace: c.Who.Workspace, Next: Back(query.Get("next"), ""), SecretRow: row,
	}))
}

func (s *Site) deleteSecret(c *Ctx) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	name := c.R.PathValue("name")
	if err := s.Secrets.Delete(c.R.Context(), c.Actor(), name, form.Get("personal") != ""); err != nil {
		return err
	}
	return c.Done(Back(form.Get("next"), views.SecretsPath(c.Who.Workspace)), c.T("secrets.deleted", "name", name))
}
