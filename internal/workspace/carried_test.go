package workspace_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"capstore/internal/capability"
	"capstore/internal/pg"
	"capstore/internal/workspace"
)

func TestWhyEachRowIsOnOrOff(t *testing.T) {
	t.Parallel()
	b := setup(t)
	fine := b.publish(t, b.boss, public, mcp("Fine", nil), "")
	unbound := b.publish(t, b.boss, public, code("Unbound", needs("KEY")), "")
	dangling := b.publish(t, b.boss, public, code("Dangling", needs("KEY")), "")
	blocked := b.publish(t, b.boss, public, mcp("Blocked", nil), "")
	dead := b.publish(t, b.boss, public, mcp("Dead", nil), "")
	narrowed := b.publish(t, b.boss, public, mcp("Narrowed", nil), "")
	withdrawn := b.publish(t, b.boss, public, mcp("Withdrawn", nil), "")
	denied := b.publish(t, b.boss, public, mcp("Denied", nil), "")
	guard := b.publish(t, b.boss, public, hook("Guard", capability.FailClosed), "")
	advice := b.publish(t, b.boss, public, hook("Advice", capability.Advisory), "")
	published := b.publish(t, b.admin, within, code("Published", nil), "")
	mine := b.publish(t, b.member, own, code("Mine", nil), "")
	twin := b.publish(t, b.member, own, code("fine", nil), "")
	for _, v := range []workspace.AdoptInput{
		adopt(fine), adopt(unbound), adopt(blocked), adopt(dead), adopt(narrowed), adopt(withdrawn), adopt(denied), adopt(guard), adopt(advice),
	} {
		b.adopted(t, b.member, v)
	}
	in := adopt(dangling)
	in.SecretBindings = map[string]string{"KEY": "NOT_SET"}
	b.adopted(t, b.member, in)
	b.exec(t, `UPDATE capability_versions SET blocked_at = now(), blocked_reason = 'leaks' WHERE name = 'Blocked'`)
	b.exec(t, `UPDATE capability_versions SET withdrawn_at = now() WHERE name = 'Withdrawn'`)
	b.exec(t, `UPDATE capabilities SET tombstoned_at = now() WHERE id = 'dead'`)
	b.exec(t, `UPDATE capabilities SET reach = 'workspace' WHERE id = 'narrowed'`)
	_, err := b.ws.Change(t.Context(), b.admin, workspace.AnyVersion, "", func(c *capability.AgentConfig) error {
		c.Policy = []capability.PolicyRule{{Effect: capability.PolicyDeny, Match: "capability:globex/denied"}}
		c.MCPServers = []capability.RawServer{
			{Name: "wiki", URL: "https://wiki.example.com/mcp"}, {Name: "crm", URL: "https://crm.example.com/mcp", AuthSecret: "CRM"},
		}
		return nil
	})
	wantCode(t, err, "")
	library, err := b.ws.CreateSkill(t.Context(), b.admin, skillInput("Write well", "Short sentences."))
	wantCode(t, err, "")
	draft, err := b.ws.CreateSkill(t.Context(), b.member, draftInput("My way", "Long sentences."))
	wantCode(t, err, "")
	b.set(t, b.member, keyOf(guard), true)
	b.set(t, b.member, keyOf(advice), false)
	b.set(t, b.member, keyOf(published), true)
	b.set(t, b.member, keyOf(twin), true)

	want := map[capability.Key]struct {
		on     bool
		reason capability.Reason
		scope  capability.RowScope
	}{
		keyOf(fine):                         {false, capability.Shadowed, capability.ScopeWorkspace},
		keyOf(unbound):                      {false, capability.HeldSetup, capability.ScopeWorkspace},
		keyOf(dangling):                     {false, capability.HeldSetup, capability.ScopeWorkspace},
		keyOf(blocked):                      {false, capability.HeldBlocked, capability.ScopeWorkspace},
		keyOf(dead):                         {false, capability.HeldGone, capability.ScopeWorkspace},
		keyOf(narrowed):                     {false, capability.HeldGone, capability.ScopeWorkspace},
		keyOf(withdrawn):                    {true, capability.OnAdopted, capability.ScopeWorkspace},
		keyOf(denied):                       {false, capability.HeldPolicy, capability.ScopeWorkspace},
		keyOf(guard):                        {true, capability.OnRequired, capability.ScopeWorkspace},
		keyOf(advice):                       {false, capability.OffYou, capability.ScopeWorkspace},
		keyOf(published):                    {true, capability.OnYou, capability.ScopeWorkspace},
		keyOf(mine):                         {false, capability.OffPersonal, capability.ScopePersonal},
		keyOf(twin):                         {true, capability.OnYou, capability.ScopePersonal},
		capability.RawServerKey("wiki"):     {true, capability.OnWorkspace, capability.ScopeWorkspace},
		capability.RawServerKey("crm"):      {false, capability.HeldSetup, capability.ScopeWorkspace},
		library.Key():                       {true, capability.OnWorkspace, capability.ScopeWorkspace},
		draft.Key():                         {true, capability.OnPersonal, capability.ScopePersonal},
		capability.DefaultKey("web_search"): {false, capability.HeldSetup, capability.ScopeBuiltin},
	}
	got, err := b.ws.Carried(t.Context(), b.member)
	wantCode(t, err, "")
	if len(got.Rows) != len(want) {
		t.Errorf("%d rows, want %d", len(got.Rows), len(want))
	}
	for key, w := range want {
		r, ok := got.Find(key)
		if !ok || r.Enabled != w.on || r.Reason != w.reason || r.Scope != w.scope {
			t.Errorf("%s: enabled %v, reason %s, scope %s; want %+v", key, r.Enabled, r.Reason, r.Scope, w)
		}
	}
	if r, _ := got.Find(keyOf(fine)); r.ShadowedBy != keyOf(twin) {
		t.Errorf("shadowed by %q", r.ShadowedBy)
	}
	if r, _ := got.Find(keyOf(blocked)); r.BlockedReason != "leaks" {
		t.Errorf("blocked reason %q", r.BlockedReason)
	}
	if r, _ := got.Find(keyOf(narrowed)); r.LatestVisible != "" {
		t.Errorf("a capability that is gone tells its latest version %s", r.LatestVisible)
	}
}

