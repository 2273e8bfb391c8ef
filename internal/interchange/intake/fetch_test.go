package intake

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"capstore/internal/fault"
	"capstore/internal/netguard"
)

func TestPagesStandForTheirFiles(t *testing.T) {
	t.Parallel()
	for page, want := range map[string]string{
		"https://github.com/acme/skills":                        "https://github.com/acme/skills/archive/HEAD.zip ",
		"https://github.com/acme/skills/":                       "https://github.com/acme/skills/archive/HEAD.zip ",
		"https://github.com/acme/skills.git":                    "https://github.com/acme/skills/archive/HEAD.zip ",
		"https://github.com/acme/skills/tree/main":              "https://github.com/acme/skills/archive/main.zip ",
		"https://github.com/acme/skills/tree/main/packs/mail":   "https://github.com/acme/skills/archive/main.zip packs/mail",
		"https://github.com/acme/skills/blob/main/a/SKILL.md":   "https://raw.githubusercontent.com/acme/skills/main/a/SKILL.md ",
		"https://github.com/acme/skills/archive/v1.zip":         "https://github.com/acme/skills/archive/v1.zip ",
		"https://github.com/acme/s/releases/download/v1/s.zip":  "https://github.com/acme/s/releases/download/v1/s.zip ",
		"https://github.com/acme":                               "https://github.com/acme ",
		"https://gist.github.com/ada/0123":                      "https://gist.github.com/ada/0123/raw ",
		"https://gitlab.com/acme/x/-/blob/main/mcp.json":        "https://gitlab.com/acme/x/-/raw/main/mcp.json ",
		"https://raw.githubusercontent.com/acme/x/main/a.json":  "https://raw.githubusercontent.com/acme/x/main/a.json ",
		"https://files.example.com/blob/main/skills.zip?sig=17": "https://files.example.com/blob/main/skills.zip?sig=17 ",
	} {
		u, err := url.Parse(page)
		if err != nil {
			t.Fatal(err)
		}
		file, under := fileOf(u)
		if got := file.String() + " " + under; got != want {
			t.Errorf("%s stands for %q, want %q", page, got, want)
		}
	}
}

func TestFetch(t *testing.T) {
	t.Parallel()
	stub := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/skill.md":
			w.Header().Set("Content-Type", "text/html") // says nothing about what it is
			_, _ = w.Write([]byte("---\nname: a\n---\n"))
		case "/page":
			_, _ = w.Write([]byte("\n<!DOCTYPE HTML><title>x"))
		case "/away":
			http.Redirect(w, r, "http://169.254.169.254/latest/", http.StatusFound)
		case "/round":
			http.Redirect(w, r, "/round", http.StatusFound)
		case "/endless":
			for range 70 {
				_, _ = w.Write(make([]byte, 1<<20))
			}
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(stub.Close)
	guard, err := netguard.New([]string{"127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := fetch(t.Context(), guard, " "+stub.URL+"/skill.md?token=hush ")
	if err != nil || got.Upload.Name != "skill.md" || !strings.HasPrefix(string(got.Upload.Data), "---") || strings.Contains(got.Address, "hush") {
		t.Errorf("%+v %v", got, err)
	}
	for raw, code := range map[string]string{
		stub.URL + "/page":                     "address_is_page",
		stub.URL + "/none":                     "address_refused_file",
		stub.URL + "/away":                     "address_refused",
		stub.URL + "/round":                    "too_many_redirects",
		stub.URL + "/endless":                  "response_too_large",
		"file:///etc/passwd":                   "scheme_refused",
		"http://10.0.0.1/x.zip":                "address_refused",
		"http://[::ffff:169.254.169.254]/x":    "address_refused",
		"http://2130706433/x":                  "address_refused",
		"":                                     "bad_url",
		"http://user:pw@" + stub.URL[7:] + "/": "bad_url",
	} {
		_, err := fetch(t.Context(), guard, raw)
		if err == nil || fault.Is(err, fault.Internal) {
			t.Errorf("%s: %v", raw, err)
		} else if got := fault.From(err).Code; got != code {
			t.Errorf("%s: %s, want %s", raw, got, code)
		}
	}
}
