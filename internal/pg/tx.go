package pg

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/sethvargo/go-retry"
)

type txKey struct{}

var (
	errNested = errors.New("pg: a transaction inside a transaction; pass the outer one on")
	errBypass = errors.New("pg: the pool used inside a transaction; use the transaction")
)

// maxRetries bounds how often a transaction that lost against another one is
// run anew; every loser has a winner, so few are needed.
const maxRetries = 5

// Tx runs fn in one transaction and commits when fn returns nil. It is the
// only way to write more than one statement.
//
// The context given to fn marks the transaction: Tx refuses to nest in it, and
// so does the pool, since a second connection would wait on the first one's
// locks and read around its writes. fn may run several times, as a transaction
// that loses to another by deadlock or serialization is repeated, so it has no
// effects outside the transaction. Errors come back as Fault renders them.
func (db *DB) Tx(ctx context.Context, fn func(ctx context.Context, tx pgx.Tx) error) error {
	return db.TxOptions(ctx, pgx.TxOptions{}, fn)
}

// TxOptions is Tx with an isolation level or access mode of its own.
func (db *DB) TxOptions(ctx context.Context, opts pgx.TxOptions, fn func(ctx context.Context, tx pgx.Tx) error) error {
	if ctx.Value(txKey{}) != nil {
		return errNested
	}
	backoff := retry.WithMaxRetries(maxRetries, retry.WithJitterPercent(50, retry.NewExponential(4*time.Millisecond)))
	err := retry.Do(ctx, backoff, func(ctx context.Context) error {
		err := db.once(ctx, opts, fn)
		if lostRace(err) {
			return retry.RetryableError(err)
		}
		return err
	})
	return Fault(err)
}

func (db *DB) once(ctx context.Context, opts pgx.TxOptions, fn func(ctx context.Context, tx pgx.Tx) error) (err error) {
	tx, err := db.BeginTx(ctx, opts)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	committed := false
	defer func() {
		if committed {
			return
		}
		// The caller's context may be the very thing that ended; the rollback
		// must not share its fate, or the connection is thrown away.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		_ = tx.Rollback(ctx) // after a failed rollback pgx closes the connection, which rolls back
	}()
	if err := fn(context.WithValue(ctx, txKey{}, true), tx); err != nil {
		return err
	}
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	committed = true
	return nil
}

// lostRace reports whether the transaction failed only because another one
// won: nothing of it was kept, and running it again may succeed.
func lostRace(err error) bool {
	pe, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (pe.Code == codeSerialization || pe.Code == codeDeadlock)
}

// refuseInsideTx is the pool's PrepareConn hook.
func refuseInsideTx(ctx context.Context, _ *pgx.Conn) (bool, error) {
	if ctx.Value(txKey{}) != nil {
		return true, errBypass
	}
	return true, nil
}
