package workspace_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/workspace"
)

func TestConfigOfAFreshWorkspace(t *testing.T) {
	t.Parallel()
	b := setup(t)
	got, err := b.ws.Config(t.Context(), b.viewer)
	wantCode(t, err, "")
	want := workspace.ConfigVersion{Config: capability.AgentConfig{
		Capabilities: []capability.Adoption{}, MCPServers: []capability.RawServer{}, DisabledDefaults: []string{},
		ToolSecretBindings: map[string]map[string]string{}, PermissionMode: capability.ModeAsk,
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if fields := got.Config.Validate(capability.Rules{}); len(fields) > 0 {
		t.Errorf("the empty config is not valid: %v", fields)
	}
}

func TestChangeCutsVersionsThatStay(t *testing.T) {
	t.Parallel()
	b := setup(t)
	say := func(text string) func(*capability.AgentConfig) error {
		return func(c *capability.AgentConfig) error { c.Instructions = text; return nil }
	}
	first, err := b.ws.Change(t.Context(), b.member, 0, "be brief", say("Be brief."))
	wantCode(t, err, "")
	if first.Version != 1 || first.By.Name != "Ben" || first.Note != "be brief" || first.At.IsZero() {
		t.Errorf("first %+v", first)
	}
	_, err = b.ws.Change(t.Context(), b.member, 0, "", say("Be long."))
	if f := wantCode(t, err, "stale_config"); f.Detail["version"] != int32(1) {
		t.Errorf("detail %v", f.Detail)
	}
	again, err := b.ws.Change(t.Context(), b.member, 1, "", say("Be brief."))
	wantCode(t, err, "")
	if again.Version != 1 {
		t.Errorf("a change that changes nothing cut version %d", again.Version)
	}
	_, err = b.ws.Change(t.Context(), b.member, workspace.AnyVersion, "", say("Be long."))
	wantCode(t, err, "")
	old, err := b.ws.ConfigAt(t.Context(), b.viewer, 1)
	wantCode(t, err, "")
	if old.Config.Instructions != "Be brief." {
		t.Errorf("version 1 became %q", old.Config.Instructions)
	}
	history, err := b.ws.History(t.Context(), b.viewer, 0, 0)
	wantCode(t, err, "")
	if len(history) != 2 || history[0].Version != 2 || history[1].Note != "be brief" {
		t.Errorf("history %+v", history)
	}
	_, err = b.ws.ConfigAt(t.Context(), b.viewer, 9)
	wantCode(t, err, "not_found")
}

func TestChangeRefuses(t *testing.T) {
	t.Parallel()
	b := setup(t)
	cases := []struct {
		name   string
		actor  capability.Actor
		mutate func(*capability.AgentConfig)
		code   string
	}{
		{"a viewer", b.viewer, func(c *capability.AgentConfig) { c.Instructions = "x" }, "role_too_low"},
		{"a token that reads", capability.Actor{Workspace: "acme", Subject: b.member.Subject, Role: capability.RoleMember, Scope: capability.ScopeRead},
			func(c *capability.AgentConfig) { c.Instructions = "x" }, "scope_too_narrow"},
		{"a member's mode", b.member, func(c *capability.AgentConfig) { c.PermissionMode = capability.ModeBypass }, "role_too_low"},
		{"a member's policy", b.member, func(c *capability.AgentConfig) {
			c.Policy = []capability.PolicyRule{{Effect: capability.PolicyDeny, Match: "*"}}
		}, "role_too_low"},
		{"a member's model", b.member, func(c *capability.AgentConfig) { c.Model = "big" }, "role_too_low"},
		{"an unknown mode", b.admin, func(c *capability.AgentConfig) { c.PermissionMode = "yolo" }, "invalid"},
		{"an adoption of nothing", b.admin, func(c *capability.AgentConfig) {
			c.Capabilities = []capability.Adoption{{Ref: capability.Ref{Source: "globex", ID: "nothing", Version: "1.0.0"}}}
		}, "not_found"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := b.ws.Change(t.Context(), c.actor, workspace.AnyVersion, "", func(config *capability.AgentConfig) error {
				c.mutate(config)
				return nil
			})
			wantCode(t, err, c.code)
		})
	}
	_, err := b.ws.Change(t.Context(), b.admin, workspace.AnyVersion, "a\nb", func(*capability.AgentConfig) error { return nil })
	wantField(t, err, "/note", "bad_note")
}

func TestNoUpdateIsLost(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const writers = 12
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			_, err := b.ws.Change(t.Context(), b.member, workspace.AnyVersion, "", func(c *capability.AgentConfig) error {
				c.DisabledDefaults = append(c.DisabledDefaults, fmt.Sprintf("tool_%d", i))
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	got, err := b.ws.Config(t.Context(), b.member)
	wantCode(t, err, "")
	if got.Version != writers || len(got.Config.DisabledDefaults) != writers {
		t.Errorf("version %d with %d entries", got.Version, len(got.Config.DisabledDefaults))
	}
}

func TestOneOfTwoFromTheSameVersionWins(t *testing.T) {
	t.Parallel()
	b := setup(t)
	errs := make([]error, 8)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			_, errs[i] = b.ws.Change(context.WithoutCancel(t.Context()), b.member, 0, "", func(c *capability.AgentConfig) error {
				c.Instructions = fmt.Sprint(i)
				return nil
			})
		})
	}
	wg.Wait()
	won := 0
	for _, err := range errs {
		switch {
		case err == nil:
			won++
		case !fault.HasCode(err, "stale_config"):
			t.Error(err)
		}
	}
	if won != 1 {
		t.Errorf("%d writers won", won)
	}
}

func TestHistoryChangesSaysWhatEachVersionDid(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, text := range []string{"Be brief.", "Be long."} {
		_, err := b.ws.Change(t.Context(), b.member, workspace.AnyVersion, "", func(c *capability.AgentConfig) error { c.Instructions = text; return nil })
		wantCode(t, err, "")
	}
	newest, err := b.ws.History(t.Context(), b.viewer, 0, 1)
	wantCode(t, err, "")
	changes, err := b.ws.HistoryChanges(t.Context(), b.viewer, newest)
	wantCode(t, err, "")
	want := map[int][]capability.Change{2: {{
		Path: "/instructions", Op: capability.OpChanged, Before: []byte(`"Be brief."`), After: []byte(`"Be long."`),
	}}}
	if diff := cmp.Diff(want, changes); diff != "" {
		t.Error(diff)
	}
	whole, err := b.ws.History(t.Context(), b.viewer, 0, 0)
	wantCode(t, err, "")
	changes, err = b.ws.HistoryChanges(t.Context(), b.viewer, whole)
	wantCode(t, err, "")
	if len(changes) != 2 || len(changes[1]) != 1 || changes[1][0].Op != capability.OpAdded {
		t.Errorf("the first version is not compared with the empty default: %v", changes)
	}
}
