package web

import (
	"bytes"
	"errors"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/a-h/templ"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/httpd"
	"capstore/internal/i18n"
	"capstore/internal/identity"
	"capstore/views"
	"capstore/views/ui"
)

// Ctx is one request on its way through a handler.
type Ctx struct {
	W      http.ResponseWriter
	R      *http.Request
	Who    identity.Principal // zero when nobody is signed in
	Locale i18n.Locale
	site   *Site
}

func (s *Site) newCtx(w http.ResponseWriter, r *http.Request) *Ctx {
	return &Ctx{W: w, R: r, site: s, Locale: i18n.Match("", r.Header.Get("Accept-Language"))}
}

// as makes the principal who the request comes from.
func (c *Ctx) as(who identity.Principal) {
	c.Who = who
	c.Locale = i18n.Match(who.Locale, c.R.Header.Get("Accept-Language"))
}

// Actor is the principal as the services know him.
func (c *Ctx) Actor() capability.Actor { return c.Who.Actor() }

// Htmx reports whether the request asks for a fragment.
// A page that the browser goes back to is wanted whole.
func (c *Ctx) Htmx() bool {
	return c.R.Header.Get("HX-Request") == "true" && c.R.Header.Get("HX-History-Restore-Request") == ""
}

// T is the text of a key in the reader's language.
func (c *Ctx) T(key string, pairs ...any) string { return c.Locale.T(key, pairs...) }

// Page is the frame for a page of the request.
func (c *Ctx) Page(title string, nav views.Nav) views.Page {
	p := views.Page{
		Title: title, Locale: c.Locale, Nav: nav, Path: c.R.URL.RequestURI(), Theme: c.theme(), Flash: c.flash(),
	}
	if c.Who.Subject == "" {
		return p
	}
	p.Viewer = &views.Viewer{Name: c.Who.Name, Email: c.Who.Email}
	for _, m := range c.Who.Memberships {
		p.Workspaces = append(p.Workspaces, views.Workspace{Slug: m.Workspace, Name: m.Name, Role: string(m.Role)})
	}
	if c.Who.IsMember() {
		p.Workspace = &views.Workspace{Slug: c.Who.Workspace, Name: c.Who.WorkspaceName, Role: string(c.Who.Role)}
		p.ChatPath = views.ChatPanelPath(c.Who.Workspace)
		p.ChatOpen = c.cookie(views.ChatCookie) == "open"
		p.Waiting = c.Who.Waiting
	}
	return p
}

// theme is what the page's own switch chose on this machine, else the account's.
func (c *Ctx) theme() string {
	if chosen := c.cookie(views.ThemeCookie); chosen != "" {
		return chosen
	}
	return c.Who.Theme
}

func (c *Ctx) cookie(name string) string {
	cookie, err := c.R.Cookie(name)
	if err != nil {
		return ""
	}
	return cookie.Value
}

func (c *Ctx) flash() *views.Flash {
	kept := c.site.Root.TakeFlashes(c.W, c.R)
	if len(kept) == 0 {
		return nil
	}
	f := kept[len(kept)-1]
	out := &views.Flash{Tone: ui.Tone(f.Tone), Text: f.Text}
	if f.UndoURL != "" {
		out.Undo = &views.Undo{Action: f.UndoURL, Values: f.UndoFields}
	}
	return out
}

// bodies are buffers for pages, so that a page does not grow one from nothing.
var bodies = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// keptBody is up to where a buffer waits for the next page.
const keptBody = 1 << 20

func putBody(b *bytes.Buffer) {
	if b.Cap() <= keptBody {
		b.Reset()
		bodies.Put(b)
	}
}

// Render answers with a component, rendered whole before the first byte is
// sent, so that a failure gives an error page and not half a document.
func (c *Ctx) Render(status int, component templ.Component) error {
	body := bodies.Get().(*bytes.Buffer)
	defer putBody(body)
	if err := component.Render(i18n.With(c.R.Context(), c.Locale), body); err != nil {
		return err
	}
	h := c.W.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	if h.Get("Cache-Control") == "" {
		h.Set("Cache-Control", "private, no-cache")
	}
	h.Add("Vary", "HX-Request, Cookie, Accept-Language")
	c.W.WriteHeader(status)
	_, _ = c.W.Write(body.Bytes()) // a reader who has left is nobody's fault
	return nil
}

// RenderOnce is Render for a page with a credential that is shown this once:
// no cache keeps it.
func (c *Ctx) RenderOnce(component templ.Component) error {
	c.W.Header().Set("Cache-Control", "no-store")
	return c.Render(http.StatusOK, component)
}

// Show answers a page, or only its fragment where htmx asks for it.
func (c *Ctx) Show(status int, page, fragment templ.Component) error {
	if c.Htmx() {
		return c.Render(status, fragment)
	}
	return c.Render(status, page)
}

// Redirect sends the reader on after a form, by 303 so that a reload repeats
// nothing.
func (c *Ctx) Redirect(path string) error {
	if c.Htmx() {
		c.W.Header().Set("HX-Redirect", path)
		c.W.WriteHeader(http.StatusNoContent)
		return nil
	}
	http.Redirect(c.W, c.R, path, http.StatusSeeOther)
	return nil
}

// Done tells the reader what succeeded and sends him on.
func (c *Ctx) Done(path, text string) error {
	c.site.Root.AddFlash(c.W, c.R, httpd.Flash{Tone: string(ui.Success), Text: text})
	return c.Redirect(path)
}

// DoneUndo is Done with a way to take back what was done.
func (c *Ctx) DoneUndo(path, text string, undo views.Undo) error {
	c.site.Root.AddFlash(c.W, c.R, httpd.Flash{Tone: string(ui.Success), Text: text, UndoURL: undo.Action, UndoFields: undo.Values})
	return c.Redirect(path)
}

// Absolute is the address under which others reach a path of this site.
func (c *Ctx) Absolute(path string) string {
	if base := c.site.Root.Config.BaseURL; base != nil {
		return base.Scheme + "://" + base.Host + path
	}
	return "http://" + c.R.Host + path
}

// Form parses the request's form. A body over the bound is a TooLarge fault.
func (c *Ctx) Form() (url.Values, error) {
	err := c.R.ParseMultipartForm(4 << 20)
	if errors.Is(err, http.ErrNotMultipart) {
		err = c.R.ParseForm()
	}
	if _, over := errors.AsType[*http.MaxBytesError](err); over {
		return nil, fault.New(fault.TooLarge, "body_too_large", "That is larger than can be taken here.").Because(err)
	}
	if errors.Is(err, multipart.ErrMessageTooLarge) {
		return nil, fault.New(fault.TooLarge, "too_many_files", "These are more files than can be taken at once, or longer texts.").
			Do("Send fewer at a time, or a zip of them.").Because(err)
	}
	if err != nil {
		return nil, fault.New(fault.Malformed, "bad_form", "The form could not be read.").Because(err)
	}
	return c.R.PostForm, nil
}

// Back is a path of this site that the reader asked to return to, or the
// fallback when what he named leads anywhere else.
func Back(next, fallback string) string {
	u, err := url.Parse(next)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || !strings.HasPrefix(next, "/") ||
		strings.HasPrefix(next, "//") || strings.ContainsAny(next, "\\\r\n\t") {
		return fallback
	}
	return next
}
