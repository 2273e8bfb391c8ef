package catalog

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"capstore/internal/capability"
)

// list is one list of the index with its size.
type list struct {
	id   int64
	size int
}

// cell is one combination of a shelf, a kind and one term of each group: what
// lies in all of its lists, and in none of those that it is without, belongs
// to the result and to no other cell. The first list is walked, and the others
// are asked.
type cell struct {
	shelf   string
	kind    capability.Kind
	lists   []list
	weights []int // of the lists' ranks in a relevance
	without []list
	bonus   int // of every row's relevance
}

// lookup is the statement that finds the lists of the terms, and for words that
// few hold those of the words one slip away. The planner sees neither term nor
// shelf, and the LIMITs (there are fewer kinds) keep it from joining whole
// tables.
const lookup = `
WITH exact AS MATERIALIZED (
	SELECT sh.shelf, te.i, te.term, li.*
	FROM unnest($1::text[]) AS sh (shelf) CROSS JOIN unnest($2::text[]) WITH ORDINALITY AS te (term, i)
	CROSS JOIN LATERAL (
		SELECT l.kind, l.id, l.n, l.changed::text FROM capability_lists l WHERE l.shelf = sh.shelf AND l.term = te.term AND l.n > 0 LIMIT 20
	) AS li
), meant AS MATERIALIZED (
	SELECT DISTINCT k.i, v.word, v.term
	FROM unnest($3::text[], $4::int[]) AS k (key, i)
	CROSS JOIN LATERAL (SELECT w.word, w.term FROM capability_words w WHERE w.key = k.key LIMIT 40) AS v
	WHERE k.i NOT IN (SELECT e.i FROM exact e GROUP BY e.i HAVING sum(e.n) >= $5)
)
SELECT shelf, term, kind, id, n, changed, 0 AS i, '' AS word FROM exact
UNION ALL
SELECT sh.shelf, m.term, li.kind, li.id, li.n, '', m.i, m.word
FROM meant m CROSS JOIN unnest($1::text[]) AS sh (shelf)
CROSS JOIN LATERAL (
	SELECT l.kind, l.id, l.n FROM capability_lists l WHERE l.shelf = sh.shelf AND l.term = m.term AND l.n > 0 LIMIT 20
) AS li`

// found is what the index has of a query.
type found struct {
	shelves []string
	lists   map[listKey]list
	// state names what the shelves held: nothing was added to them or taken
	// from them between two answers with the same one.
	state string
}

// terms lists the terms that a lookup asks for: those of the words first, in
// order, so that the statement knows them by their number.
func lookupArgs(shelves []string, words []word, groups []group) []any {
	terms := make([]string, 0, len(words)+8)
	var keys []string
	var of []int32
	for i, w := range words {
		terms = append(terms, w.term)
		if len([]rune(w.typed)) < shortestTypo || w.meant != nil {
			continue
		}
		for _, key := range slips(w.typed) {
			keys, of = append(keys, key), append(of, int32(i+1))
		}
	}
	terms = append(terms, everything)
	for _, g := range groups {
		for _, t := range g.terms {
			if !slices.Contains(terms, t) {
				terms = append(terms, t)
			}
		}
	}
	return []any{shelves, terms, keys, of, fewHits}
}

// look finds the lists of the groups on the shelves. Words of which the
// shelves hold few get what they may be mistyped for.
func (s *Service) look(ctx context.Context, shelves []string, words []word, groups []group) (found, error) {
	rows, err := s.db.Query(ctx, lookup, lookupArgs(shelves, words, groups)...)
	if err != nil {
		return found{}, fmt.Errorf("look up lists: %w", err)
	}
	out := found{shelves: shelves, lists: map[listKey]list{}}
	var states []string
	var k listKey
	var l list
	var changed, typed string
	var i int
	meant := make([]map[spelling]int, len(words))
	_, err = pgx.ForEachRow(rows, []any{&k.shelf, &k.term, &k.kind, &l.id, &l.size, &changed, &i, &typed}, func() error {
		out.lists[k] = l
		if k.term == everything {
			states = append(states, strconv.FormatInt(l.id, 36)+" "+changed)
		}
		if i > 0 && oneSlip(words[i-1].typed, typed) {
			if meant[i-1] == nil {
				meant[i-1] = map[spelling]int{}
			}
			meant[i-1][spelling{typed, k.term}] += l.size
		}
		return nil
	})
	if err != nil {
		return found{}, fmt.Errorf("look up lists: %w", err)
	}
	for i, m := range meant {
		words[i].meant, words[i].held = likeliest(m, words[i]), out.holds(words[i].term)
	}
	slices.Sort(states)
	out.state = strings.Join(states, ",")
	return out, nil
}

