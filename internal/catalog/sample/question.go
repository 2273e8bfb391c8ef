package sample

import (
	"math/rand/v2"
	"slices"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/catalog"
)

// Sort is what a question gives of the capability that it asks for.
type Sort string

// The sorts of questions.
const (
	ByName   Sort = "exact name"
	ByPrefix Sort = "prefix"
	ByTypo   Sort = "one typo"
	ByTag    Sort = "tag and word"
	ByTool   Sort = "provided tool"
)

// Sorts lists every sort.
var Sorts = []Sort{ByName, ByPrefix, ByTypo, ByTag, ByTool}

// Question is what a person types who looks for something. Right says whether
// an answer is as good as what it was made from.
type Question struct {
	Sort  Sort
	Typed string
	Right func(name string, tags, tools []string) bool
}

// Questions makes n questions of each sort about public capabilities of the
// store.
func (s Store) Questions(n int) []Question {
	r := rand.New(rand.NewPCG(s.Seed, 1<<40))
	var out []Question
	for _, sort := range Sorts {
		for made := 0; made < n; {
			if q, ok := ask(r, sort, s.At(r.IntN(s.N))); ok {
				out, made = append(out, q), made+1
			}
		}
	}
	return out
}

func fold(s string) string { return strings.ToLower(strings.ReplaceAll(s, "-", " ")) }

func ask(r *rand.Rand, sort Sort, c catalog.Loaded) (q Question, ok bool) {
	if c.Reach != capability.ReachPublic {
		return q, false
	}
	name := fold(c.Content.Name)
	q = Question{Sort: sort, Typed: c.Content.Name, Right: func(other string, _, _ []string) bool { return fold(other) == name }}
	switch sort {
	case ByPrefix:
		from := strings.IndexByte(name, ' ') + 2 // the first word and a letter
		q.Typed = strings.TrimSpace(name[:from+r.IntN(len(name)-from)])
		q.Right = func(other string, _, _ []string) bool { return strings.HasPrefix(fold(other), q.Typed) }
	case ByTypo:
		q.Typed, ok = mistype(r, name)
		return q, ok
	case ByTag:
		tag, word := c.Tags[r.IntN(len(c.Tags))], longest(name)
		q.Typed = tag + " " + word
		// A name that says what the tag does, in this form or another, is no
		// worse than the tag.
		q.Right = func(other string, tags, _ []string) bool {
			words := strings.Fields(fold(other))
			return slices.Contains(words, word) && (slices.Contains(tags, tag) ||
				slices.ContainsFunc(words, func(w string) bool { return len(w) > 3 && (strings.HasPrefix(w, tag) || strings.HasPrefix(tag, w)) }))
		}
	case ByTool:
		spec, isServer := c.Content.Spec.(*capability.MCPSpec)
		if !isServer {
			return q, false
		}
		tool := spec.Provides[r.IntN(len(spec.Provides))]
		q.Typed = tool
		q.Right = func(_ string, _, tools []string) bool { return slices.Contains(tools, tool) }
	}
	return q, true
}

func longest(name string) string {
	return slices.MaxFunc(strings.Fields(name), func(a, b string) int { return len(a) - len(b) })
}

// mistype makes one slip in one word of five letters or more.
func mistype(r *rand.Rand, name string) (string, bool) {
	words := strings.Fields(name)
	i := r.IntN(len(words))
	w := []byte(words[i])
	if len(w) < 5 {
		return "", false
	}
	at := r.IntN(len(w) - 1)
	letter := byte('a' + r.IntN(26))
	switch r.IntN(4) {
	case 0:
		w = slices.Delete(w, at, at+1)
	case 1:
		w = slices.Insert(w, at, letter)
	case 2:
		w[at] = letter
	default:
		w[at], w[at+1] = w[at+1], w[at]
	}
	if string(w) == words[i] {
		return "", false
	}
	words[i] = string(w)
	return strings.Join(words, " "), true
}
