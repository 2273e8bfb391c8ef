package workspace_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/fault"
	"capstore/internal/pg"
	"capstore/internal/pg/pgtest"
	"capstore/internal/workspace"
)

// bundle is a server with two workspaces that share nothing but their people.
type bundle struct {
	db    *pg.DB
	store *catalog.Service
	ws    *workspace.Service
	// admin, member and viewer are of acme, other and boss of globex.
	admin, member, viewer, other, boss capability.Actor
}

var search = workspace.Default{
	ID: "web_search", Description: "Searches the web.", ReadOnly: true,
	Needs: []capability.RequiredSecret{{Name: "SEARCH_KEY"}},
}

func setup(t testing.TB) *bundle {
	t.Helper()
	db := pgtest.New(t)
	b := &bundle{db: db, store: catalog.New(db, catalog.Options{})}
	b.ws = workspace.New(db, b.store, workspace.Options{Defaults: []workspace.Default{search}})
	for _, slug := range []string{"acme", "globex"} {
		b.exec(t, `INSERT INTO workspaces (slug, name) VALUES ($1, initcap($1))`, slug)
	}
	b.admin = b.person(t, "Ada", "acme", capability.RoleAdmin)
	b.member = b.person(t, "Ben", "acme", capability.RoleMember)
	b.viewer = b.person(t, "Vic", "acme", capability.RoleViewer)
	b.other = b.person(t, "Gil", "globex", capability.RoleMember)
	b.boss = b.person(t, "Bo", "globex", capability.RoleAdmin)
	return b
}

func (b *bundle) exec(t testing.TB, sql string, args ...any) {
	t.Helper()
	if _, err := b.db.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func (b *bundle) person(t testing.TB, name, slug string, role capability.Role) capability.Actor {
	t.Helper()
	id := uuid.Must(uuid.NewV7())
	b.exec(t, `INSERT INTO users (id, email, name) VALUES ($1, $2, $3)`, id, id.String()+"@example.com", name)
	b.exec(t, `INSERT INTO memberships (workspace, subject, role) VALUES ($1, $2, $3)`, slug, id, string(role))
	return capability.Actor{Workspace: slug, Subject: id.String(), Role: role}
}

// secret stores a secret that nothing decrypts; an empty subject makes it the
// workspace's.
func (b *bundle) secret(t testing.TB, by capability.Actor, subject, name string) {
	t.Helper()
	b.exec(t, `INSERT INTO secrets (workspace, subject, name, ciphertext, created_by) VALUES ($1, nullif($2, '')::uuid, $3, '', $4)`,
		by.Workspace, subject, name, by.Subject)
}

// publish publishes with the reach and returns the version.
func (b *bundle) publish(t testing.TB, by capability.Actor, reach capability.Reach, c capability.Content, version string) catalog.VersionInfo {
	t.Helper()
	return b.publishAs(t, by, reach, "", c, version)
}

func (b *bundle) publishAs(t testing.TB, by capability.Actor, reach capability.Reach, id string, c capability.Content, version string) catalog.VersionInfo {
	t.Helper()
	p := catalog.Publication{
		ID: id, Name: c.Name, Description: c.Description, Spec: capability.EncodeSpec(c.Spec), Version: version, Visibility: reach,
	}
	out, err := b.store.Publish(t.Context(), by, p)
	if err != nil {
		t.Fatalf("publish %s: %v", c.Name, err)
	}
	return out.Version
}

func code(name string, change func(*capability.CodeSpec)) capability.Content {
	readOnly := true
	spec := &capability.CodeSpec{
		Language: capability.Python, Code: "print({})", ParametersSchema: json.RawMessage(`{"type":"object"}`), IsReadOnly: &readOnly,
	}
	if change != nil {
		change(spec)
	}
	return capability.Content{Name: name, Description: "Does " + name + ".", Spec: spec}
}

func writes(s *capability.CodeSpec) { no := false; s.IsReadOnly = &no }

func needs(secrets ...string) func(*capability.CodeSpec) {
	return func(s *capability.CodeSpec) {
		for _, name := range secrets {
			s.RequiredSecrets = append(s.RequiredSecrets, capability.RequiredSecret{Name: name})
		}
	}
}

func mcp(name string, classes map[string]capability.ToolClass) capability.Content {
	spec := &capability.MCPSpec{URL: "https://mcp.example.com/" + capability.IDFromName(name), ToolClasses: classes}
	for tool := range classes {
		spec.Provides = append(spec.Provides, tool)
	}
	return capability.Content{Name: name, Description: "Serves " + name + ".", Spec: spec}
}

func hook(name string, mode capability.FailureMode) capability.Content {
	return capability.Content{Name: name, Description: "Guards " + name + ".", Spec: &capability.HookSpec{
		Event: capability.EventBeforeTool, Language: capability.Python, Code: "print('{}')", FailureMode: mode,
	}}
}

func skillDoc(name, text string) capability.Content {
	return capability.Content{Name: name, Description: "How to " + name + ".", Spec: &capability.SkillSpec{Instructions: text}}
}

func adopt(v catalog.VersionInfo) workspace.AdoptInput {
	return workspace.AdoptInput{Source: v.Source, ID: v.ID, Version: v.Version, ConsentDigest: v.Digest}
}

func (b *bundle) adopted(t testing.TB, by capability.Actor, in workspace.AdoptInput) workspace.ConfigVersion {
	t.Helper()
	out, err := b.ws.Adopt(t.Context(), by, in)
	if err != nil {
		t.Fatalf("adopt %s/%s: %v", in.Source, in.ID, err)
	}
	return out
}

func keyOf(v catalog.VersionInfo) capability.Key { return capability.CapabilityKey(v.Source, v.ID) }

// row is what the actor's agent has under the key.
func (b *bundle) row(t testing.TB, by capability.Actor, key capability.Key) workspace.Row {
	t.Helper()
	c, err := b.ws.Carried(t.Context(), by)
	if err != nil {
		t.Fatalf("carried: %v", err)
	}
	r, ok := c.Find(key)
	if !ok {
		t.Fatalf("no row %s", key)
	}
	return r
}

func (b *bundle) set(t testing.TB, by capability.Actor, key capability.Key, on bool) {
	t.Helper()
	if _, err := b.ws.SetSwitch(t.Context(), by, key, &on); err != nil {
		t.Fatalf("switch %s: %v", key, err)
	}
}

// authorize asks in a transaction of its own.
func (b *bundle) authorize(t testing.TB, by capability.Actor, call workspace.Call) error {
	t.Helper()
	var answer error
	err := b.inTx(t, func(tx pgx.Tx) { answer = b.ws.Authorize(t.Context(), tx, by, call) })
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

func (b *bundle) inTx(t testing.TB, fn func(pgx.Tx)) error {
	t.Helper()
	tx, err := b.db.Begin(t.Context())
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	fn(tx)
	return tx.Commit(t.Context())
}

// wantCode fails unless err is a fault with the code; "" wants no error.
func wantCode(t testing.TB, err error, code string) *fault.Fault {
	t.Helper()
	if code == "" {
		if err != nil {
			t.Fatalf("unexpected: %v", err)
		}
		return nil
	}
	if !fault.HasCode(err, code) {
		t.Fatalf("got %v, want a fault %s", err, code)
	}
	return fault.From(err)
}

func wantField(t testing.TB, err error, path, code string) {
	t.Helper()
	for _, f := range fault.From(err).Fields {
		if f.Path == path && f.Code == code {
			return
		}
	}
	t.Fatalf("got %v, want the fault %s at %s", err, code, path)
}
