package interchange

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"capstore/internal/fault"
	"capstore/internal/jsonx"

	"github.com/go-json-experiment/json/jsontext"
)

// relaxed is a JSON document that people keep by hand, on its way to a strict
// one. What clients tolerate is blanked in place, so that every fault still
// names the line and column of the file as it was sent. One pass does it, with
// the depth counted on the way: a reader that knows comments but descends
// without a bound, as the libraries do, would fall to a megabyte of brackets.
type relaxed struct {
	raw  []byte // as sent
	text []byte // as read: as long, with what was tolerated blanked
	lead int    // bytes that were put before the text
	i    int
	deep int
	last int // where the last byte was that means something, -1 before it

	mark, comments, commas, fragment bool
}

// readRelaxed gives the one JSON value of a document, and what was tolerated
// for it. The error is a fault that names line and column.
func readRelaxed(raw []byte) (any, []Note, error) {
	if len(raw) > jsonx.MaxBody {
		return nil, nil, fault.New(fault.TooLarge, "configuration_too_large", "The file is %d bytes long; at most %d are read.", len(raw), jsonx.MaxBody).Do(correctFile)
	}
	if f := badBytes(raw); f != nil {
		return nil, nil, f.Do(correctFile)
	}
	r := &relaxed{raw: raw, text: bytes.Clone(raw), last: -1}
	r.open()
	if err := r.scan(); err != nil {
		return nil, nil, err
	}
	if err := jsonx.Check(r.text, len(r.text)); err != nil {
		return nil, nil, r.placed(fault.From(err))
	}
	v, err := parseOrdered(r.text)
	return v, r.notes(), err
}

const correctFile = "Correct the file and import it again."

// open takes the byte order mark away, and puts braces around what was copied
// out of the middle of a file.
func (r *relaxed) open() {
	if bytes.HasPrefix(r.text, []byte(byteOrderMark)) {
		r.mark = true
		copy(r.text, "   ")
	}
	if isFragment(r.text) {
		r.fragment, r.lead = true, 1
		r.text = append(append([]byte{'{'}, r.text...), '\n', '}')
	}
}

func (r *relaxed) scan() error {
	for r.i < len(r.text) {
		c := r.text[r.i]
		switch {
		case c == '"':
			r.string()
		case c == '#', c == '/':
			if err := r.comment(); err != nil {
				return err
			}
		case c == ' ', c == '\t', c == '\r', c == '\n':
			r.i++
		default:
			if err := r.punctuation(c); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *relaxed) string() {
	r.last = r.i
	for r.i++; r.i < len(r.text) && r.text[r.i] != '"'; r.i++ {
		if r.text[r.i] == '\\' {
			r.i++
		}
	}
	r.i++
}

// comment blanks a comment; a slash that begins none is left to the parser.
func (r *relaxed) comment() error {
	rest := r.text[r.i:]
	end := bytes.IndexAny(rest, "\r\n")
	switch {
	case rest[0] == '#', bytes.HasPrefix(rest, []byte("//")):
		if end < 0 {
			end = len(rest)
		}
	case bytes.HasPrefix(rest, []byte("/*")):
		if end = bytes.Index(rest[2:], []byte("*/")); end < 0 {
			return r.fault("bad_json", r.i, "The comment that begins here never ends")
		}
		end += 4
	default:
		r.last, r.i = r.i, r.i+1
		return nil
	}
	r.comments = true
	for j := range end {
		if rest[j] != '\n' && rest[j] != '\r' {
			rest[j] = ' '
		}
	}
	r.i += end
	return nil
}

func (r *relaxed) punctuation(c byte) error {
	switch c {
	case '{', '[':
		if r.deep++; r.deep > jsonx.MaxDepth {
			return r.fault("too_deep", r.i, fmt.Sprintf("The JSON is nested more than %d levels deep", jsonx.MaxDepth))
		}
	case '}', ']':
		r.deep--
		if r.last >= 0 && r.text[r.last] == ',' && r.fillsBefore(r.last) {
			r.commas, r.text[r.last] = true, ' '
		}
	}
	r.last, r.i = r.i, r.i+1
	return nil
}

// fillsBefore reports whether a comma follows something, as a trailing one does.
func (r *relaxed) fillsBefore(comma int) bool {
	before := bytes.TrimRight(r.text[:comma], " \t\r\n")
	return len(before) > 0 && !strings.ContainsRune("{[,:", rune(before[len(before)-1]))
}

// fault names a place of the text by the line and column of the file.
func (r *relaxed) fault(code string, offset int, what string) *fault.Fault {
	line, column := r.place(offset)
	return fault.New(fault.Malformed, code, "%s (line %d, column %d).", what, line, column).
		Do(correctFile).With("line", line).With("column", column)
}

// placed words a fault of the strict parser for who has the file before him.
func (r *relaxed) placed(f *fault.Fault) *fault.Fault {
	offset, ok := f.Detail["offset"].(int64)
	if !ok {
		return f
	}
	what, _, _ := strings.Cut(f.Message, " (at ")
	if mark := r.missing(); mark != "" && f.Code == "bad_json" {
		what += ": " + mark + " is missing here"
	}
	return r.fault(f.Code, int(offset), what)
}

// expecting is where the parser says which mark it would have needed.
var expecting = regexp.MustCompile(`expecting ('[,:}\]]'(?: or '[,:}\]]')?)`)

// missing names the mark that would let the text be read on, "" where it is not
// that alone.
func (r *relaxed) missing() string {
	d := jsontext.NewDecoder(bytes.NewReader(r.text))
	for {
		if _, err := d.ReadToken(); err != nil {
			if m := expecting.FindStringSubmatch(err.Error()); m != nil {
				return m[1]
			}
			return ""
		}
	}
}

// place counts lines and columns from 1, columns in characters as editors do.
func (r *relaxed) place(offset int) (line, column int) {
	offset = min(max(offset-r.lead, 0), len(r.raw))
	before := bytes.TrimPrefix(r.raw[:offset], []byte(byteOrderMark))
	start := bytes.LastIndexAny(before, "\r\n") + 1
	line = 1 + bytes.Count(before, []byte("\n")) + bytes.Count(before, []byte("\r")) - bytes.Count(before, []byte("\r\n"))
	return line, 1 + len([]rune(string(before[start:])))
}

func (r *relaxed) notes() []Note {
	var out []Note
	for _, n := range []struct {
		seen          bool
		code, message string
	}{
		{r.mark, "byte_order_mark", "The file begins with a byte order mark."},
		{r.comments, "comments", "The file has comments, which JSON does not allow; they were skipped."},
		{r.commas, "trailing_commas", "A comma stands after a last entry, which JSON does not allow; it was skipped."},
		{r.fragment, "fragment", "The text is a piece out of a file; it was read with braces around it."},
	} {
		if n.seen {
			out = append(out, Note{Code: n.code, Message: n.message})
		}
	}
	return out
}
