package workspace_test

import (
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/fault"
	"capstore/internal/workspace"
)

const (
	public = capability.ReachPublic
	within = capability.ReachWorkspace
	own    = capability.ReachPrivate
)

func TestAdoptRefuses(t *testing.T) {
	t.Parallel()
	b := setup(t)
	foreign := b.publish(t, b.boss, public, code("Foreign", needs("KEY")), "")
	hidden := b.publish(t, b.other, within, code("Hidden", nil), "")
	private := b.publish(t, b.member, own, code("Private", nil), "")
	skill := b.publish(t, b.boss, public, skillDoc("Skill", "Do it."), "")
	withdrawn := b.publish(t, b.boss, public, mcp("Withdrawn", nil), "")
	b.exec(t, `UPDATE capability_versions SET withdrawn_at = now() WHERE name = 'Withdrawn'`)
	blocked := b.publish(t, b.boss, public, mcp("Blocked", nil), "")
	b.exec(t, `UPDATE capability_versions SET blocked_at = now(), blocked_reason = 'leaks keys' WHERE name = 'Blocked'`)
	dead := b.publish(t, b.boss, public, mcp("Dead", nil), "")
	b.exec(t, `UPDATE capabilities SET tombstoned_at = now() WHERE id = 'dead'`)
	first := b.publish(t, b.boss, public, mcp("Some Server", nil), "")
	second := b.publish(t, b.member, within, mcp("some_server", nil), "")
	b.adopted(t, b.member, adopt(first))

	noConsent := adopt(foreign)
	noConsent.ConsentDigest = ""
	unknownSecret := adopt(foreign)
	unknownSecret.SecretBindings = map[string]string{"OTHER": "KEY", "KEY": "not a name"}
	host := adopt(foreign)
	host.Egress = []string{"evil.example.com"}
	missing := adopt(foreign)
	missing.Version = "9.9.9"

	cases := []struct {
		name  string
		actor capability.Actor
		in    workspace.AdoptInput
		code  string
	}{
		{"a viewer", b.viewer, adopt(foreign), "role_too_low"},
		{"without consent", b.member, noConsent, "consent_required"},
		{"consent to another digest", b.member, func() workspace.AdoptInput { i := noConsent; i.ConsentDigest = skill.Digest; return i }(), "consent_required"},
		{"what is hidden", b.member, adopt(hidden), "not_found"},
		{"what does not exist", b.member, missing, "not_found"},
		{"tombstoned", b.member, adopt(dead), "not_found"},
		{"withdrawn", b.member, adopt(withdrawn), "version_withdrawn"},
		{"blocked", b.member, adopt(blocked), "version_blocked"},
		{"a private one", b.member, adopt(private), "reach_too_narrow"},
		{"another's private one", b.admin, adopt(private), "not_found"},
		{"a skill", b.member, adopt(skill), "not_adoptable"},
		{"undeclared secret", b.member, unknownSecret, "invalid"},
		{"undeclared host", b.member, host, "invalid"},
		{"a name that is taken", b.member, adopt(second), "name_taken"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := b.ws.Adopt(t.Context(), c.actor, c.in)
			f := wantCode(t, err, c.code)
			switch c.code {
			case "consent_required":
				if f.Kind != fault.Conflict || f.Detail["digest"] != foreign.Digest {
					t.Errorf("fault %v %v", f.Kind, f.Detail)
				}
			case "name_taken":
				if f.Detail["source"] != "globex" || f.Detail["id"] != "some-server" {
					t.Errorf("names %v", f.Detail)
				}
			}
		})
	}
	_, err := b.ws.Adopt(t.Context(), b.member, unknownSecret)
	wantField(t, err, "/secretBindings/OTHER", "not_declared")
	_, err = b.ws.Adopt(t.Context(), b.member, host)
	wantField(t, err, "/egress/0", "not_declared")
}

