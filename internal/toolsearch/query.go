package toolsearch

import (
	"cmp"
	"slices"
)

// unit is one thing that a query asks for, and the terms that would answer it.
type unit struct {
	terms []weighted
	scale float32 // how many times another unit it counts
	sure  float32 // below 1 for a word that may have meant another
	least float32 // what it counts when no tool knows it, of a word that a single tool holds
}

type query struct {
	squashed string  // as whole names are
	exact    []int32 // tools of that name
	units    []unit
	intent   intent
	total    float32 // what a tool would have that answers all in full
	asked    int     // units, those of circumstance apart
}

const (
	maxUnits     = 32   // that count
	maxMistyped  = 12   // unknown words that are looked for as they may have been meant
	circumstance = 0.35 // what a word of circumstance counts of another
	named        = 2    // the scale of the name of a product
	unheard      = 1.3  // what a word counts that nobody knows, of one that a single tool holds
	meant        = 0.95 // what another word for the same thing counts of the word itself
	several      = 0.85 // what each counts where there are several things
	slipped      = 0.8  // what a word counts that was mistyped
)

// parse reads what a person or model asked for.
func (x *Index) parse(text string) query {
	text = cut(text, maxQuery)
	words := splitWords(text)
	p := parser{x: x, words: words, lang: guessLanguage(words), seen: map[string]bool{}}
	p.read()
	whole := squash(text)
	return query{squashed: whole, exact: x.spelt[whole], units: x.telling(p.units), intent: p.intent}
}

// telling picks the units that say most about which tool is wanted.
func (x *Index) telling(units []unit) []unit {
	if len(units) <= maxUnits {
		return units
	}
	slices.SortStableFunc(units, func(a, b unit) int {
		return -cmp.Compare(x.worth(&a), x.worth(&b))
	})
	return units[:maxUnits]
}

// parser turns the words of a query into units.
type parser struct {
	x        *Index
	words    []word
	lang     language
	english  []string // stems, by word
	own      []string // stems in the language of the query
	phrases  [][]concept
	seen     map[string]bool // words that have their unit
	mistypes int
	units    []unit
	intent   intent
}

func (p *parser) read() {
	p.english, p.own = make([]string, len(p.words)), make([]string, len(p.words))
	memo := stems{}
	for i, w := range p.words {
		p.english[i] = memo.of(w.text)
		p.own[i] = p.english[i]
		if p.lang != inEnglish {
			p.own[i] = p.lang.stem(w.text)
		}
	}
	p.phrases = make([][]concept, len(p.words))
	p.findPhrases(inEnglish, p.english)
	if p.lang != inEnglish {
		p.findPhrases(p.lang, p.own)
	}
	for i := 0; i < len(p.words); i++ {
		switch {
		case isKorean(p.words[i].text):
			i = p.korean(i) - 1
		case len(p.phrases[i]) == 0 && p.isFunction(i):
			p.ask(p.words[i].text)
		case len(p.phrases[i]) == 0 && p.isDenied(i):
		case !p.seen[p.words[i].text]:
			p.seen[p.words[i].text] = true
			p.word(i)
		}
	}
	if len(p.units) == 0 { // nothing but words that say nothing: then they have to
		for i := range p.words {
			p.units = append(p.units, unit{terms: []weighted{{wordTerm(p.english[i]), 1}}, scale: 1, sure: 1, least: unheard})
		}
	}
}

// maxGap is how many other words may stand within an expression: give a
// customer their money back.
const maxGap = 2

// findPhrases notes what expressions mean beside each of their words, so that
// one of three words counts as three words do.
func (p *parser) findPhrases(lang language, stems []string) {
	for i := range stems {
		lex.said[lang].phrasesAt(stems, i, maxGap, func(m concept, at []int) {
			for _, k := range at {
				if k == i || !p.isFunction(k) {
					p.phrases[k] = append(p.phrases[k], m)
				}
			}
		})
	}
}

