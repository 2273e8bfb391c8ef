package sandbox

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestParseOutput(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, value, log string }{
		{"object", `{"ok":1}`, `{"ok":1}`, ""},
		{"logs around", "one\n{\"ok\":1}\ndone.\n", `{"ok":1}`, "one\ndone.\n"},
		{"two lines", "{\"a\":1}\n{\"a\":2}\n", `{"a":2}`, "{\"a\":1}\n"},
		{"over lines", "x\n{\n  \"a\": [\n    1,\n    {\"b\": 2}\n  ]\n}\n", "{\n  \"a\": [\n    1,\n    {\"b\": 2}\n  ]\n}", "x\n"},
		{"over lines without indent", "{\n\"a\":\n{\n\"b\": 1\n}\n}", "{\n\"a\":\n{\n\"b\": 1\n}\n}", ""},
		{"array", "[1, 2]\r\n", "[1, 2]", ""},
		{"text after it on its line", "{\"a\":1} done", `{"a":1}`, "done"},
		{"second on the line is log", `{"a":1}{"b":2}`, `{"a":1}`, `{"b":2}`},
		{"not at a line start", "result: {\"a\":1}\n", "", "result: {\"a\":1}\n"},
		{"indented", "  {\"a\":1}\n", "", "  {\"a\":1}\n"},
		{"bracketed log", "[info] starting\n{\"a\":1}\n[info] done", `{"a":1}`, "[info] starting\n[info] done"},
		{"broken one after", "{\"a\":1}\n{\"b\":\n", `{"a":1}`, "{\"b\":\n"},
		{"unclosed one before", "[\n{\"a\":1}\n", `{"a":1}`, "[\n"},
		{"composite wins over a later scalar", "{\"a\":1}\n42\n", `{"a":1}`, "42\n"},
		{"number", "log\n42\n", "42", "log\n"},
		{"exact number", "123456789012345678901234567890.10\n", "123456789012345678901234567890.10", ""},
		{"string", `"text"`, `"text"`, ""},
		{"null", "null\n\n\n", "null", ""},
		{"true with blanks", "log\n  true \t\n", "true", "log\n  "},
		{"scalar is not the whole line", "total 42\n", "", "total 42\n"},
		{"scalar is not on the last line", "42\ndone\n", "", "42\ndone\n"},
		{"NaN", "NaN\n", "", "NaN\n"},
		{"NaN inside", "{\"a\": NaN}\n", "", "{\"a\": NaN}\n"},
		{"python's quotes", "{'a': 1}\n", "", "{'a': 1}\n"},
		{"trailing comma", "{\"a\":1,}\n", "", "{\"a\":1,}\n"},
		{"NUL at the end", "{\"a\":1}\x00", `{"a":1}`, ""},
		{"NUL after a scalar", "7\n\x00", "7", ""},
		{"byte order mark", "\uFEFF{\"a\":1}", `{"a":1}`, ""},
		{"brackets in strings", "{\"a\":\"}{][\\\"\"}", "{\"a\":\"}{][\\\"\"}", ""},
		{"invalid UTF-8", "{\"a\":\"\xff\"}", "{\"a\":\"\uFFFD\"}", ""},
		{"empty", "", "", ""},
		{"blank", " \n\x00\n", "", " \n\x00\n"},
		{"deep", strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth), strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth), ""},
		{"too deep", strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1), "", strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			out, found := ParseOutput([]byte(tt.in))
			if found != (tt.value != "") || string(out.Value) != tt.value || string(out.Log) != tt.log {
				t.Errorf("found %v, value %q, log %q", found, out.Value, out.Log)
			}
		})
	}
}

func TestToolResult(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, value string
		content     []string
		isError     bool
	}{
		{"blocks", `{"content":[{"type":"text","text":"a"},{"type":"image","data":"AA==","mimeType":"image/png"}]}`,
			[]string{`{"type":"text","text":"a"}`, `{"type":"image","data":"AA==","mimeType":"image/png"}`}, false},
		{"error with blocks", `{"content":[{"type":"text","text":"no"}],"isError":true}`, []string{`{"type":"text","text":"no"}`}, true},
		{"error with text", `{"content":"no","isError":true}`, []string{`{"type":"text","text":"no"}`}, true},
		{"flag with data", `{"content":{"n":1.0},"isError":false}`, []string{`{"type":"text","text":"{\"n\":1.0}"}`}, false},
		{"no blocks", `{"content":[],"isError":true}`, nil, true},
		{"data that has content", `{"content":"a","path":"b"}`, []string{`{"type":"text","text":"{\"content\":\"a\",\"path\":\"b\"}"}`}, false},
		{"content alone", `{"content":"a"}`, []string{`{"type":"text","text":"{\"content\":\"a\"}"}`}, false},
		{"flag of another type", `{"content":[],"isError":"yes"}`, []string{`{"type":"text","text":"{\"content\":[],\"isError\":\"yes\"}"}`}, false},
		{"array", `[1]`, []string{`{"type":"text","text":"[1]"}`}, false},
		{"string", `"a\nb"`, []string{`{"type":"text","text":"a\nb"}`}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			content, isError := asToolResult(json.RawMessage(tt.value))
			var got []string
			for _, c := range content {
				got = append(got, string(c))
			}
			if diff := cmp.Diff(tt.content, got); diff != "" || isError != tt.isError {
				t.Errorf("isError %v, content:\n%s", isError, diff)
			}
		})
	}
}

// TestParseOutputFindsWhatWasPrinted is the law: whatever lines stand around
// it, the last object printed on lines of its own is the result, byte for byte.
func TestParseOutputFindsWhatWasPrinted(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.StringMatching(`[a-zA-Z 0-9:.,"']{0,30}`)
		tree := map[string]any{}
		for _, k := range rapid.SliceOfN(rapid.String(), 0, 4).Draw(t, "keys") {
			tree[k] = rapid.OneOf(rapid.Map(rapid.String(), func(s string) any { return s }),
				rapid.Map(rapid.SliceOf(rapid.Int()), func(s []int) any { return s })).Draw(t, "value")
		}
		want, _ := json.Marshal(tree)
		if rapid.Bool().Draw(t, "pretty") {
			want, _ = json.MarshalIndent(tree, "", rapid.SampledFrom([]string{"", " ", "\t"}).Draw(t, "indent"))
		}
		before := rapid.SliceOf(line).Draw(t, "before")
		after := rapid.SliceOf(line).Draw(t, "after")
		text := strings.Join(append(append(before, string(want)), after...), "\n")
		out, found := ParseOutput([]byte(text))
		if !found || !bytes.Equal(out.Value, want) {
			t.Fatalf("found %v %q, want %q", found, out.Value, want)
		}
	})
}

// TestParseOutputIsQuick feeds output that makes a search from every line
// start quadratic: it must end within the test's own time limit.
func TestParseOutputIsQuick(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"[\n", "{\"a\":\n", "[1,\n", "[]x\n", "[\"\n", "[[[[[[[[\n", "{}}\n"} {
		ParseOutput([]byte(strings.Repeat(line, MaxOutput/len(line))))
	}
}

func FuzzParseOutput(f *testing.F) {
	for _, seed := range []string{"{\"a\":1}\n", "log\n[1,\n2]\nend", "42\x00", "{\"content\":[],\"isError\":true}", "[\n{", "\xff{"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		out, found := ParseOutput(in)
		if found != (out.Value != nil) || found && !json.Valid(out.Value) {
			t.Fatalf("found %v, value %q", found, out.Value)
		}
		for _, block := range out.Content {
			if !json.Valid(block) {
				t.Fatalf("block %q", block)
			}
		}
	})
}