func TestAdoptPinsAndCounts(t *testing.T) {
	t.Parallel()
	b := setup(t)
	v := b.publish(t, b.boss, public, code("Tidy", needs("KEY")), "")
	in := adopt(v)
	in.SecretBindings = map[string]string{"KEY": "ACME_KEY"}
	got := b.adopted(t, b.member, in)
	a := got.Config.Adopted("globex", "tidy")
	want := capability.Adoption{
		Ref: capability.Ref{Source: "globex", ID: "tidy", Version: "1.0.0"}, SecretBindings: in.SecretBindings,
		ToolClasses: map[string]capability.ToolClass{"Tidy": capability.ClassRead}, ConsentDigest: v.Digest,
		AdoptedBy: b.member.Subject, AdoptedAt: a.AdoptedAt,
	}
	if diff := cmp.Diff(want, *a); diff != "" || a.AdoptedAt.IsZero() {
		t.Error(diff)
	}
	if again := b.adopted(t, b.admin, in); again.Version != got.Version {
		t.Errorf("adopting the same again cut version %d", again.Version)
	}
	if n := b.adopters(t, v); n != 1 {
		t.Errorf("%d adopters", n)
	}
	b.publish(t, b.boss, "", code("Tidy", needs("KEY", "MORE")), "")
	if r := b.row(t, b.viewer, keyOf(v)); r.Version != "1.0.0" || r.LatestVisible != "1.0.1" || !r.UpdateAvailable {
		t.Errorf("the pin moved by itself: %+v", r)
	}
	_, err := b.ws.Unadopt(t.Context(), b.member, "globex", "tidy")
	wantCode(t, err, "")
	if n := b.adopters(t, v); n != 0 {
		t.Errorf("%d adopters", n)
	}
	_, err = b.ws.Unadopt(t.Context(), b.member, "globex", "tidy")
	wantCode(t, err, "not_found")
}

func (b *bundle) adopters(t *testing.T, v catalog.VersionInfo) (n int) {
	t.Helper()
	if err := b.db.QueryRow(t.Context(), `SELECT adopters FROM capabilities WHERE source = $1 AND id = $2`, v.Source, v.ID).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestRepinKeepsWhatApplies(t *testing.T) {
	t.Parallel()
	b := setup(t)
	one := b.publish(t, b.member, within, code("Fetch", func(s *capability.CodeSpec) {
		needs("A", "B")(s)
		s.Egress = []string{"a.example.com", "b.example.com"}
	}), "")
	in := adopt(one)
	in.SecretBindings = map[string]string{"A": "SA", "B": "SB"}
	in.Egress = []string{"a.example.com", "b.example.com"}
	b.adopted(t, b.member, in)
	two := b.publish(t, b.member, "", code("Fetch", func(s *capability.CodeSpec) {
		needs("A", "C")(s)
		s.Egress = []string{"b.example.com", "c.example.com"}
	}), "")
	a := b.adopted(t, b.admin, adopt(two)).Config.Adopted("acme", "fetch")
	if diff := cmp.Diff(map[string]string{"A": "SA"}, a.SecretBindings); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"b.example.com"}, a.Egress); diff != "" {
		t.Error(diff)
	}
	if a.Version != "1.0.1" || a.AdoptedBy != b.admin.Subject || a.ConsentDigest != "" {
		t.Errorf("adoption %+v", a)
	}
}

