package pgtest_test

import (
	"testing"

	"capstore/internal/pg/pgtest"
)

func TestNewIsMigratedAndPrivate(t *testing.T) {
	t.Parallel()
	a, b := pgtest.New(t), pgtest.New(t)
	const change = `insert into changes (workspace, topic) values ('w', 't')`
	if _, err := a.Exec(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	var n int
	if err := b.QueryRow(t.Context(), `select count(*) from changes`).Scan(&n); err != nil || n != 0 {
		t.Fatalf("another test's rows: %d, %v", n, err)
	}
}

func TestEmptyHasNoSchema(t *testing.T) {
	t.Parallel()
	db := pgtest.Empty(t)
	have, known, err := db.SchemaVersion(t.Context())
	if err != nil || have != 0 || known < 1 {
		t.Fatalf("SchemaVersion = %d, %d, %v", have, known, err)
	}
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		pgtest.New(b)
	}
}
