package app_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"capstore/cmd/capstore/app"
	"capstore/internal/capability"
	"capstore/internal/identity"
	"capstore/internal/interchange"

	"github.com/google/go-cmp/cmp"
)

// TestServedOutward asks the whole server, with the demo in it, as a program
// with a token does: what the lists name can be fetched and imported.
func TestServedOutward(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	cfg.Addr = "127.0.0.1:0"
	a := open(t, cfg, app.Options{Demo: true})
	server := httptest.NewServer(a.Handler)
	t.Cleanup(server.Close)
	_, token, err := a.Identity.IssueToken(t.Context(), "member@acme.demo", "acme", identity.NewToken{Name: "test", Scope: capability.ScopeRead})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(path string, status int) []byte {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		res, err := server.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		var b bytes.Buffer
		if _, err := b.ReadFrom(res.Body); err != nil || res.StatusCode != status {
			t.Fatalf("%s: %d %v: %s", path, res.StatusCode, err, b.Bytes())
		}
		return b.Bytes()
	}
	var servers struct{ Servers []json.RawMessage }
	if err := json.Unmarshal(ask("/registry/acme/v0.1/servers?version=latest", http.StatusOK), &servers); err != nil || len(servers.Servers) == 0 {
		t.Errorf("servers: %v %v", servers, err)
	}
	var market struct {
		Plugins []struct{ Name, Category string }
	}
	if err := json.Unmarshal(ask("/registry/acme/marketplace.json", http.StatusOK), &market); err != nil {
		t.Fatal(err)
	}
	folder := ask("/registry/acme/marketplace.zip", http.StatusOK)
	found, err := interchange.FromArchive(bytes.NewReader(folder), int64(len(folder)), "acme.zip", interchange.Options{})
	if err != nil {
		t.Fatal(err)
	}
	listed, ready := map[string]int{}, map[string]int{}
	for _, p := range market.Plugins {
		listed[p.Category]++
	}
	for _, item := range found.Items() {
		if item.Status == interchange.Ready {
			ready[string(item.Kind)]++
		}
	}
	if diff := cmp.Diff(listed, ready); diff != "" || len(listed) < 4 {
		t.Errorf("listed and what the folder holds differ (-listed +ready): %s", diff)
	}
	ask("/registry/globex/marketplace.json", http.StatusNotFound) // the token is for the other workspace
}
