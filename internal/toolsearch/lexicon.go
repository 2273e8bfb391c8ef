package toolsearch

import (
	"embed"
	"slices"
	"strings"
)

//go:embed lexicon/*.txt
var lexiconFiles embed.FS

// intent says whether a verb changes something.
type intent int8

const (
	intentNone intent = iota
	intentRead
	intentWrite
)

// concept is a meaning that tools and people have different words for. Its
// number is the term that stands for it in an index.
type concept int

// phrase is the rest of an expression behind its first word, and its meaning.
type phrase struct {
	rest    []string
	concept concept
}

// lexicon is what the package knows of words. It is read once and never
// changed.
type lexicon struct {
	intents []intent // by concept
	// heads are the words that tools use themselves: where one stands in a
	// tool's text, so does the concept.
	heads vocabulary
	// said is what people say, by language; a head is said, too.
	said      [languages]vocabulary
	products  map[string]product // by name or alias
	function  [languages]map[string]bool
	soft      map[string]bool // words of circumstance
	negations map[string]bool
}

// vocabulary holds meanings by the stem of a word, and expressions of several
// words by the stem of their first.
type vocabulary struct {
	words   map[string][]concept
	phrases map[string][]phrase
	longest int // bytes of the longest word
}

// product is the usual name of one, and whether a word is an everyday one
// besides.
type product struct {
	name     string
	everyday bool
}

var lex = readLexicon()

func readLexicon() *lexicon {
	l := &lexicon{soft: map[string]bool{}, negations: map[string]bool{}, products: map[string]product{}, intents: []intent{intentNone}}
	l.heads = newVocabulary()
	for i := range l.said {
		l.said[i], l.function[i] = newVocabulary(), map[string]bool{}
	}
	files, err := lexiconFiles.ReadDir("lexicon")
	if err != nil {
		panic(err) // embedded, so it is there
	}
	for _, f := range files {
		data, err := lexiconFiles.ReadFile("lexicon/" + f.Name())
		if err != nil {
			panic(err)
		}
		section := ""
		for line := range strings.Lines(string(data)) {
			line = strings.TrimSpace(line)
			switch {
			case line == "" || strings.HasPrefix(line, "#"):
			case strings.HasPrefix(line, "@"):
				section = line[1:]
			default:
				l.add(section, line)
			}
		}
	}
	return l
}

func newVocabulary() vocabulary {
	return vocabulary{words: map[string][]concept{}, phrases: map[string][]phrase{}}
}

// add takes one line: a concept in the sections things, reads and writes, the
// names of one product, or function words.
func (l *lexicon) add(section, line string) {
	switch section {
	case "products":
		names := strings.Fields(line)
		for _, n := range names {
			bare, everyday := strings.CutPrefix(n, "*")
			l.said[inKorean].longest = max(l.said[inKorean].longest, len(bare))
			l.products[fold(bare)] = product{fold(strings.TrimPrefix(names[0], "*")), everyday}
		}
	case "soft", "negations":
		for _, w := range strings.Fields(line) {
			map[string]map[string]bool{"soft": l.soft, "negations": l.negations}[section][w] = true
		}
	case "en", "de", "fr", "es", "ko":
		lang := map[string]language{"en": inEnglish, "de": inGerman, "fr": inFrench, "es": inSpanish, "ko": inKorean}[section]
		for _, w := range strings.Fields(line) {
			l.function[lang][fold(w)] = true
		}
	default:
		l.addConcept(section, line)
	}
}

// addConcept reads the columns of a concept: the tools' words, everyday words,
// German, French, Spanish, Korean. An underscore holds an expression together.
func (l *lexicon) addConcept(section, line string) {
	id := concept(len(l.intents))
	l.intents = append(l.intents, map[string]intent{"reads": intentRead, "writes": intentWrite}[section])
	for i, column := range strings.Split(line, "|") {
		for _, entry := range strings.Fields(column) {
			switch {
			case i == 0:
				l.heads.put(inEnglish, entry, id)
				l.said[inEnglish].put(inEnglish, entry, id)
			case i == 1:
				l.said[inEnglish].put(inEnglish, entry, id)
			default:
				l.said[i-1].put(language(i-1), entry, id)
			}
		}
	}
}

func (v *vocabulary) put(lang language, entry string, meaning concept) {
	if lang == inKorean {
		entry = strings.ReplaceAll(entry, "_", "") // its spaces come and go
	}
	var parts []string
	for _, w := range splitWords(strings.ReplaceAll(entry, "_", " ")) {
		parts = append(parts, lang.stem(w.text))
	}
	if len(parts) == 0 {
		return
	}
	if len(parts) > 1 {
		v.phrases[parts[0]] = append(v.phrases[parts[0]], phrase{parts[1:], meaning})
		return
	}
	if slices.Contains(v.words[parts[0]], meaning) {
		return
	}
	v.words[parts[0]] = append(v.words[parts[0]], meaning)
	v.longest = max(v.longest, len(parts[0]))
}

// tight are words that belong to their neighbours: nothing stands between in
// and "in our account", while much may between turn and off.
var tight = map[string]bool{
	"to": true, "for": true, "in": true, "at": true, "of": true, "with": true, "from": true, "by": true, "as": true, "on": true,
	"the": true, "a": true, "it": true, "my": true, "our": true, "is": true, "are": true, "we": true, "i": true, "what": true, "who": true,
}

// phrasesAt calls found for each expression that begins at stems[i] and goes on
// with at most gap other words in between; at are the places of its words, and
// the caller's only for the time of the call.
func (v *vocabulary) phrasesAt(stems []string, i, gap int, found func(meaning concept, at []int)) {
	var places [8]int
	for _, p := range v.phrases[stems[i]] {
		if at := p.places(stems, i, gap, places[:0]); at != nil {
			found(p.concept, at)
		}
	}
}

// places lists where the words of an expression stand whose first word is at i;
// nil when it is not there.
func (p *phrase) places(stems []string, i, gap int, at []int) []int {
	at = append(at, i)
	before := stems[i]
	for k, next := 0, i+1; k < len(p.rest); next++ {
		switch {
		case next >= len(stems):
			return nil
		case stems[next] == p.rest[k]:
			at, before = append(at, next), p.rest[k]
			k++
		case gap == 0 || tight[before] || tight[p.rest[k]] && !particle(p.rest, k):
			return nil
		default:
			gap--
		}
	}
	return at
}

// particle reports whether the word at k ends its expression as the on of turn
// on, which parts from its verb.
func particle(rest []string, k int) bool { return rest[k] == "on" && k == len(rest)-1 }
