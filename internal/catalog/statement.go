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
	sized     []cell // of every kind, for the counts
	counted   []cell // sized, when it takes a walk; nil when the lists say their size
	others    int    // lists of each cell beside the one that is walked
	sort      Sort
	limit     int
	at        *cursor
	workspace string
	subject   string
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
func (p plan) blended() bool { return p.sort == SortRelevance && p.others > 0 }

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
	s.counts(p)
	s.add(" AS counts, ")
	s.secrets(p)
	s.add(" AS secrets, page.*\nFROM (SELECT) AS one LEFT JOIN LATERAL (\nSELECT hit.key, hit.capability_pk, c.* FROM (")
	s.hits(p)
	s.add(")\nAS hit CROSS JOIN LATERAL ("+details+") AS c\n", s.arg(p.workspace))
	s.add("ORDER BY hit.key %s, hit.capability_pk %s) AS page ON true", order, order)
	return s
}

const details = `
	SELECT c.source, c.id, c.reach, c.tags, c.created_by, c.created_at, c.deprecated, c.adopters, v.kind, v.name, v.description,
		v.version, v.created_at AS published_at, v.serves, v.created_by AS published_by,
		u.name AS author, pin.version AS pinned, pin.sort_key < v.sort_key AS newer, taken.id AS taken,
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

// from spells the cells: a row each, with the list to walk and the others.
func (s *statement) from(p plan, cells []cell) {
	lists := make([][]int64, p.others+1)
	for _, c := range cells {
		for i, l := range c.lists {
			lists[i] = append(lists[i], l.id)
		}
	}
	args, columns := make([]string, len(lists)), make([]string, len(lists))
	for i := range lists {
		args[i], columns[i] = s.arg(lists[i])+"::bigint[]", fmt.Sprintf("l%d", i)
	}
	s.add("unnest(%s) AS cell (%s)", strings.Join(args, ", "), strings.Join(columns, ", "))
}

// probes asks the other lists of the cell for the row d: each joins as o1, o2 …
// with its rank, and a row that is not in all of them falls away.
func (s *statement) probes(p plan) {
	for i := 1; i <= p.others; i++ {
		s.add(`
		CROSS JOIN LATERAL (SELECT t.rank FROM capability_terms t
			WHERE t.list = cell.l%d AND t.created_at = d.created_at AND t.capability_pk = d.capability_pk LIMIT 1) AS o%d`, i, i)
	}
}

// hits builds the walk: key and capability_pk of the page's rows.
func (s *statement) hits(p plan) {
	order, compare := p.direction()
	inner, inwards := p.limit+1, order
	key := "d." + p.column()
	if p.blended() {
		inner, inwards = max(inner, candidates/max(4, len(p.cells))), "DESC"
		for i := 1; i <= p.others; i++ {
			key += fmt.Sprintf(" + o%d.rank", i)
		}
	}
	s.add("SELECT w.key, w.capability_pk FROM ")
	s.from(p, p.cells)
	s.add("\nCROSS JOIN LATERAL (SELECT %s AS key, d.capability_pk FROM capability_terms d", key)
	s.probes(p)
	s.add("\n	WHERE d.list = cell.l0")
	if p.at != nil && !p.blended() {
		s.add(" AND (d.%s, d.capability_pk) %s (%s, %s)", p.column(), compare, s.place(p), s.arg(p.at.PK))
	}
	if p.at != nil && p.column() != "created_at" {
		// A row of a transaction yet to come is one of a restored database: old.
		s.add(" AND (pg_visible_in_snapshot(d.changed, %s::text::pg_snapshot) OR d.changed >= pg_snapshot_xmax(pg_current_snapshot()))", s.arg(p.at.Walk))
	}
	s.add("\n	ORDER BY d.%s %s, d.capability_pk %s LIMIT %d) AS w", p.column(), inwards, inwards, inner)
	if p.at != nil && p.blended() {
		s.add(" WHERE (w.key, w.capability_pk) %s (%s, %s)", compare, s.place(p), s.arg(p.at.PK))
	}
	s.add("\nORDER BY w.key %s, w.capability_pk %s LIMIT %d", order, order, p.limit+1)
}

// place is the cursor's key in the type of the order's column.
func (s *statement) place(p plan) string {
	if p.column() == "created_at" {
		return s.arg(time.UnixMicro(p.at.Key))
	}
	return s.arg(p.at.Key) + "::bigint"
}

// counts counts the matches of each counted cell, in order, up to one more
// than is told exactly. The ORDER BY is for the planner: an index that it walks
// to the LIMIT.
func (s *statement) counts(p plan) {
	if len(p.counted) == 0 {
		s.add("NULL::bigint[]")
		return
	}
	s.add("(SELECT array_agg(n.n ORDER BY cell.i) FROM (SELECT *, row_number() OVER () AS i FROM ")
	s.from(p, p.counted)
	s.add(`) AS cell CROSS JOIN LATERAL (
	SELECT count(*) AS n FROM (SELECT FROM capability_terms d`)
	s.probes(p)
	s.add("\n	WHERE d.list = cell.l0 ORDER BY d.created_at, d.capability_pk LIMIT %d) AS bounded) AS n)", countCap+1)
}
