package pg

import (
	"context"
	"slices"
	"sync"

	"github.com/jackc/pgx/v5"
)

type counterKey struct{}

// Counter records the statements that run under a context. It is for tests
// that hold a page to a number of statements, or two answers to the same ones.
type Counter struct {
	mu         sync.Mutex
	statements []string
}

// Counted returns a context whose statements the counter records, transaction
// control and each statement of a batch included.
func Counted(ctx context.Context) (context.Context, *Counter) {
	c := &Counter{}
	return context.WithValue(ctx, counterKey{}, c), c
}

// Count returns how many statements ran so far.
func (c *Counter) Count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.statements)
}

// Statements returns the text of each statement, in the order they started.
func (c *Counter) Statements() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.statements)
}

// tracer feeds the Counter of the context; without one it costs a lookup.
type tracer struct{}

func record(ctx context.Context, sql string) {
	c, ok := ctx.Value(counterKey{}).(*Counter)
	if !ok {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.statements = append(c.statements, sql)
}

func (tracer) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	record(ctx, data.SQL)
	return ctx
}

func (tracer) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (tracer) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}

func (tracer) TraceBatchQuery(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchQueryData) {
	record(ctx, data.SQL)
}

func (tracer) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

func (tracer) TraceCopyFromStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceCopyFromStartData) context.Context {
	record(ctx, "copy "+data.TableName.Sanitize())
	return ctx
}

func (tracer) TraceCopyFromEnd(context.Context, *pgx.Conn, pgx.TraceCopyFromEndData) {}
