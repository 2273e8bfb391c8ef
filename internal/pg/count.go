package pg

import (
	"context"
	"slices"
	"sync"
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
