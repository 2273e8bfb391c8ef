package toolsearch

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// asked is a query whose answers are known.
type asked struct {
	kind, query string
	right       []string
}

// The tools and queries of testdata were written for this test. At first sight
// 84 of 100 plain queries were answered; what was missing of general words went
// into the lexicon then, so the figure of today is no forecast.
func readTools(t testing.TB) []Doc {
	var docs []Doc
	for _, line := range readLines(t, "testdata/tools.txt") {
		server, rest, _ := strings.Cut(line, " ")
		name, description, _ := strings.Cut(rest, " ")
		docs = append(docs, Doc{ID: server + "/" + name, Name: "mcp__" + server + "__" + name, Raw: name, Server: server, Description: description})
	}
	return docs
}

func readQueries(t testing.TB) []asked {
	var out []asked
	for _, line := range readLines(t, "testdata/queries.txt") {
		parts := strings.Split(line, " | ")
		q := asked{kind: parts[0], query: parts[1]}
		if len(parts) > 2 {
			q.right = strings.Fields(parts[2])
		}
		out = append(out, q)
	}
	return out
}

func readLines(t testing.TB, file string) []string {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			out = append(out, line)
		}
	}
	return out
}

// found says whether one of the first five hits is right and confident enough.
func (q asked) found(docs []Doc, hits []Hit, least float64) bool {
	return slices.ContainsFunc(hits[:min(5, len(hits))], func(h Hit) bool {
		return h.Score >= least && slices.Contains(q.right, docs[h.Doc].Raw)
	})
}

func TestRelevance(t *testing.T) {
	t.Parallel()
	docs, queries := readTools(t), readQueries(t)
	x := Build(docs)
	asked, found := map[string]int{}, map[string]int{}
	for _, q := range queries {
		hits := x.Search(q.query, 5, nil)
		asked[q.kind]++
		if q.found(docs, hits, 0) {
			found[q.kind]++
			continue
		}
		var first []string
		for _, h := range hits {
			first = append(first, docs[h.Doc].Raw)
		}
		t.Logf("%s: %q wants %v, has %v", q.kind, q.query, q.right, first)
	}
	for kind, least := range map[string]float64{"exact": 1, "variant": 1, "typo": 1, "product": 1, "vague": 1, "plain": 0.9, "lang": 0.9} {
		if share := float64(found[kind]) / float64(asked[kind]); share < least {
			t.Errorf("of %s a right tool is among the first five in %.2f, want %.2f", kind, share, least)
		}
	}
}

// TestCut chooses a cut on four fifths of the queries and tries it on the
// other: a threshold that fits only what it was chosen on would lose more than
// it did there.
func TestCut(t *testing.T) {
	t.Parallel()
	const folds = 5
	docs, queries := readTools(t), readQueries(t)
	x := Build(docs)
	var found, kept, none, shown int
	for fold := range folds {
		var right []float64
		var held []asked
		for i, q := range queries {
			if i%folds == fold {
				held = append(held, q)
				continue
			}
			hits := x.Search(q.query, 5, nil)
			if k := slices.IndexFunc(hits, func(h Hit) bool { return slices.Contains(q.right, docs[h.Doc].Raw) }); k >= 0 {
				right = append(right, hits[k].Score)
			}
		}
		slices.Sort(right)
		cut := right[len(right)/20] // what keeps 95 in 100
		t.Logf("fold %d: cut %.3f", fold, cut)
		for _, q := range held {
			hits := x.Search(q.query, 5, nil)
			switch {
			case len(q.right) == 0:
				none++
				if len(hits) > 0 && hits[0].Score >= cut {
					shown++
				}
			case q.found(docs, hits, 0):
				found++
				if q.found(docs, hits, cut) {
					kept++
				}
			}
		}
	}
	if kept*100 < found*90 {
		t.Errorf("a cut chosen on other queries keeps %d of %d right answers, want 90 %%", kept, found)
	}
	if shown*2 > none {
		t.Errorf("a cut chosen on other queries shows something for %d of %d that no tool answers, want at most half", shown, none)
	}
}

// TestDefaultCut is what Confident tells a caller: most right answers are, and
// little else of what no tool does.
func TestDefaultCut(t *testing.T) {
	t.Parallel()
	docs, queries := readTools(t), readQueries(t)
	x := Build(docs)
	var found, kept, none, shown int
	for _, q := range queries {
		hits := x.Search(q.query, 5, nil)
		sure := len(hits) > 0 && hits[0].Confident
		switch {
		case len(q.right) == 0:
			none++
			if sure {
				shown++
			}
		case q.found(docs, hits, 0):
			found++
			if q.found(docs, hits, DefaultCut) {
				kept++
			}
		}
	}
	if kept*100 < found*90 || shown*2 > none {
		t.Errorf("confident are %d of %d right answers, and the first hits of %d of %d that no tool answers", kept, found, shown, none)
	}
}
