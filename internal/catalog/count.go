package catalog

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
)

// remembered is of how many queries the counts are kept.
const remembered = 2000

// countCache keeps what was counted as long as the shelves hold what they held
// then. It says nothing that the database would not: the state comes from there
// with every search.
type countCache struct {
	mu      sync.Mutex
	entries map[string]*counting
}

// counting is what is being counted for a state of the shelves, or was.
type counting struct {
	state  string
	done   chan struct{} // closed when facets are there, or nobody counts any more
	facets Facets
	known  bool
}

// get returns what was counted, waiting for who is at it. Otherwise the caller
// counts, and says so by end.
func (c *countCache) get(ctx context.Context, key, state string) (e *counting, known bool) {
	for {
		c.mu.Lock()
		e = c.entries[key]
		if e == nil || e.state != state {
			if c.entries == nil || len(c.entries) >= remembered {
				c.entries = map[string]*counting{}
			}
			e = &counting{state: state, done: make(chan struct{})}
			c.entries[key] = e
			c.mu.Unlock()
			return e, false
		}
		c.mu.Unlock()
		select {
		case <-e.done:
			if e.known {
				return e, true
			}
		case <-ctx.Done():
			return &counting{done: make(chan struct{})}, false // whose end nobody waits for
		}
	}
}

// end keeps what was counted for others, or lets them count when it was not.
func (c *countCache) end(key string, e *counting, facets Facets, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e.facets, e.known = facets, known
	if !known && c.entries[key] == e {
		delete(c.entries, key)
	}
	close(e.done)
}

// countKey names what a query counts: the shelves that hold anything, and the
// query apart from its order and place.
func (f found) countKey(q Query, words []word) string {
	q.Cursor, q.Sort, q.Limit = "", "", 0
	body, err := json.Marshal(struct {
		Query
		Shelves []string
		Meant   [][]string
		Works   []Runtime
	}{q, f.filled(), meant(words), q.works})
	if err != nil {
		panic(fmt.Sprintf("catalog: a query of strings does not encode: %v", err))
	}
	return string(body)
}
