package web

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"capstore/internal/capability"
)

func TestTypeWord(t *testing.T) {
	t.Parallel()
	for schema, want := range map[string]string{
		`{"type":"string"}`:                           "string",
		`{"type":["string","null"]}`:                  "string | null",
		`{"type":"string","format":"date"}`:           "string (date)",
		`{"type":"array","items":{"type":"integer"}}`: "integer[]",
		`{"type":"array"}`:                            "array",
		`{"enum":["a",1,null]}`:                       `"a" | 1 | null`,
		`{"enum":[1,2,3,4,5,6,7,8,9]}`:                "1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | …",
		`true`:                                        "",
		`{}`:                                          "",
		`{"format":"uri"}`:                            "(uri)",
		`{"type":"array","items":{"enum":["x"]}}`:     `"x"[]`,
		`{"type":"array","items":true}`:               "array",
		`{"type":"object","properties":{"a":{"type":"int"}}}`: "object",
	} {
		if got := typeWord(json.RawMessage(schema)); got != want {
			t.Errorf("%s is %q, want %q", schema, got, want)
		}
	}
}

func TestServerToolsAreNamedAndClassed(t *testing.T) {
	t.Parallel()
	got := serverTools("wiki", &capability.MCPSpec{
		Provides: []string{"search", "page", "search", ""}, ToolClasses: map[string]capability.ToolClass{"page": capability.ClassRead, "edit": capability.ClassWrite},
	})
	var lines []string
	for _, c := range got {
		class := "?"
		if c.HasClass {
			class = map[bool]string{true: "writes", false: "reads"}[c.Write]
		}
		lines = append(lines, c.Raw+" "+c.Name+" "+class)
	}
	want := []string{"edit mcp__wiki__edit writes", "page mcp__wiki__page reads", "search mcp__wiki__search ?"}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
}
