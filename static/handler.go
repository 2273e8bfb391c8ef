package static

import (
	"bytes"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"
)

// Handler serves the built files below Prefix. An address with a hash may be
// kept for ever; a plain name is served too, to be asked again each time.
func Handler() http.Handler {
	return http.StripPrefix(Prefix, http.HandlerFunc(serve))
}

func serve(w http.ResponseWriter, r *http.Request) {
	a, hashed := byAddress[r.URL.Path]
	if !hashed {
		a = byName[r.URL.Path]
	}
	if a == nil {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Cache-Control", "no-cache")
	if hashed {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	h.Set("Content-Type", contentType(a.name))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("ETag", a.etag)
	h.Add("Vary", "Accept-Encoding")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(encoded(h, r, a)))
}

// encoded picks the smallest form that the client reads and names it. A range
// request gets the plain bytes, whose offsets are the ones it means.
func encoded(h http.Header, r *http.Request, a *asset) []byte {
	accept := r.Header.Get("Accept-Encoding")
	switch {
	case r.Header.Get("Range") != "":
		return a.body
	case a.brotli != nil && accepts(accept, "br"):
		h.Set("Content-Encoding", "br")
		return a.brotli
	case a.gzip != nil && accepts(accept, "gzip"):
		h.Set("Content-Encoding", "gzip")
		return a.gzip
	}
	return a.body
}

// accepts reports whether an Accept-Encoding header allows the coding.
func accepts(header, coding string) bool {
	for part := range strings.SplitSeq(header, ",") {
		name, params, _ := strings.Cut(strings.TrimSpace(part), ";")
		if strings.EqualFold(strings.TrimSpace(name), coding) {
			q := strings.ReplaceAll(params, " ", "")
			return q != "q=0" && q != "q=0.0" && q != "q=0.00" && q != "q=0.000"
		}
	}
	return false
}

// contentType does not ask the machine's own table, which differs by system.
func contentType(name string) string {
	switch path.Ext(name) {
	case ".css":
		return "text/css; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	case ".txt":
		return "text/plain; charset=utf-8"
	}
	if t := mime.TypeByExtension(path.Ext(name)); t != "" {
		return t
	}
	return "application/octet-stream"
}
