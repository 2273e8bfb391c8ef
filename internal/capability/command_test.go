package capability

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestExpand(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ template, arguments, want string }{
		{"Explain $ARGUMENTS.", "  the ledger, please ", "Explain the ledger, please."},
		{"Explain $ARGUMENTS.", "", "Explain ."},
		{"From $1 to $2, then $1.", `Berlin "New York"`, "From Berlin to New York, then Berlin."},
		{"From $1 to $2.", "Berlin", "From Berlin to ."},
		{"$1$2", "a b", "ab"},
		{"$1_x costs $10 and $0", "a", "a_x costs $10 and $0"},
		{"$ARGUMENTSX $ARGUMENTS", "a", "$ARGUMENTSX a"},
		{"Say $1", "'$2 $ARGUMENTS' x", "Say $2 $ARGUMENTS"},
		{"Tidy up.\n", "the inbox", "Tidy up.\n\nthe inbox"},
		{"Tidy up.\n", " ", "Tidy up.\n"},
	} {
		if got := (&CommandSpec{Template: tt.template}).Expand(tt.arguments); got != tt.want {
			t.Errorf("%q with %q gives %q, want %q", tt.template, tt.arguments, got, tt.want)
		}
	}
}

func TestSplitArguments(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][]string{
		"":                    nil,
		" \t\n":               nil,
		"a  b":                {"a", "b"},
		`"a b" 'c "d"' e\ f`:  {"a b", `c "d"`, "e f"},
		`a"b c"d`:             {"ab cd"},
		`"" x`:                {"", "x"},
		`"not closed x`:       {"not closed x"},
		`'back\slash' "a\"b"`: {`back\slash`, `a"b`},
		"넓은\u3000공백":          {"넓은", "공백"},
		`ends with a slash \`: {"ends", "with", "a", "slash", ""},
	} {
		if diff := cmp.Diff(want, SplitArguments(line)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", line, diff)
		}
	}
}

// Parts that are quoted come apart as they were.
func TestSplitArgumentsUndoesQuoting(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(rapid.String(), 1, 5).Draw(t, "parts")
		var quoted []string
		for _, part := range want {
			quoted = append(quoted, `"`+strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(part)+`"`)
		}
		if diff := cmp.Diff(want, SplitArguments(strings.Join(quoted, " "))); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}
