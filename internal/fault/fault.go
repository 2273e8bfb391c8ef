// Package fault is the closed vocabulary of what can go wrong, shared by the
// core and translated once by each surface (page, problem document, tool
// result). A Fault carries only what is safe to show; its cause goes to the
// log and to errors.Is, never to a user.
package fault

import (
	"errors"
	"fmt"
)

// Kind says what sort of thing went wrong. The set is closed: a surface keeps
// one table from Kind to its own language, and anything that is not a Fault
// counts as Internal.
type Kind string

const (
	// NotFound is for what is missing and for what the caller may not see:
	// the two are never told apart.
	NotFound Kind = "not_found"
	// Invalid is for input that breaks a rule; Fields lists every fault.
	Invalid Kind = "invalid"
	// Malformed is for a body or parameter that cannot be read at all.
	Malformed Kind = "malformed"
	// TooLarge is for input over a size limit.
	TooLarge Kind = "too_large"
	// Conflict is for a state that someone else changed, or a name taken.
	Conflict Kind = "conflict"
	// Denied is for acting on something visible without the right to.
	Denied Kind = "denied"
	// Unauthenticated is for a missing, wrong or expired credential.
	Unauthenticated Kind = "unauthenticated"
	// Revoked is for a right that was held and has been withdrawn.
	Revoked Kind = "revoked"
	// Limited is for a rate or run limit.
	Limited Kind = "limited"
	// Unavailable is for a part that cannot be reached just now.
	Unavailable Kind = "unavailable"
	// Internal is everything unrecognised. Its text never leaves the log.
	Internal Kind = "internal"
)

// Field is one fault of an Invalid input.
type Field struct {
	Path    string `json:"path"`    // JSON pointer into the input, "" for the whole
	Code    string `json:"code"`    // stable, snake_case
	Message string `json:"message"` // one sentence, safe to show
}

// Fault is an error with a kind, a stable code and a message that is safe to
// show. The zero value is not useful; make one with New or a helper.
type Fault struct {
	Kind    Kind
	Code    string // stable and finer than Kind, such as "version_exists"
	Message string // what happened, safe to show
	Action  string // what to do next, and who can do it; may be empty
	Fields  []Field
	// Detail holds safe machine-readable facts that a client acts on, such as
	// the digest of a consent_required answer. Keys are camelCase.
	Detail map[string]any

	cause error
}

// New returns a fault of the kind. The code is stable API.
func New(kind Kind, code, format string, args ...any) *Fault {
	return &Fault{Kind: kind, Code: code, Message: fmt.Sprintf(format, args...)}
}

// Missing is the one answer for what does not exist and what may not be seen.
// It takes no argument on purpose: nothing in it can tell the two apart.
func Missing() *Fault {
	return &Fault{
		Kind: NotFound, Code: string(NotFound),
		Message: "There is nothing here, or nothing that you may see.",
		Action:  "Check the address, or ask its owner to share it with you.",
	}
}

// Fields returns an Invalid fault that lists every field fault, or nil when
// there is none.
func Fields(fields []Field) error {
	if len(fields) == 0 {
		return nil
	}
	n := "1 thing needs"
	if len(fields) > 1 {
		n = fmt.Sprintf("%d things need", len(fields))
	}
	return &Fault{
		Kind: Invalid, Code: string(Invalid), Fields: fields,
		Message: n + " correcting before this can be accepted.",
		Action:  "Correct the listed fields and send it again.",
	}
}

// Deny returns a Denied fault that says what is needed and who can do it.
func Deny(code, message, action string) *Fault {
	return &Fault{Kind: Denied, Code: code, Message: message, Action: action}
}

// Do sets what the reader can do next and returns the fault.
func (f *Fault) Do(action string) *Fault { f.Action = action; return f }

// Because attaches the cause for logs and errors.Is and returns the fault.
func (f *Fault) Because(err error) *Fault { f.cause = err; return f }

// With adds one machine-readable fact and returns the fault.
func (f *Fault) With(key string, value any) *Fault {
	if f.Detail == nil {
		f.Detail = map[string]any{}
	}
	f.Detail[key] = value
	return f
}

// Error gives the log's text, cause included. Use Message for users.
func (f *Fault) Error() string {
	s := string(f.Kind) + "/" + f.Code + ": " + f.Message
	for _, field := range f.Fields {
		s += fmt.Sprintf("; %s %s: %s", field.Path, field.Code, field.Message)
	}
	if f.cause != nil {
		s += ": " + f.cause.Error()
	}
	return s
}

// Unwrap returns the cause, if any.
func (f *Fault) Unwrap() error { return f.cause }

// From returns the fault within err. An error without one becomes Internal
// with a message that says nothing; nil stays nil.
func From(err error) *Fault {
	if err == nil {
		return nil
	}
	if f, ok := errors.AsType[*Fault](err); ok {
		return f
	}
	return &Fault{
		Kind: Internal, Code: string(Internal), cause: err,
		Message: "Something went wrong on our side. It has been logged.",
		Action:  "Try again; if it stays, give the reference number to whoever runs this server.",
	}
}

// Is reports whether err holds a fault of the kind.
func Is(err error, kind Kind) bool { return err != nil && From(err).Kind == kind }

// HasCode reports whether err holds a fault with the code.
func HasCode(err error, code string) bool { return err != nil && From(err).Code == code }
