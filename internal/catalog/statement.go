package catalog

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"capstore/internal/capability"
)

// plan is a query made ready for the index. Its driver is the group of terms
// whose rows are walked; the others are looked up for each row met.
type plan struct {
	shelves []string
	kinds   []string
	driver  []string
	others  [][]string
	sort    Sort
	limit   int
	counts  bool
	at      *cursor
	viewer  capability.Viewer
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

// blended reports whether the order is by the sum of several words' ranks,
// which no index holds: the best of the driver are then ranked anew.
func (p plan) blended() bool { return p.sort == SortRelevance && len(p.others) > 0 }

// statement is SQL with its arguments.
type statement struct {
	sql  strings.Builder
	args []any
}

func (s *statement) arg(v any) string {
	s.args = append(s.args, v)
	return fmt.Sprintf("$%d", len(s.args))
}

// The walks below run once per (shelf, term, kind), each bounded by a LIMIT,
// inside LATERAL subqueries whose terms come from arrays: the planner sees no
// word, so the plan is one and the same for rare and common ones, and a LIMIT
// keeps a subquery from being turned into a join of whole tables.

// probes spells the lookups of the other groups for a row d, as ranks: 0 when
// the group is not met.
func (s *statement) probes(p plan) []string {
	out := make([]string, len(p.others))
	for i, group := range p.others {
		out[i] = fmt.Sprintf(`coalesce((SELECT max(o.rank) FROM capability_terms o
			WHERE o.shelf = d.shelf AND o.term = ANY (%s::text[]) AND o.kind = d.kind
				AND o.created_at = d.created_at AND o.capability_pk = d.capability_pk), 0)`, s.arg(group))
	}
	return out
}

// page builds the one statement of a page: rows, their details, the adoption
// of each by the viewer's workspace, and the counts when they are wanted.
func (p plan) page() *statement {
	s := &statement{}
	s.sql.WriteString("SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS walk,\n")
	s.countsColumn(p)
	s.sql.WriteString(" AS counts, page.*\nFROM (SELECT) AS one LEFT JOIN LATERAL (\nSELECT hit.key, hit.capability_pk, c.* FROM (")
	s.hits(p)
	s.sql.WriteString(")\nAS hit CROSS JOIN LATERAL (")
	fmt.Fprintf(&s.sql, details, s.arg(p.viewer.Workspace))
	order, _ := p.direction()
	fmt.Fprintf(&s.sql, ") AS c ORDER BY hit.key %s, hit.capability_pk %s) AS page ON true", order, order)
	return s
}

const details = `
	SELECT c.source, c.id, c.reach, c.tags, c.created_by, c.created_at, c.deprecated, c.adopters, v.kind, v.name, v.description,
		v.version, v.created_at AS published_at, v.serves, v.created_by AS published_by,
		u.name AS author, pin.version AS pinned,
		pin.sort_key < v.sort_key AS newer, taken.id AS taken
	FROM capabilities c
	JOIN capability_versions v ON v.pk = c.latest_pk
	LEFT JOIN users u ON u.id = v.created_by
	LEFT JOIN adoptions a ON a.workspace = %[1]s AND a.capability_pk = c.pk
	LEFT JOIN capability_versions pin ON pin.pk = a.version_pk
	LEFT JOIN skills taken ON taken.workspace = %[1]s AND taken.origin_pk = c.pk
	WHERE c.pk = hit.capability_pk LIMIT 1`

// hits builds the walk: key and capability_pk of the page's rows.
func (s *statement) hits(p plan) {
	order, compare := p.direction()
	key, inner := "d."+p.column(), p.limit+1
	if p.blended() {
		inner = candidates
	}
	probes := s.probes(p)
	if p.blended() {
		key = strings.Join(append([]string{key}, probes...), " + ")
	}
	s.sql.WriteString("SELECT w.key, w.capability_pk FROM ")
	s.cells(p, p.kinds)
	fmt.Fprintf(&s.sql, " CROSS JOIN LATERAL (SELECT %s AS key, d.capability_pk FROM capability_terms d\n", key)
	s.sql.WriteString("WHERE d.shelf = sh.shelf AND d.term = te.term AND d.kind = ki.kind")
	for _, probe := range probes {
		s.sql.WriteString(" AND " + probe + " > 0")
	}
	if p.at != nil && !p.blended() {
		fmt.Fprintf(&s.sql, " AND (d.%s, d.capability_pk) %s (%s, %s)", p.column(), compare, s.arg(p.place()), s.arg(p.at.PK))
	}
	if p.at != nil && p.column() != "created_at" {
		// A row from beyond the horizon is one of a restored database: old.
		fmt.Fprintf(&s.sql, " AND (d.changed < %s OR d.changed >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint)", s.arg(p.at.Walk))
	}
	inwards := order
	if p.blended() {
		inwards = "DESC"
	}
	fmt.Fprintf(&s.sql, "\nORDER BY d.%s %s, d.capability_pk %s LIMIT %d) AS w", p.column(), inwards, inwards, inner)
	if p.at != nil && p.blended() {
		fmt.Fprintf(&s.sql, " WHERE (w.key, w.capability_pk) %s (%s, %s)", compare, s.arg(p.place()), s.arg(p.at.PK))
	}
	fmt.Fprintf(&s.sql, "\nORDER BY w.key %s, w.capability_pk %s LIMIT %d", order, order, p.limit+1)
}

// place is the cursor's key in the type of the order's column.
func (p plan) place() any {
	if p.column() == "created_at" {
		return time.UnixMicro(p.at.Key)
	}
	return p.at.Key
}

// cells spells the product of shelves, terms and kinds that is walked.
func (s *statement) cells(p plan, kinds []string) {
	fmt.Fprintf(&s.sql, "unnest(%s::text[]) AS sh (shelf) CROSS JOIN unnest(%s::text[]) AS te (term)", s.arg(p.shelves), s.arg(p.driver))
	if kinds != nil {
		fmt.Fprintf(&s.sql, " CROSS JOIN unnest(%s::text[]) AS ki (kind)", s.arg(kinds))
	}
}

// countsColumn counts the matches of every kind, chosen or not, up to one more
// than is told exactly.
func (s *statement) countsColumn(p plan) {
	if !p.counts {
		s.sql.WriteString("NULL::json")
		return
	}
	fmt.Fprintf(&s.sql, "(SELECT json_object_agg(ki.kind, n.n) FROM unnest(%s::text[]) AS ki (kind) CROSS JOIN LATERAL (\n"+
		"SELECT count(*) AS n FROM (SELECT FROM ", s.arg(allKinds))
	s.cells(p, nil)
	s.sql.WriteString(" CROSS JOIN LATERAL (SELECT FROM capability_terms d\nWHERE d.shelf = sh.shelf AND d.term = te.term AND d.kind = ki.kind")
	for _, probe := range s.probes(p) {
		s.sql.WriteString(" AND " + probe + " > 0")
	}
	fmt.Fprintf(&s.sql, "\nLIMIT %d) AS m LIMIT %d) AS bounded) AS n)", countCap+1, countCap+1)
}

var allKinds = func() []string {
	out := make([]string, len(capability.Kinds))
	for i, k := range capability.Kinds {
		out[i] = string(k)
	}
	return out
}()

// frequencyCap bounds how far the groups' sizes are told apart.
const frequencyCap = 5000

// frequencies builds the statement that measures how many rows each group
// has, from 1, so that the rarest can drive.
func frequencies(shelves []string, groups [][]string) *statement {
	s := &statement{}
	shelf := s.arg(shelves)
	parts := make([]string, len(groups))
	for i, g := range groups {
		parts[i] = fmt.Sprintf(`(SELECT count(*) FROM (SELECT FROM unnest(%s::text[]) AS sh (shelf), unnest(%s::text[]) AS te (term),
			LATERAL (SELECT FROM capability_terms d WHERE d.shelf = sh.shelf AND d.term = te.term LIMIT %d) AS m LIMIT %d) AS bounded)`,
			shelf, s.arg(g), frequencyCap, frequencyCap)
	}
	s.sql.WriteString("SELECT ARRAY[" + strings.Join(parts, ", ") + "]")
	return s
}

// drive splits the groups into the rarest and the rest.
func drive(groups [][]string, sizes []int64) (driver []string, others [][]string) {
	best := 0
	for i := range sizes {
		if sizes[i] < sizes[best] {
			best = i
		}
	}
	return groups[best], slices.Concat(groups[:best], groups[best+1:])
}
