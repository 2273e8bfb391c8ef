package views

import (
	"context"
	"slices"
	"strings"

	"github.com/a-h/templ"

	"capstore/internal/i18n"
	"capstore/views/ui"
)

// filter is one of the filters of the store: what it is called in ids, which
// values the address names, what else is offered, and how a value reads.
type filter struct {
	name   string
	chosen []string
	facet  []FacetValue
	icon   func(value string) ui.IconName
	label  func(value string) string
	set    func(f *StoreFilters, values []string)
}

func always(icon ui.IconName) func(string) ui.IconName {
	return func(string) ui.IconName { return icon }
}

// kinds, reaches, tags, domains and sources are the filters that there are.
func (s Store) kinds(ctx context.Context) filter {
	return filter{
		"kind", s.Filters.Kinds, s.Facets.Kinds, ui.KindIcon, func(v string) string { return i18n.From(ctx).Or("kind."+v, v, nil) },
		func(f *StoreFilters, values []string) { f.Kinds = values },
	}
}

func (s Store) reaches(ctx context.Context) filter {
	return filter{
		"reach", s.Filters.Reach, s.Facets.Reaches, ui.ReachIcon, func(v string) string { return i18n.From(ctx).Or("reach."+v, v, nil) },
		func(f *StoreFilters, values []string) { f.Reach = values },
	}
}

func (s Store) tags() filter {
	return filter{
		"tag", s.Filters.Tags, s.Facets.Tags, always(ui.IconTag), short,
		func(f *StoreFilters, values []string) { f.Tags = values },
	}
}

func (s Store) domains(ctx context.Context) filter {
	return filter{
		"domain", s.Filters.Domains, s.Facets.Domains, always(ui.IconFilter),
		func(v string) string { return i18n.T(ctx, "store.for", "domain", v) },
		func(f *StoreFilters, values []string) { f.Domains = values },
	}
}

func (s Store) sources(ctx context.Context) filter {
	return filter{
		"source", s.Filters.Sources, s.Facets.Sources, always(ui.IconPeople),
		func(v string) string { return i18n.T(ctx, "store.from", "source", v) },
		func(f *StoreFilters, values []string) { f.Sources = values },
	}
}

// on reports whether the value is chosen. Tags are offered folded.
func (f filter) on(value string) bool {
	return slices.ContainsFunc(f.chosen, func(v string) bool { return strings.EqualFold(v, value) })
}

// split is the values in force with their counts, then those that could be
// chosen besides.
func (f filter) split() (on, off []FacetValue) {
	for _, v := range f.facet {
		if f.on(v.Value) {
			on = append(on, v)
		} else if v.N > 0 {
			off = append(off, v)
		}
	}
	for _, v := range f.chosen {
		if !slices.ContainsFunc(on, func(o FacetValue) bool { return strings.EqualFold(o.Value, v) }) {
			on = append(on, FacetValue{Value: v})
		}
	}
	return on, off
}

// toggle is the address with the value switched.
func (s Store) toggle(f filter, value string) string {
	to := s.Filters
	to.Cursor = ""
	f.set(&to, toggled(f.chosen, value))
	return s.path(to)
}

func (s Store) chipOf(f filter, v FacetValue) ui.Chip {
	return ui.Chip{
		Label: f.label(v.Value), Icon: f.icon(v.Value), Href: s.toggle(f, v.Value), Current: f.on(v.Value),
		Count: v.N, Capped: v.Capped, HasCount: true, Attrs: s.chipAttrs(f.name+"-"+v.Value, s.toggle(f, v.Value)),
	}
}

// chipAttrs lets a chip answer in place. Its id keeps the focus on it while
// the list around it is replaced.
func (s Store) chipAttrs(id, href string) templ.Attributes {
	return ui.Merge(swap(href), templ.Attributes{"id": "chip-" + id})
}

// kindChips switch one kind each; several may be on.
func (s Store) kindChips(ctx context.Context) []ui.Chip {
	var chips []ui.Chip
	f := s.kinds(ctx)
	for _, v := range f.facet {
		if v.N > 0 || f.on(v.Value) {
			chips = append(chips, s.chipOf(f, v))
		}
	}
	return chips
}

// shownTags is how many tags are offered at once; a menu has the rest.
const shownTags = 3

