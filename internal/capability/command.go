package capability

import (
	"regexp"
	"strings"
	"unicode"
)

// argumentPlace is where arguments go in a command's template. A place beyond
// the ninth is text.
var argumentPlace = regexp.MustCompile(`\$(?:ARGUMENTS\b|[1-9](?:\b|_))`)

// TakesArguments reports whether the template has a place for arguments.
func (s *CommandSpec) TakesArguments() bool { return argumentPlace.MatchString(s.Template) }

// Expand is what the model sees of the command called with the arguments:
// $ARGUMENTS becomes all of them as they were typed, $1 to $9 one each, as a
// shell would part them, and nothing where there are fewer. What is put in is
// not looked at again. Arguments for which the template has no place follow it
// as a paragraph of their own, so that nothing that was typed is dropped.
func (s *CommandSpec) Expand(arguments string) string {
	arguments = strings.TrimSpace(arguments)
	if !s.TakesArguments() {
		if arguments == "" {
			return s.Template
		}
		return strings.TrimRight(s.Template, "\n") + "\n\n" + arguments
	}
	parts := SplitArguments(arguments)
	return argumentPlace.ReplaceAllStringFunc(s.Template, func(place string) string {
		if place == "$ARGUMENTS" {
			return arguments
		}
		text := ""
		if n := int(place[1] - '1'); n < len(parts) {
			text = parts[n]
		}
		return text + place[2:]
	})
}

// SplitArguments parts a line at white space. Single and double quotes keep a
// part together and a backslash the next character, except within single
// quotes. A quote that is not closed reaches to the end.
func SplitArguments(line string) []string {
	var parts []string
	var part strings.Builder
	var quote rune
	open, escaped := false, false
	for _, r := range line {
		switch {
		case escaped:
			part.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			open, escaped = true, true
		case quote != 0:
			if r == quote {
				quote = 0
			} else {
				part.WriteRune(r)
			}
		case r == '"' || r == '\'':
			open, quote = true, r
		case unicode.IsSpace(r):
			if open {
				parts = append(parts, part.String())
				part.Reset()
			}
			open = false
		default:
			open = true
			part.WriteRune(r)
		}
	}
	if open {
		parts = append(parts, part.String())
	}
	return parts
}
