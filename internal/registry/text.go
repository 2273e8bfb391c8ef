package registry

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Names and descriptions come from whoever wrote a capability or runs a
// server. In the text for a model each stays on its own line and is bounded.
const (
	maxName     = 80
	maxSentence = 140
)

// oneLine folds every run of white space and of characters that do not print
// into one space, and cuts what is longer than n bytes.
func oneLine(s string, n int) string {
	var b strings.Builder
	space := false
	for _, r := range s {
		if unicode.IsSpace(r) || !unicode.IsPrint(r) {
			space = b.Len() > 0
			continue
		}
		if b.Len()+utf8.RuneLen(r) > n {
			return atWord(b.String()) + "…"
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
	}
	return b.String()
}

// atWord drops the word that a cut went through, where one is in reach.
func atWord(cut string) string {
	if i := strings.LastIndexByte(cut, ' '); i > len(cut)/2 {
		return cut[:i]
	}
	return cut
}

// firstSentence is the text up to the first end of a sentence or of a
// paragraph, on one line.
func firstSentence(s string) string {
	s = strings.TrimSpace(s)
	if i := strings.Index(s, "\n\n"); i >= 0 {
		s = s[:i]
	}
	for i, r := range s {
		if i >= maxSentence {
			break
		}
		end := i + utf8.RuneLen(r)
		switch r {
		case '.', '!', '?':
			if end < len(s) && (s[end] == ' ' || s[end] == '\n') && end > 6 {
				return oneLine(s[:end], maxSentence)
			}
		case '。', '！', '？':
			return oneLine(s[:end], maxSentence)
		}
	}
	return oneLine(s, maxSentence)
}
