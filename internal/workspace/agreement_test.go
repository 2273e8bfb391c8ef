package workspace_test

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/fault"
	"capstore/internal/workspace"
)

// stage is a set of published things that a generated world is cut from.
type stage struct {
	*bundle
	published []catalog.VersionInfo
	skills    []workspace.Skill
}

func setStage(t *testing.T) *stage {
	b := setup(t)
	s := &stage{bundle: b}
	add := func(by capability.Actor, reach capability.Reach, c capability.Content) {
		id := fmt.Sprintf("thing-%d", len(s.published))
		s.published = append(s.published, b.publishAs(t, by, reach, id, c, ""))
	}
	add(b.boss, public, code("Alpha", nil))
	add(b.boss, public, code("Beta", needs("KEY")))
	add(b.boss, public, mcp("Delta", map[string]capability.ToolClass{"get": "read", "put": "write"}))
	add(b.boss, public, hook("Guard", capability.FailClosed))
	add(b.admin, within, code("Gamma", writes))
	add(b.admin, within, code("beta", nil))
	add(b.member, own, code("alpha", nil))
	add(b.member, own, mcp("DELTA", map[string]capability.ToolClass{"get": "read"}))
	for _, in := range []workspace.SkillInput{skillInput("Plan", "Ours."), draftInput("Plan", "Mine.")} {
		skill, err := b.ws.CreateSkill(t.Context(), b.member, in)
		wantCode(t, err, "")
		s.skills = append(s.skills, skill)
	}
	return s
}

// draw puts the stage into a random state: adoptions, switches, secrets,
// revocations, roles.
func (s *stage) draw(t *testing.T, rt *rapid.T) {
	for _, sql := range []string{
		`DELETE FROM overlays`, `DELETE FROM secrets`, `UPDATE capability_versions SET blocked_at = NULL, withdrawn_at = NULL`,
		`UPDATE capabilities SET tombstoned_at = NULL`,
		`UPDATE capabilities SET reach = 'public', shared_with = '{}' WHERE source = 'globex'`,
	} {
		s.exec(t, sql)
	}
	_, err := s.ws.Change(t.Context(), s.admin, workspace.AnyVersion, "", func(c *capability.AgentConfig) error {
		*c = capability.AgentConfig{}
		return nil
	})
	wantCode(t, err, "")
	for _, v := range s.published {
		if rapid.Bool().Draw(rt, "adopt "+v.Name) {
			in := adopt(v)
			write := rapid.Bool().Draw(rt, "write")
			in.EnableWrite = &write
			if v.Name == "Beta" {
				in.SecretBindings = map[string]string{"KEY": "K"}
			}
			_, err := s.ws.Adopt(t.Context(), s.member, in)
			if err != nil && !fault.HasCode(err, "reach_too_narrow") && !fault.HasCode(err, "name_taken") {
				t.Fatal(err)
			}
		}
	}
	for _, actor := range []capability.Actor{s.member, s.viewer} {
		c, err := s.ws.Carried(t.Context(), actor)
		wantCode(t, err, "")
		for _, r := range c.Rows {
			if on := rapid.SampledFrom([]string{"", "on", "off"}).Draw(rt, "switch "+string(r.Key)); on != "" && !(r.Required && on == "off") {
				s.set(t, actor, r.Key, on == "on")
			}
		}
	}
	s.drawRevocations(t, rt)
}

func (s *stage) drawRevocations(t *testing.T, rt *rapid.T) {
	switch rapid.IntRange(0, 2).Draw(rt, "secret") {
	case 1:
		s.secret(t, s.admin, "", "K")
	case 2:
		s.secret(t, s.member, s.member.Subject, "K")
	}
	revocations := []string{
		`UPDATE capability_versions SET blocked_at = now() WHERE name = $1`,
		`UPDATE capability_versions SET withdrawn_at = now() WHERE name = $1`,
		`UPDATE capabilities SET tombstoned_at = now() WHERE pk IN (SELECT capability_pk FROM capability_versions WHERE name = $1)`,
		`UPDATE capabilities SET reach = 'workspace' WHERE source = 'globex' AND pk IN (SELECT capability_pk FROM capability_versions WHERE name = $1)`,
		`UPDATE capabilities SET reach = 'subset', shared_with = '{acme}' WHERE source = 'globex' AND pk IN (SELECT capability_pk FROM capability_versions WHERE name = $1)`,
	}
	for _, v := range s.published {
		if n := rapid.IntRange(0, 2*len(revocations)).Draw(rt, "revoke "+v.Name); n < len(revocations) {
			s.exec(t, revocations[n], v.Name)
		}
	}
	if rapid.Bool().Draw(rt, "policy") {
		s.deny(t, rapid.SampledFrom([]string{"code__*", "mcp__*__put", "capability:globex/*", "skill:*"}).Draw(rt, "match"))
	}
}

