package registry_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/fault"
	"capstore/internal/registry"
	"capstore/internal/workspace"
)

// The ten invariants of the registry. The seventh, that a run's own limits are
// checked before its tools are, is the door's.

// A turn calls only what its epoch admits, and holds that epoch to its end:
// what comes meanwhile comes with the next one.
func TestInvariant01OneSnapshotPerTurn(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	v := h.adopted(t, "weather", code())
	turn := bind(t, h.reg, h.member)
	_, before, _ := turn.Tool("code__weather")
	h.adopted(t, "later", code())
	edited := code()
	edited.ParametersSchema = json.RawMessage(`{"type":"object","properties":{"other":{"type":"string"}}}`)
	h.adopt(t, h.admin, h.publish(t, h.admin, "", v.ID, content("weather", edited)))
	next := bind(t, h.reg, h.member)
	if _, _, ok := turn.Tool("code__later"); ok {
		t.Error("a tool came into a running turn")
	}
	if _, after, _ := turn.Tool("code__weather"); string(after.Schema) != string(before.Schema) {
		t.Error("a schema changed under a running turn")
	}
	if _, after, ok := next.Tool("code__weather"); !ok || string(after.Schema) == string(before.Schema) {
		t.Error("the next turn has the schema of the last one")
	}
	if _, _, ok := next.Tool("code__later"); !ok || next.Epoch <= turn.Epoch {
		t.Error("the next turn lacks what was added")
	}
}

// What the epoch does not hold as a usable tool reaches no request: nothing
// off, held, denied or of another kind is offered.
func TestInvariant02OnlyAdmittedToolsReachARequest(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.adopted(t, "weather", code())
	off := h.adopted(t, "off", code())
	h.set(t, h.member, keyOf(off), false)
	needy := code()
	needy.RequiredSecrets = []capability.RequiredSecret{{Name: "KEY"}}
	h.adopted(t, "needy", needy)
	writes, no := code(), false
	writes.IsReadOnly = &no
	h.adopted(t, "writes", writes)
	h.adopted(t, "guard", &capability.HookSpec{Event: capability.EventBeforeTool, Language: capability.Python, Code: "print('{}')"})
	h.adopted(t, "greet", &capability.CommandSpec{Template: "Hello $1"})
	h.skill(t, h.admin, "Plan", "Plan.")
	snap := look(t, h.reg, h.member)
	s := snap.Surface(capability.SurfaceWeb, "", registry.SurfaceOptions{})
	if diff := cmp.Diff([]string{"code__weather"}, names(append(s.Loaded(), s.Deferred()...))); diff != "" {
		t.Errorf("offered (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{registry.FindTools, registry.ReadResult, registry.ReadSkillFile, registry.UseSkill}, names(s.Always())); diff != "" {
		t.Errorf("built-ins (-want +got):\n%s", diff)
	}
}

// Skills and servers are loaded through entries of the epoch and no others:
// the loaders' own schemas name exactly those.
func TestInvariant03LoadersTakeAdmittedNamesOnly(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.adopted(t, "box", server("box", "open"))
	shut := h.adopted(t, "shut", server("shut", "open"))
	h.set(t, h.member, keyOf(shut), false)
	h.skill(t, h.admin, "Plan", "Plan.")
	hidden := h.skill(t, h.admin, "Hidden", "Hide.")
	h.set(t, h.member, hidden.Key(), false)
	snap := look(t, h.reg, h.member)
	for tool, want := range map[string]string{
		registry.UseSkill: `"enum":["Plan"]`, registry.ReadSkillFile: `"enum":["Plan"]`, registry.Broker: `"enum":["box"]`,
	} {
		got, ok := snap.Builtin(tool)
		if !ok || !strings.Contains(string(got.Schema), want) {
			t.Errorf("%s takes %s, want %s", tool, got.Schema, want)
		}
	}
	if _, ok := snap.Skill("Hidden"); ok {
		t.Error("a skill that is off can be loaded")
	}
}

// A worker has its parent's epoch, narrowed, and finds nothing that came since.
func TestInvariant04WorkersInherit(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.adopted(t, "weather", code())
	v := h.adopted(t, "news", code())
	parent := bind(t, h.reg, h.member)
	worker := h.reg.Share(parent)
	defer worker.Release()
	parent.Release()
	h.adopted(t, "later", code())
	if worker.Snapshot != parent.Snapshot {
		t.Fatal("the worker has another snapshot")
	}
	// A turn that was parked and goes on elsewhere has what is still the same.
	h.set(t, h.member, keyOf(v), false)
	manifest, err := h.server(registry.Options{}).Manifest(t.Context(), registry.KeyOf(h.member), parent.Epoch)
	if err != nil {
		t.Fatal(err)
	}
	resumed := look(t, h.reg, h.member).NarrowTo(manifest)
	if diff := cmp.Diff([]string{"code__weather"}, resumed.ToolNames()); diff != "" {
		t.Errorf("the resumed turn (-want +got):\n%s", diff)
	}
	if _, ok := resumed.Builtin(registry.FindTools); !ok {
		t.Error("a narrowed turn cannot find its tools")
	}
}

// Names that are unknown, or of another kind, are answers like others.
func TestInvariant05UnknownNamesAreValues(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.adopted(t, "weather", code())
	off := h.adopted(t, "off", code())
	h.set(t, h.member, keyOf(off), false)
	h.skill(t, h.admin, "Plan", "Plan.")
	snap := look(t, h.reg, h.member)
	s := snap.Surface(capability.SurfaceWeb, "", registry.SurfaceOptions{})
	if e, ok := snap.Withheld("code__off"); !ok || e.Standing != registry.Off {
		t.Errorf("what is off is %v", e.Standing)
	}
	rapid.Check(t, func(rt *rapid.T) {
		name := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"Plan", "code__off", "weather", "code__weather", "use_skill"})).Draw(rt, "name")
		_, _, tool := snap.Tool(name)
		if tool != (name == "code__weather") {
			rt.Errorf("%q is a tool: %v", name, tool)
		}
		_, _ = snap.Skill(name)
		_, _ = snap.Bare(name)
		s.Promote(name)
		s.Misread(name)
		s.Find(name, rapid.Int().Draw(rt, "limit"))
	})
}

