package mcppool

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"capstore/internal/fault"
	"capstore/internal/jsonx"
	"capstore/internal/toolschema"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Limits of what a server may list.
const (
	maxPages       = 100
	maxTools       = 1000
	maxCatalogue   = 32 << 20
	maxToolName    = 256
	maxDescription = 64 << 10
)

// Tool is a tool as its server defines it.
type Tool struct {
	Name         string // raw: what a call names
	Title        string
	Description  string
	InputSchema  json.RawMessage // nil when the server gives none
	OutputSchema json.RawMessage // nil when there is none
	Annotations  json.RawMessage // nil when there are none
	Hints        Hints
	Schema       *toolschema.Schema
	// Digest covers name, title, description, schemas and annotations: any
	// change of meaning moves it, another order of keys does not.
	Digest string
}

// Hints are what a server says of a tool. They prove nothing; nil is unsaid.
type Hints struct {
	ReadOnly    *bool `json:"readOnlyHint"`
	Destructive *bool `json:"destructiveHint"`
	Idempotent  *bool `json:"idempotentHint"`
	OpenWorld   *bool `json:"openWorldHint"`
}

// Problem is a tool that cannot be used, or something odd about the list.
type Problem struct {
	Tool    string `json:"tool,omitempty"` // raw name, "" for the list itself
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Catalogue is all that a server offers. A refused tool is not among Tools;
// what is only odd stands among the warnings.
type Catalogue struct {
	Server       string // what it calls itself, for people only
	Version      string
	Protocol     string // the revision that is spoken with it
	Instructions string
	Pages        int
	Tools        []Tool
	Refused      []Problem
	Warnings     []Problem
}

// collector gathers the pages of one list.
type collector struct {
	c     Catalogue
	seen  map[string]string // raw name to digest
	bytes int
}

func (l *collector) warn(tool, code, format string, args ...any) {
	l.c.Warnings = append(l.c.Warnings, Problem{clip(tool, 120), code, fmt.Sprintf(format, args...)})
}

func (l *collector) refuse(tool, code, format string, args ...any) {
	l.c.Refused = append(l.c.Refused, Problem{clip(tool, 120), code, fmt.Sprintf(format, args...)})
}

// page takes in one page and returns the next cursor, "" at the end.
func (l *collector) page(raw json.RawMessage) (string, error) {
	var got struct {
		Tools  json.RawMessage `json:"tools"`
		Cursor *string         `json:"nextCursor"`
	}
	var tools []json.RawMessage
	err := json.Unmarshal(raw, &got)
	if err == nil && given(got.Tools) != nil {
		err = json.Unmarshal(got.Tools, &tools)
	}
	if err != nil {
		return "", fault.New(fault.Unavailable, "bad_list", "The server's list of tools cannot be read.").
			Do("Tell whoever runs the server.").Because(err)
	}
	if given(got.Tools) == nil {
		l.warn("", "no_tools", "The server answers without a list of tools.")
	}
	l.c.Pages++
	l.bytes += len(raw)
	for _, t := range tools {
		if len(l.c.Tools)+len(l.c.Refused) >= maxTools {
			break
		}
		l.tool(t)
	}
	if got.Cursor == nil {
		return "", nil
	}
	return *got.Cursor, nil
}

// full reports whether nothing more is taken in.
func (l *collector) full() bool {
	return len(l.c.Tools)+len(l.c.Refused) >= maxTools || l.c.Pages >= maxPages || l.bytes >= maxCatalogue
}

func (l *collector) tool(raw json.RawMessage) {
	t, ok := l.read(raw)
	if !ok || !l.named(t) {
		return
	}
	digest, err := digestOf(t)
	if err != nil {
		l.refuse(t.Name, "tool_unreadable", "The definition cannot be read: %s", fault.From(err).Message)
		return
	}
	if before, again := l.seen[t.Name]; again {
		if before != digest {
			l.warn(t.Name, "tool_repeated", "The server lists the tool %q twice with different definitions; the first one counts.", clip(t.Name, 120))
		}
		return
	}
	l.seen[t.Name], t.Digest = digest, digest
	if t.Schema, err = toolschema.Compile(t.InputSchema); err != nil {
		f := fault.From(err)
		l.refuse(t.Name, f.Code, "%s", f.Message)
		return
	}
	l.oddities(&t)
	l.c.Tools = append(l.c.Tools, t)
}

func (l *collector) read(raw json.RawMessage) (Tool, bool) {
	var got struct {
		Name         string          `json:"name"`
		Title        string          `json:"title"`
		Description  string          `json:"description"`
		InputSchema  json.RawMessage `json:"inputSchema"`
		OutputSchema json.RawMessage `json:"outputSchema"`
		Annotations  json.RawMessage `json:"annotations"`
	}
	if err := json.Unmarshal(raw, &got); err != nil {
		l.refuse(got.Name, "tool_unreadable", "The definition of a tool cannot be read.")
		return Tool{}, false
	}
	return Tool{
		Name: got.Name, Title: got.Title, Description: got.Description,
		InputSchema: given(got.InputSchema), OutputSchema: given(got.OutputSchema), Annotations: given(got.Annotations),
	}, true
}

func (l *collector) named(t Tool) bool {
	switch {
	case strings.TrimSpace(t.Name) == "":
		l.refuse("", "tool_name_empty", "A tool has no name.")
	case len(t.Name) > maxToolName:
		l.refuse(t.Name, "tool_name_long", "The tool's name is longer than %d bytes.", maxToolName)
	case len(t.Description) > maxDescription:
		l.refuse(t.Name, "tool_description_long", "The tool's description is longer than %d KiB.", maxDescription>>10)
	default:
		return true
	}
	return false
}

// oddities notes what is tolerated about a usable tool.
func (l *collector) oddities(t *Tool) {
	if _, err := toolschema.CompileOutput(t.OutputSchema); err != nil {
		l.warn(t.Name, "output_schema", "The tool's output schema is left out. %s", fault.From(err).Message)
		t.OutputSchema = nil
	}
	for _, w := range t.Schema.Warnings() {
		l.warn(t.Name, w.Code, "%s", w.Message)
	}
	if t.Annotations != nil && json.Unmarshal(t.Annotations, &t.Hints) != nil {
		l.warn(t.Name, "annotations_unreadable", "The tool's annotations cannot be read.")
		t.Hints = Hints{}
	}
}

// finish notes why a list was cut; next is the cursor that was not followed.
func (l *collector) finish(next string, repeated bool) Catalogue {
	switch {
	case repeated:
		l.warn("", "cursor_repeated", "The server gives the same page again and again; the list ends there.")
	case len(l.c.Tools)+len(l.c.Refused) >= maxTools:
		l.warn("", "too_many_tools", "Only the first %d tools of the server are taken.", maxTools)
	case next != "":
		l.warn("", "too_many_pages", "The server's list goes on after %d pages; the rest is left out.", l.c.Pages)
	}
	return l.c
}

// given is nil for a value that is absent or null.
func given(raw json.RawMessage) json.RawMessage {
	if s := string(raw); s == "" || s == "null" {
		return nil
	}
	return raw
}

func digestOf(t Tool) (string, error) {
	canonical, err := jsonx.CanonicalOf(map[string]any{
		"name": t.Name, "title": t.Title, "description": t.Description,
		"inputSchema": t.InputSchema, "outputSchema": t.OutputSchema, "annotations": t.Annotations,
	})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:]), nil
}

// plainTools keeps what the SDK can read of a page, since it learns there which
// arguments to mirror into headers. Lifetimes are left out: a page is asked for
// when it is wanted.
func plainTools(raw json.RawMessage) json.RawMessage {
	var tools []json.RawMessage
	_ = json.Unmarshal(raw, &tools) // null, or no list: no tools
	kept := []json.RawMessage{}
	for _, t := range tools {
		var probe mcp.Tool
		if json.Unmarshal(t, &probe) == nil && probe.Name != "" && probe.InputSchema != nil {
			kept = append(kept, t)
		}
	}
	out, err := json.Marshal(map[string]any{"tools": kept})
	if err != nil {
		return json.RawMessage(`{"tools":[]}`)
	}
	return out
}
