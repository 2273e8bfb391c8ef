package pg

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// tracer feeds the Counter of the context; without one it costs a lookup. It
// also bounds how long an answer is waited for, since a server that has fallen
// silent, behind a broken network say, ends no statement by its own time-out.
type tracer struct{ patience time.Duration } // 0 waits for ever

type cancelKey struct{}

func (t tracer) bound(ctx context.Context) context.Context {
	if t.patience == 0 {
		return ctx
	}
	ctx, cancel := context.WithTimeout(ctx, t.patience)
	return context.WithValue(ctx, cancelKey{}, cancel)
}

func release(ctx context.Context) {
	if cancel, ok := ctx.Value(cancelKey{}).(context.CancelFunc); ok {
		cancel()
	}
}

func record(ctx context.Context, sql string) {
	c, ok := ctx.Value(counterKey{}).(*Counter)
	if !ok {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.statements = append(c.statements, sql)
}

func (t tracer) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	record(ctx, data.SQL)
	return t.bound(ctx)
}

func (tracer) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryEndData) { release(ctx) }

func (t tracer) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return t.bound(ctx)
}

func (tracer) TraceBatchQuery(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchQueryData) {
	record(ctx, data.SQL)
}

func (tracer) TraceBatchEnd(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchEndData) { release(ctx) }

func (t tracer) TraceCopyFromStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceCopyFromStartData) context.Context {
	record(ctx, "copy "+data.TableName.Sanitize())
	return t.bound(ctx)
}

func (tracer) TraceCopyFromEnd(ctx context.Context, _ *pgx.Conn, _ pgx.TraceCopyFromEndData) {
	release(ctx)
}

// TraceAcquireStart bounds the wait for a connection as well: all of them may
// hang on the same silence.
func (t tracer) TraceAcquireStart(ctx context.Context, _ *pgxpool.Pool, _ pgxpool.TraceAcquireStartData) context.Context {
	return t.bound(ctx)
}

// TraceAcquireEnd is the end of the wait.
func (tracer) TraceAcquireEnd(ctx context.Context, _ *pgxpool.Pool, _ pgxpool.TraceAcquireEndData) {
	release(ctx)
}
