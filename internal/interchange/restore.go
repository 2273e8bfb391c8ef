package interchange

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"capstore/internal/capability"
	"capstore/internal/jsonx"
)

// keptKey is where capstore puts what another's format has no place for: beside
// a server of a configuration, or in the _meta of a server.json.
const keptKey = "capstore"

// kept is what a foreign format could not hold of a content, by field. A field
// is put back where the file still says of it what it said when it was written;
// where a person has edited it since, what he wrote counts.
type kept struct {
	Digest string                     `json:"digest,omitempty"` // of the whole, "" where not all could be kept
	Fields map[string]json.RawMessage `json:"fields,omitempty"` // null for one that the content lacks
	Was    map[string]string          `json:"was,omitempty"`    // a mark of what the file says of each field
}

// keeping compares a content with what a reader makes of the file that is written
// for it; nil for a reader that refuses it.
func keeping(c capability.Content, m *maker) (kept, error) {
	out := kept{Digest: c.Digest(), Fields: map[string]json.RawMessage{}, Was: map[string]string{}}
	want, err := flat(c)
	if err != nil {
		return kept{}, err
	}
	var got map[string]json.RawMessage
	if m != nil {
		m.settle()
		if got, err = m.fields(); err != nil {
			return kept{}, err
		}
	}
	for path := range union(want, got) {
		if string(want[path]) == string(got[path]) {
			continue
		}
		out.Fields[path], out.Was[path] = want[path], mark(got[path])
		if want[path] == nil {
			out.Fields[path] = json.RawMessage("null")
		}
	}
	return out, nil
}

func union(a, b map[string]json.RawMessage) map[string]bool {
	out := map[string]bool{}
	for _, m := range []map[string]json.RawMessage{a, b} {
		for k := range m {
			out[k] = true
		}
	}
	return out
}

// flat gives the fields of a content, those of its spec by "spec/" and their
// names, each in its canonical spelling.
func flat(c capability.Content) (map[string]json.RawMessage, error) {
	out := map[string]json.RawMessage{}
	for path, v := range map[string]any{"name": c.Name, "description": c.Description} {
		raw, err := jsonx.CanonicalOf(v)
		if err != nil {
			return nil, err
		}
		out[path] = raw
	}
	if c.Spec == nil {
		return out, nil
	}
	var spec map[string]json.RawMessage
	if err := json.Unmarshal(capability.EncodeSpec(c.Spec), &spec); err != nil {
		return nil, err
	}
	for name, raw := range spec {
		value, err := jsonx.Canonical(raw)
		if err != nil {
			return nil, err
		}
		if name != "type" {
			out["spec/"+name] = value
		}
	}
	return out, nil
}

// fields are those that the file itself gives. A description that was derived is
// none: it follows from the others.
func (m *maker) fields() (map[string]json.RawMessage, error) {
	out, err := flat(m.content)
	if !m.described {
		delete(out, "description")
	}
	return out, err
}

// unflat is the way back. The faults are those of a content that is none.
func unflat(fields map[string]json.RawMessage) (capability.Content, bool) {
	spec := map[string]json.RawMessage{"type": json.RawMessage(`"mcp"`)}
	doc := map[string]any{"spec": spec}
	for path, raw := range fields {
		if len(path) > 5 && path[:5] == "spec/" {
			spec[path[5:]] = raw
		} else {
			doc[path] = raw
		}
	}
	raw, err := json.Marshal(doc)
	if err != nil {
		return capability.Content{}, false
	}
	c, faults := capability.DecodeContent(raw)
	return c, len(faults) == 0
}

// mark is a short digest of a field, "" for one that is missing.
func mark(raw json.RawMessage) string {
	if raw == nil {
		return ""
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:6])
}

// ofPeople are the remarks on what only a person can have written into a file
// that still is what was exported.
var ofPeople = []string{"keys_not_used", "disabled", "approvals_dropped", "headers_helper", "env_file", "working_folder", "client_sandbox", "legacy_sse", "literal_secret"}

// restore puts back what was kept of the content. When it is again what was
// exported, nothing of the file needs a remark.
func (m *maker) restore(o *object) {
	if o == nil {
		return
	}
	var k kept
	raw, err := json.Marshal(o)
	if err == nil {
		err = jsonx.Decode(raw, &k)
	}
	fields, flatErr := m.fields()
	if err != nil || flatErr != nil {
		m.note("kept_unreadable", "What capstore put into the file beside the server cannot be read and is left out.")
		return
	}
	for path, value := range k.Fields {
		switch {
		case mark(fields[path]) != k.Was[path]:
		case string(value) == "null":
			delete(fields, path)
		default:
			fields[path] = value
		}
	}
	if fields["description"] == nil {
		fields["description"], _ = jsonx.CanonicalOf(m.content.Description)
	}
	c, ok := unflat(fields)
	spec, isServer := c.Spec.(*capability.MCPSpec)
	if !ok || !isServer {
		m.note("kept_unreadable", "What capstore put into the file beside the server cannot be read and is left out.")
		return
	}
	m.content, m.spec = c, spec
	switch {
	case k.Digest == c.Digest():
		m.item.Notes = slices.DeleteFunc(m.item.Notes, func(n Note) bool { return !slices.Contains(ofPeople, n.Code) })
	case k.Digest != "":
		m.note("edited_since_export", "The file was edited after capstore wrote it: what was edited counts, and the rest is as it was.")
	}
}
