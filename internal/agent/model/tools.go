package model

import (
	"encoding/json"

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

// schemaFor returns the form of a tool's schema that every provider takes.
func schemaFor(t Tool) json.RawMessage {
	s, err := toolschema.Compile(t.Schema)
	if err != nil {
		return anyObject
	}
	return s.ForModel()
}
