package interchange

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"capstore/internal/capability"
	"capstore/internal/jsonx"
)

// pluginSidecar is a file at the root of a plugin that capstore wrote, with what
// the format cannot hold: by the path of a part, each field that reads back
// otherwise than it was.
type pluginSidecar struct {
	Capabilities map[string]map[string]sideField `json:"capabilities"`
}

// sideField is a field's value, and what the files said of it when they were
// written. Where they say something else now, somebody edited them, and they
// win; they never say what Always marks.
type sideField struct {
	Was    string          `json:"was,omitempty"` // digest of the value that the files give, "" for none
	Always bool            `json:"always,omitempty"`
	Value  json.RawMessage `json:"value,omitempty"`
}

func (r *pluginRead) readSidecar() {
	f, ok := r.files[r.join(sidecarName)]
	if !ok {
		return
	}
	raw, err := readWithin(f, 2*capability.MaxFilesTotal)
	if err != nil {
		return
	}
	var got pluginSidecar
	if json.Unmarshal(raw, &got) == nil {
		r.side = got
	}
}

// keep remembers of a part's content what its files do not give.
func (s *pluginSidecar) keep(path string, read, want capability.Content) error {
	have, err := contentFields(read)
	if err != nil {
		return err
	}
	wanted, err := contentFields(want)
	if err != nil {
		return err
	}
	fields := map[string]sideField{}
	for name, value := range wanted {
		if string(have[name]) != string(value) {
			fields[name] = sideField{Was: digestOf(have[name]), Value: value}
		}
		if want.Spec.Kind() == capability.KindHook && specField != name[:min(len(name), len(specField))] {
			fields[name] = sideField{Always: true, Value: value}
		}
	}
	for name, value := range have {
		if wanted[name] == nil {
			fields[name] = sideField{Was: digestOf(value)}
		}
	}
	if len(fields) == 0 {
		return nil
	}
	if s.Capabilities == nil {
		s.Capabilities = map[string]map[string]sideField{}
	}
	s.Capabilities[path] = fields
	return nil
}

// restore puts the remembered fields back where the files still say what they
// said.
func (s *pluginSidecar) restore(path string, read capability.Content) capability.Content {
	remembered := s.Capabilities[path]
	if len(remembered) == 0 {
		return read
	}
	fields, err := contentFields(read)
	if err != nil {
		return read
	}
	for name, side := range remembered {
		switch {
		case name == specField+"type", digestOf(fields[name]) != side.Was && !side.Always:
		case len(side.Value) == 0:
			delete(fields, name)
		default:
			fields[name] = side.Value
		}
	}
	out, ok := contentOf(fields)
	if !ok {
		return read
	}
	return out
}

func digestOf(value json.RawMessage) string {
	if len(value) == 0 {
		return ""
	}
	sum := sha256.Sum256(value)
	return hex.EncodeToString(sum[:])
}

const specField = "spec/"

// contentFields takes a content apart into its fields, those of the spec by
// themselves, each in its canonical spelling.
func contentFields(c capability.Content) (map[string]json.RawMessage, error) {
	raw, err := c.Canonical()
	if err != nil {
		return nil, err
	}
	var top, spec map[string]json.RawMessage
	if err := json.Unmarshal(raw, &top); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(top["spec"], &spec); err != nil {
		return nil, err
	}
	delete(top, "spec")
	for name, value := range spec {
		top[specField+name] = value
	}
	return top, nil
}

// contentOf puts fields together again, false where they make no content.
func contentOf(fields map[string]json.RawMessage) (capability.Content, bool) {
	top, spec := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	for name, value := range fields {
		if len(name) > len(specField) && name[:len(specField)] == specField {
			spec[name[len(specField):]] = value
			continue
		}
		top[name] = value
	}
	var err error
	if top["spec"], err = jsonx.CanonicalOf(spec); err != nil {
		return capability.Content{}, false
	}
	raw, err := jsonx.CanonicalOf(top)
	if err != nil {
		return capability.Content{}, false
	}
	out, faults := capability.DecodeContent(raw)
	return out, len(faults) == 0
}
