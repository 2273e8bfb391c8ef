package main

import (
	"slices"
)

// scores are the figures of some queries: shares of them that were answered.
type scores struct {
	n             int
	at1, at5, mrr float64
}

// score counts the queries of one kind, of all kinds for "", among the results
// of at least a score.
func score(queries []labelled, found [][]ranked, kind string, least float64) scores {
	var s scores
	for i, q := range queries {
		if len(q.Accept) == 0 || kind != "" && q.Kind != kind {
			continue
		}
		s.n++
		rank := firstRight(q, found[i])
		if rank == 0 || found[i][rank-1].score < least {
			continue
		}
		if rank == 1 {
			s.at1++
		}
		if rank <= 5 {
			s.at5++
		}
		s.mrr += 1 / float64(rank)
	}
	if s.n > 0 {
		s.at1, s.at5, s.mrr = s.at1/float64(s.n), s.at5/float64(s.n), s.mrr/float64(s.n)
	}
	return s
}

// firstRight is the rank of the first right result, from 1; 0 when none is.
func firstRight(q labelled, found []ranked) int {
	return 1 + slices.IndexFunc(found, func(r ranked) bool { return slices.Contains(q.Accept, r.id) })
}

func keep(found [][]ranked, ok func(ranked) bool) [][]ranked {
	out := make([][]ranked, len(found))
	for i, list := range found {
		for _, r := range list {
			if ok(r) {
				out[i] = append(out[i], r)
			}
		}
	}
	return out
}

// threshold is the highest score that keeps 95 % of what recall@5 is without
// one, and the recall@5 that it keeps.
func threshold(queries []labelled, found [][]ranked) (at, kept float64) {
	aim := 0.95 * score(queries, found, "", 0).at5
	var right []float64
	for i, q := range queries {
		if rank := firstRight(q, found[i]); rank > 0 && rank <= 5 {
			right = append(right, found[i][rank-1].score)
		}
	}
	slices.Sort(right)
	for _, s := range right {
		if k := score(queries, found, "", s).at5; k >= aim {
			at, kept = s, k
		}
	}
	return at, kept
}

// falseReturns is the share of the queries without an answer that get one.
func falseReturns(queries []labelled, found [][]ranked, shown func(ranked) bool) float64 {
	n, wrong := 0, 0
	for i, q := range queries {
		if len(q.Accept) > 0 {
			continue
		}
		n++
		if slices.ContainsFunc(found[i], shown) {
			wrong++
		}
	}
	return float64(wrong) / float64(max(n, 1))
}

// auroc is how often an answerable query's first result scores above that of
// one without an answer; 0.5 is chance.
func auroc(queries []labelled, found [][]ranked) float64 {
	first := func(i int) float64 {
		if len(found[i]) == 0 {
			return 0
		}
		return found[i][0].score
	}
	var won, pairs float64
	for i, q := range queries {
		for j, none := range queries {
			if len(q.Accept) == 0 || len(none.Accept) > 0 {
				continue
			}
			pairs++
			switch a, b := first(i), first(j); {
			case a > b:
				won++
			case a == b:
				won += 0.5
			}
		}
	}
	return won / max(pairs, 1)
}
