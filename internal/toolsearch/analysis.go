package toolsearch

import "strings"

// term is a word's stem, by its hash, or a concept, by its number.
type term uint64

func wordTerm(stem string) term {
	h := uint64(14695981039346656037)
	for i := range len(stem) {
		h = (h ^ uint64(stem[i])) * 1099511628211
	}
	return term(h)
}

// weighted is a term and how much the tool is about it, from 0 to 1.
type weighted struct {
	term   term
	weight float32
}

// analysis is what there is to know of one tool whatever stands beside it.
// Indexes share it: it lives as long as one of them holds it.
type analysis struct {
	doc        Doc
	terms      []weighted
	words      []string // of its names, as they are written
	spelt      []string // its names, squashed
	intent     intent
	deprecated bool
}

// A field is a part of a tool's text. What stands in a short field counts more
// than what stands in a long one.
type field struct {
	weight  float32
	usual   int     // words; a field as long as this counts its weight
	product float32 // how many times another word the name of a product counts
}

var (
	nameField   = field{3.2, 3, 4}
	titleField  = field{1.6, 3, 1}
	serverField = field{1.4, 2, 8}
	leadField   = field{1.3, 12, 1}
	bodyField   = field{0.45, 50, 1}
	paramField  = field{0.35, 12, 1}
	tagField    = field{1.2, 2, 1}
)

const half = 2 // the sum of weights at which a term counts half

// stems remembers the stems of words for as long as one Build takes.
type stems map[string]string

func (m stems) of(word string) string {
	s, ok := m[word]
	if !ok {
		s = inEnglish.stem(word)
		m[word] = s
	}
	return s
}

// What a tool says of itself is not trusted to be short.
const (
	maxName      = 256  // bytes of a name, a title, a tag
	maxAbout     = 4096 // of a description
	maxParamText = 256  // of the description of an argument
	maxTags      = 32
)

func analyse(d Doc, memo stems) *analysis {
	a := &analysis{doc: d}
	sum := map[term]float32{}
	name := splitWords(cut(bareName(&d), maxName))
	a.add(sum, memo, nameField, name, true)
	a.add(sum, memo, titleField, splitWords(cut(d.Title, maxName)), true)
	a.add(sum, memo, serverField, splitWords(cut(d.Server, maxName)), true)
	lead, body := firstSentence(cut(d.Description, maxAbout))
	a.add(sum, memo, leadField, splitWords(lead), false)
	a.add(sum, memo, bodyField, splitWords(body), false)
	a.add(sum, memo, tagField, wordsOf(d.Tags), true)
	a.add(sum, memo, tagField, wordsOf(d.Domains), true)
	a.add(sum, memo, paramField, paramWords(d.Params), false)
	for t, w := range sum {
		a.terms = append(a.terms, weighted{t, w / (w + half)})
	}
	a.intent = intentOf(name, memo)
	a.deprecated = strings.Contains(strings.ToLower(lead), "deprecated")
	a.spell()
	return a
}

func wordsOf(tags []string) []word {
	var out []word
	for _, t := range tags[:min(len(tags), maxTags)] {
		out = append(out, splitWords(cut(t, maxName))...)
	}
	return out
}

func paramWords(params []Param) []word {
	var out []word
	for _, p := range params[:min(len(params), maxParams)] {
		out = append(out, splitWords(cut(p.Name, maxName))...)
		out = append(out, splitWords(cut(p.Description, maxParamText))...)
	}
	return out
}

// bareName is the tool's own name, without what a bridge put in front of it.
func bareName(d *Doc) string {
	name := d.origin()
	if rest, ok := strings.CutPrefix(name, "mcp__"); ok {
		name = rest
	}
	return name
}

// spellings is how many whole names a tool has at most.
const spellings = 4

// spell notes the whole names, for who knows them.
func (a *analysis) spell() {
	whole := func(s string) string { return squash(cut(s, maxName)) }
	raw := whole(a.doc.origin())
	a.spelt = []string{whole(a.doc.Name), raw, whole(a.doc.Server) + raw, whole(a.doc.Title)}
}

// add counts the words of one field, and the concepts that they stand for. The
// words of names are kept for what is mistyped.
func (a *analysis) add(sum map[term]float32, memo stems, f field, words []word, names bool) {
	if len(words) == 0 {
		return
	}
	each := f.weight / (0.5 + 0.5*float32(len(words))/float32(f.usual))
	each = min(each, f.weight*1.25)
	stemmed := make([]string, len(words))
	for i, w := range words {
		stemmed[i] = memo.of(w.text)
		if names {
			a.words = append(a.words, w.text)
		}
	}
	mine := map[term]float32{}
	for i, s := range stemmed {
		mine[wordTerm(s)] += each
		if product, ok := lex.products[words[i].text]; ok {
			t := productTerm(product.name)
			sum[t] = max(sum[t], each*f.product)
		}
		for _, m := range lex.heads.words[s] {
			mine[term(m)] += each
		}
		lex.heads.phrasesAt(stemmed, i, 1, func(m concept, _ []int) { mine[term(m)] += each })
		if names && i > 0 {
			mine[wordTerm(memo.of(words[i-1].text+words[i].text))] += each / 2
		}
	}
	for t, w := range mine {
		sum[t] += min(w, 2*each)
	}
}

// intentOf is what the first verb of a name does.
func intentOf(name []word, memo stems) intent {
	for _, w := range name {
		for _, m := range lex.heads.words[memo.of(w.text)] {
			if in := lex.intents[m]; in != intentNone {
				return in
			}
		}
	}
	return intentNone
}

const maxLead = 240 // bytes

// firstSentence parts a description into what says what the tool does and what
// goes on about it.
func firstSentence(text string) (lead, body string) {
	head := cut(text, maxLead)
	for _, stop := range []string{". ", ".\n", "\n\n", "! ", "。", " - "} {
		if i := strings.Index(head, stop); i > 0 {
			head = head[:i]
		}
	}
	return head, text[len(head):]
}
