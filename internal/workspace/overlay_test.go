package workspace_test

import (
	"testing"

	"capstore/internal/capability"
	"capstore/internal/workspace"
)

func TestSwitchFollowsTheWorkspaceWhenCleared(t *testing.T) {
	t.Parallel()
	b := setup(t)
	v := b.publish(t, b.boss, public, code("Tool", nil), "")
	b.adopted(t, b.member, adopt(v))
	off := false
	r, err := b.ws.SetSwitch(t.Context(), b.viewer, keyOf(v), &off)
	wantCode(t, err, "")
	if r.Enabled || r.Reason != capability.OffYou || r.Override == nil {
		t.Errorf("row %+v", r.Row)
	}
	if r := b.row(t, b.member, keyOf(v)); !r.Enabled {
		t.Error("one member's switch moved another's")
	}
	r, err = b.ws.SetSwitch(t.Context(), b.viewer, keyOf(v), nil)
	wantCode(t, err, "")
	if !r.Enabled || r.Override != nil {
		t.Errorf("row %+v", r.Row)
	}
	_, err = b.ws.Unadopt(t.Context(), b.member, v.Source, v.ID)
	wantCode(t, err, "")
	_, err = b.ws.SetSwitch(t.Context(), b.viewer, keyOf(v), &off)
	wantCode(t, err, "not_found")
}

func TestSwitchRefuses(t *testing.T) {
	t.Parallel()
	b := setup(t)
	guard := b.publish(t, b.boss, public, hook("Guard", capability.FailClosed), "")
	b.adopted(t, b.member, adopt(guard))
	private := b.publish(t, b.member, own, code("Private", nil), "")
	foreign := b.publish(t, b.boss, public, code("Foreign", nil), "")
	off, on := false, true
	cases := []struct {
		name  string
		actor capability.Actor
		key   capability.Key
		on    *bool
		code  string
	}{
		{"a required hook", b.viewer, keyOf(guard), &off, "required_here"},
		{"another's private one", b.admin, keyOf(private), &on, "not_found"},
		{"not adopted here", b.member, keyOf(foreign), &on, "not_found"},
		{"no key", b.member, "nonsense", &on, "not_found"},
		{"an unknown skill", b.member, capability.SkillKey("nothing"), &on, "not_found"},
		{"a token that reads", capability.Actor{Workspace: "acme", Subject: b.member.Subject, Role: capability.RoleMember, Scope: capability.ScopeRead},
			keyOf(guard), nil, "scope_too_narrow"},
		{"a former member", capability.Actor{Workspace: "globex", Subject: b.member.Subject, Role: capability.RoleMember}, keyOf(guard), nil, "not_found"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := b.ws.SetSwitch(t.Context(), c.actor, c.key, c.on)
			wantCode(t, err, c.code)
		})
	}
	if r := b.row(t, b.viewer, keyOf(guard)); !r.Enabled {
		t.Error("the required hook is off")
	}
}

func TestUnadoptedPublicationIsPinnedWhenSwitchedOn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	v := b.publish(t, b.member, within, code("Tool", writes), "")
	pin := func(actor capability.Actor) string { return b.row(t, actor, keyOf(v)).Version }
	b.set(t, b.viewer, keyOf(v), true)
	b.set(t, b.member, keyOf(v), true)
	b.publish(t, b.member, "", code("Tool", func(s *capability.CodeSpec) { writes(s); s.Code = "print(2)" }), "")
	b.set(t, b.viewer, keyOf(v), true)
	if got := pin(b.viewer); got != "1.0.0" {
		t.Errorf("the pin moved to %s", got)
	}
	if got := pin(b.admin); got != "1.0.1" {
		t.Errorf("what is off shows %s", got)
	}
	if f := b.row(t, b.viewer, keyOf(v)).Functions[0]; f.Allowed {
		t.Error("a colleague's writing tool may write without an adoption")
	}
	if f := b.row(t, b.member, keyOf(v)).Functions[0]; !f.Allowed {
		t.Error("one's own tool may not write")
	}
	b.set(t, b.viewer, keyOf(v), false)
	b.set(t, b.viewer, keyOf(v), true)
	if got := pin(b.viewer); got != "1.0.1" {
		t.Errorf("switching off and on keeps %s", got)
	}
}

