package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"capstore/internal/agent/model"
	"capstore/internal/toolsearch"
)

type toolsearchCmd struct {
	Dir        string `arg:"" help:"Folder with tools.jsonl and queries-*.jsonl."`
	Misses     bool   `help:"Also list the queries whose first five are all wrong, with what came."`
	Embeddings string `help:"An OpenAI-compatible server whose embeddings are fused with the words." placeholder:"URL"`
	Model      string `help:"Its embedding model." placeholder:"NAME"`
	Key        string `help:"Its key." env:"CAPBENCH_EMBEDDINGS_KEY"`
}

// labelled is a query whose answers are known; a query of the kind none has no
// answer.
type labelled struct {
	Q      string   `json:"q"`
	Kind   string   `json:"kind"`
	Accept []string `json:"accept"`
}

// ranked is a tool that was found.
type ranked struct {
	id        string
	score     float64
	confident bool
}

// Run prints how well find_tools answers queries of known answers, beside plain
// BM25 over the same tools.
func (c *toolsearchCmd) Run(ctx context.Context) error {
	docs, err := readDocs(filepath.Join(c.Dir, "tools.jsonl"))
	if err != nil {
		return err
	}
	start := time.Now()
	index := toolsearch.Build(docs)
	index.Search("warm", 1, nil)
	fmt.Printf("%d tools, indexed in %s\n", len(docs), time.Since(start).Round(time.Millisecond))
	finders := []finder{{"find_tools", wordFinder(index, docs)}, {"plain BM25", newPlain(docs).find}}
	if c.Embeddings != "" {
		find, err := c.semanticFinder(ctx, index, docs)
		if err != nil {
			return err
		}
		finders = append(finders, finder{"find_tools and " + c.Model, find})
	}
	files, err := filepath.Glob(filepath.Join(c.Dir, "queries-*.jsonl"))
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := c.measure(f, finders); err != nil {
			return err
		}
	}
	return nil
}

// finder is a way to find tools, with the name that its figures stand under.
type finder struct {
	name string
	find func(q string) ([]ranked, error)
}

func wordFinder(index *toolsearch.Index, docs []toolsearch.Doc) func(string) ([]ranked, error) {
	return func(q string) ([]ranked, error) { return rankedOf(index.Search(q, 10, nil), docs), nil }
}

func (c *toolsearchCmd) semanticFinder(ctx context.Context, index *toolsearch.Index, docs []toolsearch.Doc) (func(string) ([]ranked, error), error) {
	embedder, err := model.NewEmbedder(model.Config{BaseURL: c.Embeddings, Name: c.Model, Key: c.Key, HTTP: http.DefaultClient})
	if err != nil {
		return nil, err
	}
	start := time.Now()
	semantic, err := toolsearch.NewSemantic(ctx, index, embedder, nil)
	if err != nil {
		return nil, err
	}
	fmt.Printf("embedded in %s\n", time.Since(start).Round(time.Millisecond))
	return func(q string) ([]ranked, error) {
		hits, err := semantic.Search(ctx, q, 10, nil)
		return rankedOf(hits, docs), err
	}, nil
}

func rankedOf(hits []toolsearch.Hit, docs []toolsearch.Doc) []ranked {
	var out []ranked
	for _, h := range hits {
		out = append(out, ranked{docs[h.Doc].ID, h.Score, h.Confident})
	}
	return out
}

func (c *toolsearchCmd) measure(file string, finders []finder) error {
	queries, err := readLines[labelled](file)
	if err != nil {
		return err
	}
	fmt.Printf("\n%s\n\n", filepath.Base(file))
	for i, f := range finders {
		got, err := answer(queries, f.find)
		if err != nil {
			return err
		}
		printScores(f.name, queries, got)
		if c.Misses && i == 0 {
			printMisses(queries, got)
		}
	}
	return nil
}

func readDocs(path string) ([]toolsearch.Doc, error) {
	type line struct {
		ID, Server, Name, Title, Description string
		Params                               []toolsearch.Param
	}
	lines, err := readLines[line](path)
	docs := make([]toolsearch.Doc, len(lines))
	for i, l := range lines {
		docs[i] = toolsearch.Doc{ID: l.ID, Name: "mcp__" + l.Server + "__" + l.Name, Raw: l.Name, Server: l.Server,
			Title: l.Title, Description: l.Description, Params: l.Params}
	}
	return docs, err
}

// readLines reads a file of one JSON value a line.
func readLines[T any](path string) ([]T, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var out []T
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		var v T
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			return nil, fmt.Errorf("%s line %d: %w", path, n, err)
		}
		out = append(out, v)
	}
	return out, lines.Err()
}

// answers holds what was found for each query, and what that took.
type answers struct {
	found [][]ranked
	took  time.Duration
}

func answer(queries []labelled, find func(string) ([]ranked, error)) (a answers, err error) {
	a.found = make([][]ranked, len(queries))
	start := time.Now()
	for i, q := range queries {
		if a.found[i], err = find(q.Q); err != nil {
			return a, err
		}
	}
	a.took = time.Since(start)
	return a, nil
}

func printScores(name string, queries []labelled, a answers) {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%s\tn\trecall@1\trecall@5\tMRR@10\t\n", name)
	for _, kind := range []string{"all", "plain", "product", "exact", "variant", "typo", "lang", "vague"} {
		s := score(queries, a.found, strings.TrimPrefix(kind, "all"), 0)
		if s.n > 0 {
			fmt.Fprintf(w, "%s\t%d\t%.3f\t%.3f\t%.3f\t\n", kind, s.n, s.at1, s.at5, s.mrr)
		}
	}
	_ = w.Flush()
	at, kept := threshold(queries, a.found)
	fmt.Printf("none: %.2f get a result at the score %.3f, which keeps %.3f recall@5; AUROC of the first score %.3f\n",
		falseReturns(queries, a.found, func(r ranked) bool { return r.score >= at }), at, kept, auroc(queries, a.found))
	confident := func(r ranked) bool { return r.confident }
	fmt.Printf("none: %.2f get a confident result, and recall@5 of the confident ones is %.3f\n",
		falseReturns(queries, a.found, confident), score(queries, keep(a.found, confident), "", 0).at5)
	fmt.Printf("%.2f ms/query\n\n", float64(a.took.Microseconds())/1000/float64(len(queries)))
}

func printMisses(queries []labelled, a answers) {
	for i, q := range queries {
		if rank := firstRight(q, a.found[i]); len(q.Accept) > 0 && (rank == 0 || rank > 5) || len(q.Accept) == 0 {
			fmt.Printf("%s: %s\n  wanted %s\n", q.Kind, q.Q, strings.Join(q.Accept, " "))
			for _, r := range a.found[i][:min(5, len(a.found[i]))] {
				fmt.Printf("  %.3f %s\n", r.score, r.id)
			}
		}
	}
}
