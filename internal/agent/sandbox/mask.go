package sandbox

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// Masked stands where a secret stood.
const Masked = "[secret]"

// minSecret is the length under which a value is not masked: replacing every
// "1" or "no" would garble a log and hide nothing.
const minSecret = 4

// Mask replaces secret values in text, also in the forms in which programs
// print them: inside JSON, in base64 at any alignment, in hex and in a URL.
type Mask struct {
	forms    []string // longest first
	replacer *strings.Replacer
}

// NewMask returns a mask of the values. Those under four bytes are left out.
func NewMask(values []string) *Mask {
	m := &Mask{}
	for _, v := range values {
		if len(v) >= minSecret {
			m.forms = append(m.forms, spellings(v)...)
		}
		for _, leaf := range leaves(v) {
			m.forms = append(m.forms, spellings(leaf)...)
		}
	}
	slices.SortFunc(m.forms, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	m.forms = slices.Compact(m.forms)
	pairs := make([]string, 0, 2*len(m.forms))
	for _, form := range m.forms {
		pairs = append(pairs, form, Masked)
	}
	m.replacer = strings.NewReplacer(pairs...)
	return m
}

// spellings returns the forms of one value that are worth looking for.
func spellings(v string) []string {
	plain, _ := json.Marshal(v)
	forms := []string{
		v, strings.TrimSpace(v),
		strings.Trim(string(plain), `"`), jsonString(v, false), jsonString(v, true),
		url.QueryEscape(v), url.PathEscape(v),
		hex.EncodeToString([]byte(v)),
	}
	for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for shift := range 3 {
			forms = append(forms, base64At(enc, v, shift))
		}
	}
	return slices.DeleteFunc(forms, func(f string) bool { return len(f) < minSecret })
}

// minLeaf is the length from which a string inside a JSON secret, such as the
// private key of a service account, is taken for a secret of its own.
const minLeaf = 16

// leaves returns the longer strings of a secret that is a JSON object: a
// program reads it and may print a part.
func leaves(v string) []string {
	var members map[string]any
	if json.Unmarshal([]byte(v), &members) != nil {
		return nil
	}
	var out []string
	for _, member := range members {
		if s, ok := member.(string); ok && len(s) >= minLeaf {
			out = append(out, s)
		}
	}
	return out
}

// jsonString spells v as the inside of a JSON string, without escapes for HTML
// and, when ascii is set, the way python does by default.
func jsonString(v string, ascii bool) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // a string always encodes
	s := strings.TrimSuffix(b.String(), "\n")
	s = s[1 : len(s)-1]
	if !ascii {
		return s
	}
	var out strings.Builder
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf:
			out.WriteRune(r)
		case r > 0xFFFF:
			r -= 0x10000
			fmt.Fprintf(&out, `\u%04x\u%04x`, 0xD800+r>>10, 0xDC00+r&0x3FF)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.String()
}

// base64At returns the characters of v's base64 that do not depend on what
// stands before it (shift bytes, modulo 3) or after it.
func base64At(enc *base64.Encoding, v string, shift int) string {
	s := enc.EncodeToString([]byte(strings.Repeat("\x00", shift) + v))
	s = s[(shift*8+5)/6:]
	if (shift+len(v))%3 != 0 {
		s = s[:len(s)-1]
	}
	return s
}

// Text masks a text.
func (m *Mask) Text(s string) string { return m.replacer.Replace(s) }

// Tail masks the end of a longer text, whose first bytes may be the second
// half of a secret.
func (m *Mask) Tail(s string) string {
	cut := 0
	for _, form := range m.forms {
		for n := len(form) - 1; n > cut; n-- {
			if strings.HasPrefix(s, form[len(form)-n:]) {
				cut = n
			}
		}
	}
	if cut >= minSecret {
		s = Masked + s[cut:]
	}
	return m.Text(s)
}

// JSON masks a value and keeps it JSON: a number that holds a secret becomes a
// string. A value without a secret is returned as it is.
func (m *Mask) JSON(value json.RawMessage) json.RawMessage {
	if len(value) == 0 {
		return value
	}
	masked := json.RawMessage(m.Text(string(value)))
	if json.Valid(masked) {
		return masked
	}
	dec := json.NewDecoder(bytes.NewReader(value))
	dec.UseNumber()
	var tree any
	if err := dec.Decode(&tree); err != nil {
		return json.RawMessage(`"` + Masked + `"`)
	}
	out, err := json.Marshal(m.tree(tree))
	if err != nil {
		return json.RawMessage(`"` + Masked + `"`)
	}
	return out
}

func (m *Mask) tree(v any) any {
	switch v := v.(type) {
	case string:
		return m.Text(v)
	case json.Number:
		if s := m.Text(v.String()); s != v.String() {
			return s
		}
	case []any:
		for i := range v {
			v[i] = m.tree(v[i])
		}
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[m.Text(k)] = m.tree(e)
		}
		return out
	}
	return v
}
