package toolsearch

import (
	"strings"

	"github.com/kljensen/snowball/english"
	"github.com/kljensen/snowball/french"
	"github.com/kljensen/snowball/spanish"
)

// language is one of those whose words the lexicon knows.
type language int

const (
	inEnglish language = iota
	inGerman
	inFrench
	inSpanish
	inKorean
	languages // how many there are
)

// stem brings the forms of a folded word together. Words with digits or in
// another script stay as they are.
func (l language) stem(word string) string {
	if !plainLetters(word) {
		return word
	}
	switch l {
	case inEnglish:
		if base, ok := unlike[word]; ok {
			return base
		}
		if base, ok := irregular[word]; ok {
			word = base
		}
		return english.Stem(word, true)
	case inGerman:
		return stemGerman(word)
	case inFrench:
		if strings.HasPrefix(word, "utilisateur") {
			return "utilisateur" // and not what he uses
		}
		return french.Stem(word, true)
	case inSpanish:
		return spanish.Stem(word, true)
	}
	return word
}

func plainLetters(word string) bool {
	for i := range len(word) {
		if word[i] < 'a' || word[i] > 'z' {
			return false
		}
	}
	return len(word) > 2
}

// Words that would be taken for others if their endings went: a customer is
// nothing custom.
var unlike = map[string]string{
	"customer": "customer", "customers": "customer", "important": "important", "importance": "important", "several": "several",
	"authority": "authority", "authorities": "authority", "news": "news", "organic": "organic", "listing": "listing", "listings": "listing",
	"meeting": "meeting", "meetings": "meeting", "building": "building", "buildings": "building", "station": "station", "stations": "station",
	"busy": "busy", "business": "business", "businesses": "business", "positive": "positive", "internal": "internal",
	"community": "community", "communities": "community", "international": "international", "experience": "experience",
}

// Forms that no suffix tells.
var irregular = map[string]string{
	"added": "add", "adding": "add", "adds": "add", "sent": "send", "wrote": "write", "written": "write", "bought": "buy", "sold": "sell", "paid": "pay", "ran": "run",
	"took": "take", "taken": "take", "made": "make", "found": "find", "kept": "keep", "gave": "give", "given": "give",
	"went": "go", "gone": "go", "got": "get", "gotten": "get", "said": "say", "saw": "see", "seen": "see", "spoke": "speak",
	"spoken": "speak", "spent": "spend", "lost": "lose", "left": "leave", "held": "hold", "built": "build", "broke": "break",
	"broken": "break", "drew": "draw", "drawn": "draw", "told": "tell", "taught": "teach", "thought": "think", "hid": "hide",
	"hidden": "hide", "stole": "steal", "stolen": "steal", "began": "begin", "begun": "begin",
	"people": "person", "children": "child", "men": "man", "women": "woman", "indices": "index", "indexes": "index",
	"vertices": "vertex", "matrices": "matrix", "analyses": "analysis", "queries": "query", "replies": "reply",
	"died": "die", "dying": "die", "lying": "lie", "ate": "eat", "flew": "fly", "met": "meet", "rang": "ring", "shut": "shut",
	"chose": "choose", "chosen": "choose", "threw": "throw", "thrown": "throw", "froze": "freeze", "frozen": "freeze",
}

var germanEndings = []string{"st", "en", "er", "es", "em", "e", "n", "s", "t"}

// stemGerman takes endings off while four letters stay, and the ge of a
// participle: gelöscht and löschen, abgestürzt and abstürzen become the same.
func stemGerman(word string) string {
	for again := true; again; {
		again = false
		for _, end := range germanEndings {
			if bare, ok := strings.CutSuffix(word, end); ok && len(bare) >= 4 {
				word, again = bare, true
				break
			}
		}
	}
	for _, prefix := range []string{"", "ab", "an", "auf", "aus", "ein", "hoch", "herunter", "runter", "zuruck", "um", "vor", "weg", "hinzu", "los", "zusammen"} {
		rest, ok := strings.CutPrefix(word, prefix)
		if !ok {
			continue
		}
		if bare, ok := strings.CutPrefix(rest, "ge"); ok && len(bare) >= 4 {
			return prefix + bare
		}
	}
	return word
}
