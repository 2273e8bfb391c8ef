package registry

import (
	"slices"
	"strings"
	"unicode"
)

// Domain is what a capability declares to serve. The host owns the vocabulary;
// capabilities are data that is classified against it, and may use names of
// their own. Domains are declared, never inferred.
type Domain = string

const (
	LiveData      Domain = "live-data"
	Web           Domain = "web"
	Filesystem    Domain = "filesystem"
	CodeExec      Domain = "code-exec"
	Memory        Domain = "memory"
	Messaging     Domain = "messaging"
	Documents     Domain = "documents"
	Orchestration Domain = "orchestration"
	VCS           Domain = "vcs"
	Observability Domain = "observability"
	// ControlPlane is served by the operations of capstore itself.
	ControlPlane Domain = "capstore"
)

// Domains lists the vocabulary of the host.
var Domains = []Domain{
	LiveData, Web, Filesystem, CodeExec, Memory, Messaging, Documents, Orchestration, VCS, Observability, ControlPlane,
}

// maxReading bounds how much of a message is read for its domains.
const maxReading = 16 << 10

// Reading returns the domains that the message asks for, sorted: those one of
// whose phrases stands in it. It depends on the message alone. None means that
// the reading is inconclusive, and then it narrows nothing.
func Reading(message string) []Domain {
	if len(message) > maxReading {
		message = message[:maxReading]
	}
	text := folded(message)
	var out []Domain
	for _, d := range Domains {
		if slices.ContainsFunc(phrases[d], func(p string) bool { return strings.Contains(text, p) }) {
			out = append(out, d)
		}
	}
	slices.Sort(out)
	return out
}

// folded is the text in lower case, its words one space apart, a space before
// the first and after the last.
func folded(s string) string {
	var b strings.Builder
	b.Grow(len(s) + 2)
	b.WriteByte(' ')
	space := true
	for _, r := range strings.ToLower(s) {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			if !space {
				b.WriteByte(' ')
			}
			space = true
			continue
		}
		b.WriteRune(r)
		space = false
	}
	if !space {
		b.WriteByte(' ')
	}
	return b.String()
}

// phrases are the needles by domain, made of the lists below.
var phrases = compile(vocabulary)

// compile makes a needle of each phrase. A word that ends with * stands for
// what begins so; Hangul takes its particles without a space, so it is looked
// for anywhere in a word.
func compile(lists map[Domain]string) map[Domain][]string {
	out := make(map[Domain][]string, len(lists))
	for domain, list := range lists {
		for _, phrase := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == '\n' }) {
			phrase, open := strings.CutSuffix(strings.TrimSpace(phrase), "*")
			if phrase == "" {
				continue
			}
			needle := strings.TrimSuffix(folded(phrase), " ")
			switch {
			case strings.ContainsFunc(phrase, func(r rune) bool { return unicode.Is(unicode.Hangul, r) }):
				needle = strings.TrimPrefix(needle, " ")
			case !open:
				needle += " "
			}
			out[domain] = append(out[domain], needle)
		}
	}
	return out
}
