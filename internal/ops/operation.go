// Package ops declares every operation of capstore once: its name, method,
// path, input, output, the action it needs, and whether it only reads. The
// JSON routes, the OpenAPI document, the MCP tools and the agent's own
// control-plane tools are all made from these declarations.
package ops

import (
	"context"
	"fmt"
	"io"
	"reflect"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/identity"
)

// Meta is what a surface needs to know of an operation besides its types.
type Meta struct {
	Name    string // snake_case, the MCP tool's name
	Method  string
	Path    string // below /api/v1; {workspace} is the tenant
	Summary string // one sentence, for OpenAPI and the model
	Area    string // OpenAPI tag
	// Action is checked by the service that the operation calls, against the
	// thing at hand; it stands here for documentation and for pages that hide
	// what would be refused.
	Action   capability.Action
	ReadOnly bool
	Guarded  bool // asks even in permission mode auto
	Success  int  // HTTP status when the output does not choose one
	// Confidential says that the input or the answer holds what is stored
	// nowhere in the clear, so that no surface keeps either of them.
	Confidential bool
	// Personal operations are a person's own word, which no agent gives for
	// him: answering an approval, speaking in a conversation.
	Personal bool
	// Example is a JSON body that the operation takes.
	Example string
}

// Operation is one declared operation, ready for any surface.
type Operation struct {
	Meta
	In, Out reflect.Type
	run     func(ctx context.Context, who identity.Principal, in any) (any, error)
}

// Run decodes nothing: in must be a value of type In.
func (o Operation) Run(ctx context.Context, who identity.Principal, in any) (any, error) {
	return o.run(ctx, who, in)
}

// declare binds a typed function to its meta data. In is a struct whose
// fields are tagged `path`, `query`, `header` or `body`; Out is encoded as
// the answer.
func declare[In, Out any](m Meta, run func(ctx context.Context, who identity.Principal, in In) (Out, error)) Operation {
	return Operation{
		Meta: m, In: reflect.TypeFor[In](), Out: reflect.TypeFor[Out](),
		run: func(ctx context.Context, who identity.Principal, in any) (any, error) {
			return run(ctx, who, in.(In))
		},
	}
}

// WithStatus is an output that chooses its HTTP status, such as 200 for an
// idempotent repeat of what gave 201 before.
type WithStatus interface{ HTTPStatus() int }

// WithETag is an output that carries the tag for If-Match, without quotes.
type WithETag interface{ ETag() string }

// WithLocation is an output that stands at an address of its own, below
// /api/v1.
type WithLocation interface{ Location(workspace string) string }

// Empty is the output of operations that answer 204.
type Empty struct{}

// Nothing is the input of operations that take none.
type Nothing struct{}

// List is the output of every list. NextCursor is "" at the end.
type List[T any] struct {
	Items      []T    `json:"items"`
	NextCursor string `json:"nextCursor" doc:"Send it as cursor for the next page; empty at the end."`
}

// listOf turns the rows into a list of what make gives for each.
func listOf[From, To any](rows []From, make func(From) To) List[To] {
	out := List[To]{Items: []To{}}
	for _, r := range rows {
		out.Items = append(out.Items, make(r))
	}
	return out
}

// Upload is the content of a file as somebody sent it.
type Upload struct {
	Data []byte
	Name string
}

// File is an output that is a file rather than JSON: Data, or what Write
// writes where that may be too much to hold.
type File struct {
	Name      string
	MediaType string
	Data      []byte
	Write     func(w io.Writer) error
}

// Nullable is an input in which null says something that leaving it out does
// not.
type Nullable[T any] struct {
	Set   bool
	Value *T
}

// Checked is a body that can say what is wrong with it beyond its form, so
// that whoever sends several faults hears of all at once.
type Checked interface{ Faults() []fault.Field }

// refused puts one fault at a field of the body.
func refused(path, code, format string, args ...any) error {
	return fault.Fields([]fault.Field{{Path: path, Code: code, Message: fmt.Sprintf(format, args...)}})
}
