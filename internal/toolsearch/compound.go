package toolsearch

import (
	"strings"
	"unicode/utf8"
)

// compound takes a German word apart into two that are known: Videodatei into
// Video and Datei.
func (p *parser) compound(u *unit, stem string) {
	known := lex.said[inGerman].words
	for i := len(stem) - 3; i >= 3; i-- {
		first, ok := known[inGerman.stem(stem[:i])]
		if !ok {
			first, ok = known[inGerman.stem(strings.TrimSuffix(stem[:i], "s"))]
		}
		rest, more := known[inGerman.stem(stem[i:])]
		if !ok || !more {
			continue
		}
		p.mean(u, first, 1)
		second := unit{scale: 1, sure: 1, least: unheard}
		p.mean(&second, rest, 1)
		p.units = append(p.units, second)
		return
	}
}

// korean takes the words from one on apart into those that are known, and
// leaves what stands between them: particles and the endings of verbs. Words
// may be written together or apart. It returns where other script begins.
func (p *parser) korean(from int) (to int) {
	var text strings.Builder
	starts := map[int]bool{}
	for to = from; to < len(p.words) && isKorean(p.words[to].text); to++ {
		starts[text.Len()] = true
		text.WriteString(p.words[to].text)
	}
	run := text.String()
	for i := 0; i < len(run); {
		end := longestKorean(run, i, starts[i])
		if end == i {
			_, size := utf8.DecodeRuneInString(run[i:])
			i += size
			continue
		}
		u := unit{scale: 1, sure: 1, least: unheard}
		p.product(&u, word{text: run[i:end], capital: true})
		p.mean(&u, lex.said[inKorean].words[run[i:end]], 1)
		p.units = append(p.units, u)
		i = end
	}
	return to
}

// longestKorean says where the longest known word ends that begins at i; i
// itself when there is none. One syllable is a word only where one begins.
func longestKorean(run string, i int, start bool) int {
	for end := min(len(run), i+lex.said[inKorean].longest); end > i; end-- {
		if end-i <= len("가") && !start {
			break
		}
		if len(lex.said[inKorean].words[run[i:end]]) > 0 || lex.products[run[i:end]].name != "" {
			return end
		}
	}
	return i
}
