package agent_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/google/uuid"
	"go.uber.org/goleak"

	"capstore/internal/agent"
	"capstore/internal/agent/sandbox"
	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/netguard"
	"capstore/internal/pg"
	"capstore/internal/pg/pgtest"
	"capstore/internal/secret"
	"capstore/internal/workspace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a running agent over two workspaces.
type world struct {
	db    *pg.DB
	store *catalog.Service
	ws    *workspace.Service
	sec   *secret.Service
	agent *agent.Service
	// admin, member and viewer are of acme, other of globex.
	admin, member, viewer, other capability.Actor
}

func newWorld(t testing.TB) *world {
	t.Helper()
	db := pgtest.New(t)
	rules := capability.Rules{AllowLoopbackHTTP: true}
	w := &world{db: db, store: catalog.New(db, catalog.Options{Rules: rules})}
	guard, err := netguard.New([]string{"127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	w.ws = workspace.New(db, w.store, workspace.Options{Rules: rules, Guard: guard})
	if w.sec, err = secret.Open(t.Context(), db, secret.Config{KeyFile: filepath.Join(t.TempDir(), "key")}); err != nil {
		t.Fatal(err)
	}
	runner, err := sandbox.NewRunner(sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w.agent = agent.New(agent.Parts{
		DB: db, Catalog: w.store, Workspace: w.ws, Secrets: w.sec, Sandbox: runner, Guard: guard, Rules: rules, Log: slog.New(slog.DiscardHandler),
	})
	for _, slug := range []string{"acme", "globex"} {
		w.exec(t, `INSERT INTO workspaces (slug, name) VALUES ($1, $1)`, slug)
	}
	w.admin = w.person(t, "acme", capability.RoleAdmin)
	w.member = w.person(t, "acme", capability.RoleMember)
	w.viewer = w.person(t, "acme", capability.RoleViewer)
	w.other = w.person(t, "globex", capability.RoleAdmin)
	if err := w.agent.Start(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	<-w.agent.Started()
	t.Cleanup(w.agent.Stop)
	return w
}

func (w *world) exec(t testing.TB, sql string, args ...any) {
	t.Helper()
	if _, err := w.db.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func (w *world) person(t testing.TB, slug string, role capability.Role) capability.Actor {
	t.Helper()
	id := uuid.Must(uuid.NewV7())
	w.exec(t, `INSERT INTO users (id, email, name) VALUES ($1, $2, 'Someone')`, id, id.String()+"@example.com")
	w.exec(t, `INSERT INTO memberships (workspace, subject, role) VALUES ($1, $2, $3)`, slug, id, string(role))
	return capability.Actor{Workspace: slug, Subject: id.String(), Role: role}
}

// code publishes a code tool in the actor's workspace and adopts it there.
func (w *world) code(t testing.TB, by capability.Actor, name, source string, change func(map[string]any)) catalog.VersionInfo {
	t.Helper()
	spec := map[string]any{
		"type": "code", "language": "python", "isReadOnly": true, "code": source,
		"parametersSchema": map[string]any{"type": "object"},
	}
	if change != nil {
		change(spec)
	}
	v := w.publish(t, by, name, spec)
	w.adopt(t, by, v, nil)
	return v
}

func (w *world) publish(t testing.TB, by capability.Actor, name string, spec map[string]any) catalog.VersionInfo {
	t.Helper()
	raw, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	out, err := w.store.Publish(t.Context(), by, catalog.Publication{
		Name: name, Description: "Does " + name + ".", Spec: raw, Visibility: capability.ReachWorkspace,
	})
	if err != nil {
		t.Fatalf("publish %s: %v", name, err)
	}
	return out.Version
}

func (w *world) adopt(t testing.TB, by capability.Actor, v catalog.VersionInfo, bindings map[string]string) {
	t.Helper()
	_, err := w.ws.Adopt(t.Context(), by, workspace.AdoptInput{
		Source: v.Source, ID: v.ID, Version: v.Version, ConsentDigest: v.Digest, SecretBindings: bindings,
	})
	if err != nil {
		t.Fatalf("adopt %s: %v", v.ID, err)
	}
}

// say sends one message in a new conversation, waits for the end of the turn,
// and returns the ledger.
func (w *world) say(t testing.TB, actor capability.Actor, ask agent.Ask) []agent.Entry {
	t.Helper()
	conv, err := w.agent.NewConversation(t.Context(), actor)
	if err != nil {
		t.Fatal(err)
	}
	_, done, err := w.agent.Begin(t.Context(), actor, conv.ID, ask)
	if err != nil {
		t.Fatalf("begin: %v", err)
	}
	<-done
	return w.ledger(t, actor, conv.ID)
}

func (w *world) ledger(t testing.TB, actor capability.Actor, id uuid.UUID) []agent.Entry {
	t.Helper()
	entries, err := w.agent.Ledger(t.Context(), actor, id, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range entries {
		if e.Seq != int64(i+1) {
			t.Fatalf("entry %d has number %d: the ledger has gaps", i, e.Seq)
		}
	}
	return entries
}

// last decodes the payload of the newest entry of the kind.
func last[T any](t testing.TB, entries []agent.Entry, kind agent.EntryKind) T {
	t.Helper()
	var out T
	for i := len(entries) - 1; i >= 0; i-- {
		if entries[i].Kind != kind {
			continue
		}
		if err := json.Unmarshal(entries[i].Payload, &out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	t.Fatalf("no %s among %d entries", kind, len(entries))
	return out
}

func kinds(entries []agent.Entry) []agent.EntryKind {
	var out []agent.EntryKind
	for _, e := range entries {
		out = append(out, e.Kind)
	}
	return out
}

// skill makes a skill of the actor's workspace.
func (w *world) skill(t testing.TB, by capability.Actor, name, instructions string, files ...capability.File) {
	t.Helper()
	_, err := w.ws.CreateSkill(t.Context(), by, workspace.SkillInput{
		Name: name, Description: "How to " + name + ".", Spec: &capability.SkillSpec{Instructions: instructions, Files: files},
	})
	if err != nil {
		t.Fatal(err)
	}
}