// What one member keeps to himself is nothing in another's world, whatever his
// role, and a secret of his own satisfies nobody else.
func TestCarriedIsOnesOwn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	mine := b.publish(t, b.member, own, code("Mine", nil), "")
	draft, err := b.ws.CreateSkill(t.Context(), b.member, draftInput("My way", "Mine."))
	wantCode(t, err, "")
	shared := b.publish(t, b.boss, public, code("Shared", needs("KEY")), "")
	in := adopt(shared)
	in.SecretBindings = map[string]string{"KEY": "K"}
	b.adopted(t, b.member, in)
	b.secret(t, b.member, b.member.Subject, "K")
	b.set(t, b.member, keyOf(mine), true)
	if r := b.row(t, b.member, keyOf(shared)); !r.Enabled {
		t.Errorf("own secret does not satisfy: %s", r.Reason)
	}
	for _, actor := range []capability.Actor{b.admin, b.viewer} {
		got, err := b.ws.Carried(t.Context(), actor)
		wantCode(t, err, "")
		for _, key := range []capability.Key{keyOf(mine), draft.Key()} {
			if _, ok := got.Find(key); ok {
				t.Errorf("%s carries %s", actor.Role, key)
			}
		}
		if r, _ := got.Find(keyOf(shared)); r.Enabled || r.Reason != capability.HeldSetup {
			t.Errorf("%s: %v %s", actor.Role, r.Enabled, r.Reason)
		}
	}
	if got, err := b.ws.Carried(t.Context(), b.other); err != nil || len(got.Rows) != 2 { // what its own workspace published, and web_search
		t.Errorf("another workspace carries %d rows, %v", len(got.Rows), err)
	}
	_, err = b.ws.Carried(t.Context(), capability.Actor{})
	wantCode(t, err, "not_allowed")
}

