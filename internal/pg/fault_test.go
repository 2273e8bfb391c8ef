package pg_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"capstore/internal/fault"
	"capstore/internal/pg"
	"capstore/internal/pg/pgtest"
)

const faultSchema = `
	create table parents (id int primary key, name text constraint parents_name unique, n int check (n > 0));
	create table children (parent int references parents);
	insert into parents values (1, 'a', 1);
	insert into children values (1)`

// TestFaultOfRealErrors provokes each error on a server, as codes and details
// are what the translation depends on.
func TestFaultOfRealErrors(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	if _, err := db.Exec(t.Context(), faultSchema); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, sql  string
		kind       fault.Kind
		code       string
		constraint string
	}{
		{"unique", `insert into parents values (2, 'a', 1)`, fault.Conflict, "already_exists", "parents_name"},
		{"foreign key, nothing there", `insert into children values (9)`, fault.NotFound, "not_found", "children_parent_fkey"},
		{"foreign key, still used", `delete from parents`, fault.Conflict, "in_use", "children_parent_fkey"},
		{"check", `insert into parents values (3, 'c', 0)`, fault.Internal, "internal", "parents_n_check"},
		{"syntax", `selec`, fault.Internal, "internal", ""},
		{"time-out", `set local statement_timeout = 1; select pg_sleep(60)`, fault.Unavailable, "database_timeout", ""},
		{"read-only", `set transaction read only; delete from children`, fault.Unavailable, "database_read_only", ""},
		{"killed", `select pg_terminate_backend(pg_backend_pid())`, fault.Unavailable, "database_unavailable", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			err := db.Tx(t.Context(), func(ctx context.Context, tx pgx.Tx) error {
				_, err := tx.Conn().PgConn().Exec(ctx, test.sql).ReadAll()
				return err
			})
			if f := fault.From(err); f.Kind != test.kind || f.Code != test.code {
				t.Errorf("fault %s/%s (%v), want %s/%s", f.Kind, f.Code, err, test.kind, test.code)
			}
			if got := pg.Constraint(err); got != test.constraint {
				t.Errorf("Constraint = %q, want %q", got, test.constraint)
			}
		})
	}
}

func TestFaultOfUnstorableText(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	for name, run := range map[string]func() error{
		"NUL in text":  func() error { _, err := db.Exec(t.Context(), `select $1::text`, "a\x00b"); return err },
		"NUL in jsonb": func() error { _, err := db.Exec(t.Context(), `select $1::jsonb`, `{"a":"\u0000"}`); return err },
		"not UTF-8":    func() error { _, err := db.Exec(t.Context(), `select $1::text`, "\xff"); return err },
	} {
		if err := pg.Fault(run()); !fault.HasCode(err, "invalid_text") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFaultOfErrors(t *testing.T) {
	t.Parallel()
	own := fault.New(fault.Denied, "no", "No.")
	for _, test := range []struct {
		name string
		err  error
		kind fault.Kind
		code string
	}{
		{"no rows", fmt.Errorf("get: %w", pgx.ErrNoRows), fault.NotFound, "not_found"},
		{"a fault passes", fmt.Errorf("x: %w", own), fault.Denied, "no"},
		{"unknown", errors.New("x"), fault.Internal, "internal"},
		{"deadline", context.DeadlineExceeded, fault.Unavailable, "database_timeout"},
		{"too many connections", &pgconn.PgError{Code: "53300"}, fault.Unavailable, "database_busy"},
		{"disk full", &pgconn.PgError{Code: "53100"}, fault.Unavailable, "disk_full"},
		{"restrict", &pgconn.PgError{Code: "23001"}, fault.Conflict, "in_use"},
		{"odd code", &pgconn.PgError{Code: "X"}, fault.Internal, "internal"},
	} {
		err := pg.Fault(test.err)
		if f := fault.From(err); f.Kind != test.kind || f.Code != test.code {
			t.Errorf("%s: %s/%s, want %s/%s", test.name, f.Kind, f.Code, test.kind, test.code)
		}
		if !errors.Is(err, test.err) {
			t.Errorf("%s: the cause is lost", test.name)
		}
	}
	if pg.Fault(nil) != nil {
		t.Error("Fault(nil) is not nil")
	}
	if err := pg.Fault(context.Canceled); !errors.Is(err, context.Canceled) || !fault.Is(err, fault.Internal) {
		t.Errorf("a cancelled request is no fault of the database: %v", err)
	}
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ url, code string }{
		"unreadable": {"postgres://%zz", "database_url_invalid"},
		"no server":  {"postgres:///x?host=/nonexistent", "database_unavailable"},
		"nothing":    {"postgres://127.0.0.1:1/x", "database_unavailable"},
		"no such database": {
			pgtest.EmptyURL(t) + "&database=no_such_database", "database_missing"},
	} {
		db, err := pg.Open(t.Context(), pg.Config{URL: test.url})
		if err == nil {
			db.Close()
		}
		if !fault.HasCode(err, test.code) {
			t.Errorf("%s: %v, want %s", name, err, test.code)
		}
	}
}

func TestAClosedPoolIsUnavailable(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	db.Close()
	if _, err := db.Exec(t.Context(), `select 1`); !fault.HasCode(pg.Fault(err), "database_unavailable") {
		t.Errorf("closed pool: %v", err)
	}
	if err := db.Reachable(t.Context()); !fault.Is(err, fault.Unavailable) {
		t.Errorf("Reachable = %v", err)
	}
}

func TestTimesAreUTC(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	var at time.Time
	if err := db.QueryRow(t.Context(), `select timestamptz '2026-07-01 12:00+09'`).Scan(&at); err != nil {
		t.Fatal(err)
	}
	if at.Location() != time.UTC || at.Hour() != 3 {
		t.Errorf("time %v, want it in UTC", at)
	}
}
