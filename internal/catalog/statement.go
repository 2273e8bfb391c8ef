package catalog

import (
	"fmt"
	"strings"
	"time"
)

// plan is a page made ready for the index: which cells to walk, in which
// order, from where.
type plan struct {
	cells     []cell // of the page
	shape     shape  // of its cells
	overlap   bool   // a row may be in several of them
	facets    *facetPlan
	sort      Sort
	limit     int
	at        *cursor
	words     []word
	query     string // its fingerprint
	workspace string
	subject   string
	audiences []string // that the viewer is of
}

// empty reports whether there is nothing to read and nothing to count.
func (p plan) empty() bool {
	return len(p.cells) == 0 && (p.facets == nil || len(p.facets.sets) == 0)
}

// shape is how many columns a statement needs for its cells.
type shape struct{ lists, without int }

func shapeOf(cells []cell) shape {
	s := shape{lists: 1}
	for _, c := range cells {
		s.lists, s.without = max(s.lists, len(c.lists)), max(s.without, len(c.without))
	}
	return s
}

// column is the index column that the order walks by.
func (p plan) column() string {
	switch p.sort {
	case SortAdopted:
		return "adopters"
	case SortRelevance:
		return "rank"
	}
	return "created_at"
}

// ascending reports the direction of the walk, which a page backwards turns.
func (p plan) ascending() bool {
	return (p.sort == SortCreated) != (p.at != nil && p.at.Backward)
}

func (p plan) direction() (order, compare string) {
	if p.ascending() {
		return "ASC", ">"
	}
	return "DESC", "<"
}

// blended reports whether the order is by the sum of several ranks, which no
// index holds: then the best of the walked lists are ranked anew.
func (p plan) blended() bool {
	return p.sort == SortRelevance && (p.shape.lists > 1 || p.overlap)
}

// statement is SQL with its arguments.
type statement struct {
	sql  strings.Builder
	args []any
}

func (s *statement) add(format string, args ...any) { fmt.Fprintf(&s.sql, format, args...) }

func (s *statement) arg(v any) string {
	s.args = append(s.args, v)
	return fmt.Sprintf("$%d", len(s.args))
}

// The walks below run once per cell, each bounded by a LIMIT, inside LATERAL
// subqueries whose lists come from arrays: the planner sees no word, so the
// plan is one and the same for rare and common ones, and the LIMIT keeps a
// subquery from being turned into a join of whole tables.

// page builds the one statement of a page: rows, their details, the adoption
// of each by the viewer's workspace, and the counts when they need a walk.
func (p plan) page() *statement {
	s := &statement{}
	order, _ := p.direction()
	s.add("SELECT pg_current_snapshot()::text AS walk, ")
	s.facets(p.facets)
	s.add(" AS counts, ")
	s.secrets(p)
	s.add(" AS secrets, page.*\nFROM (SELECT) AS one LEFT JOIN LATERAL (\nSELECT hit.key, hit.capability_pk, c.* FROM (")
	s.hits(p)
	s.add(")\nAS hit CROSS JOIN LATERAL ("+details+") AS c\n", s.arg(p.workspace), s.arg(p.audiences)+"::text[]")
	s.add("ORDER BY hit.key %s, hit.capability_pk %s) AS page ON true", order, order)
	return s
}

const details = `
	SELECT c.source, c.id, c.reach, c.tags, c.created_by, c.created_at, c.deprecated, c.adopters, v.kind, v.name, v.description,
		v.version, v.created_at AS published_at, v.serves, v.created_by AS published_by,
		u.name AS author, pin.version AS pinned, pin.sort_key < v.sort_key AS newer, pin.withdrawn_at AS pin_withdrawn,
		pin.blocked_at AS pin_blocked, pin.blocked_reason, c.deprecated ->> 'successor' <> '' AND EXISTS (
			SELECT FROM capabilities s
			WHERE s.source = split_part(c.deprecated ->> 'successor', '/', 1) AND s.id = split_part(c.deprecated ->> 'successor', '/', 2)
				AND s.tombstoned_at IS NULL AND s.latest_pk IS NOT NULL AND s.audiences && %[2]s) AS successor_seen, taken.id AS taken,
		a.adoption, CASE WHEN pin.kind IN ('mcp', 'code') THEN json_build_object(
			'requiredSecrets', pin.content::json #> '{spec,requiredSecrets}', 'settings', pin.content::json #> '{spec,settings}') END AS asks
	FROM capabilities c
	JOIN capability_versions v ON v.pk = c.latest_pk
	LEFT JOIN users u ON u.id = v.created_by
	LEFT JOIN adoptions a ON a.workspace = %[1]s AND a.capability_pk = c.pk
	LEFT JOIN capability_versions pin ON pin.pk = a.version_pk
	LEFT JOIN skills taken ON taken.workspace = %[1]s AND taken.origin_pk = c.pk
	WHERE c.pk = hit.capability_pk LIMIT 1`

// secrets names what the viewer can give a capability: his own secrets and his
// workspace's. With it the kernel says of each adopted row whether it lacks one.
func (s *statement) secrets(p plan) {
	s.add("ARRAY(SELECT s.name FROM secrets s WHERE s.workspace = %s AND (s.subject IS NULL OR s.subject = %s))::text[]",
		s.arg(p.workspace), s.arg(optionalID(p.subject)))
}

