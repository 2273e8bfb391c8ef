package model

import (
	"crypto/sha256"
	"encoding/json"
	"sync"

	"capstore/internal/toolschema"
)

// shown returns the tools that the model sees from the start: those that are
// not deferred and, after them in the order of their loading, those that the
// conversation loaded, so that what is cached stays where it was.
func shown(r Request) []Tool {
	var tools []Tool
	deferred := map[string]Tool{}
	for _, t := range r.Tools {
		if t.Deferred {
			deferred[t.Name] = t
			continue
		}
		tools = append(tools, t)
	}
	for _, name := range loaded(r.Messages) {
		if t, ok := deferred[name]; ok {
			tools = append(tools, t)
			delete(deferred, name)
		}
	}
	return tools
}

// loaded lists what the results of a conversation loaded, in order.
func loaded(messages []Message) []string {
	var names []string
	for _, m := range messages {
		for _, r := range m.Results {
			names = append(names, r.Loads...)
		}
	}
	return names
}

// anyObject is shown for a schema that nothing can read. One such tool must
// not make the provider refuse all the others.
var anyObject = json.RawMessage(`{"type":"object","properties":{}}`)

// forms is shared by all clients, since one is made for each turn.
//
// It bounds the memory: 16,384 forms of half a KiB, which is what most are,
// make 8 MiB.
var forms = newFormCache(16_384)

// formCache remembers the forms of schemas, by the digest of what was written.
// A form takes 0.1 ms to derive, and each step of a turn asks for all again.
type formCache struct {
	mu   sync.Mutex
	kept int
	of   map[[sha256.Size]byte]json.RawMessage
}

func newFormCache(kept int) *formCache {
	return &formCache{kept: kept, of: map[[sha256.Size]byte]json.RawMessage{}}
}

// form returns what every provider takes in place of the schema.
func (c *formCache) form(schema json.RawMessage) json.RawMessage {
	key := sha256.Sum256(schema)
	c.mu.Lock()
	form, known := c.of[key]
	c.mu.Unlock()
	if known {
		return form
	}
	form = anyObject
	if s, err := toolschema.Compile(schema); err == nil {
		form = s.ForModel()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.of) >= c.kept {
		clear(c.of)
	}
	c.of[key] = form
	return form
}
