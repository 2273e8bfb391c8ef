package toolsearch

import (
	"cmp"
	"slices"
)

// DefaultCut is the score below which a hit is not Confident.
const DefaultCut = 0.25

const (
	unwanted  = 0.85 // what counts of a tool that changes something where knowing was asked for, or the other way round
	retired   = 0.9  // of one whose description says that it is deprecated
	lessExact = 0.01 // what a name found by a lesser spelling loses
)

// scratch is what one search writes in.
type scratch struct {
	sum, unit []float32
	touched   []int32
	inUnit    []int32
}

func newScratch(n int) *scratch {
	return &scratch{sum: make([]float32, n), unit: make([]float32, n)}
}

// Search returns at most limit tools that answer the query best, best first;
// ties stand in the order of names. Tools that admit refuses are left out
// before anything is ranked; a nil admit takes all. Nothing answers an empty
// query.
func (x *Index) Search(q string, limit int, admit func(i int) bool) []Hit {
	x.build.Do(x.invert)
	if limit <= 0 || len(x.tools) == 0 {
		return nil
	}
	parsed := x.parse(q)
	s := x.scratch.Get().(*scratch)
	defer x.scratch.Put(s)
	total := x.accumulate(s, parsed.units)
	for _, i := range x.spelt[parsed.squashed] {
		if s.sum[i] == 0 {
			s.touched = append(s.touched, i)
		}
		s.sum[i] = max(s.sum[i], tiny)
	}
	hits := x.collect(s, &parsed, total, admit)
	if len(hits) > limit {
		hits = hits[:limit]
	}
	return hits
}

const tiny = 1e-9

// accumulate sums over the units of a query how far each tool answers them,
// and returns what a tool would have that answers all in full.
func (x *Index) accumulate(s *scratch, units []unit) float32 {
	var total float32
	for i := range units {
		u := &units[i]
		total += x.most(u)
		for _, t := range u.terms {
			list := x.with(t.term)
			worth := u.scale * t.weight * x.rarity(len(list))
			for _, p := range list {
				if s.unit[p.doc] == 0 {
					s.inUnit = append(s.inUnit, p.doc)
				}
				s.unit[p.doc] = max(s.unit[p.doc], worth*p.weight)
			}
		}
		for _, d := range s.inUnit {
			if s.sum[d] == 0 {
				s.touched = append(s.touched, d)
			}
			s.sum[d] += s.unit[d]
			s.unit[d] = 0
		}
		s.inUnit = s.inUnit[:0]
	}
	return total
}

// most is what a tool would have that answers the unit in full.
func (x *Index) most(u *unit) float32 {
	var best float32
	for _, t := range u.terms {
		if n := len(x.with(t.term)); n > 0 {
			best = max(best, t.weight*x.rarity(n))
		}
	}
	if best == 0 {
		best = u.least
	}
	return best * u.scale
}

// collect turns sums into hits in order, and leaves the scratch clean.
func (x *Index) collect(s *scratch, q *query, total float32, admit func(int) bool) []Hit {
	var hits []Hit
	for _, d := range s.touched {
		sum := s.sum[d]
		s.sum[d] = 0
		if admit != nil && !admit(int(d)) {
			continue
		}
		score := float64(sum / max(total, tiny))
		a := x.tools[d]
		if q.intent != intentNone && a.intent != intentNone && q.intent != a.intent {
			score *= unwanted
		}
		if a.deprecated {
			score *= retired
		}
		if k := slices.Index(a.spelt, q.squashed); k >= 0 && q.squashed != "" {
			score = 1 - float64(k)*lessExact
		}
		hits = append(hits, Hit{Doc: int(d), Score: min(score, 1), Confident: score >= DefaultCut})
	}
	s.touched = s.touched[:0]
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(-cmp.Compare(a.Score, b.Score), x.byName(a.Doc, b.Doc))
	})
	return hits
}

func (x *Index) byName(a, b int) int {
	p, q := &x.tools[a].doc, &x.tools[b].doc
	return cmp.Or(cmp.Compare(p.Name, q.Name), cmp.Compare(p.ID, q.ID), cmp.Compare(p.Server, q.Server))
}
