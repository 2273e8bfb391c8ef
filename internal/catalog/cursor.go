package catalog

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"capstore/internal/fault"
)

// cursor is a place in a walk. It is bound to the query it came from.
type cursor struct {
	Key      int64 `json:"k"` // of the row that the page goes on from
	PK       int64 `json:"p"`
	Backward bool  `json:"b,omitempty"`
	// Walk is the snapshot of the walk's first page: in orders that move, what
	// changed since is left out, so that nothing comes twice.
	Walk string `json:"w"`
	// Meant is what each word of the query may be mistyped for, as the walk's
	// first page found it: the pages after it are about the same.
	Meant [][]string `json:"m,omitempty"`
}

const (
	cursorSumLen = 8
	// maxKey is the end of the year 9999, in microseconds.
	maxKey = 253402300799_999999
)

// encode spells the cursor so that a reader neither understands nor edits it.
// The sum guards against accidents and mixed-up queries, not against malice:
// a cursor carries no right, and every page asks for visibility anew.
func (c cursor) encode(query string) string {
	body, err := json.Marshal(c)
	if err != nil {
		panic(fmt.Sprintf("catalog: a cursor does not encode: %v", err))
	}
	sum := cursorSum(query, body)
	return base64.RawURLEncoding.EncodeToString(append(sum, body...))
}

func cursorSum(query string, body []byte) []byte {
	h := sha256.New()
	fmt.Fprintf(h, "cursor %d %s ", len(query), query)
	h.Write(body)
	return h.Sum(nil)[:cursorSumLen]
}

// decodeCursor reads a cursor of the query; nil for "". What is no cursor, or
// one of another query, is a Malformed fault bad_cursor.
func decodeCursor(s, query string) (*cursor, error) {
	if s == "" {
		return nil, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil || len(raw) <= cursorSumLen {
		return nil, badCursor()
	}
	sum, body := raw[:cursorSumLen], raw[cursorSumLen:]
	if string(sum) != string(cursorSum(query, body)) {
		return nil, badCursor()
	}
	var c cursor
	if err := json.Unmarshal(body, &c); err != nil || c.Key < 0 || c.Key > maxKey || len(c.Meant) > maxWords || !validSnapshot(c.Walk) {
		return nil, badCursor()
	}
	return &c, nil
}

// validSnapshot reports whether the database would read the snapshot: the first
// and the last transaction, and between them in order those that were running.
func validSnapshot(s string) bool {
	parts := strings.Split(s, ":")
	if len(parts) != 3 {
		return false
	}
	from, err := strconv.ParseUint(parts[0], 10, 63)
	to, err2 := strconv.ParseUint(parts[1], 10, 63)
	if err != nil || err2 != nil || from < 1 || from > to {
		return false
	}
	if parts[2] == "" {
		return true
	}
	for running := range strings.SplitSeq(parts[2], ",") {
		n, err := strconv.ParseUint(running, 10, 63)
		if err != nil || n < from || n >= to {
			return false
		}
		from = n
	}
	return true
}

// spell gives the words of the query what the walk takes them for.
func (c *cursor) spell(words []word) {
	if c == nil {
		return
	}
	for i := range words {
		words[i].meant = []spelling{}
		if i >= len(c.Meant) {
			continue
		}
		for _, w := range c.Meant[i][:min(len(c.Meant[i]), corrections)] {
			if oneSlip(words[i].typed, w) {
				words[i].meant = append(words[i].meant, spelling{w, wordTerm(stem(w))})
			}
		}
	}
}

// meant is what a cursor keeps of the words; nil when none is mistyped.
func meant(words []word) [][]string {
	out, any := make([][]string, len(words)), false
	for i, w := range words {
		for _, m := range w.meant {
			out[i], any = append(out[i], m.word), true
		}
	}
	if !any {
		return nil
	}
	return out
}

func badCursor() error {
	return fault.New(fault.Malformed, "bad_cursor", "The cursor is damaged or belongs to another search.").
		Do("Start the list again without a cursor.")
}
