package ops

import (
	"bytes"
	"encoding/json"
)

// UnmarshalJSON is called for null too, which is what tells it from a field
// that was left out.
func (n *Nullable[T]) UnmarshalJSON(raw []byte) error {
	n.Set = true
	if bytes.Equal(raw, []byte("null")) {
		n.Value = nil
		return nil
	}
	n.Value = new(T)
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	return d.Decode(n.Value)
}
