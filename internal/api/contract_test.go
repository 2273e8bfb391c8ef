package api_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"capstore/internal/api"
	"capstore/internal/ops"
)

// contract finds the documented schema of an answer.
type contract struct {
	mux      *http.ServeMux
	compiler *jsonschema.Compiler
	mu       sync.Mutex
	compiled map[string]*jsonschema.Schema
}

var theContract = sync.OnceValues(func() (*contract, error) {
	operations := ops.All(ops.Services{})
	raw, err := api.Document(operations)
	if err != nil {
		return nil, err
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(raw)))
	if err != nil {
		return nil, err
	}
	c := &contract{mux: http.NewServeMux(), compiler: jsonschema.NewCompiler(), compiled: map[string]*jsonschema.Schema{}}
	for _, op := range operations {
		c.mux.Handle(op.Method+" "+api.Base+op.Path, http.NotFoundHandler())
	}
	return c, c.compiler.AddResource("mem:///contract.json", doc)
})

// holds checks the answer to a request against the contract: its status is
// documented and its body is of the documented shape.
func (c *contract) holds(t *testing.T, req *http.Request, a *answer) {
	t.Helper()
	_, pattern := c.mux.Handler(req)
	method, path, ok := strings.Cut(pattern, " ")
	if !ok {
		return // no operation
	}
	mediaType := a.Header.Get("Content-Type")
	at := "#/paths/" + escape(path) + "/" + strings.ToLower(method) + "/responses/" + strconv.Itoa(a.Status)
	if a.Status != http.StatusNoContent && a.Status < 400 {
		at += "/content/" + escape(mediaType) + "/schema"
	}
	schema, err := c.schema(at)
	if err != nil {
		t.Errorf("%s answers %d %s, which is not documented: %v", pattern, a.Status, mediaType, err)
		return
	}
	if mediaType != "application/json" {
		return
	}
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(a.Body))
	if err == nil {
		err = schema.Validate(v)
	}
	if err != nil {
		t.Errorf("%s answers what is not documented: %v\n%s", pattern, err, a.Body)
	}
}

func (c *contract) schema(at string) (*jsonschema.Schema, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s, ok := c.compiled[at]; ok {
		return s, nil
	}
	s, err := c.compiler.Compile("mem:///contract.json" + at)
	if err == nil {
		c.compiled[at] = s
	}
	return s, err
}

func escape(segment string) string {
	return strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(segment)
}

// problemOf reads a problem document strictly: it has no members but those of
// the contract.
func problemOf(t *testing.T, body string, into any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		t.Fatalf("%v in %q", err, body)
	}
}
