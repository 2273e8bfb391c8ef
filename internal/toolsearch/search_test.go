package toolsearch

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func household() []Doc {
	return []Doc{
		{ID: "1", Name: "mcp__splitpot__settle_up", Raw: "settle_up", Server: "splitpot", Description: "Work out who owes whom.", Tags: []string{"household"}},
		{ID: "2", Name: "mcp__splitpot__add_expense", Raw: "add_expense", Server: "splitpot", Description: "Put a bill into the pot.", Domains: []string{"ledgerwork"}},
		{ID: "3", Name: "mcp__notes__create_note", Raw: "create_note", Server: "notes", Title: "Jot something down", Description: "Write a note.",
			Params: []Param{{Name: "markdownBody", Description: "What the parchment says."}}},
		{ID: "4", Name: "settle_up_v1", Server: "attic", Description: "Deprecated: work out who owes whom."},
	}
}

func names(docs []Doc, hits []Hit) []string {
	var out []string
	for _, h := range hits {
		out = append(out, docs[h.Doc].Name)
	}
	return out
}

func TestSearchFirst(t *testing.T) {
	t.Parallel()
	docs := household()
	x := Build(docs)
	for _, test := range []struct{ query, want string }{
		{"mcp__splitpot__settle_up", "mcp__splitpot__settle_up"},
		{"settle_up", "mcp__splitpot__settle_up"},
		{"SETTLE", "mcp__splitpot__settle_up"},
		{"settle-up", "mcp__splitpot__settle_up"},
		{"settleUp", "mcp__splitpot__settle_up"},
		{"splitpot settle up", "mcp__splitpot__settle_up"},
		{"setle up", "mcp__splitpot__settle_up"},
		{"ｓｅｔｔｌｅ　ｕｐ", "mcp__splitpot__settle_up"},
		{"sëttle up", "mcp__splitpot__settle_up"},
		{"household", "mcp__splitpot__settle_up"},
		{"settle_up_v1", "settle_up_v1"},
		{"ledgerwork", "mcp__splitpot__add_expense"},
		{"expenses", "mcp__splitpot__add_expense"},
		{"jot something down", "mcp__notes__create_note"},
		{"markdown body", "mcp__notes__create_note"},
		{"parchment", "mcp__notes__create_note"},
		{"notiz anlegen", "mcp__notes__create_note"},
		{"메모 작성", "mcp__notes__create_note"},
	} {
		hits := x.Search(test.query, 3, nil)
		if got := names(docs, hits); len(got) == 0 || got[0] != test.want {
			t.Errorf("Search(%q) = %v, want %s first", test.query, got, test.want)
		}
	}
}

func TestSearchByServer(t *testing.T) {
	t.Parallel()
	docs := household()
	hits := Build(docs).Search("Splitpot", 10, nil)
	want := []string{"mcp__splitpot__add_expense", "mcp__splitpot__settle_up"}
	if diff := cmp.Diff(want, names(docs, hits)); diff != "" {
		t.Errorf("the tools of a server are not those that its title finds (-want +got):\n%s", diff)
	}
}

func TestSearchNothing(t *testing.T) {
	t.Parallel()
	x := Build(household())
	for _, q := range []string{"", " ", "?!…", "\x00", "\xff\xfe", "qqqqzzzz"} {
		if hits := x.Search(q, 5, nil); len(hits) > 0 {
			t.Errorf("Search(%q) = %v, want nothing", q, hits)
		}
	}
	if hits := x.Search("settle", 0, nil); hits != nil {
		t.Errorf("with no room for a hit there are %v", hits)
	}
	if hits := Build(nil).Search("settle", 5, nil); hits != nil {
		t.Errorf("among no tools there are %v", hits)
	}
}

func TestSearchExactIsSure(t *testing.T) {
	t.Parallel()
	hits := Build(household()).Search("settle_up", 5, nil)
	if hits[0].Score < 0.98 || !hits[0].Confident {
		t.Errorf("a whole name scores %v, want nearly 1", hits[0])
	}
	if len(hits) > 1 && hits[1].Score >= hits[0].Score {
		t.Errorf("beside a whole name stands %v", hits[1])
	}
}

func TestSearchUnknownIsUnsure(t *testing.T) {
	t.Parallel()
	for _, h := range Build(household()).Search("create a sculpture of marble in the garden", 5, nil) {
		if h.Confident {
			t.Errorf("%v is confident for what no tool does", h)
		}
	}
}

func TestSearchLong(t *testing.T) {
	t.Parallel()
	docs := household()
	x := Build(docs)
	for _, filler := range []string{"lorem ipsum ", "x", "정산해 ", "settle ", "ß", "漢字"} {
		long := "settle up " + strings.Repeat(filler, 4096/len(filler))
		hits := x.Search(long, 5, nil)
		if got := names(docs, hits); filler != "ß" && len(got) == 0 {
			t.Errorf("a long query of %q finds nothing", filler)
		}
	}
}

// TestSearchAdmits holds that who may not use a tool does not learn of it, and
// that it takes no place of another.
func TestSearchAdmits(t *testing.T) {
	t.Parallel()
	docs := readTools(t)
	x := Build(docs)
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.IntRange(2, 9).Draw(t, "seed")
		q := rapid.SampledFrom([]string{"send a message", "delete", "list the logs of a pod", "datei suchen"}).Draw(t, "query")
		admit := func(i int) bool { return i%seed == 0 }
		want := 0
		for _, h := range x.Search(q, len(docs), nil) {
			if admit(h.Doc) {
				want++
			}
		}
		hits := x.Search(q, 3, admit)
		if len(hits) != min(3, want) {
			t.Fatalf("Search(%q) among every %dth has %d of %d hits", q, seed, len(hits), want)
		}
		for _, h := range hits {
			if !admit(h.Doc) {
				t.Fatalf("Search(%q) among every %dth has %v", q, seed, h)
			}
		}
	})
}

