// Package api is capstore for programs: every operation of internal/ops as a
// JSON route, with the OpenAPI document made from the same declarations.
// Faults are problem documents (RFC 9457) with a stable code.
package api

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"time"

	"capstore/internal/fault"
	"capstore/internal/httpd"
	"capstore/internal/identity"
	"capstore/internal/ops"
	"capstore/internal/pg"
)

// Base is where every route begins.
const Base = "/api/v1"

// Parts are what the routes need.
type Parts struct {
	Root     *httpd.Root
	DB       *pg.DB
	Services ops.Services
}

// Mount answers everything below /api/ on the root.
func Mount(p Parts) error {
	a := &surface{Parts: p, mux: http.NewServeMux()}
	operations := ops.All(p.Services)
	for _, op := range operations {
		a.mux.Handle(op.Method+" "+Base+op.Path, a.serve(newRoute(op)))
	}
	document, err := Document(operations)
	if err != nil {
		return err
	}
	a.mux.HandleFunc("GET "+Base+"/openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-cache")
		_, _ = w.Write(document)
	})
	p.Root.Mount("/api/", http.HandlerFunc(a.dispatch))
	return nil
}

type surface struct {
	Parts
	mux *http.ServeMux
}

// route is an operation with what its requests are read by.
type route struct {
	ops.Operation
	params []ops.Param
}

func newRoute(op ops.Operation) route { return route{Operation: op, params: op.Params()} }

// serve answers one operation.
func (a *surface) serve(rt route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out, err := a.handle(rt, w, r)
		if err != nil {
			a.fail(w, r, err)
			return
		}
		if err := out.write(w); err != nil {
			a.Root.LogFault(r, err)
			panic(http.ErrAbortHandler) // the only way to tell the reader that the rest is missing
		}
	})
}

func (a *surface) handle(rt route, w http.ResponseWriter, r *http.Request) (answer, error) {
	who, err := a.Root.Caller(r, r.PathValue("workspace"))
	if err != nil {
		return answer{}, err
	}
	in, body, err := rt.read(w, r)
	if err != nil {
		return answer{}, err
	}
	run := func(ctx context.Context) (answer, error) {
		out, err := rt.Run(ctx, who, in)
		if err != nil {
			return answer{}, err
		}
		return answerOf(rt.Meta, who, out)
	}
	if key := r.Header.Get(keyHeader); key != "" && !rt.ReadOnly {
		return a.once(r.Context(), claim{who: who, key: key, hash: requestHash(rt, r, body), keep: !rt.Confidential && rt.Out != reflect.TypeFor[ops.Events]()}, run)
	}
	return run(r.Context())
}

// answer is what an operation gave, ready to be written, kept and written
// again.
type answer struct {
	Status int
	Header map[string]string
	Body   []byte
	// stream writes a body that is too much to hold; only answers that are
	// never kept have one.
	stream func(w io.Writer) error
}

// write fails when a streamed body ended early.
func (a answer) write(w http.ResponseWriter) error {
	h := w.Header()
	for name, value := range a.Header {
		h.Set(name, value)
	}
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(a.Status)
	if a.stream == nil {
		_, _ = w.Write(a.Body)
		return nil
	}
	return a.stream(w)
}

// answerOf encodes an operation's output.
func answerOf(m ops.Meta, who identity.Principal, out any) (answer, error) {
	a := answer{Status: http.StatusOK, Header: map[string]string{}}
	if m.Success != 0 {
		a.Status = m.Success
	}
	switch v := out.(type) {
	case ops.Empty:
		a.Status = http.StatusNoContent
		return a, nil
	case *ops.Capability:
		if v == nil { // changed so that its changer may not read it any more
			a.Status = http.StatusNoContent
			return a, nil
		}
	case ops.Events:
		a.Header["Content-Type"], a.Header["X-Accel-Buffering"] = "text/event-stream", "no"
		a.stream = func(w io.Writer) error { return writeEvents(w, v) }
		return a, nil
	case ops.File:
		a.Header["Content-Type"] = v.MediaType
		a.Header["Content-Disposition"] = fmt.Sprintf("attachment; filename=%q", v.Name)
		a.Body, a.stream = v.Data, v.Write
		return a, nil
	}
	if s, ok := out.(ops.WithStatus); ok {
		a.Status = s.HTTPStatus()
	}
	if t, ok := out.(ops.WithETag); ok {
		a.Header["ETag"] = `"` + t.ETag() + `"`
	}
	if l, ok := out.(ops.WithLocation); ok && a.Status == http.StatusCreated {
		a.Header["Location"] = Base + l.Location(who.Workspace)
	}
	a.Header["Content-Type"] = "application/json"
	body, err := json.Marshal(out)
	if err != nil {
		return answer{}, fmt.Errorf("api: encode %s: %w", m.Name, err)
	}
	a.Body = append(body, '\n')
	return a, nil
}

// settleTime bounds what is done for a request after its client has gone.
const settleTime = 5 * time.Second

// unknownRoute is the answer for an address that no route has.
func unknownRoute() error {
	return fault.New(fault.NotFound, "unknown_route", "There is no such route.").
		Do("The routes are listed at " + Base + "/openapi.json.")
}
