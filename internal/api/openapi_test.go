package api_test

import (
	"encoding/json"
	"flag"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"capstore/internal/api"
	"capstore/internal/ops"
)

var update = flag.Bool("update", false, "write testdata/openapi.json anew")

const golden = "testdata/openapi.json"

// TestContract holds the contract to the committed one, so that a change of it
// is a decision.
func TestContract(t *testing.T) {
	t.Parallel()
	got, err := api.Document(ops.All(ops.Services{}))
	must(t, err)
	if *update {
		must(t, os.WriteFile(golden, got, 0o644))
	}
	want, err := os.ReadFile(golden)
	must(t, err)
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(got), "\n")); diff != "" {
		t.Errorf("the contract differs from %s (-committed +declared); if that is meant, raise api.Version and run the test with -update:\n%s", golden, diff)
	}
}

// document is the served contract, as far as the tests read it.
type document struct {
	OpenAPI    string
	Paths      map[string]map[string]operation
	Components struct {
		Schemas   map[string]any
		Responses map[string]any
	}
}

type operation struct {
	OperationID string
	Parameters  []struct {
		Name, In string
		Required bool
	}
	RequestBody struct {
		Content map[string]struct{ Example any }
	}
	Responses map[string]any
}

func served(t *testing.T, s *site) document {
	t.Helper()
	var doc document
	s.stranger().get("/api/v1/openapi.json").want(http.StatusOK).into(&doc)
	return doc
}

// TestEveryDocumentedPathIsServed asks for each documented operation, with its
// example where it has a body.
func TestEveryDocumentedPathIsServed(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	doc := served(t, s)
	if doc.OpenAPI != "3.1.0" || len(doc.Paths) < 30 {
		t.Fatalf("version %q with %d paths", doc.OpenAPI, len(doc.Paths))
	}
	c := s.as(ada)
	for path, item := range doc.Paths {
		for method, op := range item {
			got := c.send(strings.ToUpper(method), addressOf(path, op), bodyOf(op))
			if strings.Contains(got.Body, "unknown_route") || strings.Contains(got.Body, "method_not_allowed") || got.Status >= 500 {
				t.Errorf("%s %s: %d %s", method, path, got.Status, got.Body)
			}
			documented := slices.Collect(keys(op.Responses))
			if !slices.Contains(documented, itoa(got.Status)) {
				t.Errorf("%s %s answers %d, documented are %v: %s", method, path, got.Status, documented, got.Body)
			}
		}
	}
}

// addressOf fills in the documented path and the query that it needs.
func addressOf(path string, op operation) string {
	var query []string
	for _, p := range op.Parameters {
		value := "none"
		switch p.Name {
		case "workspace":
			value = "acme"
		case "version", "base", "candidate":
			value = "1.0.0"
		}
		if p.In == "path" {
			path = strings.ReplaceAll(path, "{"+p.Name+"}", value)
		} else if p.In == "query" && p.Required {
			query = append(query, p.Name+"="+value)
		}
	}
	if len(query) > 0 {
		path += "?" + strings.Join(query, "&")
	}
	return path
}

func bodyOf(op operation) any {
	for _, media := range op.RequestBody.Content {
		if media.Example != nil {
			return media.Example
		}
	}
	return nil
}

func keys[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func itoa(n int) string { b, _ := json.Marshal(n); return string(b) }

// TestReferencesLeadSomewhere follows every reference of the contract.
func TestReferencesLeadSomewhere(t *testing.T) {
	t.Parallel()
	raw, err := api.Document(ops.All(ops.Services{}))
	must(t, err)
	var tree map[string]any
	must(t, json.Unmarshal(raw, &tree))
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for k, e := range v {
				if ref, ok := e.(string); ok && k == "$ref" && resolve(tree, ref) == nil {
					t.Errorf("%s leads nowhere", ref)
				}
				walk(e)
			}
		}
	}
	walk(tree)
}

func resolve(tree map[string]any, ref string) any {
	var at any = tree
	for _, step := range strings.Split(strings.TrimPrefix(ref, "#/"), "/") {
		m, ok := at.(map[string]any)
		if !ok {
			return nil
		}
		at = m[step]
	}
	return at
}

// TestExamplesAreTaken decodes the example of every body, and holds operations
// with a body to have one.
func TestExamplesAreTaken(t *testing.T) {
	t.Parallel()
	for _, op := range ops.All(ops.Services{}) {
		body, ok := op.Body()
		if !ok || body.Type == reflect.TypeFor[ops.Upload]() {
			continue
		}
		if err := ops.DecodeBody([]byte(op.Example), reflect.New(body.Type).Interface()); err != nil {
			t.Errorf("%s: %v", op.Name, err)
		}
	}
}
