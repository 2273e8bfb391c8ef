package interchange

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"capstore/internal/capability"
	"capstore/internal/fault"
)

// MaxDocument is the largest SKILL.md in bytes.
const MaxDocument = 1 << 20

const (
	byteOrderMark  = "\ufeff"
	maxFrontMatter = 64 << 10
)

// document is a SKILL.md taken apart. There is one such parser, for import,
// preview and serving, so that a file has one identity.
type document struct {
	matter string // between the fences, with LF line ends
	line   int    // of the file where matter begins, from 1
	fenced bool   // there was front matter
	body   string // after the closing fence, as it stands
	notes  []Note
}

func (d *document) note(code, message string) {
	d.notes = append(d.notes, Note{Code: code, Message: message})
}

func docFault(code, format string, args ...any) *fault.Fault {
	kind := fault.Invalid
	if code == "document_too_large" {
		kind = fault.TooLarge
	}
	return fault.New(kind, code, format, args...).Do("Correct the SKILL.md and import it again.")
}

// splitDocument finds the front matter of a SKILL.md. The error is a fault that
// names the place.
func splitDocument(raw []byte) (*document, error) {
	text, d, err := readText(raw)
	if err != nil {
		return nil, err
	}
	lines := strings.SplitAfter(text, "\n")
	first := 0
	for first < len(lines) && strings.TrimSpace(lines[first]) == "" {
		first++
	}
	if first > 0 {
		d.note("leading_blank_lines", "Blank lines before the front matter were skipped.")
	}
	if first < len(lines) && isFence(lines[first]) {
		return d, d.cut(lines, first+1)
	}
	if keyLine.MatchString(strings.TrimRight(lines[first], "\n")) && d.cut(lines, first) == nil {
		d.note("opening_fence_missing", "The line --- before the front matter is missing.")
		return d, nil
	}
	d.body = strings.Join(lines[first:], "")
	d.note("no_front_matter", "There is no front matter: name and description were taken from the folder and the text.")
	return d, nil
}

// readText checks the bytes and gives them as text with LF line ends.
func readText(raw []byte) (string, *document, error) {
	d := &document{}
	if len(raw) > MaxDocument {
		return "", nil, docFault("document_too_large", "The file is %d bytes long; at most %d are read.", len(raw), MaxDocument)
	}
	if f := badBytes(raw); f != nil {
		return "", nil, f
	}
	text, marked := strings.CutPrefix(string(raw), byteOrderMark)
	if marked {
		d.note("byte_order_mark", "The file begins with a byte order mark.")
	}
	if strings.Contains(text, "\r") {
		d.note("line_ends", "The line ends are not those of Unix; they are kept in the file.")
		text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	}
	if strings.TrimSpace(text) == "" {
		return "", nil, docFault("empty_document", "The file has no content.")
	}
	return text, d, nil
}

func isFence(line string) bool { return strings.TrimRight(line, " \t\n") == "---" }

func isClosing(line string) bool { return isFence(line) || strings.TrimRight(line, " \t\n") == "..." }

// gluedFence is a closing fence whose line end was lost: "---# Title".
var gluedFence = regexp.MustCompile(`^---[^-\s].*|^--- *#.*`)

// badBytes returns the fault of the first byte that no text may hold, nil for
// none.
func badBytes(raw []byte) *fault.Fault {
	if bytes.HasPrefix(raw, []byte{0xff, 0xfe}) || bytes.HasPrefix(raw, []byte{0xfe, 0xff}) {
		return docFault("not_utf8", "The file is written in UTF-16, not in UTF-8 (byte 0).")
	}
	for i := 0; i < len(raw); {
		r, n := utf8.DecodeRune(raw[i:])
		if r == utf8.RuneError && n == 1 {
			return docFault("not_utf8", "The file is not valid UTF-8 (byte %d).", i)
		}
		if r == 0 {
			return docFault("nul_byte", "The file holds a NUL byte (byte %d).", i)
		}
		i += n
	}
	return nil
}

// cut takes the front matter from line start to its closing fence.
func (d *document) cut(lines []string, start int) error {
	end, rest := -1, ""
	for i := start; i < len(lines) && end < 0; i++ {
		if isClosing(lines[i]) {
			end = i
		}
	}
	for i := start; i < len(lines) && end < 0; i++ {
		if gluedFence.MatchString(lines[i]) {
			end, rest = i, strings.TrimLeft(lines[i], "-")
			d.note("fence_glued", "The text follows the closing --- on the same line.")
		}
	}
	if end < 0 {
		return docFault("front_matter_unclosed", "The front matter that begins at line %d never ends: a line --- is missing after it.", max(start, 1))
	}
	d.fenced, d.line = true, start+1
	d.matter = strings.Join(lines[start:end], "")
	d.body = rest + strings.Join(lines[end+1:], "")
	if len(d.matter) > maxFrontMatter {
		return docFault("document_too_large", "The front matter is %d bytes long; at most %d are read.", len(d.matter), maxFrontMatter)
	}
	return nil
}

// firstParagraph gives a description where the author gave none: the first
// text of the body that is no heading, else the heading.
func firstParagraph(body string) string {
	heading := ""
	for block := range strings.SplitSeq(body, "\n\n") {
		var text []string
		for line := range strings.SplitSeq(strings.TrimSpace(block), "\n") {
			if title, ok := strings.CutPrefix(line, "#"); ok {
				if heading == "" {
					heading = strings.TrimSpace(strings.TrimLeft(title, "#"))
				}
				continue
			}
			text = append(text, line)
		}
		if p := capability.PlainText(strings.Join(text, " ")); strings.Trim(p, "-*_= ") != "" { // no rule
			return p
		}
	}
	return capability.PlainText(heading)
}

// shorten cuts s to at most n runes, at a word where there is one.
func shorten(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	s = string(r[:n-1])
	if i := strings.LastIndexByte(s, ' '); i > len(s)/2 {
		s = s[:i]
	}
	return s + "…"
}

func clip(s string, n int) string {
	return shorten(strings.ToValidUTF8(fmt.Sprint(s), "�"), n)
}
