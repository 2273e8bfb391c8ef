package catalog

import (
	"math"
	"slices"
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
func runtimeTerm(r Runtime) string { return "x:" + string(r) }

// wholeTerm is of a name as a whole, or of its beginning, word by word.
func wholeTerm(words []string) string { return "=:" + strings.Join(words, " ") }

// How much a term says about what a capability is, by where it stands.
const (
	isName         = 120
	isTool         = 110 // of several words
	opensWhole     = 105 // how a name of several words begins
	opensName      = 100 // the first word of a name
	beginsName     = 90  // the beginning of that word
	inName         = 85
	beginsNameWord = 65
	inID           = 60
	inTags         = 55
	inTools        = 45
	beginsOther    = 35
	inSource       = 25
	inDescription  = 20
	inInstructions = 5
	ofFilter       = 4
)

// From how many letters on a beginning is looked for; Korean from one.
const (
	shortBeginning = 2 // of tags and domains
	longBeginning  = 3 // of tools and owners
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
	m.addFilters(set)
	set.name(m.content.Name)
	set.alike(m.content.Name)
	set.whole(strings.ReplaceAll(m.id, "-", " "), isName)
	set.words(nameWords(m.id), inID, beginsOther, 1)
	set.words(nameWords(m.source), inSource, inSource, longBeginning)
	for _, tag := range m.tags {
		set.whole(tag, inTags)
		set.words(splitWords(tag), inTags, beginsOther, shortBeginning)
	}
	tools, domains, long := discoverable(m.content.Spec)
	for _, tool := range tools {
		set.whole(tool, isTool)
		set.words(nameWords(tool), inTools, beginsOther, longBeginning)
	}
	for _, d := range domains {
		set.words(splitWords(d), inTags, beginsOther, shortBeginning)
	}
	set.prose(m.content.Description, inDescription, maxTerms)
	set.prose(long, inInstructions, maxInstructionWords)
	if m.deprecated {
		for term, weight := range set {
			set[term] = max(1, weight/4)
		}
	}
	return set
}

// filters lists the terms that filters offer.
func (m subjectMatter) filters() []string {
	_, domains, _ := discoverable(m.content.Spec)
	out := []string{sourceTerm(m.source), reachTerm(m.reach), runtimeTerm(runtimeOf(m.content.Spec))}
	for _, tag := range m.tags {
		out = append(out, tagTerm(tag))
	}
	for _, d := range domains {
		out = append(out, domainTerm(d))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (m subjectMatter) addFilters(set termSet) {
	set.add(everything, ofFilter)
	for _, term := range m.filters() {
		set.add(term, ofFilter)
	}
}

// name adds a name: its words, the first of them apart, and the whole. A short
// name that is the word says more than a long one that holds it.
func (s termSet) name(name string) {
	words := splitWords(name)
	long := int32(min(len(words), 10))
	for i, w := range words {
		whole, begin := int32(inName), int32(beginsNameWord)
		switch {
		case len(words) == 1:
			whole, begin = isName+long, beginsName+long
		case i == 0:
			whole, begin = opensName, beginsName
		default:
			// What begins a name as it was typed goes ahead of what holds the
			// words elsewhere.
			whole, begin = whole-2*int32(min(i, 5)), begin-2*int32(min(i, 5))
		}
		s.words([]string{w}, whole-long, begin-long, 1)
	}
	s.words(nameWords(name), inName-long-10, beginsNameWord-long-10, 1)
	s.whole(name, isName)
	if len(words) < 2 {
		return
	}
	// Few begin with the same three words; the words alone find those.
	for _, p := range prefixes(words[1]) {
		s.add(wholeTerm([]string{words[0], p}), opensWhole)
	}
}

// whole adds a name of several words as one, so that who types it whole finds
// it before all that holds its words.
func (s termSet) whole(name string, weight int32) {
	for _, words := range [][]string{splitWords(name), splitWords(splitHumps(name))} {
		if len(words) > 1 {
			s.add(wholeTerm(words), weight)
		}
	}
}

// words adds words that are found by any beginning of at least from letters
// too. A query asks by the stem of what was typed so far.
func (s termSet) words(words []string, whole, begin int32, from int) {
	for _, w := range words {
		for _, p := range prefixes(w) {
			if len(p) >= from {
				s.add(wordTerm(stem(p)), begin)
			}
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