// otherChips are the filters beside the kinds: what this server can run, the
// reaches, what is on, and the most frequent tags.
func (s Store) otherChips(ctx context.Context) []ui.Chip {
	chips := s.worksChip(ctx)
	reaches := s.reaches(ctx)
	for _, v := range reaches.facet {
		if v.N > 0 || reaches.on(v.Value) {
			chips = append(chips, s.chipOf(reaches, v))
		}
	}
	for _, f := range []filter{s.sources(ctx), s.domains(ctx), s.tags()} {
		on, _ := f.split()
		for _, v := range on {
			chips = append(chips, s.chipOf(f, v))
		}
	}
	_, tags := s.tags().split()
	for _, v := range tags[:min(len(tags), shownTags)] {
		chips = append(chips, s.chipOf(s.tags(), v))
	}
	return chips
}

// worksChip leaves out what this server cannot run. Where it runs all of it
// there is nothing to leave out.
func (s Store) worksChip(ctx context.Context) []ui.Chip {
	n := s.Facets.WorksHere
	if !s.Filters.WorksHere && n == s.Total {
		return nil
	}
	to := s.Filters
	to.Cursor, to.WorksHere = "", !to.WorksHere
	return []ui.Chip{{
		Label: i18n.T(ctx, "store.works_here"), Icon: ui.IconCheck, Href: s.path(to), Current: s.Filters.WorksHere,
		Count: n.N, Capped: n.Capped, HasCount: true,
		Attrs: ui.Merge(s.chipAttrs("works", s.path(to)), templ.Attributes{"title": i18n.T(ctx, "store.works_here_help")}),
	}}
}

// FilterMenu is a filter whose values unfold.
type FilterMenu struct {
	Name  string
	Label string
	Items []ui.MenuItem
}

// menus hold the values that have no room as chips.
func (s Store) menus(ctx context.Context) []FilterMenu {
	var out []FilterMenu
	add := func(f filter, skip int, plain bool) {
		_, off := f.split()
		menu := FilterMenu{Name: f.name, Label: i18n.T(ctx, "store.menu_"+f.name)}
		for _, v := range off[min(len(off), skip):] {
			label := f.label(v.Value)
			if plain {
				label = short(v.Value)
			}
			menu.Items = append(menu.Items, ui.MenuItem{
				Label: label, Href: s.toggle(f, v.Value), Note: ui.CountText(ctx, v.N, v.Capped), Attrs: s.chipAttrs(f.name+"-"+v.Value, s.toggle(f, v.Value)),
			})
		}
		if len(menu.Items) > 0 {
			out = append(out, menu)
		}
	}
	add(s.tags(), shownTags, true)
	add(s.domains(ctx), 0, true)
	if !s.Mine && s.Source == nil {
		add(s.sources(ctx), 0, true)
	}
	return out
}

// ways lead from where nothing fits to where something does: another value of
// a filter, or one filter fewer.
func (s Store) ways(ctx context.Context) []ui.Chip {
	var out []ui.Chip
	for _, f := range []filter{s.kinds(ctx), s.reaches(ctx), s.sources(ctx)} {
		_, off := f.split()
		if len(f.chosen) == 0 {
			continue
		}
		for _, v := range off {
			to := s.Filters
			to.Cursor = ""
			f.set(&to, []string{v.Value})
			out = append(out, ui.Chip{
				Label: f.label(v.Value), Icon: f.icon(v.Value), Href: s.path(to), Count: v.N, Capped: v.Capped, HasCount: true, Attrs: swap(s.path(to)),
			})
		}
	}
	return append(out, s.without(ctx)...)
}

// without drops each filter that is on, where something else is left to go by.
func (s Store) without(ctx context.Context) []ui.Chip {
	var out []ui.Chip
	drop := func(label, href string) {
		out = append(out, ui.Chip{Label: i18n.T(ctx, "store.without", "filter", label), Icon: ui.IconClose, Href: href, Attrs: swap(href)})
	}
	for _, f := range []filter{s.kinds(ctx), s.reaches(ctx), s.sources(ctx), s.domains(ctx), s.tags()} {
		for _, v := range f.chosen {
			drop(f.label(v), s.toggle(f, v))
		}
	}
	if s.Filters.WorksHere {
		to := s.Filters
		to.Cursor, to.WorksHere = "", false
		drop(i18n.T(ctx, "store.works_here"), s.path(to))
	}
	if s.Filters.Query != "" && s.Filters.chosen() {
		to := s.Filters
		to.Cursor, to.Query = "", ""
		drop("“"+short(s.Filters.Query)+"”", s.path(to))
	}
	return out
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

// toggled is the list with the value taken out, or with it where it is not in.
func toggled(list []string, value string) []string {
	same := func(v string) bool { return strings.EqualFold(v, value) }
	if slices.ContainsFunc(list, same) {
		return slices.DeleteFunc(slices.Clone(list), same)
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
