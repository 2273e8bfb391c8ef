package mcppool

import (
	"context"
	"errors"
	"net/http"

	"capstore/internal/fault"
)

// callFault says what became of a call, by what the wire saw rather than by the
// wording of the SDK.
func callFault(ctx context.Context, err error, o outcome) error {
	if ctx.Err() != nil {
		if f, ok := errors.AsType[*fault.Fault](context.Cause(ctx)); ok {
			return f
		}
		return ctx.Err()
	}
	if o.refused != nil {
		return o.refused
	}
	if f := statusFault(o.status); f != nil {
		return f.Because(err)
	}
	if o.rpcErr != nil {
		return fault.New(fault.Unavailable, "server_error", "The server answers with an error: %s", clip(o.rpcErr.Message, 500)).
			With("serverCode", o.rpcErr.Code).Because(err)
	}
	return disconnected(err)
}

// connectFault is callFault for the first contact: what was never sent, or
// asked for at the wrong address, is told apart.
func connectFault(ctx context.Context, err error, o outcome) error {
	switch {
	case ctx.Err() == nil && o.refused == nil && (o.status == http.StatusNotFound || o.status == http.StatusMethodNotAllowed):
		return fault.New(fault.Unavailable, "wrong_address", "There is no MCP server at this address.").
			Do("Check the address: an MCP server's often ends in /mcp.").Because(err)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fault.New(fault.Unavailable, "connect_timed_out", "The server did not answer in time.").
			Do("Check that it runs, then try again.").Because(err)
	}
	f := callFault(ctx, err, o)
	if fault.HasCode(f, "disconnected") {
		return fault.New(fault.Unavailable, "no_handshake", "The server ended the connection before it was set up.").
			Do("Check that an MCP server runs at this address.").Because(err)
	}
	return f
}

// statusFault is nil for a status that says nothing about the call.
func statusFault(status int) *fault.Fault {
	switch {
	case status == http.StatusUnauthorized:
		return fault.New(fault.Unavailable, "server_unauthorized", "The server wants a credential, or refuses the one that was sent.").
			Do("Check the secret that is bound for it.")
	case status == http.StatusForbidden:
		return fault.New(fault.Unavailable, "server_forbidden", "The server does not allow this with the credential that was sent.").
			Do("Check what the bound secret may do, or ask whoever runs the server.")
	case status == http.StatusNotFound:
		return fault.New(fault.Unavailable, "session_lost", "The server has forgotten the session.").Do("Try again.")
	case status == http.StatusTooManyRequests:
		return fault.New(fault.Unavailable, "server_busy", "The server takes no more calls just now.").Do("Try again later.")
	case status >= 500:
		return fault.New(fault.Unavailable, "server_failed", "The server answers with the status %d.", status).
			Do("Try again later, or tell whoever runs the server.")
	}
	return nil
}

// unsent reports whether the call was certainly not carried out: it never left,
// or the server answered that it does not know the session.
func unsent(o outcome) bool {
	return !o.sent && o.refused == nil || o.session && o.status == http.StatusNotFound
}
