// Package ops declares every operation of capstore once: its name, method,
// path, input, output, the action it needs, and whether it only reads. The
// JSON routes, the OpenAPI document, the MCP tools and the agent's own
// control-plane tools are all made from these declarations.
package ops

import (
	"context"
	"reflect"

	"capstore/internal/capability"
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

// WithETag is an output that carries the tag for If-Match.
type WithETag interface{ ETag() string }

// Empty is the output of operations that answer 204.
type Empty struct{}