func TestRepinThatWritesAsksAgain(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	read, write := capability.ClassRead, capability.ClassWrite
	cases := []struct {
		name          string
		before, after capability.Content
		in            workspace.AdoptInput // of the first adoption
		again         *bool
		code          string
		enabled       bool
	}{
		{"a reader begins to write", code("Tool", nil), code("Tool", writes), workspace.AdoptInput{EnableWrite: &yes}, nil, "write_consent_required", false},
		{"said again", code("Tool", nil), code("Tool", writes), workspace.AdoptInput{EnableWrite: &yes}, &yes, "", true},
		{"said otherwise", code("Tool", nil), code("Tool", writes), workspace.AdoptInput{EnableWrite: &yes}, &no, "", false},
		{"never opted in", code("Tool", nil), code("Tool", writes), workspace.AdoptInput{}, nil, "", false},
		{"the same writer", code("Tool", writes), code("Tool", func(s *capability.CodeSpec) { writes(s); s.Code = "print(2)" }),
			workspace.AdoptInput{EnableWrite: &yes}, nil, "", true},
		{"a server's new writer", mcp("S", map[string]capability.ToolClass{"get": read, "put": write}),
			mcp("S", map[string]capability.ToolClass{"get": read, "put": write, "drop": write}),
			workspace.AdoptInput{EnableWrite: &yes}, nil, "write_consent_required", false},
		{"a server's new writer, narrowed", mcp("S", map[string]capability.ToolClass{"get": read, "put": write}),
			mcp("S", map[string]capability.ToolClass{"get": read, "put": write, "drop": write}),
			workspace.AdoptInput{EnableWrite: &yes, WriteTools: []string{"put"}}, nil, "", true},
		{"a server's new reader", mcp("S", map[string]capability.ToolClass{"put": write}),
			mcp("S", map[string]capability.ToolClass{"put": write, "get": read}),
			workspace.AdoptInput{EnableWrite: &yes}, nil, "", true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			one := b.publish(t, b.boss, public, c.before, "")
			first := adopt(one)
			first.EnableWrite, first.WriteTools = c.in.EnableWrite, c.in.WriteTools
			b.adopted(t, b.member, first)
			two := adopt(b.publish(t, b.boss, "", c.after, ""))
			two.EnableWrite = c.again
			got, err := b.ws.Adopt(t.Context(), b.member, two)
			wantCode(t, err, c.code)
			if err != nil {
				return
			}
			a := got.Config.Capabilities[0]
			if a.EnableWrite != c.enabled {
				t.Errorf("writes: %v", a.EnableWrite)
			}
			if len(c.in.WriteTools) > 0 && a.Allows("drop") {
				t.Error("the narrowed opt-in widened")
			}
		})
	}
}

