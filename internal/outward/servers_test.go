package outward_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"capstore/internal/capability"
	"capstore/internal/catalog"

	"github.com/google/go-cmp/cmp"
	api "github.com/modelcontextprotocol/registry/pkg/api/v0"
)

const serversPath = "/registry/acme/v0.1/servers"

// list reads a page of servers as a client of the registry does.
func (c client) list(query string) api.ServerListResponse {
	c.s.t.Helper()
	var out api.ServerListResponse
	c.get(serversPath + "?" + query).into(&out)
	if out.Metadata.Count != len(out.Servers) {
		c.s.t.Errorf("count %d of %d", out.Metadata.Count, len(out.Servers))
	}
	return out
}

// pins spells a page as name@version, with the status where it is not active.
func pins(page api.ServerListResponse) []string {
	var out []string
	for _, e := range page.Servers {
		pin := strings.TrimPrefix(e.Server.Name, "com.example.store.") + "@" + e.Server.Version
		if e.Meta.Official.IsLatest {
			pin += " latest"
		}
		if e.Meta.Official.Status != "active" {
			pin += " " + string(e.Meta.Official.Status)
		}
		out = append(out, pin)
	}
	return out
}

func TestRegistry(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.publish(ada, "acme", "tracker", "1.0.0", capability.ReachWorkspace, serverSpec)
	s.publish(ada, "acme", "tracker", "1.1.0", "", strings.Replace(serverSpec, "/x", "/y", 1))
	s.publish(ada, "acme", "tracker", "2.0.0-rc.1", "", strings.Replace(serverSpec, "/x", "/z", 1))
	s.publish(ada, "acme", "boxed", "1.0.0", capability.ReachWorkspace, imageSpec)
	s.publish(ada, "acme", "tool", "1.0.0", capability.ReachWorkspace, codeSpec)
	s.publish(mia, "acme", "mias", "1.0.0", capability.ReachPrivate, serverSpec)
	s.publish(gus, "globex", "ledger", "1.0.0", capability.ReachPublic, serverSpec)
	s.publish(gus, "globex", "own", "1.0.0", capability.ReachWorkspace, serverSpec)
	c := s.as(ada, "acme")

	for query, want := range map[string][]string{
		"": {
			"acme/tracker@2.0.0-rc.1", "acme/tracker@1.1.0 latest", "acme/tracker@1.0.0", "acme/boxed@1.0.0 latest", "globex/ledger@1.0.0 latest",
		},
		"version=latest":                                    {"acme/tracker@1.1.0 latest", "acme/boxed@1.0.0 latest", "globex/ledger@1.0.0 latest"},
		"version=1.0.0":                                     {"acme/tracker@1.0.0", "acme/boxed@1.0.0 latest", "globex/ledger@1.0.0 latest"},
		"version=latest&search=ledger":                      {"globex/ledger@1.0.0 latest"},
		"version=latest&search=com.x%2Fboxed":               {"acme/boxed@1.0.0 latest"},
		"updated_since=2999-01-01T00:00:00Z":                nil,
		"updated_since=2001-01-01T00:00:00Z&version=latest": {"acme/tracker@1.1.0 latest", "acme/boxed@1.0.0 latest", "globex/ledger@1.0.0 latest"},
	} {
		if diff := cmp.Diff(want, pins(c.list(query))); diff != "" {
			t.Errorf("%q: %s", query, diff)
		}
	}

	var one api.ServerResponse
	c.get(serversPath + "/com.example.store.acme%2Ftracker/versions/latest").into(&one)
	if one.Server.Version != "1.1.0" || len(one.Server.Remotes) != 1 || one.Server.Remotes[0].URL != "https://mcp.example.com/y" || one.Meta.Official.PublishedAt.IsZero() {
		t.Errorf("the latest is %+v", one.Server)
	}
	c.get("/registry/acme/v0/servers/com.example.store.acme%2Ftracker/versions/1.0.0").into(&one)
	if one.Server.Version != "1.0.0" {
		t.Errorf("1.0.0 is %+v", one.Server)
	}
	var line api.ServerListResponse
	c.get(serversPath + "/com.example.store.acme%2Ftracker/versions").into(&line)
	if diff := cmp.Diff([]string{"acme/tracker@2.0.0-rc.1", "acme/tracker@1.1.0 latest", "acme/tracker@1.0.0"}, pins(line)); diff != "" {
		t.Error(diff)
	}
	c.get(serversPath + "/com.example.store.acme%2Fmias/versions").want(http.StatusNotFound)
	if got := pins(s.as(mia, "acme").list("version=latest&search=mias")); len(got) != 1 {
		t.Errorf("Mia does not see her own: %v", got)
	}
}

