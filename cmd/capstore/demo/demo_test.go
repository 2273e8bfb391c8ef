package demo_test

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"capstore/cmd/capstore/demo"
	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/identity"
	"capstore/internal/pg"
	"capstore/internal/pg/pgtest"
	"capstore/internal/secret"
	"capstore/internal/workspace"
)

func parts(t *testing.T) demo.Parts {
	t.Helper()
	db := pgtest.New(t)
	secrets, err := secret.Open(t.Context(), db, secret.Config{KeyFile: filepath.Join(t.TempDir(), "secret.key")})
	if err != nil {
		t.Fatal(err)
	}
	store := catalog.New(db, catalog.Options{})
	if err := store.SeedFirstParty(t.Context()); err != nil {
		t.Fatal(err)
	}
	return demo.Parts{
		DB: db, Identity: identity.New(db), Secrets: secrets, Catalog: store,
		Workspace: workspace.New(db, store, workspace.Options{}), Log: slog.New(slog.DiscardHandler),
	}
}

func fill(t *testing.T, ctx context.Context, p demo.Parts) {
	t.Helper()
	if err := demo.Fill(ctx, p); err != nil {
		t.Fatal(err)
	}
}

// counts is what a repeated start must leave as it is.
func counts(t *testing.T, db *pg.DB) map[string]int {
	t.Helper()
	out := map[string]int{}
	for _, table := range []string{"users", "workspaces", "memberships", "capabilities", "capability_versions", "secrets", "agent_configs", "skills", "audit"} {
		var n int
		if err := db.QueryRow(t.Context(), "SELECT count(*) FROM "+table).Scan(&n); err != nil {
			t.Fatal(err)
		}
		out[table] = n
	}
	return out
}

func TestStartingAgainChangesNothing(t *testing.T) {
	t.Parallel()
	p := parts(t)
	fill(t, t.Context(), p)
	first := counts(t, p.DB)
	fill(t, t.Context(), p)
	if diff := cmp.Diff(first, counts(t, p.DB)); diff != "" {
		t.Errorf("a second start changed something (-first +second):\n%s", diff)
	}
}

// TestInterruptedStartIsCompleted cuts the first start off and expects what an
// undisturbed one makes, but for the audit log, which tells of both.
func TestInterruptedStartIsCompleted(t *testing.T) {
	t.Parallel()
	whole, cut := parts(t), parts(t)
	fill(t, t.Context(), whole)
	exec(t, cut.DB, `CREATE FUNCTION cut() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'cut off'; END $$`)
	exec(t, cut.DB, "CREATE TRIGGER cut BEFORE INSERT ON secrets FOR EACH ROW WHEN (NEW.name = 'TRACKING_KEY') EXECUTE FUNCTION cut()")
	if err := demo.Fill(t.Context(), cut); err == nil {
		t.Fatal("nothing cut it off")
	}
	exec(t, cut.DB, "DROP TRIGGER cut ON secrets")
	fill(t, t.Context(), cut)
	want, got := counts(t, whole.DB), counts(t, cut.DB)
	delete(want, "audit")
	delete(got, "audit")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("completed (-whole +completed):\n%s", diff)
	}
}

func exec(t *testing.T, db *pg.DB, sql string) {
	t.Helper()
	if _, err := db.Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
}

// TestTheStoryIsThere looks for each state that a page can show.
func TestTheStoryIsThere(t *testing.T) {
	t.Parallel()
	p := parts(t)
	fill(t, t.Context(), p)
	c := counts(t, p.DB)
	if c["capabilities"] < 30 || c["users"] != 5 {
		t.Errorf("%d capabilities and %d people, want at least 30 and 5", c["capabilities"], c["users"])
	}
	var kinds, deprecated int
	if err := p.DB.QueryRow(t.Context(), `SELECT count(DISTINCT kind), count(*) FILTER (WHERE deprecated IS NOT NULL)
		FROM capabilities WHERE source IN ('acme', 'globex')`).Scan(&kinds, &deprecated); err != nil {
		t.Fatal(err)
	}
	if kinds != 7 || deprecated == 0 {
		t.Errorf("%d kinds and %d deprecated, want all 7 and one at least", kinds, deprecated)
	}
	jun, err := p.Identity.UserByEmail(t.Context(), "member@acme.demo")
	if err != nil {
		t.Fatal(err)
	}
	carried, err := p.Workspace.Carried(t.Context(), capability.Actor{Workspace: demo.Acme, Subject: jun.Subject, Role: capability.RoleMember})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, row := range carried.Rows {
		if row.Source != "" {
			got[row.Source+"/"+row.ID] = state(row)
		}
	}
	want := map[string]string{
		"globex/invoice-check": "on_adopted, update 1.2.0", "acme/tracking": "needs_setup", "acme/volume-weight": "off_you",
		"acme/unit-convert": "on_adopted, update 1.0.1", "acme/workday": "on_adopted",
	}
	for ref, state := range want {
		if got[ref] != state {
			t.Errorf("%s is %q, want %q", ref, got[ref], state)
		}
	}
}

func state(row workspace.Row) string {
	s := string(row.Reason)
	if row.UpdateAvailable {
		s += ", update " + row.LatestVisible
	}
	return s
}