func TestFunctionsAsTheModelSeesThem(t *testing.T) {
	t.Parallel()
	b := setup(t)
	yes := true
	server := b.publish(t, b.boss, public, mcp("My Files", map[string]capability.ToolClass{"get": "read", "put": "write", "drop": "write"}), "")
	in := adopt(server)
	in.EnableWrite, in.WriteTools = &yes, []string{"put"}
	b.adopted(t, b.member, in)
	writer := b.publish(t, b.boss, public, code("writer", writes), "")
	b.adopted(t, b.member, adopt(writer))
	_, err := b.ws.Change(t.Context(), b.admin, workspace.AnyVersion, "", func(c *capability.AgentConfig) error {
		c.Policy = []capability.PolicyRule{{Effect: capability.PolicyDeny, Match: "*__get*"}}
		return nil
	})
	wantCode(t, err, "")
	want := []workspace.Function{
		{Raw: "drop", Name: capability.MCPToolName("My Files", "drop"), Write: true},
		{Raw: "get", Name: capability.MCPToolName("My Files", "get")},
		{Raw: "put", Name: capability.MCPToolName("My Files", "put"), Write: true, Allowed: true},
	}
	if diff := cmp.Diff(want, b.row(t, b.viewer, keyOf(server)).Functions); diff != "" {
		t.Error(diff)
	}
	want = []workspace.Function{{Raw: "writer", Name: "code__writer", Write: true}}
	if diff := cmp.Diff(want, b.row(t, b.viewer, keyOf(writer)).Functions); diff != "" {
		t.Error(diff)
	}
}

func TestCarriedCostsTwoStatementsThenOne(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.adopted(t, b.member, adopt(b.publish(t, b.boss, public, code("A", nil), "")))
	b.publish(t, b.member, within, code("B", nil), "")
	fresh := workspace.New(b.db, b.store, workspace.Options{})
	digests := map[string]bool{}
	for _, want := range []int{2, 1} {
		ctx, counter := pg.Counted(t.Context())
		got, err := fresh.Carried(ctx, b.member)
		wantCode(t, err, "")
		if counter.Count() != want {
			t.Errorf("%d statements, want %d", counter.Count(), want)
		}
		digests[got.Digest] = true
	}
	if len(digests) != 1 {
		t.Error("the digest of a quiet world moved")
	}
}

func TestDigestMovesWithWhatATurnSees(t *testing.T) {
	t.Parallel()
	b := setup(t)
	v := b.publish(t, b.boss, public, code("A", nil), "")
	digest := func() string {
		c, err := b.ws.Carried(t.Context(), b.member)
		wantCode(t, err, "")
		return c.Digest
	}
	before := digest()
	b.adopted(t, b.member, adopt(v))
	adopted := digest()
	b.set(t, b.viewer, keyOf(v), false) // somebody else's switch
	same := digest()
	b.set(t, b.member, keyOf(v), false)
	off := digest()
	if before == adopted || adopted != same || same == off {
		t.Errorf("digests %s %s %s %s", before, adopted, same, off)
	}
}

func TestRequirements(t *testing.T) {
	t.Parallel()
	b := setup(t)
	base := b.publish(t, b.boss, public, code("Base", nil), "")
	b.adopted(t, b.member, adopt(base))
	in := skillInput("Method", "Use the base.")
	in.Spec.Requires = []string{"globex/base", "code__Base", "code__absent"}
	s, err := b.ws.CreateSkill(t.Context(), b.member, in)
	wantCode(t, err, "")
	if got := b.row(t, b.member, s.Key()).Unmet; !cmp.Equal(got, []string{"code__absent"}) {
		t.Errorf("unmet %v", got)
	}
	c, err := b.ws.Carried(t.Context(), b.member)
	wantCode(t, err, "")
	if got := c.Leaning(keyOf(base)); !cmp.Equal(got, []capability.Key{s.Key()}) {
		t.Errorf("leaning %v", got)
	}
	b.set(t, b.member, keyOf(base), false)
	if got := b.row(t, b.member, s.Key()).Unmet; len(got) != 3 {
		t.Errorf("unmet %v", got)
	}
}