func (p *parser) isFunction(i int) bool {
	w := p.words[i].text
	return lex.function[p.lang][w] || lex.function[inEnglish][w] || len(w) == 1 && !p.words[i].number
}

// isDenied reports whether the word is the verb of what is not to be done, as
// in "archive it without deleting it".
func (p *parser) isDenied(i int) bool {
	if i == 0 || !lex.negations[p.words[i-1].text] && (i == 1 || p.words[i-1].text != "t" || !lex.negations[p.words[i-2].text]) {
		return false
	}
	meanings := lex.said[inEnglish].words[p.english[i]]
	return slices.ContainsFunc(meanings, func(m concept) bool { return lex.intents[m] == intentWrite })
}

var questions = map[string]bool{
	"what": true, "who": true, "which": true, "how": true, "where": true, "when": true, "why": true, "whose": true,
	"is": true, "are": true, "does": true, "has": true,
}

// ask takes a word of question for the wish to know.
func (p *parser) ask(w string) {
	if p.intent == intentNone && questions[w] {
		p.intent = intentRead
	}
}

// word adds the unit of one word, or two of a German compound.
func (p *parser) word(i int) {
	w := p.words[i]
	u := unit{scale: 1, sure: 1, least: unheardOf(w)}
	share := float32(1)
	if lex.soft[w.text] {
		share = circumstance
	}
	p.product(&u, w)
	_, translated := lex.said[p.lang].words[p.own[i]]
	if !lex.function[inEnglish][w.text] && (p.lang == inEnglish || !translated) {
		u.add(wordTerm(p.english[i]), share)
	}
	p.mean(&u, lex.said[inEnglish].words[p.english[i]], share)
	if p.lang != inEnglish {
		p.mean(&u, lex.said[p.lang].words[p.own[i]], 1)
	}
	p.mean(&u, p.phrases[i], 1)
	if p.lang == inGerman && len(u.terms) <= 1 {
		p.compound(&u, p.own[i])
	}
	p.together(&u, i)
	if !p.known(&u) {
		p.mistyped(&u, w.text)
	}
	p.units = append(p.units, u)
}

// unheardOf is what a word counts when no tool knows it. Names of people and
// places, numbers and words of circumstance are what a tool is given, rather
// than what it does.
func unheardOf(w word) float32 {
	switch {
	case lex.soft[w.text]:
		return 0
	case w.number:
		return unheard / 16
	case w.proper:
		return unheard / 8
	}
	return unheard
}

// product takes a word for the product of that name.
func (p *parser) product(u *unit, w word) {
	known, ok := lex.products[w.text]
	if !ok || known.everyday && !w.capital {
		return
	}
	u.scale, u.least = named, unheard
	u.add(productTerm(known.name), 1)
}

// mean adds what a word may mean. Where it may mean several things each counts
// less.
func (p *parser) mean(u *unit, meanings []concept, share float32) {
	if len(meanings) > 1 {
		share *= several
	} else {
		share *= meant
	}
	for _, m := range meanings {
		u.add(term(m), share)
		if p.intent == intentNone {
			p.intent = lex.intents[m]
		}
	}
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
	return slices.ContainsFunc(u.terms, func(t weighted) bool { return len(p.x.with(t.term)) > 0 })
}

// mistyped adds the words of tools' names that an unknown word may have been.
func (p *parser) mistyped(u *unit, text string) {
	if p.mistypes++; p.mistypes > maxMistyped {
		return
	}
	for _, near := range p.x.words.near(text) {
		u.sure = slipped
		stem := inEnglish.stem(near)
		u.add(wordTerm(stem), slipped)
		p.mean(u, lex.said[inEnglish].words[stem], slipped)
	}
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

// productTerm is the term of a product's usual name. No word holds a NUL.
func productTerm(name string) term { return wordTerm("\x00" + name) }
