package toolsearch

import (
	"cmp"
	"slices"
	"strings"
)

// unit is one thing that a query asks for, and the terms that would answer it.
type unit struct {
	terms   []weighted
	least   float32 // what it counts among the rest although no tool knows it
	product bool
	scale   float32 // how many times another it counts
}

type query struct {
	squashed string
	units    []unit
	intent   intent
}

const (
	maxUnits     = 32
	circumstance = 0.35 // what a word of circumstance counts of another
	named        = 2    // how many times another word the name of a product counts
	unheard      = 8    // what a word counts among the rest that neither a tool nor the lexicon knows
)

// parse reads what a person or model asked for.
func (x *Index) parse(text string) query {
	text = cut(text, maxQuery)
	q := query{squashed: squash(text)}
	words := splitWords(text)
	p := parser{x: x, words: words, lang: guessLanguage(words)}
	p.read()
	q.units, q.intent = p.units, p.intent
	if len(q.units) > maxUnits {
		slices.SortStableFunc(q.units, func(a, b unit) int { return -cmp.Compare(x.most(&a), x.most(&b)) })
		q.units = q.units[:maxUnits]
	}
	return q
}

type parser struct {
	x      *Index
	words  []word
	lang   language
	units  []unit
	intent intent
}

func (p *parser) read() {
	english, own := make([]string, len(p.words)), make([]string, len(p.words))
	for i, w := range p.words {
		english[i], own[i] = inEnglish.stem(w.text), p.lang.stem(w.text)
	}
	phrases := make([][]concept, len(p.words))
	within := make([]bool, len(p.words))
	note := func(i int) func(concept, int) {
		return func(m concept, last int) {
			for k := i; k <= last; k++ {
				within[k] = true
				if k == i || !p.isFunction(k) {
					phrases[k] = append(phrases[k], m)
				}
			}
		}
	}
	for i := range p.words {
		lex.said[inEnglish].phrasesAt(english, i, 2, note(i))
		if p.lang != inEnglish {
			lex.said[p.lang].phrasesAt(own, i, 2, note(i))
		}
	}
	for i := 0; i < len(p.words); i++ {
		w := p.words[i]
		switch {
		case isKorean(w.text):
			i = p.korean(i) - 1
		case len(phrases[i]) == 0 && p.isFunction(i):
			p.asks(w.text)
		default:
			p.word(i, english[i], own[i], phrases[i])
		}
	}
}

func (p *parser) isFunction(i int) bool {
	w := p.words[i].text
	return lex.function[p.lang][w] || lex.function[inEnglish][w] || len(w) == 1 && !p.words[i].number
}

// asks takes a question word for the wish to know.
func (p *parser) asks(w string) {
	if p.intent == intentNone && questions[w] {
		p.intent = intentRead
	}
}

var questions = map[string]bool{"what": true, "who": true, "which": true, "how": true, "where": true, "when": true, "why": true, "whose": true, "is": true, "are": true, "does": true, "has": true}

func (p *parser) word(i int, english, own string, phrases []concept) {
	w := p.words[i]
	u := unit{scale: 1}
	share := float32(1)
	if lex.soft[w.text] {
		share = circumstance
	}
	if product, ok := lex.products[w.text]; ok && (!product.everyday || w.capital) {
		u.product, u.scale = true, named
		u.add(productTerm(product.name), 1)
	}
	_, foreign := lex.said[p.lang].words[own]
	if !lex.function[inEnglish][w.text] && (p.lang == inEnglish || !foreign) {
		u.add(wordTerm(english), share)
	}
	p.senses(&u, lex.said[inEnglish].words[english], share)
	if p.lang != inEnglish {
		p.senses(&u, lex.said[p.lang].words[own], 1)
	}
	p.senses(&u, phrases, 1)
	if p.lang == inGerman && len(u.terms) <= 1 {
		p.compound(&u, own)
	}
	p.together(&u, i)
	if !p.known(&u) {
		p.mistyped(&u, w.text)
	}
	u.least = unheardOf(w, u.product)
	p.units = append(p.units, u)
}

