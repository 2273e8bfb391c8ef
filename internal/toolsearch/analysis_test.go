package toolsearch

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

func held() (n int) {
	shared.Range(func(_, _ any) bool { n++; return true })
	return n
}

// TestBuildShares holds that what did not change is not analysed again, and
// that what changed in any way is. It is not parallel: it looks at what all
// indexes share.
func TestBuildShares(t *testing.T) {
	docs := readTools(t)[:20]
	docs[0].Tags, docs[0].Params = []string{"a"}, []Param{{"p", "q"}}
	x := Build(docs)
	for name, change := range map[string]func(d *Doc){
		"nothing":     func(*Doc) {},
		"name":        func(d *Doc) { d.Name += "x" },
		"raw":         func(d *Doc) { d.Raw += "x" },
		"server":      func(d *Doc) { d.Server += "x" },
		"title":       func(d *Doc) { d.Title += "x" },
		"description": func(d *Doc) { d.Description += "x" },
		"tags":        func(d *Doc) { d.Tags = []string{"b"} },
		"domains":     func(d *Doc) { d.Domains = []string{"a"} },
		"params":      func(d *Doc) { d.Params = []Param{{"p", "r"}} },
	} {
		changed := append([]Doc{}, docs...)
		change(&changed[0])
		y := Build(changed)
		if same := x.tools[0] == y.tools[0]; same != (name == "nothing") {
			t.Errorf("after a change of %s the analysis is shared: %v", name, same)
		}
		for i := 1; i < len(docs); i++ {
			if x.tools[i] != y.tools[i] {
				t.Errorf("after a change of %s of another tool, that of %s is made again", name, docs[i].Name)
			}
		}
	}
	runtime.KeepAlive(x)
}

// TestBuildForgets holds that an index that nobody holds leaves nothing behind.
func TestBuildForgets(t *testing.T) {
	docs := thousands(t, 500)
	for i := range docs {
		docs[i].Title = "Forgotten"
	}
	runtime.GC()
	before := held()
	x := Build(docs)
	if n := held(); n < before+400 {
		t.Fatalf("%d analyses are shared, want those of 500 tools more than %d", n, before)
	}
	runtime.KeepAlive(x)
	x = nil
	for range 1000 {
		runtime.GC()
		if held() <= before+50 {
			return
		}
		runtime.Gosched()
	}
	t.Errorf("%d analyses are still shared, want about %d", held(), before)
}

func TestFirstSentence(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"List pods. Use it first.":       "List pods",
		"List pods":                      "List pods",
		"":                               "",
		"Get v1.2 of it. More":           "Get v1.2 of it",
		"목록 보기。 더":                       "목록 보기",
		"Deletes - for good - the thing": "Deletes",
	} {
		if lead, body := firstSentence(text); lead != want || lead+body != text {
			t.Errorf("firstSentence(%q) = %q and %q", text, lead, body)
		}
	}
}

// TestBuildBounds holds that a tool that says very much of itself costs no more
// than its bounds.
func TestBuildBounds(t *testing.T) {
	t.Parallel()
	long := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "w%dx ", i)
		}
		return b.String()
	}
	d := Doc{Name: long(10_000), Server: long(10_000), Title: long(10_000), Description: long(100_000)}
	for i := range 1000 {
		d.Tags, d.Domains = append(d.Tags, long(1000)), append(d.Domains, long(1000))
		d.Params = append(d.Params, Param{fmt.Sprint("p", i), long(1000)})
	}
	x := Build([]Doc{d})
	if n := len(x.tools[0].terms); n > 5000 {
		t.Errorf("one tool has %d terms", n)
	}
	if hits := x.Search("w0x", 1, nil); len(hits) != 1 {
		t.Errorf("what it says first is not found: %v", hits)
	}
}