// However the world lies, the list is what the kernel selects, the detail of a
// row is the row, and a call is authorized exactly when the list says that the
// function may run. (A shadowed row is no matter of authority: the name leads
// to another one.)
func TestListDetailAndCallAgree(t *testing.T) {
	t.Parallel()
	s := setStage(t)
	rapid.Check(t, func(rt *rapid.T) {
		s.draw(t, rt)
		for _, actor := range []capability.Actor{s.admin, s.member, s.viewer} {
			carried, err := s.ws.Carried(t.Context(), actor)
			wantCode(t, err, "")
			s.checkSelection(t, rt, carried)
			for _, row := range carried.Rows {
				s.checkRow(t, rt, actor, row)
			}
		}
	})
}

func (s *stage) checkSelection(t *testing.T, rt *rapid.T, carried workspace.Carried) {
	t.Helper()
	candidates, overlay := []capability.Candidate{}, capability.Overlay{}
	for _, r := range carried.Rows {
		candidates = append(candidates, r.Candidate)
		if r.Override != nil {
			overlay[r.Key] = *r.Override
		}
	}
	for i, want := range capability.SelectForMember(candidates, overlay) {
		got := carried.Rows[i]
		if got.Key != want.Key || got.Enabled != want.Enabled || got.Reason != want.Reason || got.ShadowedBy != want.ShadowedBy {
			rt.Fatalf("row %d: %+v, the kernel says %+v", i, got.Row, want)
		}
	}
}

func (s *stage) checkRow(t *testing.T, rt *rapid.T, actor capability.Actor, row workspace.Row) {
	t.Helper()
	detail, err := s.ws.Tool(t.Context(), actor, row.Key)
	wantCode(t, err, "")
	if detail.Enabled != row.Enabled || detail.Reason != row.Reason || detail.Version != row.Version {
		rt.Fatalf("%s: list %+v, detail %+v", row.Key, row.Row, detail.Row.Row)
	}
	functions := row.Functions
	if len(functions) == 0 {
		functions = []workspace.Function{{Allowed: true}} // hooks, commands, skills
	}
	for _, f := range functions {
		err := s.ask(t, actor, row.Call(f))
		may := (row.Enabled || row.Reason == capability.Shadowed) && f.Allowed
		switch {
		case may && err != nil:
			rt.Fatalf("%s %s for %s: the list says that it runs (%s), the check %v", row.Key, f.Name, actor.Role, row.Reason, err)
		case !may && !fault.Is(err, fault.Revoked):
			rt.Fatalf("%s %s for %s: the list says that it does not run (%s), the check %v", row.Key, f.Name, actor.Role, row.Reason, err)
		}
	}
}

func (s *stage) ask(t *testing.T, actor capability.Actor, call workspace.Call) (answer error) {
	t.Helper()
	err := s.inTx(t, func(tx pgx.Tx) { answer = s.ws.Authorize(t.Context(), tx, actor, call) })
	wantCode(t, err, "")
	return answer
}

// BenchmarkCarried resolves a member's agent out of 1,000 candidates, half of
// them adopted.
func BenchmarkCarried(b *testing.B) {
	x := setup(b)
	const n = 1000
	seedMany(b, x, n)
	if _, err := x.ws.Carried(b.Context(), x.member); err != nil { // every version is read once
		b.Fatal(err)
	}
	for b.Loop() {
		c, err := x.ws.Carried(b.Context(), x.member)
		if err != nil || len(c.Rows) < n {
			b.Fatal(len(c.Rows), err)
		}
	}
}

// BenchmarkAuthorize is the check at the door, with its transaction.
func BenchmarkAuthorize(b *testing.B) {
	x := setup(b)
	_, call := carriedTool(b, x)
	seedMany(b, x, 1000)
	for b.Loop() {
		if err := x.authorize(b, x.member, call); err != nil {
			b.Fatal(err)
		}
	}
}

// seedMany publishes n code tools in acme by plain SQL and adopts every other
// one.
func seedMany(t testing.TB, b *bundle, n int) {
	t.Helper()
	canonical, err := code("Many", needs("KEY")).Canonical()
	if err != nil {
		t.Fatal(err)
	}
	b.exec(t, `INSERT INTO capabilities (source, id, kind, reach, created_by, latest_version)
		SELECT 'acme', 'many-' || i, 'code', 'workspace', $1, '1.0.0' FROM generate_series(1, $2) i`, b.admin.Subject, n)
	b.exec(t, `INSERT INTO capability_versions (capability_pk, version, sort_key, kind, name, description, content, digest, created_by)
		SELECT pk, '1.0.0', '', 'code', id, 'Does it.', $1, 'sha256:' || pk, created_by FROM capabilities WHERE id LIKE 'many-%'`, string(canonical))
	b.exec(t, `UPDATE capabilities c SET latest_pk = v.pk FROM capability_versions v WHERE v.capability_pk = c.pk AND c.id LIKE 'many-%'`)
	b.exec(t, `INSERT INTO adoptions (workspace, capability_pk, version_pk, channel, name_fold, adoption)
		SELECT 'acme', v.capability_pk, v.pk, 'tool', v.name,
			json_build_object('source', 'acme', 'id', v.name, 'version', '1.0.0', 'toolClasses', json_build_object(v.name, 'read'))
		FROM capability_versions v WHERE v.name LIKE 'many-%' AND v.pk % 2 = 0`)
	b.exec(t, `ANALYZE`)
}
