package main

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"capstore/internal/toolsearch"
)

func TestToolsearchScores(t *testing.T) {
	t.Parallel()
	queries := []labelled{
		{Kind: "plain", Accept: []string{"a"}},
		{Kind: "plain", Accept: []string{"b", "c"}},
		{Kind: "exact", Accept: []string{"d"}},
		{Kind: "none"},
		{Kind: "none"},
	}
	found := [][]ranked{
		{{id: "a", score: 0.9}},
		{{id: "x", score: 0.8}, {id: "c", score: 0.6}},
		{{id: "x", score: 0.3}},
		{{id: "x", score: 0.7}},
		nil,
	}
	if got, want := score(queries, found, "", 0), (scores{n: 3, at1: 1.0 / 3, at5: 2.0 / 3, mrr: 0.5}); !cmp.Equal(got, want, cmp.AllowUnexported(scores{})) {
		t.Errorf("scores = %+v, want %+v", got, want)
	}
	if got := score(queries, found, "plain", 0.7); got.n != 2 || got.at5 != 0.5 {
		t.Errorf("scores of plain from 0.7 on = %+v, want one of two", got)
	}
	if at, kept := threshold(queries, found); at != 0.6 || kept != 2.0/3 {
		t.Errorf("threshold = %v, %v, want 0.6 which keeps all", at, kept)
	}
	if got := falseReturns(queries, found, func(r ranked) bool { return r.score >= 0.6 }); got != 0.5 {
		t.Errorf("falseReturns = %v, want one of two", got)
	}
	// Of six pairs the answerable query is ahead in five: 0.3 is below 0.7.
	if got := auroc(queries, found); math.Abs(got-5.0/6) > 1e-9 {
		t.Errorf("auroc = %v, want 5/6", got)
	}
}

func TestPlainBM25(t *testing.T) {
	t.Parallel()
	p := newPlain([]toolsearch.Doc{
		{ID: "s/listPods", Server: "s", Raw: "listPods", Description: "List pods."},
		{ID: "s/send", Server: "s", Raw: "send", Description: "Send a message", Params: []toolsearch.Param{{Name: "podName"}}},
	})
	hits, err := p.find("list pods")
	if err != nil || len(hits) != 1 || hits[0].id != "s/listPods" {
		t.Errorf("find = %v, %v, want listPods alone: nothing is stemmed", hits, err)
	}
}

func TestToolsearchRuns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"tools.jsonl":       `{"id":"s/list_pods","server":"s","name":"list_pods","description":"List pods."}`,
		"queries-own.jsonl": `{"q":"list pods","kind":"exact","accept":["s/list_pods"]}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := (&toolsearchCmd{Dir: dir, Misses: true}).Run(t.Context()); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "queries-bad.jsonl"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := (&toolsearchCmd{Dir: dir}).Run(t.Context()); err == nil {
		t.Error("a broken file of queries is read")
	}
}