func TestEndedAdoptionLeavesTheMembersPin(t *testing.T) {
	t.Parallel()
	b := setup(t)
	v := b.publish(t, b.member, within, code("Tool", nil), "")
	b.adopted(t, b.member, adopt(v))
	b.set(t, b.viewer, keyOf(v), true)
	b.publish(t, b.member, "", code("Tool", func(s *capability.CodeSpec) { s.Code = "print(2)" }), "")
	_, err := b.ws.Unadopt(t.Context(), b.member, v.Source, v.ID)
	wantCode(t, err, "")
	if r := b.row(t, b.viewer, keyOf(v)); !r.Enabled || r.Version != "1.0.0" || r.Reason != capability.OnYou {
		t.Errorf("row %+v at %s", r.Row, r.Version)
	}
	if r := b.row(t, b.admin, keyOf(v)); r.Enabled {
		t.Error("it stayed on for who had not switched it on")
	}
}

func TestSecretsOfARow(t *testing.T) {
	t.Parallel()
	b := setup(t)
	v := b.publish(t, b.boss, public, code("Tool", needs("A", "B")), "")
	b.adopted(t, b.member, adopt(v))
	local := b.publish(t, b.member, within, code("Local", needs("A")), "")
	b.secret(t, b.admin, "", "SHARED")
	b.secret(t, b.member, b.member.Subject, "OWN")

	_, err := b.ws.BindSecrets(t.Context(), b.member, keyOf(v), map[string]string{"A": "SHARED", "B": "OWN"})
	wantCode(t, err, "")
	d, err := b.ws.Tool(t.Context(), b.member, keyOf(v))
	wantCode(t, err, "")
	want := []workspace.SecretStatus{
		{RequiredSecret: capability.RequiredSecret{Name: "A"}, Bound: "SHARED", Available: true},
		{RequiredSecret: capability.RequiredSecret{Name: "B"}, Bound: "OWN", Available: true, Own: true},
	}
	if len(d.Secrets) != 2 || d.Secrets[0] != want[0] || d.Secrets[1] != want[1] || !d.Enabled || !d.Editable {
		t.Errorf("detail %+v", d)
	}
	if spec, ok := d.Content.Spec.(*capability.CodeSpec); !ok || spec.Code == "" || d.Transport != workspace.TransportSandbox || d.Target != "python" {
		t.Errorf("content %+v by %s to %s", d.Content, d.Transport, d.Target)
	}
	d, err = b.ws.Tool(t.Context(), b.viewer, keyOf(v))
	wantCode(t, err, "")
	if d.Enabled || d.Reason != capability.HeldSetup || d.Editable || len(d.Missing) != 1 || d.Missing[0].Name != "B" {
		t.Errorf("the viewer's %+v", d.Row)
	}

	_, err = b.ws.BindSecrets(t.Context(), b.member, keyOf(v), map[string]string{"B": ""})
	wantCode(t, err, "")
	if r := b.row(t, b.member, keyOf(v)); len(r.Missing) != 1 || r.Grant.SecretBindings["A"] != "SHARED" {
		t.Errorf("after unbinding: %+v", r.Grant)
	}
	_, err = b.ws.BindSecrets(t.Context(), b.member, keyOf(local), map[string]string{"A": "SHARED"})
	wantCode(t, err, "")
	if r := b.row(t, b.viewer, keyOf(local)); len(r.Missing) != 0 {
		t.Errorf("a publication's binding does not hold: %+v", r.Missing)
	}
	_, err = b.ws.BindSecrets(t.Context(), b.member, keyOf(v), map[string]string{"C": "SHARED", "A": "bad name"})
	wantField(t, err, "/secretBindings/C", "not_declared")
	wantField(t, err, "/secretBindings/A", "bad_secret_name")
	_, err = b.ws.BindSecrets(t.Context(), b.viewer, keyOf(v), nil)
	wantCode(t, err, "role_too_low")
	_, err = b.ws.BindSecrets(t.Context(), b.other, keyOf(local), map[string]string{"A": "SHARED"})
	wantCode(t, err, "not_found")
}
