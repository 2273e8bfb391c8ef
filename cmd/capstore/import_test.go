package main

import (
	"encoding/json"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"capstore/internal/interchange/intake"
	"capstore/internal/pg/pgtest"
)

// size is how many skills the library has: a number that a test run affords,
// unless CAPSTORE_TEST_SKILLS names another.
func size(t *testing.T) int {
	t.Helper()
	if n, err := strconv.Atoi(os.Getenv("CAPSTORE_TEST_SKILLS")); err == nil {
		return n
	}
	return 190
}

// adds fails unless every item is counted as exactly one thing.
func adds(t *testing.T, r intake.Report) {
	t.Helper()
	if r.Found != r.Made+r.Unchanged+r.Refused+r.Ignored || r.Found != len(r.Items) {
		t.Errorf("%d found, but %d made, %d unchanged, %d refused, %d ignored and %d items",
			r.Found, r.Made, r.Unchanged, r.Refused, r.Ignored, len(r.Items))
	}
}

func report(t *testing.T, got said) intake.Report {
	t.Helper()
	var r intake.Report
	if err := json.Unmarshal([]byte(got.Out), &r); err != nil {
		t.Fatalf("%v: %s\n%s", err, got.Out, got.Err)
	}
	adds(t, r)
	return r
}

// A library with the faults of the field goes through in one run; the report
// adds up, and a second run changes nothing.
func TestImportOfALibrary(t *testing.T) {
	t.Parallel()
	on, dir, n := atAcme(t), t.TempDir(), size(t)
	library(t, dir, n)
	start := time.Now()
	first := report(t, command("", on("import", "--json", dir)...))
	spent := time.Since(start)
	start = time.Now()
	second := report(t, command("", on("import", "--json", dir)...))
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	t.Logf("%d skills: %d found, %d made, %d repaired, %d unchanged, %d refused, %d ignored in %v; again %d unchanged in %v; %d MiB from the system",
		n, first.Found, first.Made, first.Repaired, first.Unchanged, first.Refused, first.Ignored, spent, second.Unchanged, time.Since(start), m.Sys>>20)
	if first.Made < n*8/10 || first.Refused == 0 || first.Repaired == 0 || first.Ignored == 0 || first.Unchanged == 0 {
		t.Errorf("%d made, %d refused, %d repaired, %d ignored, %d unchanged", first.Made, first.Refused, first.Repaired, first.Ignored, first.Unchanged)
	}
	if second.Made != 0 || second.Unchanged != first.Made+first.Unchanged || second.Refused != first.Refused || second.Ignored != first.Ignored {
		t.Errorf("the second run: %d made, %d unchanged, %d refused, %d ignored", second.Made, second.Unchanged, second.Refused, second.Ignored)
	}
}

// atAcme gives commands a database with the workspace acme and its admin Ada.
func atAcme(t *testing.T) func(args ...string) []string {
	t.Helper()
	url, data := pgtest.URL(t), t.TempDir()
	on := func(args ...string) []string { return append(args, "--database-url", url, "--data", data) }
	done(t, "", on("user", "create", "--email", "ada@example.com", "--name", "Ada")...)
	done(t, "", on("workspace", "create", "--workspace", "acme", "--email", "ada@example.com")...)
	return func(args ...string) []string {
		return on(append(args, "--workspace", "acme", "--email", "ada@example.com")...)
	}
}
