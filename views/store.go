package views

import (
	"context"
	"strings"
	"time"

	"github.com/a-h/templ"

	"capstore/internal/i18n"
	"capstore/views/ui"
)

// storeResults is the id of the part of a store page that a search replaces,
// and storeForm that of the search itself.
const (
	storeResults = "store-results"
	storeForm    = "store-search"
)

// Store is a page of the store, or of what the workspace published.
type Store struct {
	Workspace string
	Mine      bool
	// Source is whose publications the page is about; nil for the store and
	// for what the workspace itself published.
	Source  *StoreSource
	Filters StoreFilters
	Sorts   []string // in the order offered; the first is the default
	Reaches []string // that a filter may ask for here
	Rows    []StoreRow
	Total   Count
	Facets  StoreFacets
	// Corrected is what was looked for where the words may be mistyped; ""
	// when they were taken as they stand.
	Corrected string
	Next      string // cursors, "" at the ends
	Prev      string
	// Steps are the first steps of a new member; false once put away.
	Steps bool
	// CreateReason says why the member cannot publish and who can; "" when he
	// can.
	CreateReason string
	// Unlisted has the page ask for what no list shows.
	Unlisted bool
	// ManageAll says that the reader may manage what others made, too.
	ManageAll bool
}

// StoreSource is a workspace that published what the page lists.
type StoreSource struct{ Slug, Name string }

// StoreFacets are the filters that the store offers, each with what it would
// give.
type StoreFacets struct {
	Kinds, Reaches, Tags, Domains, Sources []FacetValue
	WorksHere                              Count
}

// FacetValue is one value of a filter.
type FacetValue struct {
	Value string
	Count
}

// Count is a number that is exact unless capped: then there are more.
type Count struct {
	N      int
	Capped bool
}

// KindCount is how many of a kind the other filters leave.
type KindCount struct {
	Kind string
	Count
}

// StoreRow is one capability in a list.
type StoreRow struct {
	Source      string
	ID          string
	Kind        string
	Name        string
	Description string
	Version     string
	Reach       string
	Tags        []string
	Adopters    int
	CreatedAt   time.Time
	PublishedAt time.Time // of the latest version
	BuiltIn     bool
	InWorkspace bool
	// Update is the version that waits for the workspace, "" for none.
	Update     string
	NeedsSetup bool // adopted, and something that it needs is not bound
	Own        bool
	Deprecation
	// Pinned is the version that the workspace pins, PinState what became of
	// it, and BlockedReason why it was blocked.
	Pinned        string
	PinState      string
	BlockedReason string
}

// shelf is which of the lists it is, as the address spells it.
func (s Store) shelf() string {
	switch {
	case s.Mine:
		return ShelfMine
	case s.Source != nil:
		return s.Source.Slug
	}
	return ShelfStore
}

func (s Store) path(f StoreFilters) string { return StoreListPath(s.Workspace, s.shelf(), f) }

// swap makes a link answer in place.
func swap(href string) templ.Attributes {
	return ui.Hx{Get: href, Target: "#" + storeResults, Swap: "outerHTML", Push: true}.Attrs()
}

// from is the mark of the page that a detail was opened from.
func (s Store) from() string {
	if s.Mine {
		return FromMine
	}
	return ""
}

// filtered reports whether anything narrows the list, its words included.
func (f StoreFilters) filtered() bool { return f.Query != "" || f.chosen() }

// chosen reports whether a filter beside the words is on.
func (f StoreFilters) chosen() bool {
	return f.WorksHere || len(f.Kinds)+len(f.Tags)+len(f.Reach)+len(f.Sources)+len(f.Domains) > 0
}

// heading says how many there are of what was asked for.
func (s Store) heading(ctx context.Context) string {
	key := "store.count"
	if s.Filters.filtered() {
		key = "store.found"
	}
	if s.Total.Capped {
		return i18n.T(ctx, key+".capped", "n", s.Total.N)
	}
	return i18n.N(ctx, key, s.Total.N)
}

// sort is the order in force.
func (s Store) sort() string {
	if s.Filters.Sort == "" {
		return s.Sorts[0]
	}
	return s.Filters.Sort
}

func (s Store) sortPath(sort string) string {
	f := s.Filters
	f.Sort, f.Cursor = sort, ""
	if sort == s.Sorts[0] {
		f.Sort = ""
	}
	return s.path(f)
}

func (s Store) pager() ui.PagerArgs {
	page := func(cursor string) string {
		if cursor == "" {
			return ""
		}
		f := s.Filters
		f.Cursor = cursor
		return s.path(f)
	}
	return ui.PagerArgs{Previous: page(s.Prev), Next: page(s.Next)}
}

