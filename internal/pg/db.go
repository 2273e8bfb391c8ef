// Package pg hides PostgreSQL from the rest: the pool, migrations, the one
// transaction helper, the translation of driver errors into faults, the
// change feed, and the private cluster that serves a capstore which was not
// given a database of its own.
package pg

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"capstore/internal/fault"
)

// Config says which database to open and how. Only URL is required.
type Config struct {
	// URL is a PostgreSQL connection URL or key=value string.
	URL string
	// MaxConns bounds the pool; 0 means 16.
	MaxConns int32
	// MinIdleConns are kept open so that a burst after quiet does not wait for
	// handshakes; 0 means none.
	MinIdleConns int32
	// StatementTimeout ends a statement that runs longer; 0 means 30 s. A
	// server that ends none is given up a fifth of that later. It
	// does not apply to migrations.
	StatementTimeout time.Duration
	// ApplicationName is what pg_stat_activity shows; "" means "capstore".
	ApplicationName string
}

func (c Config) withDefaults() Config {
	c.MaxConns = cmp.Or(c.MaxConns, 16)
	c.StatementTimeout = cmp.Or(c.StatementTimeout, 30*time.Second)
	c.ApplicationName = cmp.Or(c.ApplicationName, "capstore")
	return c
}

// DB is a pool of connections to one database. It satisfies the generated
// queries' DBTX, so a single statement takes the DB and anything more takes
// the transaction that Tx hands out.
type DB struct {
	*pgxpool.Pool
}

// Open connects and checks that the server answers. It returns an Unavailable
// fault when there is no such server, database or role, or when the server is
// older than PostgreSQL 15, and an Invalid one when the URL cannot be read.
// The caller closes the DB.
func Open(ctx context.Context, cfg Config) (*DB, error) {
	cfg = cfg.withDefaults()
	pc, err := poolConfig(cfg)
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, pc)
	if err != nil {
		return nil, fmt.Errorf("open pool: %w", err)
	}
	db := &DB{Pool: pool}
	if err := db.checkServer(ctx); err != nil {
		pool.Close()
		return nil, err
	}
	return db, nil
}

func poolConfig(cfg Config) (*pgxpool.Config, error) {
	pc, err := pgxpool.ParseConfig(cfg.URL)
	if err != nil {
		// pgx masks the password in this error, yet the text may still hold
		// a host: it is for the log alone.
		return nil, fault.New(fault.Invalid, "database_url_invalid", "The database address cannot be read.").
			Do("Set CAPSTORE_DATABASE_URL to something like postgres://user:password@host:5432/capstore.").Because(err)
	}
	pc.MaxConns = cfg.MaxConns
	pc.MinIdleConns = cfg.MinIdleConns
	pc.MaxConnIdleTime = 10 * time.Minute
	pc.ConnConfig.Tracer = tracer{patience: cfg.StatementTimeout + cfg.StatementTimeout/5}
	pc.ConnConfig.ConnectTimeout = cmp.Or(pc.ConnConfig.ConnectTimeout, 5*time.Second)
	rp := pc.ConnConfig.RuntimeParams
	rp["timezone"] = "UTC"
	rp["application_name"] = cfg.ApplicationName
	// Pages are short walks over indexes that lie in memory or on flash. Priced
	// for a turning disk, the planner would read and sort whole lists instead.
	rp["random_page_cost"] = "1.1"
	// Compiling a plan takes longer than any of ours runs.
	rp["jit"] = "off"
	// No plan here depends on its arguments; planned for each of them, a page
	// would cost more than it takes to run.
	rp["plan_cache_mode"] = "force_generic_plan"
	rp["statement_timeout"] = milliseconds(cfg.StatementTimeout)
	// A transaction that sits idle holds locks; only a bug does that.
	rp["idle_in_transaction_session_timeout"] = milliseconds(time.Minute)
	pc.AfterConnect = useUTC
	pc.PrepareConn = refuseInsideTx
	return pc, nil
}

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// useUTC makes scanned times UTC: pgx hands out local ones otherwise, and
// pages, digests and tests would differ by machine.
func useUTC(_ context.Context, conn *pgx.Conn) error {
	conn.TypeMap().RegisterType(&pgtype.Type{
		Name: "timestamptz", OID: pgtype.TimestamptzOID,
		Codec: &pgtype.TimestamptzCodec{ScanLocation: time.UTC},
	})
	return nil
}

// oldest is the oldest server that the SQL here is written for.
const oldest = 150000

func (db *DB) checkServer(ctx context.Context) error {
	var num int
	var version string
	err := db.QueryRow(ctx, `select current_setting('server_version_num')::int, current_setting('server_version')`).
		Scan(&num, &version)
	if err != nil {
		return Fault(fmt.Errorf("connect: %w", err))
	}
	if num < oldest {
		return fault.New(fault.Unavailable, "database_too_old", "The database server is PostgreSQL %s; 15 or newer is needed.", version).
			Do("Whoever runs this server can upgrade PostgreSQL, or leave CAPSTORE_DATABASE_URL empty for a private one.")
	}
	return nil
}

// Reachable reports whether the database answers now, as an Unavailable fault
// when it does not. It is what a readiness probe asks.
func (db *DB) Reachable(ctx context.Context) error {
	if err := db.Ping(ctx); err != nil {
		if errors.Is(err, context.Canceled) {
			return err
		}
		return unavailable(err)
	}
	return nil
}