// What is hidden and what is missing run the same statements and answer the
// same, so that neither text nor timing tells them apart.
func TestHiddenAnswersAsMissing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	hidden := b.publish(t, b.member, own, code("Hidden", nil), "")
	draft, err := b.ws.CreateSkill(t.Context(), b.member, draftInput("Hidden", "Mine."))
	wantCode(t, err, "")
	on := true
	asks := map[string]func(ctx context.Context, id string) error{
		"adopt": func(ctx context.Context, id string) error {
			_, err := b.ws.Adopt(ctx, b.admin, workspace.AdoptInput{Source: "acme", ID: id, Version: hidden.Version})
			return err
		},
		"take": func(ctx context.Context, id string) error {
			_, err := b.ws.TakeFromStore(ctx, b.admin, workspace.TakeInput{Source: "acme", ID: id, Version: hidden.Version})
			return err
		},
		"switch": func(ctx context.Context, id string) error {
			_, err := b.ws.SetSwitch(ctx, b.admin, capability.CapabilityKey("acme", id), &on)
			return err
		},
		"tool": func(ctx context.Context, id string) error {
			_, err := b.ws.Tool(ctx, b.admin, capability.CapabilityKey("acme", id))
			return err
		},
		"bind": func(ctx context.Context, id string) error {
			_, err := b.ws.BindSecrets(ctx, b.admin, capability.CapabilityKey("acme", id), nil)
			return err
		},
		"unadopt": func(ctx context.Context, id string) error {
			_, err := b.ws.Unadopt(ctx, b.admin, "acme", id)
			return err
		},
		"skill":  func(ctx context.Context, id string) error { _, err := b.ws.Skill(ctx, b.admin, id); return err },
		"stamps": func(ctx context.Context, id string) error { _, err := b.ws.Stamps(ctx, b.admin, id); return err },
		"stamp": func(ctx context.Context, id string) error {
			_, err := b.ws.StampSkill(ctx, b.admin, id, workspace.StampInput{})
			return err
		},
		"update": func(ctx context.Context, id string) error {
			_, err := b.ws.UpdateSkill(ctx, b.admin, id, 0, skillInput("Hidden", "Theirs."))
			return err
		},
		"diff": func(ctx context.Context, id string) error {
			_, err := b.ws.SkillDiff(ctx, b.admin, id, "", "")
			return err
		},
		"share":  func(ctx context.Context, id string) error { _, err := b.ws.ShareSkill(ctx, b.admin, id); return err },
		"delete": func(ctx context.Context, id string) error { return b.ws.DeleteSkill(ctx, b.admin, id, 0) },
		"publish": func(ctx context.Context, id string) error {
			_, err := b.ws.PublishToStore(ctx, b.admin, id, workspace.PublishInput{})
			return err
		},
	}
	if draft.ID != hidden.ID {
		t.Fatalf("the test wants one id for both: %s, %s", draft.ID, hidden.ID)
	}
	for name, ask := range asks {
		t.Run(name, func(t *testing.T) {
			ctx, one := pg.Counted(t.Context())
			f := wantCode(t, ask(ctx, hidden.ID), "not_found")
			ctx, two := pg.Counted(t.Context())
			g := wantCode(t, ask(ctx, "no-such-thing"), "not_found")
			if f.Message != g.Message || f.Action != g.Action || len(f.Detail)+len(g.Detail) > 0 {
				t.Errorf("%v, %v", f, g)
			}
			if diff := cmp.Diff(one.Statements(), two.Statements()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWhatIsGoneStaysAsANameOnly(t *testing.T) {
	t.Parallel()
	b := setup(t)
	v := b.publish(t, b.boss, public, code("Tool", needs("KEY")), "")
	b.adopted(t, b.member, adopt(v))
	b.exec(t, `UPDATE capabilities SET reach = 'workspace'`)
	d, err := b.ws.Tool(t.Context(), b.member, keyOf(v))
	wantCode(t, err, "")
	if d.Name != "Tool" || d.Reason != capability.HeldGone || d.Description != "" || d.Spec != nil || d.Content.Spec != nil || len(d.Secrets) > 0 {
		t.Errorf("detail %+v", d)
	}
	_, err = b.ws.Content(t.Context(), b.member, d.Row)
	wantCode(t, err, "not_found")
	_, err = b.ws.Unadopt(t.Context(), b.member, v.Source, v.ID)
	wantCode(t, err, "")
}
