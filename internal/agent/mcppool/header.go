package mcppool

import (
	"net/http"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/fault"
)

const maxHeaderValue = 8 << 10

// Header is a request header with a bound value. NewHeader makes the only valid
// ones, so that what is sent has always been checked.
type Header struct{ name, value string }

// NewHeader checks a binding as it is saved, and again as it is sent. scheme
// goes before the value, "" for none. A line end at the end of a pasted value
// is cut, and trimmed says so. The fault never holds the value.
func NewHeader(name, scheme, value string) (h Header, trimmed bool, err error) {
	if !capability.SettableHeader(name) {
		return h, false, fault.New(fault.Invalid, "bad_header", "%q is no header that a secret can be sent in.", clip(name, 60)).
			Do("Name a header such as Authorization or X-Api-Key.")
	}
	clean := strings.TrimRight(value, "\r\n")
	trimmed = clean != value
	if strings.TrimSpace(clean) == "" {
		return h, trimmed, badValue(name, "is empty")
	}
	if scheme != "" {
		clean = scheme + " " + clean
	}
	switch {
	case len(clean) > maxHeaderValue:
		return h, trimmed, badValue(name, "is longer than 8 KiB")
	case strings.TrimSpace(clean) != clean:
		return h, trimmed, badValue(name, "begins or ends with a space")
	}
	for i := range len(clean) {
		if b := clean[i]; b < 0x20 || b == 0x7f {
			return h, trimmed, badValue(name, "holds a line end or another control character")
		} else if b > 0x7f {
			return h, trimmed, badValue(name, "holds a character beyond ASCII")
		}
	}
	return Header{http.CanonicalHeaderKey(name), clean}, trimmed, nil
}

// Name is the header's name in its usual spelling.
func (h Header) Name() string { return h.name }

// String hides the value, wherever a header is printed.
func (h Header) String() string { return h.name + ": ***" }

// GoString hides the value from %#v too.
func (h Header) GoString() string { return h.String() }

func badValue(name, why string) error {
	return fault.New(fault.Invalid, "bad_header_value", "The value for the header %s %s.", http.CanonicalHeaderKey(name), why).
		Do("Enter the secret again.")
}

func clip(s string, n int) string {
	r := []rune(strings.ToValidUTF8(s, "�"))
	if len(r) <= n {
		return string(r)
	}
	return string(r[:n]) + "…"
}