// row draws one capability.
func (s Store) row(ctx context.Context, r StoreRow) ui.RowArgs {
	return ui.RowArgs{
		Kind: r.Kind, Name: r.Name, Ref: r.Source + "/" + r.ID, Version: r.Version, Text: r.Description, Reach: r.Reach, Tags: shortened(r.Tags),
		Href: CapabilityTabPath(s.Workspace, r.Source, r.ID, DetailLens{From: s.from()}), At: s.age(r),
		Meta: r.meta(ctx), Badges: r.badges(ctx), Marks: r.marks(ctx), RefHref: s.sourceHref(r.Source),
	}
}

// sourceHref leads to what else the row's owner published, but from that page
// itself.
func (s Store) sourceHref(source string) string {
	if s.shelf() == source || s.Mine {
		return ""
	}
	return SourcePath(s.Workspace, source)
}

// marks are what befell the capability, or the version that the workspace pins.
func (r StoreRow) marks(ctx context.Context) []ui.RowMark {
	return befell(ctx, r.Pinned, r.PinState, r.BlockedReason, r.Deprecation)
}

func befell(ctx context.Context, pinned, state, reason string, d Deprecation) []ui.RowMark {
	var out []ui.RowMark
	if mark, ok := pinMark(ctx, pinned, state, reason); ok {
		out = append(out, mark)
	}
	if mark, ok := d.mark(ctx); ok {
		out = append(out, mark)
	}
	return out
}

// pinMark says what became of the version that the workspace pins; false while
// it is live.
func pinMark(ctx context.Context, version, state, reason string) (ui.RowMark, bool) {
	switch state {
	case "blocked":
		return ui.RowMark{Tone: ui.Danger, Text: i18n.T(ctx, "store.pin_blocked", "version", version, "reason", reason)}, true
	case "withdrawn":
		return ui.RowMark{Tone: ui.Warning, Text: i18n.T(ctx, "store.pin_withdrawn", "version", version)}, true
	}
	return ui.RowMark{}, false
}

// deprecationMark says why its publisher sends readers elsewhere, and where.
func deprecationMark(ctx context.Context, note, successor, href string) ui.RowMark {
	m := ui.RowMark{Tone: ui.Warning, Text: note}
	switch {
	case successor == "":
	case href != "":
		m.Link, m.Href = i18n.T(ctx, "detail.successor", "ref", successor), href
	default:
		m.Text = strings.TrimSpace(note + " " + i18n.T(ctx, "detail.successor", "ref", successor))
	}
	return m
}

// age is what the order goes by, where that is a time, else how fresh the
// latest version is.
func (s Store) age(r StoreRow) time.Time {
	if s.sort() == "newest" {
		return r.CreatedAt
	}
	return r.PublishedAt
}

// manages reports whether the reader may manage the row's capability.
func (s Store) manages(r StoreRow) bool { return s.Mine && (r.Own || s.ManageAll) }

// meta says how many use it, once anyone does.
func (r StoreRow) meta(ctx context.Context) []string {
	if r.Adopters == 0 {
		return nil
	}
	return []string{i18n.N(ctx, "store.adopters", r.Adopters)}
}

func (r StoreRow) badges(ctx context.Context) []ui.BadgeArgs {
	var out []ui.BadgeArgs
	if r.BuiltIn {
		out = append(out, ui.BadgeArgs{Label: i18n.T(ctx, "store.built_in"), Icon: ui.IconShield, Title: i18n.T(ctx, "store.built_in_help")})
	}
	if r.InWorkspace {
		out = append(out, ui.BadgeArgs{Label: i18n.T(ctx, "store.in_workspace"), Tone: ui.Success, Icon: ui.IconCheck})
	}
	if r.Update != "" {
		out = append(out, ui.BadgeArgs{Label: i18n.T(ctx, "store.update", "version", r.Update), Tone: ui.Accent, Icon: ui.IconRefresh})
	}
	if r.NeedsSetup {
		out = append(out, ui.BadgeArgs{Label: i18n.T(ctx, "store.needs_setup"), Tone: ui.Warning, Icon: ui.IconKey})
	}
	if r.Deprecated {
		out = append(out, ui.BadgeArgs{Label: i18n.T(ctx, "store.deprecated"), Tone: ui.Warning, Icon: ui.IconWarning})
	}
	return out
}

// key is the text's key on this of the pages.
func (s Store) key(name string) string {
	switch {
	case s.Mine:
		return "mine." + name
	case s.Source != nil:
		return "source." + name
	}
	return "store." + name
}

// kept are the filters that a search of other words keeps.
func (f StoreFilters) kept() [][2]string {
	var out [][2]string
	for _, list := range f.lists() {
		for _, v := range list.values {
			out = append(out, [2]string{list.name, v})
		}
	}
	if f.Sort != "" {
		out = append(out, [2]string{"sort", f.Sort})
	}
	return out
}

func swapClear(s Store) templ.Attributes {
	if clear := s.clear(); clear != "" {
		return swap(clear)
	}
	return nil
}

func sortAttrs(s Store, sort string) templ.Attributes {
	return ui.Merge(templ.Attributes{"id": "sort-" + sort}, swap(s.sortPath(sort)), pageCurrent(sort == s.sort()))
}
