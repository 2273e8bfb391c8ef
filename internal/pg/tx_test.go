package pg_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"golang.org/x/sync/errgroup"

	"capstore/internal/fault"
	"capstore/internal/pg"
	"capstore/internal/pg/pgtest"
)

const insertChange = `insert into changes (workspace, topic) values ('w', 't')`

func countChanges(t *testing.T, db *pg.DB) (n int) {
	t.Helper()
	if err := db.QueryRow(t.Context(), `select count(*) from changes`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestTxCommitsAndRollsBack(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	boom := errors.New("boom")
	insert := func(end error) func(context.Context, pgx.Tx) error {
		return func(ctx context.Context, tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, insertChange); err != nil {
				return err
			}
			return end
		}
	}
	if err := db.Tx(t.Context(), insert(nil)); err != nil {
		t.Fatal(err)
	}
	if err := db.Tx(t.Context(), insert(boom)); !errors.Is(err, boom) {
		t.Fatalf("Tx = %v, want fn's error", err)
	}
	if n := countChanges(t, db); n != 1 {
		t.Errorf("%d rows, want the committed one", n)
	}
}

func TestTxRollsBackWhenItsContextEnds(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	ctx, cancel := context.WithCancel(t.Context())
	err := db.Tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, insertChange)
		cancel()
		return err
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Tx = %v, want the context's error", err)
	}
	if n := countChanges(t, db); n != 0 {
		t.Errorf("%d rows survived", n)
	}
	if n := db.Stat().AcquiredConns(); n != 0 {
		t.Errorf("%d connections still out", n)
	}
}

func TestTxGivesItsConnectionBackAfterAPanic(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	func() {
		defer func() { _ = recover() }() // the panic is the point
		_ = db.Tx(t.Context(), func(ctx context.Context, tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, insertChange); err != nil {
				t.Error(err)
			}
			panic("boom")
		})
	}()
	if n := countChanges(t, db); n != 0 {
		t.Errorf("%d rows survived", n)
	}
	if n := db.Stat().AcquiredConns(); n != 0 {
		t.Errorf("%d connections still out", n)
	}
}

func TestTxRefusesToNest(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	for name, inner := range map[string]func(context.Context) error{
		"Tx": func(ctx context.Context) error {
			return db.Tx(ctx, func(context.Context, pgx.Tx) error { return nil })
		},
		"pool": func(ctx context.Context) error {
			_, err := db.Exec(ctx, insertChange)
			return err
		},
	} {
		err := db.Tx(t.Context(), func(ctx context.Context, _ pgx.Tx) error { return inner(ctx) })
		if !fault.Is(err, fault.Internal) {
			t.Errorf("%s inside Tx = %v, want an internal error", name, err)
		}
	}
	if n := countChanges(t, db); n != 0 {
		t.Errorf("%d rows written around the transaction", n)
	}
}

// Whatever the interleaving, a transaction that reported success counted.
func TestTxLosesNoUpdate(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	if _, err := db.Exec(t.Context(), `create table counters (n int); insert into counters values (0)`); err != nil {
		t.Fatal(err)
	}
	increment := func(ctx context.Context, tx pgx.Tx) error {
		var n int
		if err := tx.QueryRow(ctx, `select n from counters`).Scan(&n); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `update counters set n = $1`, n+1)
		return err
	}
	var won atomic.Int32
	var g errgroup.Group
	for range 4 {
		g.Go(func() error {
			for range 5 {
				err := db.TxOptions(t.Context(), pgx.TxOptions{IsoLevel: pgx.Serializable}, increment)
				switch {
				case err == nil:
					won.Add(1)
				case !fault.HasCode(err, "concurrent_change"):
					return err
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	var n int32
	if err := db.QueryRow(t.Context(), `select n from counters`).Scan(&n); err != nil || n != won.Load() || n == 0 {
		t.Errorf("counted %d, %d transactions succeeded, %v", n, won.Load(), err)
	}
}

func TestTxGivesUpAfterABoundedNumberOfRaces(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	runs := 0
	err := db.Tx(t.Context(), func(context.Context, pgx.Tx) error {
		runs++
		return &pgconn.PgError{Code: "40001", Message: "could not serialize"}
	})
	if !fault.HasCode(err, "concurrent_change") {
		t.Errorf("Tx = %v, want concurrent_change", err)
	}
	if runs != 6 {
		t.Errorf("ran %d times, want 6", runs)
	}
}

func TestTxRepeatsUntilItWins(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	runs := 0
	err := db.Tx(t.Context(), func(ctx context.Context, tx pgx.Tx) error {
		if runs++; runs < 3 {
			_, err := tx.Exec(ctx, `do $$ begin raise exception 'lost' using errcode = 'deadlock_detected'; end $$`)
			return err
		}
		_, err := tx.Exec(ctx, insertChange)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if n := countChanges(t, db); n != 1 {
		t.Errorf("%d rows, want 1", n)
	}
}

func TestCounted(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	ctx, counter := pg.Counted(t.Context())
	if _, err := db.Exec(ctx, insertChange); err != nil {
		t.Fatal(err)
	}
	if n := countChanges(t, db); n != 1 { // outside the counted context
		t.Fatalf("%d rows", n)
	}
	err := db.Tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		var b pgx.Batch
		b.Queue(`select 1`)
		b.Queue(`select 2`)
		return tx.SendBatch(ctx, &b).Close()
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{insertChange, "begin", "select 1", "select 2", "commit"}
	if got := counter.Statements(); counter.Count() != len(want) || !slices.Equal(got, want) {
		t.Errorf("statements %q, want %q", got, want)
	}
}
