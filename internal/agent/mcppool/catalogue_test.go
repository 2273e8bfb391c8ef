package mcppool_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"capstore/internal/agent/mcppool"
	"capstore/internal/fault"

	"github.com/google/go-cmp/cmp"
)

// pages serves the pages by their cursors, "" for the first.
func pages(t *testing.T, at func(cursor string) string) *server {
	t.Helper()
	return serve(t, on("tools/list", func(w http.ResponseWriter, m message) {
		var params struct{ Cursor string }
		_ = json.Unmarshal(m.Params, &params)
		answer(w, m, at(params.Cursor))
	}))
}

func list(t *testing.T, s *server) (mcppool.Catalogue, error) {
	t.Helper()
	return newPool(t, mcppool.Options{}).Tools(t.Context(), alice, s.target())
}

func tools(prefix string, n int) string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf(`{"name":"%s%02d","inputSchema":{"type":"object"}}`, prefix, i+1))
	}
	return strings.Join(out, ",")
}

func problems(list []mcppool.Problem) []string {
	var out []string
	for _, p := range list {
		out = append(out, p.Tool+" "+p.Code)
	}
	return out
}

func TestEveryPageIsRead(t *testing.T) {
	t.Parallel()
	s := pages(t, func(cursor string) string {
		switch cursor {
		case "":
			return `{"tools":[` + tools("a", 20) + `],"nextCursor":"p2"}`
		case "p2":
			return `{"tools":[],"nextCursor":"p3"}`
		}
		return `{"tools":[` + tools("b", 2) + `]}`
	})
	c, err := list(t, s)
	if err != nil || len(c.Tools) != 22 || c.Pages != 3 || len(c.Warnings)+len(c.Refused) > 0 {
		t.Errorf("%d tools on %d pages, %v, %v", len(c.Tools), c.Pages, c.Warnings, err)
	}
	if c.Server != "stub" || c.Protocol != "2025-11-25" {
		t.Errorf("server %q, %q", c.Server, c.Protocol)
	}
}

