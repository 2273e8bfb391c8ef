package toolsearch

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestSplitWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"mcp__splitpot__settle_up":   "mcp splitpot settle up",
		"settleUp settle-up":         "settle up settle up",
		"HTTPServer getURL APIs":     "http server get url apis",
		"QueryKnowledgeBases":        "query knowledge bases",
		"k8s ec2 v2.0":               "k8s ec2 v2 0",
		"GOOGLEDRIVE_EMPTY_TRASH":    "googledrive empty trash",
		"réglement Größe naïve":      "reglement grosse naive",
		"이벤트를 만들기":                   "이벤트를 만들기",
		"検索ツール":                      "検索 索ツ ツー ール",
		"search検索":                   "search検索",
		"don't":                      "don t",
		"  ":                         "",
		"ＡＢＣ":                        "abc",
		"TwilioServerlessV1--Upload": "twilio serverless v1 upload",
	} {
		var got []string
		for _, w := range splitWords(text) {
			got = append(got, w.text)
		}
		if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
			t.Errorf("splitWords(%q) (-want +got):\n%s", text, diff)
		}
	}
}

func TestProperNames(t *testing.T) {
	t.Parallel()
	var proper []string
	for _, w := range splitWords("Tell Alice that the API of Contoso is down") {
		if w.proper {
			proper = append(proper, w.text)
		}
	}
	if diff := cmp.Diff([]string{"alice", "api", "contoso"}, proper); diff != "" {
		t.Errorf("capitals within a sentence (-want +got):\n%s", diff)
	}
}

func TestStem(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		lang  language
		words string // which come to the same
	}{
		{inEnglish, "delete deleting deletes deleted"},
		{inEnglish, "send sent sending"},
		{inEnglish, "query queries"},
		{inEnglish, "customer customers"},
		{inGerman, "loschen geloscht losche loscht"},
		{inGerman, "nachricht nachrichten"},
		{inGerman, "absturzen abgesturzt abgesturzten"},
		{inFrench, "facture factures"},
		{inSpanish, "eliminar eliminado"},
	} {
		words := strings.Fields(test.words)
		for _, w := range words[1:] {
			if a, b := test.lang.stem(words[0]), test.lang.stem(w); a != b {
				t.Errorf("stems of %s and %s are %s and %s", words[0], w, a, b)
			}
		}
	}
	for _, apart := range [][2]string{{"customer", "custom"}, {"important", "import"}, {"several", "severity"}, {"authority", "author"}} {
		if inEnglish.stem(apart[0]) == inEnglish.stem(apart[1]) {
			t.Errorf("%s is taken for %s", apart[0], apart[1])
		}
	}
}

func TestGuessLanguage(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]language{
		"list the open issues":               inEnglish,
		"restart heroku dynos":               inEnglish,
		"eine neue Aufgabe anlegen":          inGerman,
		"die letzten Rechnungen anzeigen":    inGerman,
		"envoyer un message à l'équipe":      inFrench,
		"créer un ticket dans Jira":          inFrench,
		"crear una factura para el cliente":  inSpanish,
		"¿cuánto cuesta este producto?":      inSpanish,
		"깃허브 이슈 만들기":                         inKorean,
		"Jira 티켓 생성":                         inKorean,
		"":                                   inEnglish,
		"mcp__splitpot__settle_up":           inEnglish,
		"die Datei in einen Ordner kopieren": inGerman,
	} {
		if got := guessLanguage(splitWords(query)); got != want {
			t.Errorf("guessLanguage(%q) = %d, want %d", query, got, want)
		}
	}
}

func TestNear(t *testing.T) {
	t.Parallel()
	s := newSpelling([]*analysis{{words: []string{"calendar", "screenshot", "request", "refund", "press", "kubernetes", "pod", "list"}}})
	for typed, want := range map[string][]string{
		"calender":    {"calendar"},
		"screnshot":   {"screenshot"},
		"requst":      {"request"},
		"refudn":      {"refund"},
		"kubernets":   {"kubernetes"},
		"kuberentes":  {"kubernetes"},
		"dress":       nil, // few miss the first letter
		"erfund":      {"refund"},
		"lost":        {"list"},
		"pid":         nil, // too short to tell
		"photography": nil,
		"정산":          nil,
	} {
		if diff := cmp.Diff(want, s.near(typed)); diff != "" {
			t.Errorf("near(%q) (-want +got):\n%s", typed, diff)
		}
	}
}

// TestDistance holds the counting to its laws: no distance to oneself, the same
// both ways, and at most one for one slip.
func TestDistance(t *testing.T) {
	t.Parallel()
	word := rapid.StringMatching(`[a-d]{4,10}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := word.Draw(t, "a"), word.Draw(t, "b")
		if d := distance(a, a, 3); d != 0 {
			t.Fatalf("distance(%s, %s) = %d", a, a, d)
		}
		if there, back := distance(a, b, 20), distance(b, a, 20); there != back {
			t.Fatalf("from %s to %s it is %d, back %d", a, b, there, back)
		}
		i := rapid.IntRange(0, len(a)-2).Draw(t, "at")
		for _, slip := range []string{
			a[:i] + a[i+1:],
			a[:i] + "x" + a[i:],
			a[:i] + "x" + a[i+1:],
			a[:i] + string(a[i+1]) + string(a[i]) + a[i+2:],
		} {
			if d := distance(a, slip, 2); d > 1 {
				t.Fatalf("distance(%s, %s) = %d, want at most 1", a, slip, d)
			}
		}
	})
}
