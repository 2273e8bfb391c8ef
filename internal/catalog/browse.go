package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"capstore/internal/capability"
	"capstore/internal/pg"
)

// Row is one capability in a list.
type Row struct {
	Source      string
	ID          string
	Kind        capability.Kind
	Name        string
	Description string
	Version     string // the latest
	Reach       capability.Reach
	Tags        []string
	Domains     []string
	Adopters    int
	Author      Person // of the latest version
	CreatedAt   time.Time
	PublishedAt time.Time // of the latest version
	Deprecated  *Deprecation
	// Pinned is the version that the viewer's workspace adopted, "" for none.
	Pinned          string
	UpdateAvailable bool
	// NeedsSetup says that it was adopted and lacks a secret or a setting, so
	// that the viewer's agent cannot run it yet.
	NeedsSetup bool
	// TakenAs is the workspace's skill that was copied from it, "" for none.
	TakenAs string
	// Own says that the viewer created it.
	Own bool
}

// BuiltIn reports whether it ships with capstore.
func (r Row) BuiltIn() bool { return r.Source == capability.FirstPartyOwner }

// InWorkspace reports whether the viewer's workspace has it already.
func (r Row) InWorkspace() bool { return r.Pinned != "" || r.TakenAs != "" }

// Count is a number that is exact unless capped: then there are more.
type Count struct {
	N      int
	Capped bool
}

// plus adds, and stops telling exactly beyond countCap.
func (c Count) plus(d Count) Count {
	n := c.N + d.N
	return Count{N: min(n, countCap), Capped: c.Capped || d.Capped || n > countCap}
}

// Page is part of a list.
type Page struct {
	Items []Row
	// NextCursor and PrevCursor are "" at the ends.
	NextCursor string
	PrevCursor string
	// Total and Kinds are there when the query asked for counts. Kinds counts
	// what each kind would give, whatever kinds the query chose.
	Total Count
	Kinds map[capability.Kind]Count
}

// Browse returns a page of what the actor may read, in at most two statements.
// In SortCreated and SortNewest a walk neither skips nor repeats what was
// there throughout; the other orders repeat nothing within a walk. It returns
// an Invalid fault for a query out of bounds and a Malformed one for a cursor
// that is not the query's.
func (s *Service) Browse(ctx context.Context, actor capability.Actor, q Query) (Page, error) {
	q, err := q.check()
	if err != nil {
		return Page{}, err
	}
	viewer := actor.Viewer()
	at, err := decodeCursor(q.Cursor, q.fingerprint(viewer))
	if err != nil {
		return Page{}, err
	}
	shelves := shelvesOf(viewer, q.Scope)
	groups, ok := q.groups(viewer)
	if !ok || len(shelves) == 0 {
		return q.emptyPage(), nil
	}
	cells, err := s.cells(ctx, shelves, groups)
	if err != nil {
		return Page{}, pg.Fault(err)
	}
	if len(cells) == 0 {
		return q.emptyPage(), nil
	}
	page, err := s.read(ctx, q.plan(cells, at, viewer), q, viewer)
	if at != nil && unreadable(err) {
		return Page{}, badCursor()
	}
	return page, pg.Fault(err)
}

// unreadable reports whether the database could not read an argument, which
// only the snapshot of a forged cursor makes happen.
func unreadable(err error) bool {
	pe, ok := errors.AsType[*pgconn.PgError](err)
	return ok && pe.Code == "22P02" // invalid_text_representation
}

// plan makes the query ready for the cells that it meets in.
func (q Query) plan(cells []cell, at *cursor, v capability.Viewer) plan {
	p := plan{
		cells: ofKinds(cells, q.Kinds), others: len(cells[0].lists) - 1, sort: q.Sort, limit: q.Limit, at: at, workspace: v.Workspace,
		subject: v.Subject, sized: cells,
	}
	if q.Counts && p.others > 0 {
		p.counted = cells
	}
	return p
}

func (q Query) emptyPage() Page {
	page := Page{Items: []Row{}}
	if q.Counts {
		page.count(q, nil)
	}
	return page
}

// hit is a row of the page statement. Everything but walk and counts is NULL
// when the page is empty.
type hit struct {
	walk        string
	counts      []int64
	secrets     []string
	key         int64
	pk          *int64
	source, id  *string
	reach       *string
	tags        []string
	createdBy   *uuid.UUID
	createdAt   *time.Time
	deprecated  json.RawMessage
	adopters    *int32
	kind, name  *string
	description *string
	version     *string
	publishedAt *time.Time
	domains     []string
	publishedBy *uuid.UUID
	author      *string
	pinned      *string
	newer       *bool
	taken       *string
	adoption    json.RawMessage
	asks        json.RawMessage // what the pinned version wants, as an mcp spec has it
}