// holds reports whether there is a list of the term.
func (f found) holds(term string) bool {
	for _, shelf := range f.shelves {
		for _, kind := range capability.Kinds {
			if _, ok := f.lists[listKey{shelf, term, string(kind)}]; ok {
				return true
			}
		}
	}
	return false
}

// likeliest orders what a word may be mistyped for by how many hold it.
func likeliest(sizes map[spelling]int, w word) []spelling {
	if sizes == nil {
		return w.meant
	}
	out := make([]spelling, 0, len(sizes))
	for s := range sizes {
		if s.term != w.term {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b spelling) int { return cmp.Or(cmp.Compare(sizes[b], sizes[a]), cmp.Compare(a.word, b.word)) })
	out = slices.CompactFunc(out, func(a, b spelling) bool { return a.term == b.term })
	return out[:min(len(out), corrections)]
}

// cells lists where the groups meet on the shelves; none when they do nowhere.
func (f found) cells(groups []group) []cell {
	if len(groups) == 0 {
		groups = []group{{facetScope, []string{everything}}}
	}
	var out []cell
	for _, shelf := range f.shelves {
		for _, kind := range capability.Kinds {
			out = append(out, f.combine(shelf, kind, groups)...)
		}
	}
	return out
}

// mistyped is how far what was typed goes ahead of what may be meant.
const mistyped = 1 << 20

// combine multiplies the groups out within one shelf and kind. Only the terms
// of a word may be held together: each is without those before it.
func (f found) combine(shelf string, kind capability.Kind, groups []group) []cell {
	cells := []cell{{shelf: shelf, kind: kind}}
	for _, g := range groups {
		var next []cell
		for _, c := range cells {
			var before []list
			for i, term := range g.terms {
				l, ok := f.lists[listKey{shelf, term, string(kind)}]
				if !ok {
					continue
				}
				more := c.and(l, g.facet == "")
				more.without = append(slices.Clone(c.without), before...)
				if g.facet == "" && i == 0 && len(g.terms) > 1 {
					more.bonus += mistyped
				}
				next = append(next, more)
				if g.facet == "" {
					before = append(before, l)
				}
			}
		}
		cells = next
	}
	return cells
}

// and narrows the cell to a list, whose rank matters when it is a word's.
func (c cell) and(l list, isWord bool) cell {
	weight := 0
	if isWord {
		weight = 1
	}
	c.lists, c.weights = append(slices.Clone(c.lists), l), append(slices.Clone(c.weights), weight)
	return c
}

// led returns the cell with the list at i first.
func (c cell) led(i int) cell {
	c.lists, c.weights = slices.Clone(c.lists), slices.Clone(c.weights)
	c.lists[0], c.lists[i] = c.lists[i], c.lists[0]
	c.weights[0], c.weights[i] = c.weights[i], c.weights[0]
	return c
}

// shortest is the cell led by its shortest list.
func (c cell) shortest() cell {
	best := 0
	for i, l := range c.lists {
		if l.size < c.lists[best].size {
			best = i
		}
	}
	return c.led(best)
}

// ofKinds keeps the cells of the kinds; all of them when there are none.
func ofKinds(cells []cell, kinds []capability.Kind) []cell {
	if len(kinds) == 0 {
		return cells
	}
	return slices.DeleteFunc(slices.Clone(cells), func(c cell) bool { return !slices.Contains(kinds, c.kind) })
}

// filled lists the shelves that hold anything.
func (f found) filled() (out []string) {
	for _, shelf := range f.shelves {
		if (found{shelves: []string{shelf}, lists: f.lists}).holds(everything) {
			out = append(out, shelf)
		}
	}
	return out
}
