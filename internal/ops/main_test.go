package ops

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"capstore/internal/agent"
	"capstore/internal/agent/sandbox"
	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/identity"
	"capstore/internal/pg/pgtest"
	"capstore/internal/secret"
	"capstore/internal/workspace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// house is the services over a database with the workspace acme, one person of
// each role, and a maker to whom the others' things belong.
type house struct {
	t *testing.T
	Services
	subjects map[string]string
	count    *atomic.Int64
}

const maker = "maker"

func newHouse(t *testing.T) *house {
	t.Helper()
	db, log := pgtest.New(t), slog.New(slog.DiscardHandler)
	secrets, err := secret.Open(t.Context(), db, secret.Config{KeyFile: filepath.Join(t.TempDir(), "secret.key")})
	must(t, err)
	runner, err := sandbox.NewRunner(sandbox.Options{Folder: t.TempDir()})
	must(t, err)
	store := catalog.New(db, catalog.Options{})
	spaces := workspace.New(db, store, workspace.Options{})
	chat := agent.New(agent.Parts{DB: db, Catalog: store, Workspace: spaces, Secrets: secrets, Sandbox: runner, Log: log})
	must(t, chat.Start(t.Context()))
	t.Cleanup(chat.Stop)
	h := &house{t: t, subjects: map[string]string{}, count: new(atomic.Int64), Services: Services{
		Identity: identity.New(db), Catalog: store, Workspace: spaces, Secrets: secrets, Agent: chat,
	}}
	must(t, h.Identity.EnsureWorkspace(t.Context(), "acme", "Acme"))
	for _, role := range capability.Roles {
		h.subjects[string(role)] = h.join(string(role), role)
	}
	h.subjects[maker] = h.join(maker, capability.RoleAdmin)
	return h
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (h *house) join(name string, role capability.Role) string {
	h.t.Helper()
	u, err := h.Identity.EnsureUser(h.t.Context(), identity.NewUser{Email: name + "@acme.test", Name: name})
	must(h.t, err)
	must(h.t, h.Identity.EnsureMember(h.t.Context(), "acme", u.Subject, role))
	return u.Subject
}

// who is the person of the role, by a session or by a token of the scope.
func (h *house) who(role capability.Role, scope capability.Scope) identity.Principal {
	return identity.Principal{Subject: h.subjects[string(role)], Workspace: "acme", Role: role, Scope: scope}
}

// as is a person with the rights of an admin, for arranging what he owns.
func (h *house) as(name string) capability.Actor {
	return capability.Actor{Workspace: "acme", Subject: h.subjects[name], Role: capability.RoleAdmin}
}

// fresh is a name that nothing has yet.
func (h *house) fresh() string { return fmt.Sprintf("thing-%d", h.count.Add(1)) }

const codeSpec = `{"type":"code","language":"python","isReadOnly":true,"code":"print('{}')",
	"parametersSchema":{"type":"object","required":["x"]},"requiredSecrets":[{"name":"KEY"}]}`

// capability publishes one of the owner's, with two versions and the maintainers.
func (h *house) capability(owner string, maintainers ...string) string {
	h.t.Helper()
	id := h.fresh()
	for _, note := range []string{"one", "two"} {
		p := catalog.Publication{ID: id, Name: id, Description: note, Spec: json.RawMessage(codeSpec)}
		if note == "one" {
			p.Visibility = capability.ReachWorkspace
		}
		_, err := h.Catalog.Publish(h.t.Context(), h.as(owner), p)
		must(h.t, err)
	}
	if len(maintainers) > 0 {
		must(h.t, h.Catalog.Update(h.t.Context(), h.as(owner), "acme", id, catalog.Patch{Maintainers: &maintainers}))
	}
	return id
}

func (h *house) adopted() string {
	h.t.Helper()
	id := h.capability(maker)
	_, err := h.Workspace.Adopt(h.t.Context(), h.as(maker), workspace.AdoptInput{Source: "acme", ID: id, Version: "1.0.1"})
	must(h.t, err)
	return id
}

func skillContent(name string) SkillContent {
	return SkillContent{Name: name, Description: "A skill.", Spec: json.RawMessage(`{"type":"skill","instructions":"Do it."}`)}
}

// skill is one of the library, stamped once.
func (h *house) skill() string {
	h.t.Helper()
	in, err := skillContent(h.fresh()).input()
	must(h.t, err)
	in.Version = "1.0.0"
	k, err := h.Workspace.CreateSkill(h.t.Context(), h.as(maker), in)
	must(h.t, err)
	return k.ID
}

// model is a registered model.
func (h *house) model() string {
	h.t.Helper()
	m, err := h.Workspace.RegisterModel(h.t.Context(), h.as(maker), workspace.ModelInput{
		Name: h.fresh(), Provider: workspace.ProviderOpenAI, Underlying: "qwen3:8b",
	})
	must(h.t, err)
	return m.Name
}

// published is a skill of the store.
func (h *house) published() string {
	h.t.Helper()
	id := h.fresh()
	_, err := h.Catalog.Publish(h.t.Context(), h.as(maker), catalog.Publication{
		ID: id, Name: id, Description: "A skill.", Spec: json.RawMessage(`{"type":"skill","instructions":"Do it."}`), Visibility: capability.ReachWorkspace,
	})
	must(h.t, err)
	return id
}
