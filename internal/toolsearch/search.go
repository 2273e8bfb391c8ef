package toolsearch

import (
	"cmp"
	"slices"
)

// DefaultCut is the score below which a hit is not Confident.
const DefaultCut = 0.125

const (
	unwanted  = 0.85 // what counts of a tool that changes something where knowing was asked for, or the other way round
	retired   = 0.9  // of one whose description says that it is deprecated
	lessExact = 0.01 // what a name found by a lesser spelling loses
	another   = 0.95 // what counts of a tool for each one of its server before it
	surely    = 1 - spellings*lessExact
)

// scratch is what one search writes in.
type scratch struct {
	sum, unit []float32 // what each tool has, of all and of one unit
	met       []uint8   // how many units each tool answers, those of circumstance apart
	touched   []int32
	inUnit    []int32
}

func newScratch(n int) *scratch {
	return &scratch{sum: make([]float32, n), unit: make([]float32, n), met: make([]uint8, n)}
}

// Search returns at most limit tools that answer the query best, best first,
// but that many of one server make room for nearly as good ones of others; ties
// stand in the order of names. Tools that admit refuses are left out before
// anything is ranked; a nil admit takes all. Nothing answers an empty query.
func (x *Index) Search(q string, limit int, admit func(i int) bool) []Hit {
	x.build.Do(x.invert)
	if limit <= 0 || len(x.tools) == 0 {
		return nil
	}
	parsed := x.parse(q)
	s := x.scratch.Get().(*scratch)
	x.accumulate(s, &parsed)
	for _, i := range parsed.exact {
		if s.sum[i] == 0 {
			s.touched = append(s.touched, i)
		}
		s.sum[i] = max(s.sum[i], tiny)
	}
	hits := x.best(s, &parsed, limit, admit)
	x.scratch.Put(s) // not where admit panics, which leaves it unclean
	return hits
}

const tiny = 1e-9

// accumulate sums over the units of a query how far each tool answers them, and
// notes what a tool would have that answers all in full.
func (x *Index) accumulate(s *scratch, q *query) {
	for i := range q.units {
		u := &q.units[i]
		q.total += x.most(u)
		var counts uint8
		if u.least > 0 {
			q.asked++
			counts = 1
		}
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
			s.met[d] += counts
			s.unit[d] = 0
		}
		s.inUnit = s.inUnit[:0]
	}
}

// most is what a tool would have that answers the unit in full.
func (x *Index) most(u *unit) float32 {
	if known := x.worth(u); known > 0 {
		return known / u.sure
	}
	return u.least * x.rarity(1) * u.scale
}

// worth is the most that a unit can tell; 0 when no tool is about it.
func (x *Index) worth(u *unit) float32 {
	var best float32
	for _, t := range u.terms {
		if n := len(x.with(t.term)); n > 0 {
			best = max(best, t.weight*x.rarity(n))
		}
	}
	return best * u.scale
}

// best turns sums into the first hits in order, and leaves the scratch clean.
func (x *Index) best(s *scratch, q *query, limit int, admit func(int) bool) []Hit {
	keep := 2*limit + 16 // so that there is something to choose from
	var hits []Hit
	var floor float64 // what a hit has to reach once there are enough
	for _, d := range s.touched {
		share := float64(s.sum[d]/max(q.total, tiny)) * evidence(float64(s.met[d]), q.asked)
		s.sum[d], s.met[d] = 0, 0
		score := x.score(int(d), q, share)
		if score < floor || admit != nil && !admit(int(d)) {
			continue
		}
		hits = append(hits, Hit{Doc: int(d), Score: score, Confident: score >= DefaultCut})
		if len(hits) >= 2*keep {
			slices.SortFunc(hits, x.order)
			hits = hits[:keep]
			floor = hits[keep-1].Score
		}
	}
	s.touched = s.touched[:0]
	slices.SortFunc(hits, x.order)
	return x.spread(hits, limit)
}

const maxSpread = 64 // hits; those after it come as they are

// spread picks from hits in order, so that a server with many tools of one kind
// leaves room for others that do nearly as well. Whole names stay in front.
func (x *Index) spread(hits []Hit, limit int) []Hit {
	picked := make([]Hit, 0, min(limit, len(hits)))
	share := map[string]float64{} // what is left of a server's tools, by server
	for len(picked) < min(limit, maxSpread) && len(hits) > 0 {
		best, most := 0, 0.0
		for i, h := range hits {
			if h.Score <= most { // as are all that follow
				break
			}
			worth := h.Score
			if left, ok := share[x.tools[h.Doc].doc.Server]; ok && worth < surely {
				worth *= left
			}
			if worth > most {
				best, most = i, worth
			}
		}
		server := x.tools[hits[best].Doc].doc.Server
		if _, ok := share[server]; !ok {
			share[server] = 1
		}
		share[server] *= another
		picked = append(picked, hits[best])
		hits = slices.Delete(hits, best, best+1)
	}
	return append(picked, hits[:min(limit-len(picked), len(hits))]...)
}

// evidence is what a share of a query counts that is made of so many units met.
// A tool that meets one of several may do so by chance.
func evidence(met float64, asked int) float64 {
	if asked < 2 {
		met = 2
	}
	met = max(met, 0.5)
	return met / (met + 1)
}

// score is how well one tool answers the query of which it answers a share.
func (x *Index) score(doc int, q *query, share float64) float64 {
	a, score := x.tools[doc], share
	if slices.Contains(q.exact, int32(doc)) {
		return 1 - float64(slices.Index(a.spelt, q.squashed))*lessExact
	}
	if q.intent != intentNone && a.intent != intentNone && q.intent != a.intent {
		score *= unwanted
	}
	if a.deprecated {
		score *= retired
	}
	return min(score, 1)
}

func (x *Index) order(a, b Hit) int {
	return cmp.Or(-cmp.Compare(a.Score, b.Score), x.byName(a.Doc, b.Doc))
}

func (x *Index) byName(a, b int) int {
	p, q := &x.tools[a].doc, &x.tools[b].doc
	return cmp.Or(cmp.Compare(p.Name, q.Name), cmp.Compare(p.ID, q.ID), cmp.Compare(p.Server, q.Server))
}