// read runs the page statement.
func (s *Service) read(ctx context.Context, p plan, q Query, v capability.Viewer) (Page, error) {
	st := p.page()
	rows, err := s.db.Query(ctx, st.sql.String(), st.args...)
	if err != nil {
		return Page{}, fmt.Errorf("browse: %w", err)
	}
	hits, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (hit, error) { return scanHit(row, p) })
	if err != nil {
		return Page{}, fmt.Errorf("browse: %w", err)
	}
	page := Page{Items: []Row{}}
	if q.Counts {
		page.count(q, p.kindCounts(hits[0].counts))
	}
	if hits[0].pk == nil {
		return page, nil
	}
	more := len(hits) > p.limit
	hits = hits[:min(len(hits), p.limit)]
	backward := p.at != nil && p.at.Backward
	if backward {
		slices.Reverse(hits)
	}
	for _, h := range hits {
		row, err := h.row(v)
		if err != nil {
			return Page{}, err
		}
		page.Items = append(page.Items, row)
	}
	page.link(p, q.fingerprint(v), hits, more)
	return page, nil
}

// link sets the cursors around the page.
func (page *Page) link(p plan, query string, hits []hit, more bool) {
	walk, backward := hits[0].walk, false
	if p.at != nil {
		walk, backward = p.at.Walk, p.at.Backward
	}
	first, last := hits[0], hits[len(hits)-1]
	if more || backward {
		page.NextCursor = cursor{Key: last.key, PK: *last.pk, Walk: walk}.encode(query)
	}
	if backward && more || p.at != nil && !backward {
		page.PrevCursor = cursor{Key: first.key, PK: *first.pk, Walk: walk, Backward: true}.encode(query)
	}
}

// kindCounts adds the cells up by kind: their matches as counted, or the sizes
// of their one list.
func (p plan) kindCounts(counted []int64) map[capability.Kind]Count {
	out := map[capability.Kind]Count{}
	for i, c := range p.sized {
		n := c.lists[0].size
		if p.counted != nil {
			n = int(counted[i])
		}
		out[c.kind] = out[c.kind].plus(Count{N: n})
	}
	return out
}

func (page *Page) count(q Query, counts map[capability.Kind]Count) {
	page.Kinds = map[capability.Kind]Count{}
	for _, k := range capability.Kinds {
		page.Kinds[k] = counts[k].plus(Count{})
		if len(q.Kinds) == 0 || slices.Contains(q.Kinds, k) {
			page.Total = page.Total.plus(counts[k])
		}
	}
}

func scanHit(row pgx.CollectableRow, p plan) (h hit, err error) {
	var number *int64
	var moment *time.Time
	var key any = &number
	if p.column() == "created_at" {
		key = &moment
	}
	err = row.Scan(&h.walk, &h.counts, &h.secrets, key, &h.pk, &h.source, &h.id, &h.reach, &h.tags, &h.createdBy, &h.createdAt,
		&h.deprecated, &h.adopters, &h.kind, &h.name, &h.description, &h.version, &h.publishedAt, &h.domains, &h.publishedBy, &h.author,
		&h.pinned, &h.newer, &h.taken, &h.adoption, &h.asks)
	switch {
	case number != nil:
		h.key = *number
	case moment != nil:
		h.key = moment.UnixMicro()
	}
	return h, err
}

func (h hit) row(v capability.Viewer) (Row, error) {
	deprecated, err := deprecation(h.deprecated)
	if err != nil {
		return Row{}, err
	}
	setup, err := h.needsSetup()
	if err != nil {
		return Row{}, err
	}
	createdBy := subject(h.createdBy)
	return Row{
		Source: *h.source, ID: *h.id, Kind: capability.Kind(*h.kind), Name: *h.name, Description: *h.description,
		Version: *h.version, Reach: capability.Reach(*h.reach), Tags: h.tags, Domains: h.domains, Adopters: int(*h.adopters),
		Author: person(h.publishedBy, text(h.author)), CreatedAt: *h.createdAt, PublishedAt: *h.publishedAt,
		Deprecated: deprecated, Pinned: text(h.pinned), UpdateAvailable: h.newer != nil && *h.newer, TakenAs: text(h.taken),
		NeedsSetup: setup, Own: createdBy != "" && createdBy == v.Subject,
	}, nil
}

// needsSetup reports whether the adoption leaves something unbound that the
// pinned version cannot run without.
func (h hit) needsSetup() (bool, error) {
	if len(h.asks) == 0 {
		return false, nil
	}
	var adoption capability.Adoption
	if err := json.Unmarshal(h.adoption, &adoption); err != nil {
		return false, fmt.Errorf("stored adoption of %s/%s: %w", *h.source, *h.id, err)
	}
	spec := &capability.MCPSpec{}
	if err := json.Unmarshal(h.asks, spec); err != nil {
		return false, fmt.Errorf("stored spec of %s/%s: %w", *h.source, *h.id, err)
	}
	have := func(name string) bool { return slices.Contains(h.secrets, name) }
	missing := capability.MissingSecrets(spec, adoption.SecretBindings, have)
	return len(missing) > 0 || len(capability.MissingSettings(spec, adoption.Settings)) > 0, nil
}
