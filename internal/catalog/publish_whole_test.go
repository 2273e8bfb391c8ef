package catalog_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"capstore/internal/catalog"
	"capstore/internal/fault"
)

// A greater pre-release takes nothing away from the release, and what is below
// the newest or no number at all is refused with the number that was meant.
func TestNumbersOutOfOrder(t *testing.T) {
	t.Parallel()
	b := setup(t)
	steps := []struct{ version, code, says string }{
		{"1.10.0", "", ""},
		{"1.9.0", "version_not_newer", "1.10.0"},
		{"2.0.0-rc.1", "", ""},
		{"2.0.0-alpha-1", "version_not_newer", "2.0.0-rc.1"},
		{"2.0.0-alpha.1", "version_not_newer", "2.0.0-rc.1"},
		{"2.0.0-alpha.beta", "version_not_newer", "2.0.0-rc.1"},
		{"1.10.0+build.7", "bad_version", "1.10.0"},
		{"1.10.0+build.12", "bad_version", "1.10.0"},
		{"v1.2.3", "bad_version", "1.2.3"},
		{"1.2", "bad_version", "1.2.0"},
		{"1.0", "bad_version", "1.0.0"},
		{"01.2.3", "bad_version", "1.2.3"},
		{"1.0.0-01", "bad_version", "1.0.0-1"},
	}
	for i, step := range steps {
		p := code("Numbers", "body "+string(rune('a'+i)))
		p.Version = step.version
		_, err := b.store.Publish(t.Context(), b.author, p)
		wantCodeIn(t, err, step.code)
		for _, f := range fieldsOf(err) {
			if !strings.Contains(f.Message, step.says) {
				t.Errorf("%s: %q does not say %s", step.version, f.Message, step.says)
			}
		}
		c, err := b.store.Get(t.Context(), b.author, "acme", "numbers")
		wantCode(t, err, "")
		if c.Latest.Version != "1.10.0" {
			t.Errorf("after %s the latest is %s", step.version, c.Latest.Version)
		}
	}
	versions, err := b.store.Versions(t.Context(), b.author, "acme", "numbers")
	wantCode(t, err, "")
	var got []string
	for _, v := range versions {
		got = append(got, v.Version)
	}
	if diff := cmp.Diff([]string{"2.0.0-rc.1", "1.10.0"}, got); diff != "" {
		t.Error(diff)
	}
}

// A number that is taken answers which content has it and how that stands.
func TestATakenNumberSaysByWhat(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := b.publish(t, b.author, code("Again", "x"))
	for _, state := range []catalog.State{catalog.Live, catalog.Withdrawn, catalog.Blocked} {
		switch state {
		case catalog.Withdrawn:
			wantCode(t, b.store.Withdraw(t.Context(), b.author, "acme", "again", "1.0.0"), "")
		case catalog.Blocked:
			wantCode(t, b.store.Block(t.Context(), b.author, "acme", "again", "1.0.0", "it leaks"), "")
		}
		p := code("Again", "y")
		p.Version = "1.0.0"
		_, err := b.store.Publish(t.Context(), b.author, p)
		f := wantCode(t, err, "version_exists")
		want := map[string]any{"version": "1.0.0", "digest": first.Version.Digest, "state": state}
		if diff := cmp.Diff(want, f.Detail); diff != "" || f.Kind != fault.Conflict || !strings.Contains(f.Message, "acme/again") {
			t.Errorf("%s: %s %s", state, f.Message, diff)
		}
	}
}

// Of two contents for the next number one is published and the other told.
func TestTwoContentsForTheNextNumber(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.publish(t, b.author, code("Race", "first"))
	var mu sync.Mutex
	var wg sync.WaitGroup
	codes := map[string]int{}
	for _, body := range []string{"one", "two"} {
		wg.Go(func() {
			p := code("Race", body)
			p.Version = "1.1.0"
			_, err := b.store.Publish(t.Context(), b.author, p)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				codes["published"]++
			} else {
				codes[fault.From(err).Code]++
			}
		})
	}
	wg.Wait()
	if diff := cmp.Diff(map[string]int{"published": 1, "version_exists": 1}, codes); diff != "" {
		t.Error(diff)
	}
}

// A publication that fails on its last write leaves nothing that is seen or
// that stands in the way of the next attempt.
func TestAFailedPublicationLeavesNothing(t *testing.T) {
	t.Parallel()
	for name, trouble := range map[string]string{
		"the disk is full":      `RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'`,
		"the connection is cut": `PERFORM pg_terminate_backend(pg_backend_pid())`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.publish(t, b.author, code("Old", "v1"))
			before := b.rows(t)
			b.exec(t, `CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN `+trouble+`; RETURN NEW; END $$`)
			b.exec(t, `CREATE TRIGGER fail BEFORE INSERT ON changes FOR EACH ROW EXECUTE FUNCTION fail()`)
			for _, p := range []catalog.Publication{code("Fresh", "v1"), code("Old", "v2")} {
				if _, err := b.store.Publish(t.Context(), b.author, p); err == nil || fault.Is(err, fault.Invalid) || fault.Is(err, fault.Conflict) {
					t.Fatalf("%s: %v", p.Name, err)
				}
			}
			if diff := cmp.Diff(before, b.rows(t)); diff != "" {
				t.Errorf("left behind: %s", diff)
			}
			_, err := b.store.Get(t.Context(), b.author, "acme", "fresh")
			wantCode(t, err, "not_found")

			b.exec(t, `DROP TRIGGER fail ON changes`)
			for p, want := range map[string]string{"Fresh": "1.0.0", "Old": "1.0.1"} {
				if got := b.publish(t, b.author, code(p, "v2")); !got.Created || got.Version.Version != want {
					t.Errorf("%s the next time: %+v", p, got.Version)
				}
			}
		})
	}
}

// rows counts what a publication writes.
func (b *bundle) rows(t *testing.T) map[string]int {
	t.Helper()
	out := map[string]int{}
	for _, table := range []string{"capabilities", "capability_versions", "capability_terms", "audit", "changes"} {
		var n int
		if err := b.db.QueryRow(t.Context(), `SELECT count(*) FROM `+table).Scan(&n); err != nil {
			t.Fatal(err)
		}
		out[table] = n
	}
	return out
}