// senses adds what a word may mean. The more it may mean the less each counts.
func (p *parser) senses(u *unit, senses []concept, share float32) {
	if len(senses) > 1 {
		share *= 0.85
	}
	for _, s := range senses {
		u.add(term(s), share)
		if p.intent == intentNone {
			p.intent = lex.intents[s]
		}
	}
}

// unheardOf is what a word counts when no tool knows it. Names of people and
// places, numbers and words of circumstance are what a tool is given, rather
// than what it is.
func unheardOf(w word, product bool) float32 {
	switch {
	case lex.soft[w.text]:
		return 0
	case w.number:
		return 0.5
	case w.proper && !product:
		return 1
	}
	return unheard
}

func (u *unit) add(t term, weight float32) {
	for i := range u.terms {
		if u.terms[i].term == t {
			u.terms[i].weight = max(u.terms[i].weight, weight)
			return
		}
	}
	u.terms = append(u.terms, weighted{t, weight})
}

// together adds what a word is with one of its neighbours, where tools write
// the two as one.
func (p *parser) together(u *unit, i int) {
	for k := max(0, i-1); k <= i && k+1 < len(p.words); k++ {
		joined := wordTerm(inEnglish.stem(p.words[k].text + p.words[k+1].text))
		if len(p.x.with(joined)) > 0 {
			u.add(joined, 1)
		}
	}
}

func (p *parser) known(u *unit) bool {
	for _, t := range u.terms {
		if len(p.x.with(t.term)) > 0 {
			return true
		}
	}
	return false
}

func (p *parser) mistyped(u *unit, text string) {
	for _, near := range p.x.words.near(text) {
		stem := inEnglish.stem(near)
		u.add(wordTerm(stem), 0.9)
		for _, s := range lex.said[inEnglish].words[stem] {
			u.add(term(s), 0.9)
		}
	}
}

// compound takes a German word apart into words that are known.
func (p *parser) compound(u *unit, stem string) {
	known := lex.said[inGerman].words
	for i := len(stem) - 3; i >= 3; i-- {
		head := inGerman.stem(stem[:i])
		first, ok := known[head]
		if !ok {
			first, ok = known[strings.TrimSuffix(stem[:i], "s")]
		}
		if rest, more := known[inGerman.stem(stem[i:])]; ok && more {
			p.senses(u, first, 1)
			second := unit{least: unheard, scale: 1}
			p.senses(&second, rest, 1)
			p.units = append(p.units, second)
			return
		}
	}
}

// korean takes words apart into those that are known, and leaves what stands
// between them: particles and the endings of verbs. Words may be written
// together or apart.
func (p *parser) korean(from int) (to int) {
	var text strings.Builder
	starts := map[int]bool{}
	for to = from; to < len(p.words) && isKorean(p.words[to].text); to++ {
		starts[text.Len()] = true
		text.WriteString(p.words[to].text)
	}
	run := text.String()
	for i := 0; i < len(run); {
		end := p.longestKorean(run, i, starts[i])
		if end == i {
			i += len(cut(run[i:], 4))
			continue
		}
		u := unit{least: unheard, scale: 1}
		if product, ok := lex.products[run[i:end]]; ok {
			u.product, u.scale = true, named
			u.add(productTerm(product.name), 1)
		}
		p.senses(&u, lex.said[inKorean].words[run[i:end]], 1)
		p.units = append(p.units, u)
		i = end
	}
	return to
}

// longestKorean says where the longest known word ends that begins at i; i
// itself when there is none. One syllable is a word only where one begins.
func (p *parser) longestKorean(run string, i int, start bool) int {
	known := &lex.said[inKorean]
	for end := min(len(run), i+known.longest); end > i; end-- {
		if end-i <= 3 && !start {
			break
		}
		if len(known.words[run[i:end]]) > 0 || lex.products[run[i:end]].name != "" {
			return end
		}
	}
	return i
}

func productTerm(name string) term { return wordTerm("\x00" + name) }
