package sandbox

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// maxDepth bounds the nesting of a result. It also bounds the work of finding
// it: every byte is looked at once per level at most.
const maxDepth = 256

// Output is standard output, read by the contract of code tools.
type Output struct {
	Value   json.RawMessage   // byte for byte, nil when there is no result
	Content []json.RawMessage // MCP content blocks
	IsError bool
	Log     []byte // everything else
}

// ParseOutput finds the result in what a program printed: the last JSON object
// or array that begins at a line start and may span lines, and is not inside
// another; with none, a scalar that is the whole last non-empty line. Found is
// false when there is neither. Bytes that are not UTF-8 count as U+FFFD.
func ParseOutput(stdout []byte) (out Output, found bool) {
	if !utf8.Valid(stdout) {
		stdout = bytes.ToValidUTF8(stdout, []byte("\uFFFD"))
	}
	stdout = bytes.TrimPrefix(stdout, []byte("\uFEFF"))
	start, end := lastComposite(stdout)
	if end == 0 {
		start, end = lastScalar(stdout)
	}
	if end == 0 {
		return Output{Log: stdout}, false
	}
	out.Value = bytes.Clone(stdout[start:end])
	out.Log = join(stdout[:start], stdout[end:])
	out.Content, out.IsError = asToolResult(out.Value)
	return out, true
}

// join glues the log around the result together, without an empty line where
// the result stood.
func join(before, after []byte) []byte {
	after = bytes.TrimLeft(after, " \t\r\n\x00")
	return append(bytes.Clone(before), after...)
}

// lastComposite returns the bounds of the last object or array that begins at
// a line start; end is 0 when there is none.
func lastComposite(b []byte) (start, end int) {
	for at := 0; at < len(b); {
		if b[at] == '{' || b[at] == '[' {
			if n := compositeLen(b[at:]); n > 0 {
				start, end = at, at+n
				at = end // what is inside is not looked at again
			}
		}
		next := bytes.IndexByte(b[at:], '\n')
		if next < 0 {
			break
		}
		at += next + 1
	}
	return start, end
}

// compositeLen returns the length of the object or array that b begins with, 0
// when it is not one. A cheap walk over brackets finds the end first, so that
// the JSON parser never reads a long tail in vain.
func compositeLen(b []byte) int {
	var stack [maxDepth]byte
	depth := 0
	for i := 0; i < len(b); i++ {
		switch c := b[i]; c {
		case '{', '[':
			if depth == maxDepth {
				return 0
			}
			stack[depth] = c + 2 // '{'+2 is '}', '['+2 is ']'
			depth++
		case '}', ']':
			if depth--; stack[depth] != c {
				return 0
			}
			if depth == 0 {
				if !json.Valid(b[:i+1]) {
					return 0
				}
				return i + 1
			}
		case '"':
			n := stringLen(b[i:])
			if n == 0 {
				return 0
			}
			i += n - 1
		}
	}
	return 0
}

// stringLen returns the length of the JSON string that b begins with, 0 when
// it does not end on its line.
func stringLen(b []byte) int {
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '\n':
			return 0
		case '"':
			return i + 1
		}
	}
	return 0
}

// lastScalar returns the bounds of the last line that is not empty when that
// is one JSON scalar; end is 0 when it is not. A NUL at the end is a blank.
func lastScalar(b []byte) (start, end int) {
	const blank = " \t\r\n\x00"
	text := bytes.TrimRight(b, blank)
	start = bytes.LastIndexByte(text, '\n') + 1
	line := text[start:]
	start += len(line) - len(bytes.TrimLeft(line, blank))
	line = text[start:]
	if len(line) == 0 || line[0] == '{' || line[0] == '[' || !json.Valid(line) {
		return 0, 0
	}
	return start, len(text)
}

// asToolResult reads value as a tool result, or wraps it as one text block. A
// value is a tool result when it is an object of that shape and nothing else:
// data that happens to have a member "content" stays data.
func asToolResult(value json.RawMessage) (content []json.RawMessage, isError bool) {
	var members map[string]json.RawMessage
	if value[0] != '{' || json.Unmarshal(value, &members) != nil {
		return wrap(value), false
	}
	for name := range members {
		switch name {
		case "content", "isError", "structuredContent", "_meta":
		default:
			return wrap(value), false
		}
	}
	body, has := members["content"]
	flag, flagged := members["isError"]
	if !has || flagged && json.Unmarshal(flag, &isError) != nil {
		return wrap(value), false
	}
	if blocks, ok := contentBlocks(body); ok {
		return blocks, isError
	}
	if !flagged {
		return wrap(value), false
	}
	return wrap(body), isError
}

// contentBlocks reads body as a list of MCP content blocks, objects with a
// "type" each.
func contentBlocks(body json.RawMessage) ([]json.RawMessage, bool) {
	var blocks []json.RawMessage
	if body[0] != '[' || json.Unmarshal(body, &blocks) != nil {
		return nil, false
	}
	for _, block := range blocks {
		var typed struct {
			Type string `json:"type"`
		}
		if json.Unmarshal(block, &typed) != nil || typed.Type == "" {
			return nil, false
		}
	}
	return blocks, true
}

// wrap makes one text block of a value: a string's own text, else its JSON.
func wrap(value json.RawMessage) []json.RawMessage {
	text := string(value)
	if value[0] == '"' {
		_ = json.Unmarshal(value, &text) // value is valid JSON, checked before
	}
	block, err := json.Marshal(struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}{"text", text})
	if err != nil {
		panic(err) // two strings always encode
	}
	return []json.RawMessage{block}
}
