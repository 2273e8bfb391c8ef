package registry_test

import (
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.uber.org/goleak"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/pg"
	"capstore/internal/pg/pgtest"
	"capstore/internal/registry"
	"capstore/internal/workspace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// house is one database with two workspaces, and as many servers over it as a
// test makes.
type house struct {
	db    *pg.DB
	store *catalog.Service
	ws    *workspace.Service
	reg   *registry.Registry
	// admin, member and viewer are of acme, boss of globex.
	admin, member, viewer, boss capability.Actor
}

func newHouse(t testing.TB) *house {
	t.Helper()
	h := &house{db: pgtest.New(t)}
	h.store = catalog.New(h.db, catalog.Options{})
	h.ws = workspace.New(h.db, h.store, workspace.Options{})
	h.reg = h.server(registry.Options{})
	for _, slug := range []string{"acme", "globex"} {
		h.exec(t, `INSERT INTO workspaces (slug, name) VALUES ($1, $1)`, slug)
	}
	h.admin = h.person(t, "acme", capability.RoleAdmin)
	h.member = h.person(t, "acme", capability.RoleMember)
	h.viewer = h.person(t, "acme", capability.RoleViewer)
	h.boss = h.person(t, "globex", capability.RoleAdmin)
	return h
}

// server is another process over the same database, without a feed: it learns
// of nothing but by looking.
func (h *house) server(o registry.Options) *registry.Registry {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Tick == 0 {
		o.Tick = time.Hour
	}
	ws := workspace.New(h.db, h.store, workspace.Options{})
	return registry.New(registry.Parts{DB: h.db, Workspace: ws, Options: o})
}

func (h *house) exec(t testing.TB, sql string, args ...any) {
	t.Helper()
	if _, err := h.db.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func (h *house) person(t testing.TB, slug string, role capability.Role) capability.Actor {
	t.Helper()
	id := uuid.Must(uuid.NewV7())
	h.exec(t, `INSERT INTO users (id, email, name) VALUES ($1, $2, 'Someone')`, id, id.String()+"@example.com")
	h.exec(t, `INSERT INTO memberships (workspace, subject, role) VALUES ($1, $2, $3)`, slug, id, string(role))
	return capability.Actor{Workspace: slug, Subject: id.String(), Role: role}
}

func content(name string, spec capability.Spec) capability.Content {
	return capability.Content{Name: name, Description: "Does " + name + ". And more.", Spec: spec}
}

func code(serves ...string) *capability.CodeSpec {
	readOnly := true
	spec := &capability.CodeSpec{
		Language: capability.Python, Code: "print({})", IsReadOnly: &readOnly,
		ParametersSchema: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string","description":"Where."}}}`),
	}
	spec.Serves = serves
	return spec
}

func server(name string, provides ...string) *capability.MCPSpec {
	spec := &capability.MCPSpec{URL: "https://mcp.example.com/" + name, Provides: provides, ToolClasses: map[string]capability.ToolClass{}}
	for _, tool := range provides {
		spec.ToolClasses[tool] = capability.ClassRead
	}
	return spec
}

// publish publishes in the actor's workspace, adds a version where the id is
// taken, and returns it.
func (h *house) publish(t testing.TB, by capability.Actor, reach capability.Reach, id string, c capability.Content) catalog.VersionInfo {
	t.Helper()
	out, err := h.store.Publish(t.Context(), by, catalog.Publication{
		ID: id, Name: c.Name, Description: c.Description, Spec: capability.EncodeSpec(c.Spec), Visibility: reach,
	})
	if err != nil {
		t.Fatalf("publish %s: %v", c.Name, err)
	}
	return out.Version
}

func (h *house) adopt(t testing.TB, by capability.Actor, v catalog.VersionInfo) {
	t.Helper()
	_, err := h.ws.Adopt(t.Context(), by, workspace.AdoptInput{Source: v.Source, ID: v.ID, Version: v.Version, ConsentDigest: v.Digest})
	if err != nil {
		t.Fatalf("adopt %s: %v", v.ID, err)
	}
}

// adopted publishes in acme and adopts there.
func (h *house) adopted(t testing.TB, id string, spec capability.Spec) catalog.VersionInfo {
	t.Helper()
	v := h.publish(t, h.admin, capability.ReachWorkspace, id, content(id, spec))
	h.adopt(t, h.admin, v)
	return v
}

func (h *house) set(t testing.TB, by capability.Actor, key capability.Key, on bool) {
	t.Helper()
	if _, err := h.ws.SetSwitch(t.Context(), by, key, &on); err != nil {
		t.Fatalf("switch %s: %v", key, err)
	}
}

func (h *house) skill(t testing.TB, by capability.Actor, name, text string) workspace.Skill {
	t.Helper()
	s, err := h.ws.CreateSkill(t.Context(), by, workspace.SkillInput{
		Name: name, Description: "How to " + name + ".", Spec: &capability.SkillSpec{Instructions: text},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func keyOf(v catalog.VersionInfo) capability.Key { return capability.CapabilityKey(v.Source, v.ID) }

// bind binds and releases at the end of the test.
func bind(t testing.TB, r *registry.Registry, actor capability.Actor) *registry.Binding {
	t.Helper()
	b, err := r.Bind(t.Context(), actor, capability.SurfaceWeb)
	if err != nil {
		t.Fatalf("bind: %v", err)
	}
	t.Cleanup(b.Release)
	return b
}

// look binds and releases at once.
func look(t testing.TB, r *registry.Registry, actor capability.Actor) *registry.Snapshot {
	t.Helper()
	b, err := r.Bind(t.Context(), actor, capability.SurfaceWeb)
	if err != nil {
		t.Fatalf("bind: %v", err)
	}
	b.Release()
	return b.Snapshot
}

func mustPass(t testing.TB, r *registry.Registry) {
	t.Helper()
	if err := r.Pass(t.Context()); err != nil {
		t.Fatalf("pass: %v", err)
	}
}
