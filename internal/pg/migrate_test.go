package pg

// Internal, as the migrations to run are no one else's choice.

import (
	"fmt"
	"testing"
	"testing/fstest"

	"golang.org/x/sync/errgroup"

	"capstore/internal/fault"
)

// numbered returns a folder of n migrations, each making one table.
func numbered(n int) fstest.MapFS {
	fsys := fstest.MapFS{}
	for i := 1; i <= n; i++ {
		body := fmt.Sprintf("-- +goose Up\ncreate table t%d (id int);\n", i)
		fsys[fmt.Sprintf("%05d_t.sql", i)] = &fstest.MapFile{Data: []byte(body)}
	}
	return fsys
}

// MigrateNumbered is what the tests of package pg_test call.
func (db *DB) MigrateNumbered(t *testing.T, n int) error { return db.migrate(t.Context(), numbered(n)) }

// MigrateBroken applies a good migration and then one that fails half-way.
func (db *DB) MigrateBroken(t *testing.T) error {
	fsys := numbered(1)
	fsys["00002_broken.sql"] = &fstest.MapFile{Data: []byte("-- +goose Up\ncreate table half (id int);\nselect 1/0;\n")}
	return db.migrate(t.Context(), fsys)
}

// MigrateAtOnce runs Migrate from several servers at the same time.
func (db *DB) MigrateAtOnce(t *testing.T, servers int) error {
	var g errgroup.Group
	for range servers {
		g.Go(func() error { return db.Migrate(t.Context()) })
	}
	return g.Wait()
}

func TestUnreadableMigrations(t *testing.T) {
	t.Parallel()
	if _, err := newProvider(nil, fstest.MapFS{}); err == nil || fault.Is(err, fault.Unavailable) {
		t.Errorf("no migrations at all: %v, want an internal error", err)
	}
}
