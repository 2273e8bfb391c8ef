package views

import (
	"context"
	"slices"
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
	Filters   StoreFilters
	Sorts     []string // in the order offered; the first is the default
	Reaches   []string // that a filter may ask for here
	Rows      []StoreRow
	Total     Count
	Kinds     []KindCount
	Next      string // cursors, "" at the ends
	Prev      string
	// Steps are the first steps of a new member; false once put away.
	Steps bool
	// CreateReason says why the member cannot publish and who can; "" when he
	// can.
	CreateReason string
	// Hidden says that there may be private ones of others, which an admin may
	// count.
	Hidden bool
	// ManageAll says that the reader may manage what others made, too.
	ManageAll bool
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
	Deprecated bool
	Own        bool
}

func (s Store) path(f StoreFilters) string { return StoreListPath(s.Workspace, s.Mine, f) }

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
	return len(f.Kinds)+len(f.Tags)+len(f.Reach)+len(f.Sources)+len(f.Domains) > 0
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

// kindChips switch one kind each; several may be on.
func (s Store) kindChips(ctx context.Context) []ui.Chip {
	var chips []ui.Chip
	for _, k := range s.Kinds {
		on := slices.Contains(s.Filters.Kinds, k.Kind)
		if k.N == 0 && !on {
			continue
		}
		f := s.Filters
		f.Kinds, f.Cursor = toggled(f.Kinds, k.Kind), ""
		chips = append(chips, s.chip("kind-"+k.Kind, f, ui.Chip{
			Label: i18n.T(ctx, "kind."+k.Kind), Icon: ui.KindIcon(k.Kind), Current: on, Count: k.N, Capped: k.Capped, HasCount: true,
		}))
	}
	return chips
}

// otherChips are the filters beside the kinds: the reaches, what is on, and
// the tags that the rows in sight have most.
func (s Store) otherChips(ctx context.Context) []ui.Chip {
	var chips []ui.Chip
	f := s.Filters
	f.Cursor = ""
	for _, reach := range s.Reaches {
		to := f
		to.Reach = toggled(f.Reach, reach)
		chip := ui.Chip{Label: i18n.T(ctx, "reach."+reach), Icon: ui.ReachIcon(reach), Current: slices.Contains(f.Reach, reach)}
		chips = append(chips, s.chip("reach-"+reach, to, chip))
	}
	for _, source := range f.Sources {
		to := f
		to.Sources = toggled(f.Sources, source)
		chip := ui.Chip{Label: i18n.T(ctx, "store.from", "source", source), Icon: ui.IconUsers, Current: true}
		chips = append(chips, s.chip("source-"+source, to, chip))
	}
	for _, domain := range f.Domains {
		to := f
		to.Domains = toggled(f.Domains, domain)
		chip := ui.Chip{Label: i18n.T(ctx, "store.for", "domain", domain), Icon: ui.IconFilter, Current: true}
		chips = append(chips, s.chip("domain-"+domain, to, chip))
	}
	for _, tag := range s.tags() {
		to := f
		to.Tags = toggled(f.Tags, tag)
		chips = append(chips, s.chip("tag-"+tag, to, ui.Chip{Label: short(tag), Icon: ui.IconTag, Current: slices.Contains(f.Tags, tag)}))
	}
	return chips
}

// chip is one that switches to the filters. Its id keeps the focus on it while
// the list around it is replaced.
func (s Store) chip(id string, f StoreFilters, c ui.Chip) ui.Chip {
	c.Href = s.path(f)
	c.Attrs = ui.Merge(swap(c.Href), templ.Attributes{"id": "chip-" + id})
	return c
}

// shownLetters is as much of a tag as has room beside others.
const shownLetters = 30

func short(tag string) string {
	letters := []rune(tag)
	if len(letters) <= shownLetters {
		return tag
	}
	return string(letters[:shownLetters-1]) + "…"
}

func shortened(tags []string) []string {
	out := make([]string, len(tags))
	for i, tag := range tags {
		out[i] = short(tag)
	}
	return out
}

// shownTags is how many tags are offered beside those that are on.
const shownTags = 6

// tags are those that are on, then the most frequent ones of the rows.
func (s Store) tags() []string {
	count := map[string]int{}
	var seen []string
	for _, row := range s.Rows {
		for _, tag := range row.Tags {
			if count[tag]++; count[tag] == 1 && !slices.Contains(s.Filters.Tags, tag) {
				seen = append(seen, tag)
			}
		}
	}
	slices.SortStableFunc(seen, func(a, b string) int { return count[b] - count[a] })
	return slices.Concat(s.Filters.Tags, seen[:min(len(seen), shownTags)])
}

func toggled(list []string, value string) []string {
	if slices.Contains(list, value) {
		return slices.DeleteFunc(slices.Clone(list), func(v string) bool { return v == value })
	}
	return append(slices.Clone(list), value)
}

// clear is the address without filters, the words kept; "" when none is on.
func (s Store) clear() string {
	if !s.Filters.chosen() {
		return ""
	}
	return s.path(StoreFilters{Query: s.Filters.Query, Sort: s.Filters.Sort})
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
		Meta: r.meta(ctx), Badges: r.badges(ctx),
	}
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

// key is the text's key on this of the two pages.
func (s Store) key(name string) string {
	if s.Mine {
		return "mine." + name
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

// hiddenPrivate is the id of what an admin is told of others' private ones.
const hiddenPrivate = "hidden-private"

// hiddenAttrs fetches the count once the list stands, in place of the link.
func hiddenAttrs(ws string) templ.Attributes {
	return ui.Hx{Get: HiddenPrivatePath(ws), Trigger: "load", Swap: "outerHTML"}.Attrs()
}
