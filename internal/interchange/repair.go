package interchange

import (
	"encoding/json"
	"strings"

	"capstore/internal/capability"
)

// repair rewrites front matter that YAML refuses. It is cut into its top-level
// fields; each that reads alone stays as it is, any other becomes the quoted
// text of its lines. false when no line looks like a field.
func repair(text string) (string, bool) {
	var b strings.Builder
	found := false
	for _, c := range fields(text) {
		if c.key == "" {
			continue
		}
		found = true
		b.WriteString(c.mended())
	}
	return b.String(), found
}

type field struct {
	key   string
	lines []string
}

// fields cuts front matter at each line that begins one. What stands before
// the first has no key.
func fields(text string) []field {
	out := []field{{}}
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		if m := keyLine.FindStringSubmatch(line); m != nil {
			out = append(out, field{key: m[1]})
		}
		last := &out[len(out)-1]
		if !strings.HasPrefix(line, "#") {
			last.lines = append(last.lines, line)
		}
	}
	return out
}

func (f field) mended() string {
	whole := strings.Join(f.lines, "\n") + "\n"
	for _, try := range []string{whole, untabbed(f.lines)} {
		if m, err := loadMatter(try); err == nil && len(m.keys) == 1 && m.readable() {
			return try
		}
	}
	_, first, _ := strings.Cut(f.lines[0], ":")
	value := capability.PlainText(first + " " + strings.Join(f.lines[1:], " "))
	quoted, err := json.Marshal(unquoted(value)) // a JSON string is a YAML one
	if err != nil {
		return ""
	}
	return f.key + ": " + string(quoted) + "\n"
}

// untabbed indents by spaces, as YAML wants it.
func untabbed(lines []string) string {
	var b strings.Builder
	for _, l := range lines {
		rest := strings.TrimLeft(l, "\t ")
		b.WriteString(strings.ReplaceAll(l[:len(l)-len(rest)], "\t", "  ") + rest + "\n")
	}
	return b.String()
}

// unquoted takes away quotation marks around the whole, or the one that was
// never closed.
func unquoted(s string) string {
	for _, q := range []string{`"`, `'`} {
		if !strings.HasPrefix(s, q) {
			continue
		}
		if len(s) > 1 && strings.HasSuffix(s, q) {
			return s[1 : len(s)-1]
		}
		if strings.Count(s, q) == 1 {
			return s[1:]
		}
	}
	return s
}
