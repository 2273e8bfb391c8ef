package toolsearch

const maxVotes = 64 // words that are asked

// guessLanguage says in which language a query is written, English when
// nothing speaks for another.
func guessLanguage(words []word) language {
	var votes [languages]int
	for _, w := range words[:min(len(words), maxVotes)] {
		if isKorean(w.text) {
			votes[inKorean] += 4
			continue
		}
		for lang := inEnglish; lang < inKorean; lang++ {
			switch {
			case lex.function[lang][w.text]:
				votes[lang] += 3
			case len(lex.said[lang].words[lang.stem(w.text)]) > 0:
				votes[lang] += 2
			}
		}
	}
	best := inEnglish
	for lang := inGerman; lang < languages; lang++ {
		if votes[lang] > votes[best] {
			best = lang
		}
	}
	return best
}
