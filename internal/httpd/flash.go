package httpd

import (
	"encoding/gob"
	"net/http"

	"github.com/gorilla/sessions"
)

// Flash is a message that outlives one redirect.
type Flash struct {
	Tone string // a ui.Tone
	Text string
	// Undo, when set, is the action that takes back what was done: a form
	// posts its fields to URL.
	UndoURL    string
	UndoFields map[string]string
}

const flashCookie = "capstore_flash"

type flashes struct{ store *sessions.CookieStore }

// init registers the flash for the cookie's gob encoding.
func init() { gob.Register(Flash{}) }

func newFlashes(cfg Config) *flashes {
	store := sessions.NewCookieStore(cfg.CookieKey[:32], cfg.CookieKey[32:64])
	store.Options = &sessions.Options{
		Path: "/", MaxAge: 120, HttpOnly: true, Secure: cfg.Secure(), SameSite: http.SameSiteLaxMode,
	}
	store.MaxAge(120)
	return &flashes{store: store}
}

// AddFlash keeps a message for the next page. Call it before the header is written.
func (r *Root) AddFlash(w http.ResponseWriter, req *http.Request, f Flash) {
	s, _ := r.flash.store.Get(req, flashCookie) // an unreadable cookie starts afresh
	s.AddFlash(f)
	if err := s.Save(req, w); err != nil {
		r.Log.WarnContext(req.Context(), "httpd: flash not kept", "error", err)
	}
}

// TakeFlashes returns and clears the kept messages.
func (r *Root) TakeFlashes(w http.ResponseWriter, req *http.Request) []Flash {
	if _, err := req.Cookie(flashCookie); err != nil {
		return nil
	}
	s, _ := r.flash.store.Get(req, flashCookie)
	var out []Flash
	for _, v := range s.Flashes() {
		if f, ok := v.(Flash); ok {
			out = append(out, f)
		}
	}
	s.Options.MaxAge = -1
	if err := s.Save(req, w); err != nil {
		r.Log.WarnContext(req.Context(), "httpd: flash not cleared", "error", err)
	}
	return out
}
