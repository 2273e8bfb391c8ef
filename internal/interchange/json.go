package interchange

import (
	"bytes"
	"encoding/json"
	"path"
	"regexp"
	"strings"

	"capstore/internal/fault"
	"capstore/internal/jsonx"
)

// configurations are the names of files that hold MCP servers or an export. A
// file that somebody sent by itself is read whatever its name.
var configurations = []string{"server.json", "mcp.json", "claude_desktop_config.json", "mcp_config.json", "mcp_settings.json", "cline_mcp_settings.json"}

// isConfiguration reports whether the path is that of a JSON document to read.
func isConfiguration(p string) bool {
	base := strings.ToLower(path.Base(p))
	for _, name := range configurations {
		if base == name || strings.HasSuffix(base, "."+name) {
			return true
		}
	}
	return strings.HasSuffix(base, ".capstore.json")
}

// settingsWords are what stands in a client's settings that hold servers, under
// names that no other documents use.
var settingsWords = regexp.MustCompile(`"(?:mcpServers|mcp_servers|mcp\.servers|context_servers|mcp)"\s*:`)

const maxSettings = 256 << 10

// isSettings reports whether a JSON file whose name says nothing, such as a
// settings.json or an opencode.json, holds servers all the same.
func isSettings(f TreeFile) bool {
	if ext := strings.ToLower(path.Ext(f.Path)); ext != ".json" && ext != ".jsonc" || f.Size > maxSettings {
		return false
	}
	raw, err := readWithin(f, maxSettings)
	if err != nil || !settingsWords.Match(raw) {
		return false
	}
	doc, _, err := readRelaxed(raw)
	root, ok := doc.(*object)
	if err != nil || !ok {
		return false
	}
	inner := root.object("mcp")
	return holdsServer(root.object("mcpServers", "mcp_servers", "mcp.servers", "context_servers")) ||
		holdsServer(inner) || holdsServer(inner.object("servers", "mcpServers"))
}

// looksLikeJSON reports whether a document is meant as JSON, comments before it
// included, and not as Markdown.
func looksLikeJSON(raw []byte) bool {
	text := afterComments(raw)
	return len(text) > 0 && text[0] == '{' || fragmentStart.Match(text) || listStart.Match(text)
}

// fragmentStart is how a piece copied out of a JSON file begins, as people
// paste it from a README: a quoted name, a colon and a brace.
var fragmentStart = regexp.MustCompile(`^"(?:[^"\\]|\\.){1,200}"\s*:\s*[{\[]`)

// listStart is how a list of objects begins, which no Markdown does.
var listStart = regexp.MustCompile(`^\[\s*\{`)

func isFragment(raw []byte) bool { return fragmentStart.Match(afterComments(raw)) }

// afterComments is the document from its first byte that is no white space and
// no comment.
func afterComments(raw []byte) []byte {
	text := bytes.TrimLeft(bytes.TrimPrefix(raw, []byte(byteOrderMark)), " \t\r\n")
	for len(text) > 0 {
		switch {
		case bytes.HasPrefix(text, []byte("/*")):
			_, text, _ = bytes.Cut(text, []byte("*/"))
		case bytes.HasPrefix(text, []byte("//")), text[0] == '#':
			_, text, _ = bytes.Cut(text, []byte("\n"))
		default:
			return text
		}
		text = bytes.TrimLeft(text, " \t\r\n")
	}
	return text
}

// readConfiguration reads a JSON or YAML document of a tree.
func readConfiguration(f TreeFile, o Options) []Item {
	raw, err := readWithin(f, jsonx.MaxBody)
	if err != nil {
		return []Item{{Path: f.Path, Status: Refused, Fault: fault.From(err).Do(correctFile)}}
	}
	if isYAML(f.Path) {
		return readYAML(f.Path, raw, o)
	}
	return readJSON(f.Path, raw, o)
}

// readJSON reads a JSON document of whatever format it turns out to be. What
// was tolerated of the document as a whole stands at its first item.
func readJSON(p string, raw []byte, o Options) []Item {
	doc, notes, err := readRelaxed(raw)
	if err != nil {
		return []Item{{Path: p, Status: Refused, Fault: fault.From(err)}}
	}
	if list, ok := doc.([]any); ok {
		key := "mcpServers"
		if isRegistryList(list) {
			key = "servers"
		}
		doc = &object{keys: []string{key}, values: map[string]any{key: list}}
	}
	root, ok := doc.(*object)
	if !ok {
		return unknownFormat(p)
	}
	if _, own := root.values[keptKey].(json.Number); own { // an export that was edited by hand: comments, other order
		if clean, err := json.Marshal(root); err == nil {
			raw = clean
		}
		items := readExport(p, raw, o)
		items[0].Notes = append(at(p, notes), items[0].Notes...)
		return items
	}
	if isMarket(root) {
		return readMarket(p, root)
	}
	if isHooks(root) {
		return readHooks(p, root, o)
	}
	f := &jsonFile{path: p, options: o, names: map[string]string{}}
	if len(root.keys) == 0 {
		return []Item{f.noServers()}
	}
	items := f.read(root)
	if len(items) == 0 {
		return unknownFormat(p)
	}
	items[0].Notes = append(at(p, append(notes, f.notes...)), items[0].Notes...)
	return items
}

func unknownFormat(p string) []Item {
	return []Item{{Path: p, Status: Refused, Fault: fault.New(fault.Invalid, "unknown_format",
		"%q is JSON, but in none of the formats that are read here.", clip(p, 120)).
		Do("Import a server.json, an mcpServers or servers configuration, or an export of capstore.")}}
}
