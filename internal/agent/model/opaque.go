package model

import "encoding/json"

// opaque is what Output.Opaque holds. It is given back only to the model that
// it came from: no other can read it, and some refuse it.
type opaque struct {
	Provider Provider `json:"provider"`
	Name     string   `json:"name"`
	// Content is the whole answer as blocks of Messages: signed thoughts must
	// keep their place among the calls.
	Content []json.RawMessage `json:"content,omitempty"`
	// Fields are the fields of a chat message that the protocol does not know.
	Fields map[string]json.RawMessage `json:"fields,omitempty"`
	// Calls are such fields of its calls, by ID: signatures, for some.
	Calls map[string]map[string]json.RawMessage `json:"calls,omitempty"`
}

// opaqueFor reads a message's Opaque; it is empty where it is another's.
func opaqueFor(c Config, raw json.RawMessage) opaque {
	var o opaque
	if len(raw) == 0 || json.Unmarshal(raw, &o) != nil || o.Provider != c.Provider || o.Name != c.Name {
		return opaque{}
	}
	return o
}

// pack returns nil where there is nothing to keep.
func (o opaque) pack() json.RawMessage {
	if len(o.Content) == 0 && len(o.Fields) == 0 && len(o.Calls) == 0 {
		return nil
	}
	raw, err := json.Marshal(o)
	if err != nil { // a fragment of the provider's that is no JSON
		return nil
	}
	return raw
}

// inputOf returns the call's arguments as the object that a conversation must
// hold. What was broken is shown to the model as what it wrote.
func inputOf(c Call) json.RawMessage {
	if c.Broken == "" && len(c.Arguments) > 0 {
		return c.Arguments
	}
	raw, err := json.Marshal(map[string]string{"unreadable_arguments": c.Broken})
	if err != nil || c.Broken == "" {
		return json.RawMessage("{}")
	}
	return raw
}
