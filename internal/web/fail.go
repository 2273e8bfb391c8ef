package web

import (
	"net/http"

	"capstore/internal/fault"
	"capstore/internal/httpd"
	"capstore/views"
	"capstore/views/ui"
)

// fail answers an error: a page that says whose turn it is, a toast where htmx
// asked, or the sign-in page when that is what is missing.
func (s *Site) fail(c *Ctx, err error) {
	f := fault.From(err)
	s.Root.LogFault(c.R, err)
	if f.Kind == fault.Unauthenticated && c.Who.Subject == "" {
		s.toLogin(c)
		return
	}
	status := httpd.Status(err)
	httpd.RetryAfter(c.W.Header(), err)
	trouble := views.TroubleOf(c.Locale, err, httpd.Reference(c.R.Context()))
	var answer error
	if c.Htmx() {
		c.W.Header().Set("HX-Reswap", "none")
		answer = c.Render(status, ui.ToastSwap(ui.ToastArgs{Tone: ui.Danger, Text: trouble.Message, Note: trouble.Action, Stay: true}))
	} else {
		answer = c.Render(status, views.ErrorPage(c.Page(c.T("error."+trouble.Kind), views.NavNone), trouble))
	}
	if answer != nil {
		s.Root.LogFault(c.R, answer)
		http.Error(c.W, "Something went wrong on our side. Reference: "+httpd.Reference(c.R.Context()), http.StatusInternalServerError)
	}
}

// toLogin sends whoever is not signed in to do so, and back where he was going
// when that was a page.
func (s *Site) toLogin(c *Ctx) {
	next := ""
	if c.R.Method == http.MethodGet && !c.Htmx() && c.R.URL.Path != "/" {
		next = c.R.URL.RequestURI()
	}
	path := views.LoginPath(next)
	if c.Htmx() {
		c.W.Header().Set("HX-Redirect", path)
		c.W.WriteHeader(http.StatusUnauthorized)
		return
	}
	http.Redirect(c.W, c.R, path, http.StatusSeeOther)
}
