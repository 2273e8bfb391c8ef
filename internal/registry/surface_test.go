package registry_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/registry"
	"capstore/internal/workspace"
)

func TestReading(t *testing.T) {
	t.Parallel()
	tests := []struct {
		message string
		want    []registry.Domain
	}{
		{"", nil},
		{"hello there", nil},
		{"What's the weather in Oslo?", []registry.Domain{registry.LiveData}},
		{"서울 날씨 알려줘", []registry.Domain{registry.LiveData}},
		{"Wie ist das Wetter in Wien?", []registry.Domain{registry.LiveData}},
		{"Open a pull request with the fix", []registry.Domain{registry.VCS}},
		{"저장소에 이슈를 만들어줘", []registry.Domain{registry.VCS}},
		{"Résume ce rapport", []registry.Domain{registry.Documents}},
		{"profile", nil},   // not a file
		{"digital", nil},   // no git
		{"catalogue", nil}, // no log
		{"사과를 사과했다", nil},  // no domain at all
		{"see https://example.com", []registry.Domain{registry.Web}},
		{"send ana an EMAIL about the outage", []registry.Domain{registry.Messaging, registry.Observability}},
		{strings.Repeat("x", 1<<20) + " weather", nil}, // beyond what is read
	}
	for _, test := range tests {
		if diff := cmp.Diff(test.want, registry.Reading(test.message)); diff != "" {
			t.Errorf("%.40q (-want +got):\n%s", test.message, diff)
		}
	}
}

// many adopts n tools beside a few with domains, enough to be sliced.
func many(t *testing.T, h *house, n int) {
	t.Helper()
	for i := range n {
		h.adopted(t, fmt.Sprintf("plain-%02d", i), code())
	}
	h.adopted(t, "forecast", code(registry.LiveData))
	h.adopted(t, "mailer", code(registry.Messaging))
	h.adopted(t, "oddity", code("of-its-own"))
}

func names(tools []*registry.Tool) []string {
	out := make([]string, len(tools))
	for i, t := range tools {
		out[i] = t.Name
	}
	return out
}

func TestWhatIsLoaded(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	many(t, h, 20)
	snap := look(t, h.reg, h.member)
	declared := []string{"code__forecast", "code__mailer", "code__oddity"}
	tests := []struct {
		name, message string
		budget        int
		deferred      []string
	}{
		{"a reading loads what serves it", "the weather in Oslo", 0, []string{"code__mailer", "code__oddity"}},
		{"two domains", "mail me the forecast", 0, []string{"code__oddity"}},
		{"inconclusive narrows nothing", "hello", 0, []string{}},
		{"above the budget the declared ones go first", "hello", 900, declared},
	}
	for _, test := range tests {
		s := snap.Surface(capability.SurfaceWeb, test.message, registry.SurfaceOptions{Budget: test.budget})
		got := names(s.Deferred())
		if diff := cmp.Diff(test.deferred, got); diff != "" && test.budget == 0 {
			t.Errorf("%s: deferred (-want +got):\n%s", test.name, diff)
		}
		if test.budget > 0 && (!slices.Contains(got, "code__mailer") || !s.IsLoaded("code__plain-00") || s.IsLoaded("code__plain-19") && s.IsLoaded("code__oddity")) {
			t.Errorf("%s: deferred %v", test.name, got)
		}
		if len(s.Loaded())+len(got) != 23 {
			t.Errorf("%s: %d loaded, %d deferred", test.name, len(s.Loaded()), len(got))
		}
		for _, name := range append(got, names(s.Loaded())...) {
			if !s.Admits(name) {
				t.Errorf("%s: %s cannot be called", test.name, name)
			}
		}
	}
}