// columns spells the lists of the cells: l0, the one to walk, l1 and so on,
// and those that they are without, x1 and so on. A cell with fewer repeats its
// first, or is without a list that there is not.
func (s *statement) columns(cells []cell, sh shape) (args, names []string) {
	column := func(name string, of func(cell) int64) {
		values := make([]int64, len(cells))
		for i, c := range cells {
			values[i] = of(c)
		}
		args, names = append(args, s.arg(values)+"::bigint[]"), append(names, name)
	}
	for i := range sh.lists {
		column(fmt.Sprintf("l%d", i), func(c cell) int64 {
			if i < len(c.lists) {
				return c.lists[i].id
			}
			return c.lists[0].id
		})
	}
	for i := range sh.without {
		column(fmt.Sprintf("x%d", i+1), func(c cell) int64 {
			if i < len(c.without) {
				return c.without[i].id
			}
			return 0
		})
	}
	return args, names
}

// from spells the cells of a page, a row each. Where ranks are blended each
// list has its weight; what is added to all of a cell is its bonus.
func (s *statement) from(p plan) {
	args, names := s.columns(p.cells, p.shape)
	number := func(name string, of func(cell) int) {
		values := make([]int64, len(p.cells))
		for i, c := range p.cells {
			values[i] = int64(of(c))
		}
		args, names = append(args, s.arg(values)+"::bigint[]"), append(names, name)
	}
	for i := 0; p.blended() && i < p.shape.lists; i++ {
		number(fmt.Sprintf("w%d", i), func(c cell) int {
			if i < len(c.weights) {
				return c.weights[i]
			}
			return 0
		})
	}
	if p.sort == SortRelevance {
		number("bonus", func(c cell) int { return c.bonus })
	}
	s.add("unnest(%s) AS cell (%s)", strings.Join(args, ", "), strings.Join(names, ", "))
}

// probes asks the other lists of the cell for the row d: each joins as o1, o2 …
// with its rank, and a row that is not in all of them falls away. The lists
// that it must not be in join as n1, n2 …
func (s *statement) probes(sh shape) {
	for i := 1; i < sh.lists; i++ {
		s.add("\n\t\tCROSS JOIN LATERAL (%s) AS o%d", probeOf(fmt.Sprintf("cell.l%d", i)), i)
	}
	for i := 1; i <= sh.without; i++ {
		s.add("\n\t\tLEFT JOIN LATERAL (%s) AS n%d ON true", probeOf(fmt.Sprintf("cell.x%d", i)), i)
	}
}

// probeOf asks one list for the row d.
func probeOf(list string) string {
	return fmt.Sprintf(`SELECT t.rank FROM capability_terms t
			WHERE t.list = %s AND t.created_at = d.created_at AND t.capability_pk = d.capability_pk LIMIT 1`, list)
}

// kept leaves out what the cell is without.
func (s *statement) kept(sh shape) {
	for i := 1; i <= sh.without; i++ {
		s.add(" AND n%d.rank IS NULL", i)
	}
}

// hits builds the walk: key and capability_pk of the page's rows.
func (s *statement) hits(p plan) {
	order, compare := p.direction()
	inner, inwards, key := p.limit+1, order, "d."+p.column()
	switch {
	case p.blended():
		inner, inwards, key = p.budget(), "DESC", "cell.bonus"
		for i := range p.shape.lists {
			key += fmt.Sprintf(" + cell.w%d * %s.rank", i, map[bool]string{true: "d", false: fmt.Sprintf("o%d", i)}[i == 0])
		}
	case p.sort == SortRelevance:
		key += " + cell.bonus"
	}
	s.add("SELECT w.key, w.capability_pk FROM ")
	if p.overlap {
		s.add("(SELECT max(w.key) AS key, w.capability_pk FROM ")
	}
	s.from(p)
	s.add("\nCROSS JOIN LATERAL (SELECT %s AS key, d.capability_pk FROM capability_terms d", key)
	s.probes(p.shape)
	s.add("\n	WHERE d.list = cell.l0")
	s.kept(p.shape)
	if p.at != nil && !p.blended() {
		s.add(" AND (d.%s, d.capability_pk) %s (%s, %s)", p.column(), compare, s.place(p), s.arg(p.at.PK))
	}
	if p.at != nil && p.column() != "created_at" {
		// A row of a transaction yet to come is one of a restored database: old.
		s.add(" AND (pg_visible_in_snapshot(d.changed, %s::text::pg_snapshot) OR d.changed >= pg_snapshot_xmax(pg_current_snapshot()))", s.arg(p.at.Walk))
	}
	s.add("\n	ORDER BY d.%s %s, d.capability_pk %s LIMIT %d) AS w", p.column(), inwards, inwards, inner)
	if p.overlap {
		s.add(" GROUP BY w.capability_pk) AS w")
	}
	if p.at != nil && p.blended() {
		s.add(" WHERE (w.key, w.capability_pk) %s (%s, %s)", compare, s.place(p), s.arg(p.at.PK))
	}
	s.add("\nORDER BY w.key %s, w.capability_pk %s LIMIT %d", order, order, p.limit+1)
}

// deepest is the most rows of one cell that are ranked. From about four times
// as many on, the planner would sooner read the whole list.
const deepest = 256

// budget is how many rows of each cell a blended relevance ranks: about
// candidates in all, and where cells are short the long ones get more. Powers
// of two keep the number of statements small.
func (p plan) budget() int {
	b := 32
	for b < p.limit+1 {
		b *= 2
	}
	for b < deepest {
		n := 0
		for _, c := range p.cells {
			n += min(c.lists[0].size, 2*b)
		}
		if n > candidates {
			break
		}
		b *= 2
	}
	return b
}

// place is the cursor's key in the type of the order's column.
func (s *statement) place(p plan) string {
	if p.column() == "created_at" {
		return s.arg(time.UnixMicro(p.at.Key))
	}
	key := s.arg(p.at.Key) + "::bigint"
	if p.sort == SortRelevance && !p.blended() {
		key += " - cell.bonus"
	}
	return key
}