// TestSearchSpreads holds that one server of many tools does not take all the
// places, and that it takes the first when it is the best.
func TestSearchSpreads(t *testing.T) {
	t.Parallel()
	var docs []Doc
	for i := range 8 {
		docs = append(docs, Doc{Name: fmt.Sprintf("kiln_%d", i), Server: "many", Description: "Fire the kiln with wood."})
	}
	docs = append(docs, Doc{Name: "kiln_away", Server: "other", Description: "Fire the kiln with wood."})
	x := Build(docs)
	got := names(docs, x.Search("fire a kiln with wood", 3, nil))
	if diff := cmp.Diff([]string{"kiln_0", "kiln_away", "kiln_1"}, got); diff != "" {
		t.Errorf("of equals (-want +got):\n%s", diff)
	}
	if got := x.Search("kiln_away", 3, nil); docs[got[0].Doc].Name != "kiln_away" {
		t.Errorf("a whole name is not first: %v", names(docs, got))
	}
}

// TestSearchOrder holds that the order in which tools come does not show in
// what is found.
func TestSearchOrder(t *testing.T) {
	t.Parallel()
	docs := readTools(t)
	queries := readQueries(t)
	rapid.Check(t, func(t *rapid.T) {
		shuffled := rapid.Permutation(docs).Draw(t, "docs")
		q := rapid.SampledFrom(queries).Draw(t, "query").query
		want, got := Build(docs).Search(q, 10, nil), Build(shuffled).Search(q, 10, nil)
		if diff := cmp.Diff(names(docs, want), names(shuffled, got)); diff != "" {
			t.Fatalf("Search(%q) depends on the order of tools (-want +got):\n%s", q, diff)
		}
	})
}

func TestSearchAtOnce(t *testing.T) {
	t.Parallel()
	docs := readTools(t)
	x := Build(docs)
	want := names(docs, Build(docs).Search("get the logs", 10, nil))
	done := make(chan []string)
	for range 8 {
		go func() {
			var got []string
			for range 20 {
				got = names(docs, x.Search("get the logs", 10, nil))
			}
			done <- got
		}()
	}
	for range 8 {
		if diff := cmp.Diff(want, <-done); diff != "" {
			t.Errorf("searches at once disturb each other (-want +got):\n%s", diff)
		}
	}
}

func FuzzSearch(f *testing.F) {
	x := Build(readTools(f))
	for _, q := range readQueries(f) {
		f.Add(q.query)
	}
	f.Add("abzurufenden Videodateien\u3000파드목록을 보여줘")
	f.Fuzz(func(t *testing.T, q string) {
		hits := x.Search(q, 10, nil)
		for i, h := range hits {
			if h.Score <= 0 || h.Score > 1 || h.Confident != (h.Score >= DefaultCut) || h.Score > hits[0].Score && i > 0 {
				t.Fatalf("Search(%q) = %v", q, hits)
			}
		}
		if again := x.Search(q, 10, nil); !cmp.Equal(hits, again) {
			t.Fatalf("Search(%q) is %v and then %v", q, hits, again)
		}
		for _, w := range splitWords(q) {
			if !utf8.ValidString(w.text) && utf8.ValidString(q) || len(w.text) > maxWord {
				t.Fatalf("the words of %q hold %q", q, w.text)
			}
		}
	})
}

// thousands makes tools of the size and likeness that large catalogues have.
func thousands(t testing.TB, n int) []Doc {
	base := readTools(t)
	docs := make([]Doc, n)
	for i := range docs {
		d := base[i%len(base)]
		d.ID = fmt.Sprintf("%s-%d", d.ID, i)
		d.Server = fmt.Sprintf("%s%d", d.Server, i/len(base))
		d.Name = fmt.Sprintf("mcp__%s__%s", d.Server, d.Raw)
		d.Description += fmt.Sprintf(" Serves the tenant %d. Answers are paged; the caller asks for further pages with a token until none is left.", i%97)
		d.Params = []Param{{"page_token", "Where to go on"}, {"filter", "An expression over the fields of the result"}, {fmt.Sprintf("field_%d", i%31), "A value of the field"}}
		docs[i] = d
	}
	return docs
}

func BenchmarkSearch(b *testing.B) {
	x := Build(thousands(b, 10_000))
	for name, q := range map[string]string{
		"name":     "pods_log",
		"typo":     "delte a pod",
		"sentence": "create an invoice for a customer and send it by email tomorrow morning",
		"4 KiB":    strings.Repeat("get rid of all those promotions in my inbox, delete the mail and list the logs; ", 52),
		"unknown":  strings.Repeat("flibbertigibbet quomodocunquize gobbledegook ", 90),
	} {
		x.Search(q, 10, nil)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				x.Search(q, 10, nil)
			}
		})
	}
}

func BenchmarkBuild(b *testing.B) {
	docs := thousands(b, 10_000)
	b.Run("cold", func(b *testing.B) {
		for b.Loop() {
			shared.Clear()
			Build(docs).Search("x", 1, nil)
		}
	})
	held := Build(docs)
	b.Run("one changed", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			docs[i%len(docs)].Description = fmt.Sprint("changed ", i)
			held = Build(docs)
		}
	})
	b.Run("one changed and searched", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			docs[i%len(docs)].Description = fmt.Sprint("changed again ", i)
			held = Build(docs)
			held.Search("x", 1, nil)
		}
	})
}