// What widens waits for the next turn; what is revoked is refused at once,
// although the epoch still lists it.
func TestInvariant06RevocationIsImmediate(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	v := h.adopted(t, "weather", code())
	turn := bind(t, h.reg, h.member)
	ask := func() error {
		e, tool, ok := turn.Tool("code__weather")
		if !ok {
			t.Fatal("the bound snapshot lost a tool")
		}
		var answer error
		err := h.db.Tx(t.Context(), func(ctx context.Context, tx pgx.Tx) error {
			answer = h.ws.Authorize(ctx, tx, h.member, e.Row.Call(workspace.Function{Name: tool.Name, Raw: tool.Raw}))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
	if err := ask(); err != nil {
		t.Fatal(err)
	}
	h.set(t, h.member, keyOf(v), false)
	if err := ask(); !fault.HasCode(err, workspace.RevokedSwitch) {
		t.Errorf("after it was switched off: %v", err)
	}
	h.set(t, h.member, keyOf(v), true)
	if err := ask(); err != nil {
		t.Errorf("after it was switched on again: %v", err)
	}
}

// A reading chooses what is loaded and takes nothing away; what declares no
// domain is loaded whatever is asked.
func TestInvariant08ReadingsRemoveNothing(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	many(t, h, 20)
	snap := look(t, h.reg, h.member)
	all := snap.ToolNames()
	words := []string{"weather", "mail", "git", "날씨", "hello", "https://", "\n", "report"}
	rapid.Check(t, func(rt *rapid.T) {
		message := strings.Join(rapid.SliceOf(rapid.OneOf(rapid.SampledFrom(words), rapid.String())).Draw(rt, "words"), " ")
		s := snap.Surface(capability.SurfaceWeb, message, registry.SurfaceOptions{})
		got := names(append(s.Loaded(), s.Deferred()...))
		slices.Sort(got)
		if diff := cmp.Diff(all, got); diff != "" {
			rt.Fatalf("%q removed (-all +left):\n%s", message, diff)
		}
		for _, name := range all {
			if strings.HasPrefix(name, "code__plain-") && !s.IsLoaded(name) {
				rt.Fatalf("%q deferred %s, which declares nothing", message, name)
			}
			if found := s.Find(name, 1); len(found.Tools) != 1 || found.Tools[0].Name != name {
				rt.Fatalf("%s is not found by its name", name)
			}
		}
	})
}

// A failure is a reason on a server that can still be called: it brings no
// name, takes none, and the next demand is free to learn better.
func TestInvariant09FailuresAreNoData(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	v := h.adopted(t, "box", server("box", "open"))
	entry := func() registry.Entry {
		e, ok := look(t, h.reg, h.member).Find(keyOf(v))
		if !ok {
			t.Fatal("no entry")
		}
		return e
	}
	observe := func(seen registry.Observation) {
		if err := h.reg.Observe(t.Context(), h.member, entry().Row, seen); err != nil {
			t.Fatal(err)
		}
	}
	raws := func() []string {
		var out []string
		for _, tool := range entry().Tools {
			out = append(out, tool.Raw)
		}
		return out
	}
	fail := func(text string) registry.Observation {
		return registry.Observation{TroubleCode: "server_unreachable", Trouble: text + "\x00\xff" + strings.Repeat("!", 1<<20)}
	}
	observe(fail("Refused at 10:00."))
	failed := look(t, h.reg, h.member)
	if e := entry(); e.Standing != registry.Failing || !e.Standing.Callable() || e.Trouble == "" {
		t.Errorf("standing %s, trouble %q", e.Standing, e.Trouble)
	}
	if diff := cmp.Diff([]string{"open"}, raws()); diff != "" {
		t.Errorf("after a failure (-want +got):\n%s", diff)
	}
	observe(fail("Refused at 10:01."))
	if again := look(t, h.reg, h.member); again.Epoch != failed.Epoch || again.Digest != failed.Digest {
		t.Error("the same failure in other words moved the world")
	}
	observe(registry.Observation{Known: true, Tools: []registry.ObservedTool{
		{Name: "open", Schema: json.RawMessage(`{"type":"object"}`)}, {Name: "shut", Schema: json.RawMessage(`{"type":"object"}`)},
	}})
	learnt := look(t, h.reg, h.member)
	if diff := cmp.Diff([]string{"open", "shut"}, raws()); diff != "" || entry().Standing != registry.Usable {
		t.Errorf("after it answered: %s, (-want +got):\n%s", entry().Standing, diff)
	}
	observe(fail("Refused again."))
	if diff := cmp.Diff([]string{"open", "shut"}, raws()); diff != "" {
		t.Errorf("a failure took the catalogue (-want +got):\n%s", diff)
	}
	observe(registry.Observation{})
	if again := look(t, h.reg, h.member); again.Digest != learnt.Digest {
		t.Error("a server that answers again is not what it was")
	}
	h.reg.Outdated(registry.KeyOf(h.member), keyOf(v))
	if e := entry(); e.Asked || len(e.Tools) != 1 {
		t.Errorf("after it announced other tools it has %d", len(e.Tools))
	}
}

// Declaring, reconciling, admitting, reporting and searching start no server.
func TestInvariant10OnlyDemandStartsAServer(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	var asked atomic.Int64
	listener := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer listener.Close()
	rules := capability.Rules{AllowLoopbackHTTP: true}
	store := catalog.New(h.db, catalog.Options{Rules: rules})
	h.store, h.ws = store, workspace.New(h.db, store, workspace.Options{Rules: rules})
	h.adopted(t, "box", &capability.MCPSpec{URL: listener.URL, Provides: []string{"open"}})
	s := look(t, h.reg, h.member).Surface(capability.SurfaceWeb, "open the box", registry.SurfaceOptions{})
	s.Find("open", 5)
	mustPass(t, h.reg)
	report, err := h.reg.Report(t.Context(), h.member, capability.SurfaceWeb)
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Entries) == 0 || s.Servers() == "" {
		t.Error("the server is not listed")
	}
	if asked.Load() != 0 {
		t.Errorf("the server was asked %d times", asked.Load())
	}
}
