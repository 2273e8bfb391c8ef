package pg_test

import (
	"testing"

	"capstore/internal/fault"
	"capstore/internal/pg/pgtest"
)

func TestMigrate(t *testing.T) {
	t.Parallel()
	db := pgtest.Empty(t)
	if err := db.MigrateAtOnce(t, 3); err != nil {
		t.Fatal(err)
	}
	have, known, err := db.SchemaVersion(t.Context())
	if err != nil || have != known || have < 1 {
		t.Errorf("SchemaVersion = %d, %d, %v", have, known, err)
	}
	if err := db.Migrate(t.Context()); err != nil {
		t.Errorf("a second Migrate: %v", err)
	}
}

func TestMigrateGoesOnFromAnOlderSchema(t *testing.T) {
	t.Parallel()
	db := pgtest.Empty(t)
	for _, n := range []int{1, 3} {
		if err := db.MigrateNumbered(t, n); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.Exec(t.Context(), `select from t1, t2, t3`); err != nil {
		t.Error(err)
	}
}

func TestMigrateRefusesANewerSchema(t *testing.T) {
	t.Parallel()
	db := pgtest.Empty(t)
	if err := db.MigrateNumbered(t, 3); err != nil {
		t.Fatal(err)
	}
	if err := db.MigrateNumbered(t, 2); !fault.HasCode(err, "schema_newer") {
		t.Errorf("Migrate = %v, want schema_newer", err)
	}
}

func TestAFailedMigrationLeavesNothingHalfDone(t *testing.T) {
	t.Parallel()
	db := pgtest.Empty(t)
	if err := db.MigrateBroken(t); err == nil {
		t.Fatal("a broken migration succeeded")
	}
	var half *string
	if err := db.QueryRow(t.Context(), `select to_regclass('half')::text`).Scan(&half); err != nil || half != nil {
		t.Errorf("half-made table: %v, %v", half, err)
	}
	if err := db.MigrateNumbered(t, 2); err != nil {
		t.Errorf("the mended migration: %v", err)
	}
}
