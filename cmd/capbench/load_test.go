package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// served is a server whose store names two static files and two capabilities.
func served(t *testing.T, asked *atomic.Int32) *client {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /bench/store", func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		fmt.Fprint(w, `<link href="/static/a.css"><script src="/static/b.js"></script><a href="/bench/store/new">New</a>
			<a href="/bench/store/acme/mail-merge?from=x">Mail merge</a><a href="/bench/store/acme/other">Other</a>`)
	})
	mux.HandleFunc("GET /static/a.css", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "short") })
	mux.HandleFunc("GET /static/b.js", func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "b.js", time.Time{}, strings.NewReader(strings.Repeat("long ", 200)))
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return &client{http: server.Client(), base: server.URL, clients: 3}
}

func TestLoadCountsWhatWasAsked(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	c := served(t, &asked)
	f, err := c.load(t.Context(), at("browse", "/bench/store"), 0)
	if err != nil {
		t.Fatal(err)
	}
	// Each client asks once to warm up and once in earnest, however short it is.
	if f.Requests != 3 || asked.Load() != 6 || f.Bytes < 100 || f.PerSecond <= 0 {
		t.Errorf("%+v of %d requests", f, asked.Load())
	}
	if _, err := c.load(t.Context(), at("gone", "/nothing"), 0); err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("a page that is not there: %v", err)
	}
}

func TestWhatIsMeasuredIsFoundOnThePage(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	c := served(t, &asked)
	static, err := c.staticOf(t.Context(), "/bench/store")
	if err != nil || static.path(0) != "/static/b.js" {
		t.Fatalf("%+v, %v", static, err)
	}
	// As much of it as the page is long.
	if n, err := c.get(t.Context(), static.path(0), static.bytes); err != nil || n != static.bytes || n < 200 || n > 400 {
		t.Errorf("%d of %d bytes, %v", n, static.bytes, err)
	}
	detail, err := c.firstDetail(t.Context(), "/bench/store")
	if err != nil || detail != "/bench/store/acme/mail-merge" {
		t.Errorf("%q, %v", detail, err)
	}
}
