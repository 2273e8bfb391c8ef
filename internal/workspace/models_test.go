package workspace_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/workspace"
)

var claude = workspace.ModelInput{
	Name: "claude", Provider: workspace.ProviderAnthropic, Underlying: "claude-sonnet-4-5", Secret: "ANTHROPIC_API_KEY",
	Price: workspace.Price{Input: "3", Cached: "0.3", Output: "15"}, ContextTokens: 200_000,
}

var local = workspace.ModelInput{Name: "qwen3:8b", Provider: workspace.ProviderOpenAI, BaseURL: "https://models.example.com/v1/", Underlying: "qwen3:8b"}

func (b *bundle) register(t testing.TB, by capability.Actor, in workspace.ModelInput) workspace.Model {
	t.Helper()
	m, err := b.ws.RegisterModel(t.Context(), by, in)
	wantCode(t, err, "")
	return m
}

// think sets what the actor's workspace thinks with.
func (b *bundle) think(t testing.TB, by capability.Actor, name string) error {
	t.Helper()
	_, err := b.ws.Change(t.Context(), by, workspace.AnyVersion, "", func(c *capability.AgentConfig) error {
		c.Model = name
		return nil
	})
	return err
}

func TestModelIsRegisteredChangedAndRemoved(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx := t.Context()
	got := b.register(t, b.admin, claude)
	want := workspace.Model{
		Name: "claude", Provider: "anthropic", BaseURL: "https://api.anthropic.com", Underlying: "claude-sonnet-4-5",
		Secret: "ANTHROPIC_API_KEY", Price: claude.Price, ContextTokens: 200_000, By: workspace.Person{Subject: b.admin.Subject, Name: "Ada"}, Revision: 1,
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(workspace.Model{}, "CreatedAt", "UpdatedAt")); diff != "" {
		t.Errorf("registered (-want +got):\n%s", diff)
	}
	_, err := b.ws.RegisterModel(ctx, b.admin, claude)
	wantField(t, err, "/name", "model_exists")
	if m := b.register(t, b.boss, claude); m.Revision != 1 {
		t.Error("another workspace's model stands in the way")
	}
	if m := b.register(t, b.admin, local); m.BaseURL != "https://models.example.com/v1" || m.Lacks() != "" {
		t.Errorf("got %+v", m)
	}

	same, err := b.ws.UpdateModel(ctx, b.admin, "claude", 1, claude)
	wantCode(t, err, "")
	if same.Revision != 1 {
		t.Error("an equal update moved the revision")
	}
	changed := claude
	changed.Name, changed.Underlying, changed.Price.Input = "another", "claude-opus-4-5", "5.50"
	now, err := b.ws.UpdateModel(ctx, b.admin, "claude", 1, changed)
	wantCode(t, err, "")
	if now.Name != "claude" || now.Underlying != "claude-opus-4-5" || now.Price.Input != "5.5" || now.Revision != 2 {
		t.Errorf("got %+v", now)
	}
	_, err = b.ws.UpdateModel(ctx, b.admin, "claude", 1, claude)
	wantCode(t, err, "stale_revision")
	_, err = b.ws.UpdateModel(ctx, b.admin, "nothing", 0, claude)
	wantCode(t, err, "not_found")

	wantCode(t, b.ws.DeleteModel(ctx, b.admin, "claude", 1), "stale_revision")
	wantCode(t, b.ws.DeleteModel(ctx, b.admin, "claude", 2), "")
	wantCode(t, b.ws.DeleteModel(ctx, b.admin, "claude", 0), "not_found")
	all, err := b.ws.Models(ctx, b.viewer)
	wantCode(t, err, "")
	if len(all) != 1 || all[0].Name != "qwen3:8b" {
		t.Errorf("left over: %+v", all)
	}
	if _, err := b.ws.Model(ctx, b.boss, "claude"); err != nil {
		t.Errorf("the other workspace's is gone too: %v", err)
	}
}

func TestModelsTakeAnAdmin(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx := t.Context()
	b.register(t, b.admin, claude)
	for name, actor := range map[string]capability.Actor{"member": b.member, "viewer": b.viewer} {
		_, err := b.ws.RegisterModel(ctx, actor, local)
		wantCode(t, err, "role_too_low")
		_, err = b.ws.UpdateModel(ctx, actor, "claude", 0, local)
		wantCode(t, err, "role_too_low")
		wantCode(t, b.ws.DeleteModel(ctx, actor, "claude", 0), "role_too_low")
		wantCode(t, b.think(t, actor, "claude"), "role_too_low")
		if _, err := b.ws.Model(ctx, actor, "claude"); err != nil {
			t.Errorf("a %s may not see the models: %v", name, err)
		}
	}
	outsider := capability.Actor{Workspace: "acme", Subject: b.boss.Subject, Role: capability.RoleAdmin}
	_, err := b.ws.Model(ctx, outsider, "claude")
	wantCode(t, err, "not_found")
	_, err = b.ws.ModelFor(ctx, outsider, "claude")
	wantCode(t, err, "not_found")
}

func TestModelFaultsAreListedAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	cases := []struct {
		name   string
		change func(*workspace.ModelInput)
		want   []string // path code
	}{
		{"nothing at all", func(in *workspace.ModelInput) { *in = workspace.ModelInput{} }, []string{"/model required", "/provider not_allowed"}},
		{"a name that an address has", func(in *workspace.ModelInput) { in.Name = "new" }, []string{"/name bad_model_name"}},
		{"a name with a space", func(in *workspace.ModelInput) { in.Name = "My Model" }, []string{"/name bad_model_name"}},
		{"a long name", func(in *workspace.ModelInput) { in.Name = strings.Repeat("a", 65) }, []string{"/name bad_model_name"}},
		{"a line break", func(in *workspace.ModelInput) { in.Underlying = "a\nb" }, []string{"/model bad_model"}},
		{"http", func(in *workspace.ModelInput) { in.BaseURL = "http://models.example.com" }, []string{"/baseUrl tls_required"}},
		{"a private address", func(in *workspace.ModelInput) { in.BaseURL = "https://10.0.0.7/v1" }, []string{"/baseUrl address_refused"}},
		{"the metadata address", func(in *workspace.ModelInput) { in.BaseURL = "http://169.254.169.254" }, []string{"/baseUrl address_refused"}},
		{"a query", func(in *workspace.ModelInput) { in.BaseURL = "https://models.example.com/v1?key=x" }, []string{"/baseUrl bad_url"}},
		{"no address", func(in *workspace.ModelInput) { in.BaseURL = "models" }, []string{"/baseUrl bad_url"}},
		{"a secret's value for its name", func(in *workspace.ModelInput) { in.Secret = "sk-ant-api03" }, []string{"/secret bad_secret_name"}},
		{"odd prices", func(in *workspace.ModelInput) {
			in.Price = workspace.Price{Input: "-1", Cached: "1e9", Output: "$3"}
		}, []string{"/priceInput bad_price", "/priceOutput bad_price", "/priceCached bad_price"}},
		{"a context below zero", func(in *workspace.ModelInput) { in.ContextTokens = -1 }, []string{"/contextTokens out_of_range"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			in := claude
			c.change(&in)
			_, err := b.ws.RegisterModel(t.Context(), b.admin, in)
			var got []string
			for _, f := range fault.From(err).Fields {
				got = append(got, f.Path+" "+f.Code)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
	if all, err := b.ws.Models(t.Context(), b.admin); err != nil || len(all) > 0 {
		t.Errorf("half written: %v %v", all, err)
	}
}

func TestModelNameComesFromTheModel(t *testing.T) {
	t.Parallel()
	b := setup(t)
	m := b.register(t, b.admin, workspace.ModelInput{Provider: workspace.ProviderOpenAI, Underlying: "Qwen/Qwen3-8B"})
	if m.Name != "qwen-qwen3-8b" || m.BaseURL != "https://api.openai.com/v1" {
		t.Errorf("got %+v", m)
	}
}

// TestModelPrecedence is a law over every combination of choices: the
// conversation's goes before the member's, that before the workspace's, and
// what was chosen is used or refused by name.
func TestModelPrecedence(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.register(t, b.admin, claude) // its secret is not set
	b.register(t, b.admin, local)
	gone := local
	gone.Name = "gone"
	b.register(t, b.admin, gone)
	names := rapid.SampledFrom([]string{"", "claude", "qwen3:8b", "gone"})
	rapid.Check(t, func(rt *rapid.T) {
		conversation, own, shared := names.Draw(rt, "conversation"), names.Draw(rt, "own"), rapid.SampledFrom([]string{"", "claude", "qwen3:8b"}).Draw(rt, "shared")
		_, _ = b.ws.RegisterModel(t.Context(), b.admin, gone)
		if err := b.think(t, b.admin, shared); err != nil {
			rt.Fatal(err)
		}
		if err := b.ws.ChooseModel(t.Context(), b.viewer, own); err != nil {
			rt.Fatal(err)
		}
		if err := b.ws.DeleteModel(t.Context(), b.admin, "gone", 0); err != nil {
			rt.Fatal(err)
		}
		want, from := "", workspace.FromNone
		for _, c := range []struct {
			name string
			from workspace.ChosenFrom
		}{{shared, workspace.FromWorkspace}, {own, workspace.FromMember}, {conversation, workspace.FromConversation}} {
			if c.name != "" {
				want, from = c.name, c.from
			}
		}
		code := map[string]string{"claude": "model_key_missing", "gone": "model_gone"}[want]
		got, err := b.ws.ModelFor(t.Context(), b.viewer, conversation)
		if got.From != from || got.Model.Name != want || code != "" && !fault.HasCode(err, code) || code == "" && err != nil {
			rt.Fatalf("got %s from %s and %v, want %s from %s and %q", got.Model.Name, got.From, err, want, from, code)
		}
		if code != "" && (!strings.Contains(fault.From(err).Message, want) || fault.From(err).Action == "") {
			rt.Fatalf("%v names neither the model nor who can mend it", err)
		}
	})
}

func TestModelKeyIsTheMembersOwnOrTheWorkspaces(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.register(t, b.admin, claude)
	wantCode(t, b.think(t, b.admin, "claude"), "")
	usable := func(actor capability.Actor, code string) {
		t.Helper()
		_, err := b.ws.ModelFor(t.Context(), actor, "")
		wantCode(t, err, code)
	}
	usable(b.member, "model_key_missing")
	b.secret(t, b.member, b.member.Subject, "ANTHROPIC_API_KEY")
	usable(b.member, "")
	usable(b.viewer, "model_key_missing")
	b.secret(t, b.member, "", "ANTHROPIC_API_KEY")
	usable(b.viewer, "")
	m, err := b.ws.Model(t.Context(), b.member, "claude")
	wantCode(t, err, "")
	if !m.OwnSecret || !m.SharedSecret {
		t.Errorf("got %+v", m)
	}
}

func TestModelInUseStays(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx := t.Context()
	b.register(t, b.admin, local)
	wantField(t, b.think(t, b.admin, "nothing"), "/model", "no_such_model")
	wantCode(t, b.think(t, b.admin, local.Name), "")
	wantField(t, b.ws.ChooseModel(ctx, b.viewer, "nothing"), "/model", "no_such_model")
	wantCode(t, b.ws.ChooseModel(ctx, b.viewer, local.Name), "")
	m, err := b.ws.Model(ctx, b.member, local.Name)
	wantCode(t, err, "")
	if m.ChosenBy != 1 {
		t.Errorf("chosen by %d, want 1", m.ChosenBy)
	}
	wantCode(t, b.ws.DeleteModel(ctx, b.admin, local.Name, 0), "model_in_use")
	wantCode(t, b.think(t, b.admin, ""), "")
	wantCode(t, b.ws.DeleteModel(ctx, b.admin, local.Name, 0), "")
	_, err = b.ws.ModelFor(ctx, b.viewer, "")
	wantCode(t, err, "model_gone")
	wantCode(t, b.ws.ChooseModel(ctx, b.viewer, ""), "")
	got, err := b.ws.ModelFor(ctx, b.viewer, "")
	wantCode(t, err, "")
	if got.From != workspace.FromNone {
		t.Errorf("from %s, want none", got.From)
	}
}

// TestModelRemovedOrChosen races the two: never is the workspace set to a model
// that is not there.
func TestModelRemovedOrChosen(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for i := range 10 {
		in := local
		in.Name = fmt.Sprintf("model-%d", i)
		b.register(t, b.admin, in)
		var chosen, removed error
		var both sync.WaitGroup
		both.Go(func() { chosen = b.think(t, b.admin, in.Name) })
		both.Go(func() { removed = b.ws.DeleteModel(t.Context(), b.admin, in.Name, 0) })
		both.Wait()
		if (chosen == nil) == (removed == nil) {
			t.Fatalf("chosen: %v, removed: %v", chosen, removed)
		}
	}
}

func TestModelsEverywhere(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.exec(t, `INSERT INTO memberships (workspace, subject, role) VALUES ('globex', $1, 'viewer')`, b.member.Subject)
	b.register(t, b.admin, local)
	b.register(t, b.boss, claude)
	wantCode(t, b.think(t, b.boss, "claude"), "")
	wantCode(t, b.ws.ChooseModel(t.Context(), b.member, local.Name), "")
	got, err := b.ws.ModelsEverywhere(t.Context(), b.member.Subject)
	wantCode(t, err, "")
	want := []workspace.Choices{
		{Workspace: "acme", WorkspaceName: "Acme", Own: local.Name, Models: []workspace.Model{{Name: local.Name, Underlying: "qwen3:8b"}}},
		{Workspace: "globex", WorkspaceName: "Globex", Shared: "claude", Models: []workspace.Model{{Name: "claude", Underlying: "claude-sonnet-4-5", Secret: "ANTHROPIC_API_KEY"}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got, err := b.ws.ModelsEverywhere(t.Context(), b.other.Subject); err != nil || len(got) != 1 || got[0].Workspace != "globex" {
		t.Errorf("got %v %v", got, err)
	}
}
