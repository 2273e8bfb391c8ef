package catalog

import (
	"math"
	"strings"

	"capstore/internal/capability"
)

// The terms under which a capability is found, by kind of term. A query names
// them by the same functions.
const everything = ""

func wordTerm(w string) string   { return "w:" + w }
func tagTerm(tag string) string  { return "t:" + foldText(strings.TrimSpace(tag)) }
func domainTerm(d string) string { return "d:" + d }
func sourceTerm(s string) string { return "s:" + s }
func reachTerm(r capability.Reach) string {
	return "r:" + string(r)
}

// How much a word says about what a capability is, by where it stands.
const (
	inName         = 100
	inID           = 80
	inTags         = 60
	beginsName     = 50
	inTools        = 40
	beginsOther    = 25
	inDescription  = 20
	inInstructions = 5
)

const (
	maxInstructionWords = 200
	maxTerms            = 600
)

// rankScale separates the two parts of a rank: how well the term fits, and
// below it how popular the capability is.
const rankScale = 64

// popularity grows with the logarithm of the adopters. What ships with
// capstore goes ahead of everything that fits as well.
func popularity(source string, adopters int32) int32 {
	if source == capability.FirstPartyOwner {
		return rankScale - 2
	}
	return min(rankScale-3, int32(4*math.Log2(1+float64(adopters))))
}

// subjectMatter is what the index knows of a capability.
type subjectMatter struct {
	source, id string
	reach      capability.Reach
	tags       []string
	deprecated bool
	content    capability.Content
}

// termSet collects terms with their best weight.
type termSet map[string]int32

func (s termSet) add(term string, weight int32) { s[term] = max(s[term], weight) }

// terms lists every term of the capability with its weight.
func (m subjectMatter) terms() termSet {
	set := termSet{}
	m.addFacets(set)
	names := nameWords(m.content.Name)
	// A short name that is the word says more than a long one that holds it.
	set.words(names, inName-int32(min(len(names), 10)), beginsName)
	set.words(nameWords(m.id), inID, beginsOther)
	set.words(nameWords(m.source), beginsOther, beginsOther)
	for _, tag := range m.tags {
		set.words(splitWords(tag), inTags, beginsOther)
	}
	tools, domains, long := discoverable(m.content.Spec)
	for _, tool := range tools {
		set.words(nameWords(tool), inTools, beginsOther)
	}
	for _, d := range domains {
		set.add(domainTerm(d), 1)
		set.words(splitWords(d), inTags, beginsOther)
	}
	set.prose(m.content.Description, inDescription, maxTerms)
	set.prose(long, inInstructions, maxInstructionWords)
	if m.deprecated {
		for term, weight := range set {
			set[term] = weight / 4
		}
	}
	return set
}

func (m subjectMatter) addFacets(set termSet) {
	set.add(everything, 4)
	set.add(sourceTerm(m.source), 4)
	set.add(reachTerm(m.reach), 4)
	for _, tag := range m.tags {
		set.add(tagTerm(tag), 4)
	}
}

// words adds words that are found by any beginning too.
func (s termSet) words(words []string, whole, begin int32) {
	for _, w := range words {
		for _, p := range prefixes(w) {
			// A query asks by the stem of what was typed so far.
			s.add(wordTerm(p), begin)
			s.add(wordTerm(stem(p)), begin)
		}
		s.add(wordTerm(stem(w)), whole)
	}
}

// prose adds the words of running text, stop words left out, until limit
// distinct ones were met. Korean words are found by their beginnings.
func (s termSet) prose(text string, weight int32, limit int) {
	seen := map[string]bool{}
	for _, w := range splitWords(text) {
		if len(seen) >= limit || len(s) >= maxTerms {
			return
		}
		if seen[w] || isStopWord(w) {
			continue
		}
		seen[w] = true
		if isKorean(w) {
			for _, p := range prefixes(w) {
				s.add(wordTerm(p), weight)
			}
		}
		s.add(wordTerm(stem(w)), weight)
	}
}

// discoverable returns what of a spec a search looks at: tool names, domains
// and a longer text.
func discoverable(spec capability.Spec) (tools, domains []string, long string) {
	switch v := spec.(type) {
	case *capability.MCPSpec:
		return v.Provides, v.Serves, ""
	case *capability.CodeSpec:
		return nil, v.Serves, ""
	case *capability.SkillSpec:
		return nil, v.Serves, v.Instructions
	case *capability.EnvironmentSpec:
		return []string{v.Image}, nil, v.Instructions
	case *capability.DelegationSpec:
		return []string{v.Harness}, nil, v.Instructions
	case *capability.HookSpec:
		return []string{string(v.Event)}, v.Serves, ""
	case *capability.CommandSpec:
		return nil, v.Serves, v.Template
	}
	return nil, nil, ""
}

// ranks gives every term of the capability its rank, at least 1.
func (m subjectMatter) ranks(adopters int32) map[string]int32 {
	out := m.terms()
	popular := popularity(m.source, adopters)
	for term, weight := range out {
		out[term] = weight*rankScale + popular + 1
	}
	return out
}