// What is withdrawn or blocked leaves the lists at once; what is deprecated says
// so and stays.
func TestRegistryStatus(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	actor := s.actor(ada, "acme")
	for _, v := range []string{"1.0.0", "1.1.0", "1.2.0"} {
		s.publish(ada, "acme", "tracker", v, map[bool]capability.Reach{true: capability.ReachWorkspace}[v == "1.0.0"], strings.Replace(serverSpec, "/x", "/"+v, 1))
	}
	must(t, s.store.Withdraw(t.Context(), actor, "acme", "tracker", "1.0.0"))
	must(t, s.store.Block(t.Context(), actor, "acme", "tracker", "1.2.0", "It leaks."))
	must(t, s.store.Update(t.Context(), actor, "acme", "tracker", catalog.Patch{Deprecated: &catalog.Deprecation{Note: "Old."}}))
	c := s.as(ada, "acme")
	if diff := cmp.Diff([]string{"acme/tracker@1.1.0 latest deprecated"}, pins(c.list(""))); diff != "" {
		t.Error(diff)
	}
	want := []string{"acme/tracker@1.2.0 deleted", "acme/tracker@1.1.0 latest deprecated", "acme/tracker@1.0.0 deleted"}
	if diff := cmp.Diff(want, pins(c.list("include_deleted=true"))); diff != "" {
		t.Error(diff)
	}
	const line = serversPath + "/com.example.store.acme%2Ftracker/versions/"
	c.get(line + "1.2.0").want(http.StatusNotFound)
	c.get(line + "1.2.0?include_deleted=true").want(http.StatusOK)
	must(t, s.store.Delete(t.Context(), actor, "acme", "tracker"))
	c.get(line + "1.1.0?include_deleted=true").want(http.StatusNotFound)
	if got := c.list("include_deleted=true"); len(got.Servers) != 0 {
		t.Errorf("after its end: %v", pins(got))
	}
}

func TestRegistryRefuses(t *testing.T) {
	t.Parallel()
	c := newSite(t).as(ada, "acme")
	for _, query := range []string{"limit=0", "limit=101", "limit=x", "updated_since=yesterday", "include_deleted=perhaps", "cursor=nonsense"} {
		a := c.get(serversPath + "?" + query).want(http.StatusBadRequest)
		var e map[string]string
		if err := json.Unmarshal(a.body, &e); err != nil || e["error"] == "" || len(e) != 1 {
			t.Errorf("%s: %s", query, a.body)
		}
	}
}

// A walk gives every version that is there throughout exactly once, whatever the
// size of its pages and whatever is published meanwhile.
func TestRegistryWalk(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	want := map[string]bool{}
	for i := range 9 {
		id := fmt.Sprintf("server-%d", i)
		for v := range i%4 + 1 {
			version := fmt.Sprintf("1.%d.0", v)
			s.publish(ada, "acme", id, version, map[bool]capability.Reach{true: capability.ReachWorkspace}[v == 0], strings.Replace(serverSpec, "/x", "/"+version, 1))
			want["acme/"+id+"@"+version] = true
		}
	}
	c := s.as(ada, "acme")
	for limit := 1; limit <= 12; limit++ {
		seen, cursor := map[string]int{}, ""
		for page := 0; page == 0 || cursor != ""; page++ {
			got := c.list(fmt.Sprintf("limit=%d&cursor=%s", limit, url.QueryEscape(cursor)))
			for _, pin := range pins(got) {
				pin, _, _ = strings.Cut(pin, " ")
				seen[pin]++
			}
			if page == limit%3 {
				s.publish(ada, "acme", fmt.Sprintf("late-%d", limit), "1.0.0", capability.ReachWorkspace, serverSpec)
			}
			cursor = got.Metadata.NextCursor
		}
		for pin := range want {
			if seen[pin] != 1 {
				t.Errorf("%s was seen %d times in pages of %d", pin, seen[pin], limit)
			}
		}
		for pin, n := range seen {
			if n > 1 {
				t.Errorf("%s was seen %d times in pages of %d", pin, n, limit)
			}
		}
	}
}

// A page costs the same few statements however much there is.
func TestRegistryStatements(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for i := range 12 {
		s.publish(ada, "acme", fmt.Sprintf("server-%d", i), "1.0.0", capability.ReachWorkspace, serverSpec)
	}
	c := s.as(ada, "acme")
	few, many := c.get(serversPath+"?limit=2").statements, c.get(serversPath+"?limit=12").statements
	if len(few) != len(many) || len(many) > 6 {
		t.Errorf("%d and %d statements: %s", len(few), len(many), strings.Join(slices.Concat(many), "\n---\n"))
	}
}
