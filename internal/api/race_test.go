package api_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"capstore/internal/identity"
)

func newToken() identity.NewToken { return identity.NewToken{Name: "test"} }

// together sends n requests at once and returns their answers.
func together(n int, send func(i int) *answer) []*answer {
	out := make([]*answer, n)
	start := make(chan struct{})
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			<-start
			out[i] = send(i)
		})
	}
	close(start)
	all.Wait()
	return out
}

func statuses(answers []*answer) map[int]int {
	out := map[int]int{}
	for _, a := range answers {
		out[a.Status]++
	}
	return out
}

// TestPublishersAtOnce lets twenty publish one version: with equal content one
// makes it and the others hear that it is there, with different content one
// wins, and either way there is one row.
func TestPublishersAtOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	c := s.as(max)
	for name, tc := range map[string]struct {
		code string
		want map[int]int
	}{
		"Same":  {"print('{}')", map[int]int{201: 1, 200: 19}},
		"Other": {"print('[%d]')", map[int]int{201: 1, 409: 19}},
	} {
		answers := together(20, func(i int) *answer {
			code := tc.code
			if name == "Other" {
				code = fmt.Sprintf(code, i)
			}
			return c.post(acme+"/capabilities", codeTool(name, with("version", "1.0.0"), with("visibility", nil), withCode(code)))
		})
		if diff := cmp.Diff(tc.want, statuses(answers)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
			for _, a := range answers {
				if a.Status >= 400 {
					t.Log(a.Body)
				}
			}
		}
	}
	var versions, capabilities int
	must(t, s.db.QueryRow(t.Context(), `SELECT count(*) FROM capability_versions`).Scan(&versions))
	must(t, s.db.QueryRow(t.Context(), `SELECT count(*) FROM capabilities WHERE source = 'acme'`).Scan(&capabilities))
	if versions != 2 || capabilities != 2 {
		t.Errorf("%d versions of %d capabilities, want 2 of 2", versions, capabilities)
	}
}

// TestAdoptersAtOnce lets many adopt and switch at once: no write is lost.
func TestAdoptersAtOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	c := s.as(max)
	for i := range 8 {
		c.post(acme+"/capabilities", codeTool(fmt.Sprintf("Tool %d", i))).want(http.StatusCreated)
	}
	for _, a := range together(8, func(i int) *answer {
		return c.post(acme+"/agent/capabilities", map[string]any{"source": "acme", "id": fmt.Sprintf("tool-%d", i), "version": "1.0.0"})
	}) {
		a.want(http.StatusOK)
	}
	agent := c.get(acme + "/agent").want(http.StatusOK).object()
	if got := len(agent["config"].(map[string]any)["capabilities"].([]any)); got != 8 || agent["version"] != 8.0 {
		t.Errorf("%d adoptions in version %v, want 8 in 8", got, agent["version"])
	}
}

// TestConfigRoundTrip sends back what was read, and refuses what is stale.
func TestConfigRoundTrip(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	c := s.as(max)
	read := c.get(acme + "/agent").want(http.StatusOK)
	config := read.object()
	config["config"].(map[string]any)["instructions"] = "Answer briefly."
	written := c.put(acme+"/agent", config).want(http.StatusOK).object()
	if written["version"] != 1.0 {
		t.Errorf("written: %v", written)
	}
	config["config"].(map[string]any)["instructions"] = "Answer at length."
	c.put(acme+"/agent", config).refused(http.StatusConflict, "stale_config")
	c.plus("If-Match", read.Header.Get("ETag")).put(acme+"/agent", config).refused(http.StatusPreconditionFailed, "stale_config")
	for _, tag := range []string{`"nonsense"`, `""`, "", `W/""`, `"a", "b"`} {
		c.plus("If-Match", tag).put(acme+"/agent", config).refused(http.StatusBadRequest, "bad_if_match")
	}
}

// TestOneOfManyAddsTheSecret lets several people add one secret at once: one
// is told 201 and the others that it is there.
func TestOneOfManyAddsTheSecret(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	c := s.as(max)
	made := 0
	for _, a := range together(8, func(i int) *answer {
		return c.post(acme+"/secrets", map[string]any{"name": "KEY", "value": fmt.Sprintf("value %d", i)})
	}) {
		if a.Status == http.StatusCreated {
			made++
			continue
		}
		a.refused(http.StatusConflict, "secret_taken")
	}
	if made != 1 {
		t.Errorf("%d answers of 201, want 1", made)
	}
}