func TestListsThatNeverEnd(t *testing.T) {
	t.Parallel()
	n := 0
	for name, c := range map[string]struct {
		at          func(cursor string) string
		tools       int
		warning     string
		pagesAtMost int
	}{
		"same cursor": {func(string) string { return `{"tools":[` + tools("t", 2) + `],"nextCursor":"same"}` }, 2, "cursor_repeated", 2},
		"two in turn": {func(c string) string {
			next := map[string]string{"": "A", "A": "B", "B": "A"}[c]
			return `{"tools":[` + tools("t", 2) + `],"nextCursor":"` + next + `"}`
		}, 2, "cursor_repeated", 3},
		"10,000 pages": {func(string) string { n++; return fmt.Sprintf(`{"tools":[{"name":"t%d"}],"nextCursor":"c%d"}`, n, n) }, 100, "too_many_pages", 100},
		"5,000 tools":  {func(string) string { return `{"tools":[` + tools("t", 5000) + `]}` }, 1000, "too_many_tools", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := list(t, pages(t, c.at))
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Tools) != c.tools || got.Pages > c.pagesAtMost {
				t.Errorf("%d tools on %d pages", len(got.Tools), got.Pages)
			}
			if diff := cmp.Diff([]string{" " + c.warning}, problems(got.Warnings)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// One unusable tool is refused by its name; the others work.
func TestToolsAreJudgedOneByOne(t *testing.T) {
	t.Parallel()
	s := pages(t, func(string) string {
		return `{"tools":[{"name":"good","inputSchema":{"type":"object"}},
			{"name":"u1","inputSchema":{"anyOf":[{"type":"object","required":["a"]},{"type":"object","required":["b"]}]}},
			{"name":"u2","inputSchema":{"type":"string"}},
			{"name":"u3","inputSchema":{"type":"object"},"outputSchema":{"title":"x"}},
			{"name":"absent"},{"name":"null","inputSchema":null},{"name":"list","inputSchema":{"type":"object","properties":[]}},
			{"name":"odd output","inputSchema":{},"outputSchema":7},
			{"name":"remote","inputSchema":{"properties":{"a":{"$ref":"https://evil.example/s"}}}},
			{"name":"dialect","inputSchema":{"$schema":"urn:x"}},
			{"name":"draft-07","inputSchema":{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"n":{"maximum":18446744073709551615}}}},
			{"name":"","inputSchema":{}},{"name":7},"text",null,
			{"name":"` + strings.Repeat("n", 300) + `"},
			{"name":"echo","description":"one"},{"name":"echo","description":"two"},{"name":"twice"},{"name":"twice"},
			{"name":"files.read/工具 x","annotations":{"readOnlyHint":true,"destructiveHint":"yes"}},
			{"name":"deep","inputSchema":` + strings.Repeat(`{"properties":{"a":`, 70) + `{}` + strings.Repeat("}}", 70) + `},
			{"name":"repeats","inputSchema":{"type":"object","type":"object"}},{"name":"bytes","description":"ÿ"},
			{"name":"hints","annotations":{"readOnlyHint":true,"openWorldHint":false}}]}`
	})
	c, err := list(t, s)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range c.Tools {
		names = append(names, tool.Name)
	}
	if diff := cmp.Diff([]string{"good", "u1", "u3", "absent", "null", "list", "odd output", "draft-07", "echo", "twice", "files.read/工具 x", "bytes", "hints"}, names); diff != "" {
		t.Error(diff)
	}
	want := []string{"u2 schema_root_type", "remote schema_remote_ref", "dialect schema_unknown_dialect", " tool_name_empty", " tool_unreadable", " tool_unreadable", " tool_name_empty", strings.Repeat("n", 120) + "… tool_name_long", "deep tool_unreadable", "repeats tool_unreadable"}
	if diff := cmp.Diff(want, problems(c.Refused)); diff != "" {
		t.Errorf("refused: %s", diff)
	}
	if diff := cmp.Diff([]string{"list schema_mended", "odd output output_schema", "echo tool_repeated", "files.read/工具 x annotations_unreadable"}, problems(c.Warnings)); diff != "" {
		t.Errorf("warnings: %s", diff)
	}
	if string(c.Tools[7].InputSchema) != `{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"n":{"maximum":18446744073709551615}}}` {
		t.Errorf("a schema was re-spelt: %s", c.Tools[7].InputSchema)
	}
	h := c.Tools[12].Hints
	if h.ReadOnly == nil || !*h.ReadOnly || h.OpenWorld == nil || *h.OpenWorld || h.Destructive != nil || h.Idempotent != nil {
		t.Errorf("hints: %+v", h)
	}
}

func TestListsThatAreNone(t *testing.T) {
	t.Parallel()
	for answered, code := range map[string]string{`{"tools":null}`: "", `{"tools":{}}`: "bad_list", `{"tools":[],"nextCursor":7}`: "bad_list", `{}`: "bad_list"} {
		c, err := list(t, pages(t, func(string) string { return answered }))
		if code != "" && !fault.HasCode(err, code) {
			t.Errorf("%s: %v, want %s", answered, err, code)
		}
		if code == "" && (err != nil || len(c.Tools) > 0 || problems(c.Warnings)[0] != " no_tools") {
			t.Errorf("%s: %v, %v", answered, c, err)
		}
	}
}

// A digest moves with the meaning of a definition and with nothing else.
func TestDigests(t *testing.T) {
	t.Parallel()
	base := `{"name":"note_add","description":"Save a note","inputSchema":{"type":"object","properties":{"text":{"type":"string"}}},"annotations":{"destructiveHint":true}}`
	digest := func(tool string) string {
		c, err := list(t, pages(t, func(string) string { return `{"tools":[` + tool + `]}` }))
		if err != nil || len(c.Tools) != 1 {
			t.Fatalf("%s: %v, %v", tool, c, err)
		}
		return c.Tools[0].Digest
	}
	same := digest(base)
	for change, moves := range map[string]bool{
		`{"annotations":{"destructiveHint":true},"inputSchema":{"properties":{"text":{"type":"string"}},"type":"object"},"description":"Save a note","name":"note_add"}`: false,
		strings.Replace(base, "{", "{ \n", 1):                                              false,
		strings.Replace(base, `"name"`, `"_meta":{"x":1},"name"`, 1):                       false,
		strings.Replace(base, "Save a note", "Save a  note", 1):                            true,
		strings.Replace(base, "destructiveHint", "idempotentHint", 1):                      true,
		strings.Replace(base, `"type":"object"`, `"type":"object","required":["text"]`, 1): true,
		strings.Replace(base, `"name"`, `"title":"T","name"`, 1):                           true,
		strings.Replace(base, `"name"`, `"outputSchema":{},"name"`, 1):                     true,
	} {
		if (digest(change) != same) != moves {
			t.Errorf("moves %v: %s", !moves, change)
		}
	}
}
