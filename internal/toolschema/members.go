package toolschema

import (
	"bytes"
	"encoding/json"
	"slices"
)

// members are those of a JSON object in their order, each as it is spelt.
type members []member

type member struct {
	key   string
	value json.RawMessage
}

// membersOf reads an object; false for anything else.
func membersOf(raw json.RawMessage) (members, bool) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	out := members{}
	for dec.More() {
		t, err := dec.Token()
		key, ok := t.(string)
		if err != nil || !ok {
			return nil, false
		}
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			return nil, false
		}
		out = append(out, member{key, value})
	}
	_, err := dec.Token()
	return out, err == nil
}

func (m members) get(key string) json.RawMessage {
	for _, one := range m {
		if one.key == key {
			return one.value
		}
	}
	return nil
}

// take removes a member and returns its value, nil when it is not there.
func (m *members) take(key string) json.RawMessage {
	for i, one := range *m {
		if one.key == key {
			*m = slices.Delete(*m, i, i+1)
			return one.value
		}
	}
	return nil
}

func (m members) keys() []string {
	out := make([]string, len(m))
	for i, one := range m {
		out[i] = one.key
	}
	return out
}

// object is the members as JSON, nil when there are none.
func (m members) object() json.RawMessage {
	if len(m) == 0 {
		return nil
	}
	return m.all()
}

// all is the members as JSON, {} when there are none.
func (m members) all() json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, one := range m {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := json.Marshal(one.key)
		if err != nil {
			continue // a text always encodes
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(one.value)
	}
	b.WriteByte('}')
	return b.Bytes()
}