func TestAuthorsNewWordBeatsTheAdoptersOld(t *testing.T) {
	t.Parallel()
	b := setup(t)
	v := b.publish(t, b.boss, public, mcp("S", map[string]capability.ToolClass{"a": "read", "b": "read"}), "")
	in := adopt(v)
	in.ToolClasses = map[string]capability.ToolClass{"a": "write", "b": "read", "x": "read"}
	b.adopted(t, b.member, in)
	v = b.publish(t, b.boss, "", mcp("S", map[string]capability.ToolClass{"a": "read", "b": "write"}), "")
	got := b.adopted(t, b.member, adopt(v)).Config.Capabilities[0].ToolClasses
	want := map[string]capability.ToolClass{"a": "write", "b": "write", "x": "read"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestTwoAdoptTheSameNameAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ins := []workspace.AdoptInput{
		adopt(b.publish(t, b.boss, public, mcp("Files", nil), "")),
		adopt(b.publish(t, b.member, within, mcp("FILES", nil), "")),
	}
	errs := make([]error, len(ins))
	var wg sync.WaitGroup
	for i, in := range ins {
		wg.Go(func() { _, errs[i] = b.ws.Adopt(t.Context(), b.member, in) })
	}
	wg.Wait()
	if (errs[0] == nil) == (errs[1] == nil) {
		t.Fatalf("want one winner: %v, %v", errs[0], errs[1])
	}
	for _, err := range errs {
		if err != nil {
			wantCode(t, err, "name_taken")
		}
	}
}

func TestManyWorkspacesAdoptAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	v := b.publish(t, b.boss, public, mcp("Popular", nil), "")
	actors := make([]capability.Actor, 8)
	for i := range actors {
		slug := "w-" + string(rune('a'+i))
		b.exec(t, `INSERT INTO workspaces (slug, name) VALUES ($1, $1)`, slug)
		actors[i] = b.person(t, "P", slug, capability.RoleMember)
	}
	var wg sync.WaitGroup
	for _, actor := range actors {
		wg.Go(func() {
			if _, err := b.ws.Adopt(t.Context(), actor, adopt(v)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := b.adopters(t, v); n != len(actors) {
		t.Errorf("%d adopters", n)
	}
}

func TestWithdrawnPinCanStillBeBound(t *testing.T) {
	t.Parallel()
	b := setup(t)
	v := b.publish(t, b.boss, public, code("Old", needs("KEY")), "")
	b.adopted(t, b.member, adopt(v))
	b.exec(t, `UPDATE capability_versions SET withdrawn_at = now()`)
	in := adopt(v)
	in.SecretBindings = map[string]string{"KEY": "K"}
	b.adopted(t, b.member, in)
	b.secret(t, b.admin, "", "K")
	if r := b.row(t, b.member, keyOf(v)); !r.Enabled || !r.Withdrawn {
		t.Errorf("row %+v", r.Row)
	}
}

func TestWholeConfigObeysTheRulesOfAdoption(t *testing.T) {
	t.Parallel()
	b := setup(t)
	v := b.publish(t, b.boss, public, code("Foreign", nil), "")
	put := func(a capability.Adoption) error {
		_, err := b.ws.Change(t.Context(), b.member, workspace.AnyVersion, "", func(c *capability.AgentConfig) error {
			c.Capabilities = []capability.Adoption{a}
			return nil
		})
		return err
	}
	a := capability.Adoption{Ref: capability.Ref{Source: v.Source, ID: v.ID, Version: v.Version}}
	wantCode(t, put(a), "consent_required")
	a.ConsentDigest = v.Digest
	a.Egress = []string{"x.example.com"}
	wantField(t, put(a), "/capabilities/0/egress/0", "not_declared")
	a.Egress = nil
	a.AdoptedBy = "somebody else"
	wantCode(t, put(a), "")
	got, err := b.ws.Config(t.Context(), b.member)
	wantCode(t, err, "")
	if by := got.Config.Capabilities[0].AdoptedBy; by != b.member.Subject {
		t.Errorf("adopted by %q", by)
	}
}

// What ships with capstore is adopted, and its skills are copied, as anybody
// else's.
func TestFirstParty(t *testing.T) {
	t.Parallel()
	b := setup(t)
	wantCode(t, b.store.SeedFirstParty(t.Context()), "")
	page, err := b.store.Browse(t.Context(), b.member, catalog.Query{})
	wantCode(t, err, "")
	seen := map[capability.Kind]bool{}
	for _, row := range page.Items {
		v, err := b.store.Version(t.Context(), b.member, row.Source, row.ID, row.Version)
		wantCode(t, err, "")
		seen[row.Kind] = true
		switch {
		case row.Kind.Adoptable():
			b.adopted(t, b.member, adopt(v.VersionInfo))
			b.row(t, b.viewer, keyOf(v.VersionInfo))
		case row.Kind == capability.KindSkill:
			_, err = b.ws.TakeFromStore(t.Context(), b.member, workspace.TakeInput{Source: row.Source, ID: row.ID, Version: row.Version})
			wantCode(t, err, "")
		}
	}
	if len(seen) < 6 {
		t.Errorf("only %v ship", seen)
	}
	page, err = b.store.Browse(t.Context(), b.member, catalog.Query{})
	wantCode(t, err, "")
	for _, row := range page.Items {
		if taken := row.InWorkspace(); taken != (row.Kind.Adoptable() || row.Kind == capability.KindSkill) {
			t.Errorf("%s %s in the workspace: %v", row.Kind, row.ID, row.InWorkspace())
		}
	}
}
