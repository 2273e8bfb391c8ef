package pg

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"capstore/internal/fault"
	"capstore/migrations"
)

// Migrate brings the schema to the newest version that this binary knows.
// Several servers may call it at once: one works, the others wait. A schema
// from a newer binary is left alone and reported as a schema_newer fault.
func (db *DB) Migrate(ctx context.Context) error { return db.migrate(ctx, migrations.FS) }

func (db *DB) migrate(ctx context.Context, fsys fs.FS) error {
	return db.withProvider(fsys, func(p *goose.Provider) error {
		have, want, err := versions(ctx, p)
		if err != nil {
			return err
		}
		if have == want {
			return nil
		}
		if have > want {
			return fault.New(fault.Unavailable, "schema_newer",
				"The database was last used by a newer capstore (schema %d; this one knows up to %d).", have, want).
				Do("Whoever runs this server should start the newer version again, or restore a backup made before the upgrade.")
		}
		if _, err := p.Up(ctx); err != nil {
			return Fault(fmt.Errorf("migrate from %d to %d: %w", have, want, err))
		}
		return nil
	})
}

// SchemaVersion returns the version that the database has (0 when it is empty)
// and the newest one that this binary knows.
func (db *DB) SchemaVersion(ctx context.Context) (have, known int64, err error) {
	err = db.withProvider(migrations.FS, func(p *goose.Provider) (err error) {
		have, known, err = versions(ctx, p)
		return err
	})
	return have, known, err
}

func versions(ctx context.Context, p *goose.Provider) (have, known int64, err error) {
	for _, s := range p.ListSources() {
		known = max(known, s.Version)
	}
	have, err = p.GetDBVersion(ctx)
	if err != nil {
		return 0, 0, Fault(fmt.Errorf("read schema version: %w", err))
	}
	return have, known, nil
}

// withProvider lends fn a goose provider on connections of its own: those of
// the pool carry a statement time-out, which a long migration must not meet.
func (db *DB) withProvider(fsys fs.FS, fn func(*goose.Provider) error) error {
	cfg := db.Config().ConnConfig
	delete(cfg.RuntimeParams, "statement_timeout")
	cfg.Tracer = tracer{}
	conn := stdlib.OpenDB(*cfg)
	defer conn.Close()
	p, err := newProvider(conn, fsys)
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	return fn(p)
}

func newProvider(conn *sql.DB, fsys fs.FS) (*goose.Provider, error) {
	// Every second for five minutes, where the default is every five seconds.
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 300))
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(goose.DialectPostgres, conn, fsys, goose.WithSessionLocker(locker))
}
