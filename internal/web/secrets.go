package web

import (
	"maps"
	"net/http"
	"slices"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/secret"
	"capstore/internal/workspace"
	"capstore/views"
)

func (s *Site) secretsPage(c *Ctx) error {
	v, err := s.secretList(c, c.Actor())
	if err != nil {
		return err
	}
	if capability.May(c.Actor(), capability.ActSecrets, capability.Fresh) != nil {
		v.Reason = c.T("secrets.viewer_reason")
	}
	return c.Render(http.StatusOK, views.SecretsPage(c.Page(c.T("settings.secrets"), views.NavSettings), v))
}

// secretList is what the actor may know of the secrets of his workspace, with
// what each is bound to.
func (s *Site) secretList(c *Ctx, actor capability.Actor) (views.Secrets, error) {
	v := views.Secrets{Workspace: actor.Workspace}
	infos, err := s.Secrets.List(c.R.Context(), actor)
	if err != nil || len(infos) == 0 {
		return v, err
	}
	config, err := s.Workspace.Config(c.R.Context(), actor)
	if err != nil {
		return v, err
	}
	models, err := s.Workspace.Models(c.R.Context(), actor)
	if err != nil {
		return v, err
	}
	uses := usesOf(actor.Workspace, config.Config, models)
	for _, info := range infos {
		row := secretRow(info)
		row.UsedBy = uses[info.Name]
		if info.Personal {
			v.Own = append(v.Own, row)
		} else {
			v.Shared = append(v.Shared, row)
		}
	}
	return v, nil
}

func secretRow(info secret.Info) views.SecretRow {
	return views.SecretRow{
		Name: info.Name, Personal: info.Personal, By: info.CreatedByName, Created: info.CreatedAt, Updated: info.UpdatedAt,
		Replaced: info.Revision > 1, MayChange: info.MayChange,
	}
}

// usesOf says by secret name what the config binds to it and which models have
// it as their key, each once.
func usesOf(ws string, config capability.AgentConfig, models []workspace.Model) map[string][]views.Use {
	uses := map[string][]views.Use{}
	add := func(bindings map[string]string, use views.Use) {
		for _, name := range slices.Sorted(maps.Values(bindings)) {
			if !slices.Contains(uses[name], use) {
				uses[name] = append(uses[name], use)
			}
		}
	}
	for _, a := range config.Capabilities {
		add(a.SecretBindings, views.Use{Label: a.Source + "/" + a.ID, Href: views.CapabilityPath(ws, a.Source, a.ID)})
	}
	for _, key := range slices.Sorted(maps.Keys(config.ToolSecretBindings)) {
		add(config.ToolSecretBindings[key], views.Use{Label: key})
	}
	for _, m := range models {
		add(map[string]string{"": m.Secret}, views.Use{Label: m.Name, Href: views.ModelPath(ws, m.Name)})
	}
	return uses
}

// accountSecretsPage is the member's own secrets in the workspace that the
// address names, else in his first one.
func (s *Site) accountSecretsPage(c *Ctx) error {
	page := c.Page(c.T("account.secrets"), views.NavNone)
	v := views.AccountSecrets{Workspaces: page.Workspaces}
	workspace := c.R.URL.Query().Get("workspace")
	if workspace == "" && len(page.Workspaces) > 0 {
		workspace = page.Workspaces[0].Slug
	}
	if workspace != "" {
		who, err := s.Root.Identity.PrincipalOf(c.R.Context(), c.Who.Subject, workspace)
		if err != nil {
			return err
		}
		if !who.IsMember() {
			return fault.Missing()
		}
		if v.Secrets, err = s.secretList(c, who.Actor()); err != nil {
			return err
		}
	}
	v.Next = views.AccountSecretsPath(workspace)
	return c.Render(http.StatusOK, views.AccountSecretsPage(page, v))
}
