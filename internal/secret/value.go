package secret

import (
	"fmt"
	"log/slog"
	"strings"
	"unicode/utf8"

	"capstore/internal/fault"
)

const masked = "••••"

// Value is a secret in the clear. However it is printed, logged or encoded it
// shows as dots; only Reveal gives it away, so a search for Reveal finds every
// place that a secret goes. The zero Value is empty.
type Value struct {
	// A pointer, since fmt prints the fields of an enclosing struct without
	// asking their methods, and of a nested pointer it prints the address.
	clear *string
}

// NewValue wraps what must not be shown.
func NewValue(clear string) Value { return Value{&clear} }

// Reveal returns the secret itself, for the process or header that needs it.
func (v Value) Reveal() string {
	if v.clear == nil {
		return ""
	}
	return *v.clear
}

// Header returns the secret as the value of an HTTP header. One that a header
// cannot carry is an Invalid fault which tells nothing of it but the reason.
func (v Value) Header() (string, error) {
	if reason := headerTrouble(v.Reveal()); reason != "" {
		return "", fault.New(fault.Invalid, "secret_not_for_headers", "This secret cannot be sent in a header: %s.", reason).
			Do("Whoever set the secret can replace it.")
	}
	return v.Reveal(), nil
}

func headerTrouble(s string) string {
	switch {
	case s == "":
		return "it is empty"
	case strings.ContainsAny(s, "\r\n"):
		return "it has more than one line"
	case strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }):
		return "it has characters outside ASCII"
	case strings.ContainsFunc(s, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
		return "it has control characters"
	}
	return ""
}

// String is what every way of printing shows.
func (v Value) String() string { return masked }

// Format keeps every verb, %x and %#v included, from looking inside.
func (v Value) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(masked)) }

// LogValue is what slog shows.
func (v Value) LogValue() slog.Value { return slog.StringValue(masked) }

// MarshalText is what JSON and other encodings show.
func (v Value) MarshalText() ([]byte, error) { return []byte(masked), nil }
