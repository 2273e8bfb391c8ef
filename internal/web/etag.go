package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"

	"github.com/a-h/templ"

	"capstore/internal/i18n"
)

// RenderTagged is Render for a page that is read again and again: when the
// reader's copy is what he would get, he is told so instead of sent it. The
// tag is made of the page itself, so that nothing which shows on it can be
// forgotten in it.
func (c *Ctx) RenderTagged(component templ.Component) error {
	var body bytes.Buffer
	if err := component.Render(i18n.With(c.R.Context(), c.Locale), &body); err != nil {
		return err
	}
	sum := sha256.Sum256(body.Bytes())
	tag := `"` + base64.RawURLEncoding.EncodeToString(sum[:16]) + `"`
	c.W.Header().Set("ETag", tag)
	if matches(c.R.Header.Get("If-None-Match"), tag) {
		c.W.Header().Set("Cache-Control", "private, no-cache")
		c.W.Header().Add("Vary", "HX-Request, Cookie, Accept-Language")
		c.W.WriteHeader(http.StatusNotModified)
		return nil
	}
	return c.Render(http.StatusOK, templ.Raw(body.String()))
}

// matches reports whether the header names the tag, which compressing proxies
// mark as weak.
func matches(header, tag string) bool {
	for one := range strings.SplitSeq(header, ",") {
		if strings.TrimPrefix(strings.TrimSpace(one), "W/") == tag {
			return true
		}
	}
	return false
}
