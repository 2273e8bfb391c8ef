package capability

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"capstore/internal/fault"
	"capstore/internal/jsonx"
)

// Limits on a spec, in bytes unless named otherwise.
const (
	MaxCode         = 256 << 10
	MaxInstructions = 1 << 20
	MaxTemplate     = 256 << 10
	MaxFiles        = 200
	MaxFilesTotal   = 10 << 20
	MaxPreset       = 64 << 10
	MaxExamples     = 20

	DefaultTimeoutSec = 30
	MaxTimeoutSec     = 300
)

// Rules is what validation cannot know by itself.
type Rules struct {
	// AllowLoopbackHTTP lets an mcp server be reached by plain http on the
	// loopback addresses, for servers on the operator's own machine.
	AllowLoopbackHTTP bool
}

// Validate returns every fault of the content at once, nil when there is none.
// Paths point into the request body: /name, /description, /spec/….
func (c Content) Validate(r Rules) []fault.Field {
	var f faults
	f.name("/name", c.Name)
	f.plain("/description", "The description", c.Description, MaxDescription)
	f.required("/description", "The description", c.Description)
	if c.Spec == nil {
		f.add(specPath, "required", "A spec is required.")
		return f
	}
	c.Spec.validate(&f, r)
	if c.Spec.Kind() == KindCommand {
		f.commandName(c.Name)
	}
	f.zeroBytes(c.Spec)
	return f
}

// faults collects what is wrong.
type faults []fault.Field

func (f *faults) add(path, code, format string, args ...any) {
	*f = append(*f, fault.Field{Path: path, Code: code, Message: fmt.Sprintf(format, args...)})
}

func (f *faults) required(path, label, value string) {
	if !visible(value) {
		f.add(path, "required", "%s is required.", label)
	}
}

// name checks what the agent sees a capability as.
func (f *faults) name(path, name string) {
	f.required(path, "A name", name)
	f.plain(path, "The name", name, MaxName)
	if name != "" && name != strings.TrimSpace(name) {
		f.add(path, "not_trimmed", "The name begins or ends with a space.")
	}
}

// plain checks a line of plain text of at most limit characters.
func (f *faults) plain(path, label, value string, limit int) {
	if !utf8.ValidString(value) {
		f.add(path, "invalid_utf8", "%s is not valid UTF-8.", label)
		return
	}
	if r, bad := notPlain(value); bad {
		f.add(path, "not_plain_text", "%s holds the character U+%04X, which cannot be seen; plain text of one line is wanted.", label, r)
	}
	if n := utf8.RuneCountInString(value); n > limit {
		f.add(path, "too_long", "%s has %d characters; at most %d are allowed.", label, n, limit)
	}
}

// document checks a longer text, whose lines may break.
func (f *faults) document(path, label, value string, limit int) {
	if !utf8.ValidString(value) {
		f.add(path, "invalid_utf8", "%s is not valid UTF-8.", label)
	}
	if len(value) > limit {
		f.add(path, "too_long", "%s has %d bytes; at most %d are allowed.", label, len(value), limit)
	}
}

// count checks the length of a list.
func (f *faults) count(path, label string, n, limit int) {
	if n > limit {
		f.add(path, "too_many", "There are %d %s; at most %d are allowed.", n, label, limit)
	}
}

// between checks a number that may be left out as 0.
func (f *faults) between(path, label string, n, least, most int) {
	if n != 0 && (n < least || n > most) {
		f.add(path, "out_of_range", "%s is between %d and %d seconds.", label, least, most)
	}
}

// zeroBytes finds U+0000 anywhere in the spec: no database text holds it.
func (f *faults) zeroBytes(spec Spec) {
	raw := EncodeSpec(spec)
	if !strings.Contains(string(raw), `\u0000`) {
		return
	}
	doc, err := jsonx.Parse(raw, len(raw))
	if err != nil {
		return
	}
	walkStrings(doc, specPath, func(path, s string) {
		f.zeroByte(path, s)
	})
}

func (f *faults) zeroByte(path, s string) {
	if strings.ContainsRune(s, 0) {
		f.add(path, "zero_byte", "The text holds a zero byte, which cannot be stored; send binary files as base64.")
	}
}

// walkStrings visits every string of a JSON value, keys included.
func walkStrings(doc any, path string, visit func(path, s string)) {
	switch v := doc.(type) {
	case string:
		visit(path, v)
	case []any:
		for i, e := range v {
			walkStrings(e, jsonx.Pointer(path, fmt.Sprint(i)), visit)
		}
	case map[string]any:
		for _, k := range sortedKeys(v) {
			visit(path, k)
			walkStrings(v[k], jsonx.Pointer(path, k), visit)
		}
	}
}

// rawJSON checks a value that travels as it is.
func (f *faults) rawJSON(path string, raw json.RawMessage, limit int) bool {
	if err := jsonx.Check(raw, limit); err != nil {
		e := fault.From(err)
		f.add(path, e.Code, "%s", e.Message)
		return false
	}
	return true
}
