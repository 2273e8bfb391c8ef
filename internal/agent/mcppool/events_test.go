package mcppool_test

import (
	"strings"
	"testing"
	"testing/iotest"

	"capstore/internal/agent/mcppool"
	"capstore/internal/fault"

	"github.com/google/go-cmp/cmp"
)

func TestEventStream(t *testing.T) {
	t.Parallel()
	const note = `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1e2}}`
	for name, c := range map[string]struct{ in, out, result, code string }{
		"notification":    {"data: " + note + "\n\n", "data: " + note + "\n\n", "", ""},
		"result":          {"event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"content\":[], \"x\":1.0}}\n\n", "event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"content\":[]}}\n\n", `{"content":[], "x":1.0}`, ""},
		"over two lines":  {"data: {\"jsonrpc\":\"2.0\",\"id\":7,\ndata:\"result\":{\"isError\":true}}\n\n", "data: {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"content\":[]}}\n\n", `{"isError":true}`, ""},
		"carriage return": {"data: " + note + "\r\n\r\n", "data: " + note + "\n\n", "", ""},
		"comments":        {": keep-alive\n\n\n", ": keep-alive\n\n\n", "", ""},
		"priming":         {"id: 1\ndata:\n\n", "id: 1\nretry: 200\n\n", "", ""},
		"own delay":       {"id: 1\nretry: 5\ndata: " + note + "\n\n", "id: 1\nretry: 200\nretry: 5\ndata: " + note + "\n\n", "", ""},
		"cut short":       {"data: " + note + "\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":7,\"resu", "data: " + note + "\n\n", "", ""},
		"other results":   {"data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":\"x\"}}\n\n", "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":\"x\"}}\n\n", "", ""},
		"garbage":         {"data: nonsense\n\n", "", "", "not_mcp"},
		"too long":        {"data: " + strings.Repeat("x", 2000) + "\n\n", "", "", "answer_too_large"},
		"nothing":         {"", "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, result, err := mcppool.Tapped(iotest.HalfReader(strings.NewReader(c.in)), 1000)
			if c.code == "" && err != nil || c.code != "" && !fault.HasCode(err, c.code) {
				t.Fatalf("got %v, want %q", err, c.code)
			}
			if diff := cmp.Diff([]string{c.out, c.result}, []string{out, result}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func FuzzEventStream(f *testing.F) {
	f.Add("data: {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"x\"}]}}\n\n")
	f.Add("id: 1\nretry: 5\n: c\ndata:\n\ndata: {\"tools\":[]}\r\n\r\n")
	f.Add("data: {\"id\":1,\"result\":{\"tools\":[{\"name\":7},null]}}\n\n")
	f.Fuzz(func(t *testing.T, in string) {
		out, _, err := mcppool.Tapped(strings.NewReader(in), 1<<20)
		if err != nil && fault.From(err).Kind == fault.Internal {
			t.Fatalf("an unclear error: %v", err)
		}
		again, _, err := mcppool.Tapped(strings.NewReader(out), 2<<20)
		if err != nil || strings.Count(again, "data: ") != strings.Count(out, "data: ") {
			t.Fatalf("what was passed on does not pass again: %q, %v", again, err)
		}
	})
}
