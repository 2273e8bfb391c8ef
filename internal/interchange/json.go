package interchange

import (
	"bytes"
	"path"
	"strings"

	"capstore/internal/fault"
)

// configurations are the names of files that hold MCP servers or an export. A
// file that somebody sent by itself is read whatever its name.
var configurations = []string{"server.json", "mcp.json", "claude_desktop_config.json"}

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

// looksLikeJSON reports whether a document is meant as JSON, comments before it
// included, and not as Markdown.
func looksLikeJSON(raw []byte) bool {
	text := bytes.TrimLeft(bytes.TrimPrefix(raw, []byte(byteOrderMark)), " \t\r\n")
	for len(text) > 0 {
		switch {
		case text[0] == '{':
			return true
		case bytes.HasPrefix(text, []byte("/*")):
			_, text, _ = bytes.Cut(text, []byte("*/"))
		case bytes.HasPrefix(text, []byte("//")), text[0] == '#':
			_, text, _ = bytes.Cut(text, []byte("\n"))
		default:
			return false
		}
		text = bytes.TrimLeft(text, " \t\r\n")
	}
	return false
}

// readConfiguration reads a JSON document of a tree.
func readConfiguration(f TreeFile, o Options) []Item {
	raw, err := readWithin(f, MaxDocument)
	if err != nil {
		return []Item{{Path: f.Path, Status: Refused, Fault: fault.From(err)}}
	}
	return readJSON(f.Path, raw, o)
}

// readJSON reads a JSON document of whatever format it turns out to be.
func readJSON(p string, raw []byte, o Options) []Item {
	return []Item{{Path: p, Status: Refused, Fault: fault.New(fault.Invalid, "unknown_format", "%q is JSON, but in none of the formats that are read here.", clip(p, 120))}}
}
