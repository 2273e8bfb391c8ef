package web

import (
	"net/http"
	"net/url"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/secret"
	"capstore/views"
)

func (s *Site) newSecretPage(c *Ctx) error {
	query := c.R.URL.Query()
	return s.showSecret(c, http.StatusOK, "", query, views.Form{Values: url.Values{"name": query["name"]}})
}

// showSecret shows the form of a secret, a stored one's when it has a name.
// How the form was reached stands in values: personal and next.
func (s *Site) showSecret(c *Ctx, status int, name string, values url.Values, form views.Form) error {
	form.Values.Del("value")
	v := views.SecretForm{
		Workspace: c.Who.Workspace, Form: form, Name: name, Personal: values.Get("personal") != "", Next: Back(values.Get("next"), ""),
	}
	if capability.May(c.Actor(), capability.ActSecrets, capability.Fresh) != nil {
		v.Reason = c.T("secrets.viewer_reason")
	}
	return c.Render(status, views.SecretPage(c.Page(c.T("settings.secrets"), views.NavSettings), v))
}

func (s *Site) newSecret(c *Ctx) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	return s.storeSecret(c, "", form.Get("name"), form)
}

// secretPage asks for the new value of a stored secret.
func (s *Site) secretPage(c *Ctx) error {
	query := c.R.URL.Query()
	row, err := s.changeable(c, query)
	if err != nil {
		return err
	}
	return s.showSecret(c, http.StatusOK, row.Name, query, views.Form{Values: url.Values{}})
}

func (s *Site) replaceSecret(c *Ctx) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	row, err := s.changeable(c, form)
	if err != nil {
		return err
	}
	return s.storeSecret(c, row.Name, row.Name, form)
}

// storeSecret stores what was typed, as a new secret unless there is a stored
// one. Browsers send every line break as CRLF,
// which a key file would not survive.
func (s *Site) storeSecret(c *Ctx, stored, name string, form url.Values) error {
	value := secret.NewValue(strings.ReplaceAll(form.Get("value"), "\r\n", "\n"))
	set, err := s.Secrets.Set(c.R.Context(), c.Actor(), secret.NewSecret{
		Name: name, Value: value, Personal: form.Get("personal") != "", New: stored == "",
	})
	if status, again := shownAgain(err); again {
		return s.showSecret(c, status, stored, form, show(c.Locale, form, err))
	}
	if err != nil {
		return err
	}
	text := c.T("secrets.stored", "name", name)
	for _, notice := range set.Notices {
		text += " " + c.T("secrets.notice_"+string(notice))
	}
	return c.Done(Back(form.Get("next"), views.SecretsPath(c.Who.Workspace)), text)
}

// changeable is the stored secret that the path names, with what uses it.
func (s *Site) changeable(c *Ctx, values url.Values) (views.SecretRow, error) {
	list, err := s.secretList(c, c.Actor())
	if err != nil {
		return views.SecretRow{}, err
	}
	rows := list.Shared
	if values.Get("personal") != "" {
		rows = list.Own
	}
	for _, row := range rows {
		if row.Name != c.R.PathValue("name") {
			continue
		}
		if !row.MayChange {
			return row, fault.Deny("not_owner", "You may not change this secret.", c.T("secrets.not_yours", "name", row.By))
		}
		return row, nil
	}
	return views.SecretRow{}, fault.Missing()
}
