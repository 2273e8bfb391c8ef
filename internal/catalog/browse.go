package catalog

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

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
	// SuccessorSeen says that the viewer sees the capability that follows a
	// deprecated one.
	SuccessorSeen bool
	// Pinned is the version that the viewer's workspace adopted, "" for none;
	// PinState is what became of it, and BlockedReason why it was blocked.
	Pinned          string
	PinState        State
	BlockedReason   string
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
	// Total and Facets are there when the query asked for counts.
	Total  Count
	Facets Facets
	// Corrected is what was looked for instead of the query's words where
	// nothing holds one of them and something another that is one slip away; ""
	// when each is held. Words that few hold find those of such others too,
	// after their own.
	Corrected string
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
	words, ok := queryWords(q.Q)
	if !ok || len(shelves) == 0 {
		return Page{Items: []Row{}}, nil
	}
	at.spell(words)
	works := s.works(ctx)
	if q.WorksHere {
		q.works = works
	}
	f, err := s.look(ctx, shelves, words, append(q.groups(viewer, words), group{terms: []string{wholeTerm(splitWords(q.Q))}}))
	if err != nil {
		return Page{}, pg.Fault(err)
	}
	groups := q.groups(viewer, words)
	p := f.plan(q, words, groups, at, viewer)
	if !q.Counts {
		page, _, err := s.read(ctx, p, viewer)
		return page, pg.Fault(err)
	}
	key := f.countKey(q, words)
	counts, known := s.counts.get(ctx, key, f.state)
	facets := counts.facets
	if !known {
		p.facets = f.facetPlan(q, groups)
		defer func() { s.counts.end(key, counts, facets, known) }()
	}
	page, raw, err := s.read(ctx, p, viewer)
	if err != nil {
		return Page{}, pg.Fault(err)
	}
	if !known {
		if facets, err = facetsOf(raw, q, works); err != nil {
			return Page{}, err
		}
		known = true
	}
	page.count(facets, q.Kinds)
	return page, nil
}

// plan makes the query ready for the cells that it meets in.
func (f found) plan(q Query, words []word, groups []group, at *cursor, v capability.Viewer) plan {
	cells := ofKinds(f.cells(groups), q.Kinds)
	overlap := false
	if q.Sort == SortRelevance {
		cells, overlap = f.relevant(cells, q, words, groups)
	} else {
		for i, c := range cells {
			cells[i] = c.shortest()
		}
	}
	return plan{
		cells: cells, shape: shapeOf(cells), overlap: overlap, sort: q.Sort, limit: q.Limit, at: at, words: words, query: q.fingerprint(v),
		workspace: v.Workspace, subject: v.Subject, audiences: v.Audiences(),
	}
}

// hit is a row of the page statement. Everything but walk and counts is NULL
// when the page is empty.
type hit struct {
	walk        string
	counts      json.RawMessage
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
	// What became of the pinned version, and whether the viewer sees the
	// capability that follows a deprecated one.
	pinWithdrawn  *time.Time
	pinBlocked    *time.Time
	blockedReason *string
	successorSeen *bool
	taken         *string
	adoption      json.RawMessage
	asks          json.RawMessage // what the pinned version wants, as an mcp spec has it
}

// read runs the page statement, unless there is nothing to ask. It returns the
// counts as they came beside the rows.
func (s *Service) read(ctx context.Context, p plan, v capability.Viewer) (Page, json.RawMessage, error) {
	page := Page{Items: []Row{}, Corrected: corrected(p.words)}
	if p.empty() {
		return page, nil, nil
	}
	st := p.page()
	rows, err := s.db.Query(ctx, st.sql.String(), st.args...)
	if err != nil {
		return Page{}, nil, fmt.Errorf("browse: %w", err)
	}
	hits, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (hit, error) { return scanHit(row, p) })
	if err != nil {
		return Page{}, nil, fmt.Errorf("browse: %w", err)
	}
	if hits[0].pk == nil {
		return page, hits[0].counts, nil
	}
	counts, more := hits[0].counts, len(hits) > p.limit
	hits = hits[:min(len(hits), p.limit)]
	if p.at != nil && p.at.Backward {
		slices.Reverse(hits)
	}
	for _, h := range hits {
		row, err := h.row(v)
		if err != nil {
			return Page{}, nil, err
		}
		page.Items = append(page.Items, row)
	}
	page.link(p, hits, more)
	return page, counts, nil
}

// link sets the cursors around the page.
func (page *Page) link(p plan, hits []hit, more bool) {
	c := cursor{Walk: hits[0].walk, Meant: meant(p.words)}
	backward := false
	if p.at != nil {
		c.Walk, backward = p.at.Walk, p.at.Backward
	}
	first, last := hits[0], hits[len(hits)-1]
	if more || backward {
		c.Key, c.PK = last.key, *last.pk
		page.NextCursor = c.encode(p.query)
	}
	if backward && more || p.at != nil && !backward {
		c.Key, c.PK, c.Backward = first.key, *first.pk, true
		page.PrevCursor = c.encode(p.query)
	}
}

// count fills in what the query asked to be counted.
func (page *Page) count(f Facets, kinds []capability.Kind) {
	page.Facets = f
	for _, k := range f.Kinds {
		if len(kinds) == 0 || slices.Contains(kinds, capability.Kind(k.Value)) {
			page.Total = page.Total.plus(k.Count)
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
		&h.pinned, &h.newer, &h.pinWithdrawn, &h.pinBlocked, &h.blockedReason, &h.successorSeen, &h.taken, &h.adoption, &h.asks)
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
	var pinState State
	if h.pinned != nil {
		pinState = stateOf(h.pinWithdrawn, h.pinBlocked)
	}
	return Row{
		Source: *h.source, ID: *h.id, Kind: capability.Kind(*h.kind), Name: *h.name, Description: *h.description,
		Version: *h.version, Reach: capability.Reach(*h.reach), Tags: h.tags, Domains: h.domains, Adopters: int(*h.adopters),
		Author: person(h.publishedBy, text(h.author)), CreatedAt: *h.createdAt, PublishedAt: *h.publishedAt,
		Deprecated: deprecated, Pinned: text(h.pinned), UpdateAvailable: h.newer != nil && *h.newer, TakenAs: text(h.taken),
		PinState: pinState, BlockedReason: text(h.blockedReason), SuccessorSeen: h.successorSeen != nil && *h.successorSeen,
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
