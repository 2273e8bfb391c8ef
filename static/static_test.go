package static

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// built replaces what was embedded, for tests that do not need the real files.
// It is not safe beside other tests, so its users do not run in parallel.
func built(t *testing.T, files fstest.MapFS) {
	t.Helper()
	names, addresses := byName, byAddress
	byName, byAddress = load(files)
	t.Cleanup(func() { byName, byAddress = names, addresses })
}

var sample = fstest.MapFS{
	"dist/.gitkeep":    {},
	"dist/app.css":     {Data: []byte("body { color: black }")},
	"dist/app.css.br":  {Data: []byte("brotli")},
	"dist/app.css.gz":  {Data: []byte("gzip")},
	"dist/favicon.svg": {Data: []byte("<svg/>")},
}

type answer struct {
	Status               int
	Type, Encoding, Keep string
	Body                 string
}

func ask(path string, header ...string) answer {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	Handler().ServeHTTP(w, r)
	h := w.Header()
	return answer{w.Code, h.Get("Content-Type"), h.Get("Content-Encoding"), h.Get("Cache-Control"), w.Body.String()}
}

func TestHandler(t *testing.T) {
	built(t, sample)
	const css, keep = "text/css; charset=utf-8", "public, max-age=31536000, immutable"
	hashed := Path("app.css")
	if !strings.HasPrefix(hashed, "/static/app.") || hashed == "/static/app.css" {
		t.Fatalf("Path = %q, want a name with a hash", hashed)
	}
	for _, tc := range []struct {
		name, path string
		header     []string
		want       answer
	}{
		{"hashed", hashed, nil, answer{200, css, "", keep, "body { color: black }"}},
		{"plain name", "/static/app.css", nil, answer{200, css, "", "no-cache", "body { color: black }"}},
		{"brotli first", hashed, []string{"Accept-Encoding", "gzip, br"}, answer{200, css, "br", keep, "brotli"}},
		{"gzip", hashed, []string{"Accept-Encoding", "gzip;q=0.8"}, answer{200, css, "gzip", keep, "gzip"}},
		{"brotli refused", hashed, []string{"Accept-Encoding", "br;q=0"}, answer{200, css, "", keep, "body { color: black }"}},
		{"range", hashed, []string{"Accept-Encoding", "br", "Range", "bytes=0-3"}, answer{206, css, "", keep, "body"}},
		{"no twin", Path("favicon.svg"), []string{"Accept-Encoding", "br"}, answer{200, "image/svg+xml", "", keep, "<svg/>"}},
		{"old hash", "/static/app.000000000000.css", nil, answer{404, "text/plain; charset=utf-8", "", "", "404 page not found\n"}},
		{"twins are no files", "/static/app.css.br", nil, answer{404, "text/plain; charset=utf-8", "", "", "404 page not found\n"}},
		{"outside", "/static/../static.go", nil, answer{404, "text/plain; charset=utf-8", "", "", "404 page not found\n"}},
	} {
		if diff := cmp.Diff(tc.want, ask(tc.path, tc.header...)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}

func TestUnchangedIsNotSentAgain(t *testing.T) {
	built(t, sample)
	first := httptest.NewRecorder()
	Handler().ServeHTTP(first, httptest.NewRequest(http.MethodGet, "/static/app.css", nil))
	if got := ask("/static/app.css", "If-None-Match", first.Header().Get("ETag")); got.Status != http.StatusNotModified {
		t.Errorf("status %d, want 304", got.Status)
	}
}

func TestCheckNamesWhatIsMissingAndTheCommand(t *testing.T) {
	built(t, sample)
	err := Check()
	if err == nil {
		t.Fatal("no error, want one that names app.js")
	}
	for _, part := range []string{"app.js", "editor.js", "make build"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
	if strings.Contains(err.Error(), "app.css") {
		t.Errorf("%q names app.css, which is there", err)
	}
	if got, want := Path("app.js"), "/static/app.js"; got != want {
		t.Errorf("Path of a missing file = %q, want %q", got, want)
	}
}
