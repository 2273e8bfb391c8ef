package catalog

import (
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
	entries map[string]countEntry
}

type countEntry struct {
	state  string
	facets Facets
}

func (c *countCache) get(key, state string) (Facets, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries[key]
	return e.facets, ok && e.state == state
}

func (c *countCache) put(key, state string, f Facets) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries == nil || len(c.entries) >= remembered {
		c.entries = map[string]countEntry{}
	}
	c.entries[key] = countEntry{state, f}
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