func TestEverythingIsLoadedWhenItIsLittleOrAskedFor(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	many(t, h, 5)
	s := look(t, h.reg, h.member).Surface(capability.SurfaceWeb, "the weather", registry.SurfaceOptions{Budget: 1})
	if len(s.Deferred()) != 0 || s.Catalogue() != "" {
		t.Errorf("deferred %v of a few", names(s.Deferred()))
	}
	for i := range 15 {
		h.adopted(t, fmt.Sprintf("more-%02d", i), code())
	}
	s = look(t, h.reg, h.member).Surface(capability.SurfaceWeb, "the weather", registry.SurfaceOptions{Budget: 1})
	if len(s.Deferred()) == 0 || s.Catalogue() == "" {
		t.Error("nothing is deferred of many")
	}
	_, err := h.ws.Change(t.Context(), h.admin, workspace.AnyVersion, "", func(c *capability.AgentConfig) error {
		c.Slice = capability.SliceOff
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	s = look(t, h.reg, h.member).Surface(capability.SurfaceWeb, "the weather", registry.SurfaceOptions{Budget: 1})
	if len(s.Deferred()) != 0 || s.Catalogue() != "" {
		t.Errorf("deferred %v although slicing is off", names(s.Deferred()))
	}
}

// The catalogue depends on what is admitted and on nothing else.
func TestCatalogueIsStable(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	many(t, h, 20)
	snap := look(t, h.reg, h.member)
	one := snap.Surface(capability.SurfaceWeb, "the weather", registry.SurfaceOptions{})
	one.Find("mail", 0)
	two := look(t, h.server(registry.Options{}), h.viewer).Surface(capability.SurfaceWeb, "run the script", registry.SurfaceOptions{Budget: 10})
	if one.Catalogue() != two.Catalogue() {
		t.Errorf("catalogues differ:\n%s\n%s", one.Catalogue(), two.Catalogue())
	}
	lines := strings.Split(strings.TrimSpace(one.Catalogue()), "\n")
	if !slices.IsSorted(lines) || len(lines) != 23 || !slices.Contains(lines, "- code__forecast: Does forecast.") {
		t.Errorf("catalogue:\n%s", one.Catalogue())
	}
}

func TestFindLoadsWhatItReturns(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	many(t, h, 20)
	s := look(t, h.reg, h.member).Surface(capability.SurfaceWeb, "open a pull request", registry.SurfaceOptions{})
	if s.IsLoaded("code__mailer") {
		t.Fatal("the mailer is loaded before it was found")
	}
	for _, query := range []string{"code__mailer", "mailer", "MAILER"} {
		found := s.Find(query, 1)
		if len(found.Tools) != 1 || found.Tools[0].Name != "code__mailer" || len(found.Tools[0].InputSchema) == 0 {
			t.Fatalf("%s: %+v", query, found)
		}
	}
	if !s.IsLoaded("code__mailer") {
		t.Error("what was found is not loaded")
	}
	if !s.Misread("code__mailer") || s.Misread("code__mailer") || s.Misread("code__plain-00") {
		t.Error("a misread is counted once, and only of what the reading did not foresee")
	}
}

// A channel narrows what comes in by its door, for tools and skills alike, and
// its tools are neither listed nor found there.
func TestChannelsNarrow(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	many(t, h, 20)
	h.skill(t, h.admin, "Planning", "Plan.")
	_, err := h.ws.Change(t.Context(), h.admin, workspace.AnyVersion, "", func(c *capability.AgentConfig) error {
		c.Channels = map[capability.Surface]capability.ChannelRule{
			capability.SurfaceGateway: {Allow: []string{"code__*"}, Deny: []string{"code__mail*"}},
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	snap := look(t, h.reg, h.member)
	web := snap.Surface(capability.SurfaceWeb, "", registry.SurfaceOptions{})
	gateway := snap.Surface(capability.SurfaceGateway, "", registry.SurfaceOptions{})
	if !web.Admits("code__mailer") || !web.Admits("Planning") {
		t.Error("the rule of one door narrows another")
	}
	if gateway.Admits("code__mailer") || gateway.Admits("Planning") || !gateway.Admits("code__forecast") || !gateway.Admits(registry.FindTools) {
		t.Error("the door lets the wrong ones through")
	}
	if strings.Contains(gateway.Catalogue(), "mailer") || gateway.Skills() != "" {
		t.Error("what is not let through is listed")
	}
	for _, tool := range gateway.Always() {
		if strings.Contains(string(tool.Schema), "Planning") {
			t.Errorf("%s offers a skill that is not let through", tool.Name)
		}
	}
	for _, f := range gateway.Find("mailer", 20).Tools {
		if f.Name == "code__mailer" {
			t.Error("what is not let through is found")
		}
	}
}

func TestBareNames(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.adopted(t, "box", server("box", "open", "shut"))
	h.adopted(t, "door", server("door", "shut", "lock"))
	h.skill(t, h.admin, "lock", "Lock.")
	snap := look(t, h.reg, h.member)
	for name, want := range map[string]string{
		"open": "mcp__box__open", // one server has it
		"shut": "",               // two do
		"lock": "",               // a skill is called so
		"none": "", "mcp__box__open": "", registry.Broker: "",
	} {
		if got, ok := snap.Bare(name); got != want || ok != (want != "") {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// Before a server was asked, it stands by name with its author's word; nothing
// of it is loaded, all of it can be called.
func TestServersThatNobodyAsked(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.adopted(t, "box", server("box", "open"))
	s := look(t, h.reg, h.member).Surface(capability.SurfaceWeb, "", registry.SurfaceOptions{})
	if len(s.Loaded()) != 0 || !s.Admits("mcp__box__open") || s.Servers() != "- box: Does box. (open)\n" {
		t.Errorf("loaded %v, servers %q", names(s.Loaded()), s.Servers())
	}
	if found := s.Find("paint the ceiling", 0); len(found.Tools) != 0 || len(found.Unasked) != 1 || found.Note == "" {
		t.Errorf("%+v", found)
	}
}

// Tags find a tool, as they are now, and move no world.
func TestTagsAreFound(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	v := h.adopted(t, "oddity", code())
	before := look(t, h.reg, h.member)
	find := func() []registry.FoundTool {
		return look(t, h.reg, h.member).Surface(capability.SurfaceWeb, "", registry.SurfaceOptions{}).Find("zeppelin", 5).Tools
	}
	if got := find(); len(got) != 0 {
		t.Fatalf("found %+v", got)
	}
	if err := h.store.Update(t.Context(), h.admin, v.Source, v.ID, catalog.Patch{Tags: &[]string{"zeppelin"}}); err != nil {
		t.Fatal(err)
	}
	if got := find(); len(got) != 1 || got[0].Name != "code__oddity" || got[0].Weak {
		t.Errorf("found %+v", got)
	}
	if after := look(t, h.reg, h.member); after.Epoch != before.Epoch {
		t.Errorf("a tag moved the world to epoch %d", after.Epoch)
	}
}
