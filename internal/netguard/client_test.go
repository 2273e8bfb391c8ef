package netguard_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"capstore/internal/fault"
	"capstore/internal/netguard"

	"github.com/google/go-cmp/cmp"
)

// stub serves h on loopback and returns its address.
func stub(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func client(t *testing.T, o netguard.ClientOptions, allow ...string) *http.Client {
	t.Helper()
	c := guard(t, allow).Client(o)
	t.Cleanup(c.CloseIdleConnections)
	return c
}

func get(t *testing.T, c *http.Client, url string) (string, error) {
	t.Helper()
	resp, err := c.Get(url)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	return string(b), err
}

func hostOf(t *testing.T, raw string) string {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u.Host
}

func TestRedirectsAreRechecked(t *testing.T) {
	t.Parallel()
	inner := stub(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "inner secret") })
	for name, c := range map[string]struct{ to, code string }{
		"metadata":         {"http://169.254.169.254/latest/", "address_refused"},
		"mapped":           {"http://[::ffff:a9fe:a9fe]/", "address_refused"},
		"other port":       {inner, "address_refused"},
		"IPv6 loopback":    {"http://[::1]:80/", "address_refused"},
		"file":             {"file:///etc/passwd", "scheme_refused"},
		"gopher":           {"gopher://127.0.0.1/", "scheme_refused"},
		"user name":        {"http://user@127.0.0.1/", "bad_url"},
		"short spelling":   {"http://127.1/", "address_refused"},
		"itself, 12 times": {"", "too_many_redirects"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hops := 0
			first := stub(t, func(w http.ResponseWriter, r *http.Request) {
				hops++
				to := c.to
				if to == "" {
					to = fmt.Sprintf("/%d", hops)
				}
				if hops == 12 {
					return
				}
				w.Header().Set("Location", to)
				w.WriteHeader(http.StatusTemporaryRedirect)
			})
			body, err := get(t, client(t, netguard.ClientOptions{}, hostOf(t, first)), first)
			if !fault.HasCode(err, c.code) {
				t.Errorf("got %q, %v, want %s", body, err, c.code)
			}
		})
	}
}

func TestCredentialsStayWithTheirOrigin(t *testing.T) {
	t.Parallel()
	var seen []http.Header
	var second string
	record := func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Header.Clone())
		switch r.URL.Path {
		case "/same":
			http.Redirect(w, r, "/end", http.StatusTemporaryRedirect)
		case "/away":
			http.Redirect(w, r, second+"/back", http.StatusTemporaryRedirect)
		}
	}
	first := stub(t, record)
	second = stub(t, func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Header.Clone())
		http.Redirect(w, r, first+"/end", http.StatusTemporaryRedirect)
	})
	c := client(t, netguard.ClientOptions{}, hostOf(t, first), hostOf(t, second))
	send := func(path string) []string {
		seen = nil
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, first+path, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range []string{"Authorization", "X-Api-Key", "Cookie", "Mcp-Session-Id", "Content-Type"} {
			req.Header.Set(h, "v")
		}
		resp, err := c.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		var out []string
		for _, h := range seen {
			var kept []string
			for _, k := range []string{"Authorization", "X-Api-Key", "Cookie", "Mcp-Session-Id", "Content-Type"} {
				if h.Get(k) != "" {
					kept = append(kept, k)
				}
			}
			out = append(out, strings.Join(kept, ","))
		}
		return out
	}
	all := "Authorization,X-Api-Key,Cookie,Mcp-Session-Id,Content-Type"
	if diff := cmp.Diff([]string{all, all}, send("/same")); diff != "" {
		t.Errorf("within the origin: %s", diff)
	}
	if diff := cmp.Diff([]string{all, "Content-Type", "Content-Type"}, send("/away")); diff != "" {
		t.Errorf("away and back: %s", diff)
	}
}

func TestBodyLimit(t *testing.T) {
	t.Parallel()
	big := stub(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/zip" {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = z.Write(make([]byte, 1<<20))
			_ = z.Close()
			return
		}
		_, _ = io.WriteString(w, strings.Repeat("x", 1000))
	})
	for limit, ok := range map[int64]bool{999: false, 1000: true, 1001: true} {
		body, err := get(t, client(t, netguard.ClientOptions{MaxBody: limit}, hostOf(t, big)), big)
		if ok != (err == nil) || (ok && len(body) != 1000) || (!ok && !fault.HasCode(err, "response_too_large")) {
			t.Errorf("limit %d: %d bytes, %v", limit, len(body), err)
		}
	}
	if _, err := get(t, client(t, netguard.ClientOptions{MaxBody: 64 << 10}, hostOf(t, big)), big+"/zip"); !fault.HasCode(err, "response_too_large") {
		t.Errorf("an unpacked body over the limit: %v", err)
	}
	if _, err := netguard.ReadAll(strings.NewReader("12345"), 4); !fault.HasCode(err, "response_too_large") {
		t.Errorf("ReadAll: %v", err)
	}
	if b, err := netguard.ReadAll(strings.NewReader("1234"), 4); err != nil || string(b) != "1234" {
		t.Errorf("ReadAll: %q, %v", b, err)
	}
}

// An environment's proxy would carry the request past the guard.
func TestNoProxy(t *testing.T) {
	proxied := false
	proxy := stub(t, func(http.ResponseWriter, *http.Request) { proxied = true })
	t.Setenv("HTTP_PROXY", proxy)
	t.Setenv("http_proxy", proxy)
	c := client(t, netguard.ClientOptions{}, hostOf(t, proxy))
	if _, err := get(t, c, "http://10.1.1.1/"); !fault.HasCode(err, "address_refused") || proxied {
		t.Errorf("%v, proxied %v", err, proxied)
	}
}

func TestParseURL(t *testing.T) {
	t.Parallel()
	g := guard(t, []string{"lan.example", "127.0.0.1:9000", "10.0.0.0/8"})
	for raw, code := range map[string]string{
		"https://mcp.example/x":     "",
		"https://mcp.example:8443/": "",
		"http://lan.example/mcp":    "",
		"http://127.0.0.1:9000/":    "",
		"http://10.2.3.4/":          "",
		"http://mcp.example/":       "tls_required",
		"http://127.0.0.1:9001/":    "address_refused",
		"https://127.0.0.1/":        "address_refused",
		"https://[::1]/":            "address_refused",
		"https://0x7f.1/":           "address_refused",
		"file:///etc/passwd":        "scheme_refused",
		"gopher://x/":               "scheme_refused",
		"javascript:alert(1)":       "scheme_refused",
		"https://u:p@mcp.example/":  "bad_url",
		"https://":                  "bad_url",
		"mcp.example":               "bad_url",
		"":                          "bad_url",
		"https://a%2eb/":            "bad_url",
		"https://x:99999/":          "address_refused",
	} {
		u, err := g.ParseURL(t.Context(), raw, true)
		if code == "" && (err != nil || u == nil) || code != "" && !fault.HasCode(err, code) {
			t.Errorf("%q: %v, want %q", raw, err, code)
		}
	}
	if _, err := g.ParseURL(t.Context(), "http://mcp.example/", false); err != nil {
		t.Errorf("plain http where it may be: %v", err)
	}
}
