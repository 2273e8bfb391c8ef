package catalog

import "strings"

// facets builds the counts. Matches are read with the terms that filters offer, up
// to a number; where there are more, the lists of the frequent terms are met
// with the matches, each up to one more than is told exactly.
func (s *statement) facets(p *facetPlan) {
	if p == nil || len(p.sets) == 0 {
		s.add("NULL::json")
		return
	}
	s.add("(WITH cell AS MATERIALIZED (SELECT * FROM ")
	s.facetCells(p)
	s.add(`), seen AS MATERIALIZED (
	SELECT cell.set, cell.i, cell.kind, w.capability_pk FROM cell CROSS JOIN LATERAL (SELECT d.capability_pk FROM capability_terms d`)
	s.probes(p.shape)
	s.add("\n\tWHERE d.list = cell.l0")
	s.kept(p.shape)
	s.add(` ORDER BY d.created_at DESC, d.capability_pk DESC LIMIT cell.budget) AS w
), whole AS MATERIALIZED (
	SELECT cell.set, bool_and(cell.n0 <= cell.budget OR coalesce(got.n, 0) < cell.budget) AS is
	FROM cell LEFT JOIN (SELECT seen.i, count(*) AS n FROM seen GROUP BY seen.i) AS got ON got.i = cell.i GROUP BY cell.set
), tally AS MATERIALIZED (
	SELECT f.set, f.term, sum(f.one) AS n, bool_or(f.one = 0) AS asked FROM (
		SELECT seen.set, unnest(c.facets || ('k:' || seen.kind)) AS term, 1 AS one
		FROM seen CROSS JOIN LATERAL (SELECT c.facets FROM capabilities c WHERE c.pk = seen.capability_pk LIMIT 1) AS c
		UNION ALL SELECT a.set, a.term, 0 FROM unnest(%s::int[], %s::text[]) AS a (set, term)
	) AS f GROUP BY f.set, f.term
), top AS MATERIALIZED (
	SELECT t.*, row_number() OVER (PARTITION BY t.set, left(t.term, 1) ORDER BY t.n DESC, t.term) AS place
	FROM tally t JOIN unnest(%s::int[], %s::text[]) AS wanted (set, facet) ON wanted.set = t.set AND wanted.facet = left(t.term, 1)
)
SELECT json_agg(json_build_array(top.term, CASE WHEN whole.is OR top.n > %d THEN top.n ELSE `, s.arg(p.askedSets), s.arg(p.askedTerms), s.arg(p.sets32()), s.arg(p.names()), countCap)
	s.meets(p)
	s.add(` END)) FROM top JOIN whole ON whole.set = top.set WHERE top.place <= %d OR top.asked)`, offered)
}

// valueList finds the list of a value on the shelf and of the kind of a cell.
const valueList = `CROSS JOIN LATERAL (
		SELECT l.id, l.n FROM capability_lists l WHERE l.shelf = cell.shelf AND l.term = top.term AND l.kind = cell.kind LIMIT 1) AS v`

// meets counts what of the term's lists lies in the matches of its set: by the
// sizes of lists where the matches are whole shelves, else by walking the
// shorter of the value's list and the cell's.
func (s *statement) meets(p *facetPlan) {
	if p.all {
		s.add("CASE WHEN left(top.term, 1) = 'k' THEN (SELECT sum(cell.n0) FROM cell WHERE cell.set = top.set AND cell.kind = substr(top.term, 3))")
		s.add("\n\tELSE (SELECT sum(v.n) FROM cell %s WHERE cell.set = top.set) END", valueList)
		return
	}
	s.add("CASE WHEN left(top.term, 1) = 'k' THEN (SELECT count(*) FROM (SELECT FROM cell CROSS JOIN LATERAL ")
	s.meeting(p, "cell.l0", "", "true")
	s.add(" AS w WHERE cell.set = top.set AND cell.kind = substr(top.term, 3) LIMIT %d) AS bounded)", countCap+1)
	s.add("\n\tELSE (SELECT count(*) FROM (SELECT FROM cell %s CROSS JOIN LATERAL (", valueList)
	s.meeting(p, "v.id", "cell.l0", "v.n <= cell.n0")
	s.add("\n\tUNION ALL ")
	s.meeting(p, "cell.l0", "v.id", "v.n > cell.n0")
	s.add(") AS w WHERE cell.set = top.set LIMIT %d) AS bounded) END", countCap+1)
}

// meeting walks one list, on a condition, and asks another one beside those of
// the cell; "" asks none.
func (s *statement) meeting(p *facetPlan, walked, asked, condition string) {
	s.add("(SELECT FROM capability_terms d")
	if asked != "" {
		s.add("\n\t\tCROSS JOIN LATERAL (%s) AS met", probeOf(asked))
	}
	s.probes(p.shape)
	s.add("\n\tWHERE d.list = %s AND %s", walked, condition)
	s.kept(p.shape)
	s.add(" ORDER BY d.created_at, d.capability_pk LIMIT %d)", countCap+1)
}

// facetCells spells the cells of all sets.
func (s *statement) facetCells(p *facetPlan) {
	rows := looked
	if p.all {
		rows = sampled
	}
	var cells []cell
	var sets, ordinals, sizes, budgets []int32
	var shelves, kinds []string
	for i, set := range p.sets {
		for j, b := range set.budgets(rows) {
			c := set.cells[j]
			cells, sets, ordinals = append(cells, c), append(sets, int32(i)), append(ordinals, int32(len(ordinals)))
			sizes, budgets = append(sizes, int32(c.lists[0].size)), append(budgets, int32(b))
			shelves, kinds = append(shelves, c.shelf), append(kinds, string(c.kind))
		}
	}
	args, names := s.columns(cells, p.shape)
	args = append(args, s.arg(sets)+"::int[]", s.arg(ordinals)+"::int[]", s.arg(sizes)+"::int[]", s.arg(budgets)+"::int[]",
		s.arg(shelves)+"::text[]", s.arg(kinds)+"::text[]")
	names = append(names, "set", "i", "n0", "budget", "shelf", "kind")
	s.add("unnest(%s) AS cell (%s)", strings.Join(args, ", "), strings.Join(names, ", "))
}
