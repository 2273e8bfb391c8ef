package web

import (
	"context"
	"io"
	"net/http"
	"strconv"

	"github.com/a-h/templ"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/httpd"
	"capstore/internal/workspace"
	"capstore/views"
	"capstore/views/ui"
)

// toolKey is the key in the path; what is no key is missing.
func (c *Ctx) toolKey() (capability.Key, error) {
	key := c.R.PathValue("key")
	if _, ok := capability.ParseKey(key); !ok {
		return "", fault.Missing()
	}
	return capability.Key(key), nil
}

// setSwitch records the member's own choice: true, false, or anything else to
// follow the workspace. Where others lean on what goes off, it asks first.
func (s *Site) setSwitch(c *Ctx) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	key, err := c.toolKey()
	if err != nil {
		return err
	}
	var on *bool
	if choice, err := strconv.ParseBool(form.Get("enabled")); err == nil {
		on = &choice
	}
	next := Back(form.Get("next"), views.ToolsPath(c.Who.Workspace, ""))
	before, err := s.Workspace.Carried(c.R.Context(), c.Actor())
	if err != nil {
		return err
	}
	was, ok := before.Find(key)
	if !ok {
		return fault.Missing()
	}
	if leaning := before.Leaning(key); on != nil && !*on && len(leaning) > 0 && form.Get("confirmed") == "" {
		return s.askBeforeOff(c, before, was, next)
	}
	row, err := s.Workspace.SetSwitch(c.R.Context(), c.Actor(), key, on)
	if err != nil {
		return err
	}
	return c.switched(next, row, was)
}

// askBeforeOff names what would lose something it requires.
func (s *Site) askBeforeOff(c *Ctx, carried workspace.Carried, r workspace.Row, next string) error {
	if c.Htmx() { // a question is a page of its own
		c.W.Header().Set("HX-Retarget", "body")
		c.W.Header().Set("HX-Reswap", "innerHTML")
	}
	return c.Render(http.StatusOK, views.SwitchQuestionPage(c.Page(c.T("settings.tools"), views.NavSettings), views.SwitchQuestion{
		ToolRow: c.toolRow(carried, r, next), Leaning: c.leaning(carried, r.Key),
	}))
}

// leaning is the rows that require the one of the key.
func (c *Ctx) leaning(carried workspace.Carried, key capability.Key) []views.Use {
	var out []views.Use
	for _, k := range carried.Leaning(key) {
		if row, ok := carried.Find(k); ok {
			out = append(out, views.Use{Label: row.Name, Href: views.ToolPath(c.Who.Workspace, string(k))})
		}
	}
	return out
}

// switched says what the switch did, offers to take it back, and leads on.
// By htmx the browser follows within the request and takes its part of the page.
func (c *Ctx) switched(next string, row, was workspace.Row) error {
	key := "tools.switched_off"
	switch {
	case row.Override == nil:
		key = "tools.switched_follow"
	case row.Enabled:
		key = "tools.switched_on"
	case row.Wanted:
		key = "tools.switched_waits"
	}
	choice := "follow"
	if was.Override != nil {
		choice = strconv.FormatBool(*was.Override)
	}
	undo := views.SwitchUndo(views.ToolRow{Workspace: c.Who.Workspace, Key: string(row.Key), Next: next}, choice)
	c.site.Root.AddFlash(c.W, c.R, httpd.Flash{
		Tone: string(ui.Success), Text: c.T(key, "name", row.Name, "reason", c.rowReason(row)), UndoURL: undo.Action, UndoFields: undo.Values,
	})
	http.Redirect(c.W, c.R, next, http.StatusSeeOther)
	return nil
}

// withNotice is the fragment with the notice of what was just done, which the
// whole page would show at its head.
func withNotice(f *views.Flash, fragment templ.Component) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		return views.Switched(f).Render(templ.WithChildren(ctx, fragment), w)
	})
}
