package ui

import "github.com/a-h/templ"

// Tab is one of several views of the same thing, each with its own address.
type Tab struct {
	Label   string
	Href    string
	Current bool
	Count   int // shown when above zero
	Attrs   templ.Attributes
}

// TabsArgs describes a line of tabs.
type TabsArgs struct {
	Label string // what they are views of
	Tabs  []Tab
}

// Crumb is one step of the way to a page. The last one has no Href.
type Crumb struct{ Label, Href string }

// HeaderArgs describes the head of a page. The children are its actions.
type HeaderArgs struct {
	Title string
	Lead  string // one line below the title
}

// PagerArgs describes keyset paging: an address for each way, empty when there
// is nothing there.
type PagerArgs struct {
	Previous string
	Next     string
	Attrs    templ.Attributes // of both links, such as Hx without an address
	Note     string           // such as "1–50 of 1,000+"
}

// Chip is one filter. Its link switches it.
type Chip struct {
	Label   string
	Href    string
	Icon    IconName
	Current bool
	Count   int
	// Capped marks a count that was not counted to its end.
	Capped   bool
	HasCount bool
	Attrs    templ.Attributes
}

// ChipsArgs describes a line of filters.
type ChipsArgs struct {
	Label string
	Chips []Chip
	Clear string // address without any filter; empty when none is on
	Attrs templ.Attributes
}

// MenuArgs describes a menu that unfolds. The children are MenuLink,
// MenuButton and MenuLine.
type MenuArgs struct {
	Label    string
	Icon     IconName
	IconOnly bool
	Variant  Variant // Outline unless told
	Small    bool
	AlignEnd bool
}

func (a MenuArgs) summaryAttrs() templ.Attributes {
	return Merge(
		ButtonArgs{Label: a.Label, IconOnly: a.IconOnly, Variant: a.Variant, Small: a.Small, Href: "menu"}.attrs())
}

// MenuItem is one line of a menu: a link, or with Action a form that posts.
type MenuItem struct {
	Label   string
	Icon    IconName
	Href    string
	Action  string
	Values  map[string]string // sent with Action
	Danger  bool
	Current bool
	// Note stands at the end of the line, such as a count.
	Note  string
	Attrs templ.Attributes
}

func (m MenuItem) attrs() templ.Attributes {
	return Merge(templ.Attributes{"class": "menu-item"},
		when(m.Danger, templ.Attributes{"data-danger": true}),
		when(m.Current, templ.Attributes{"aria-current": "true"}), m.Attrs)
}

func current(on bool) templ.Attributes { return when(on, templ.Attributes{"aria-current": "page"}) }

// SearchArgs describes the search of a page: it answers while one types, keeps
// the address in step, and is a plain form without script.
type SearchArgs struct {
	Action string // address of the page
	Target string // selector of the results, which the answer replaces
	ID     string // of the form, for hidden fields that stand outside of it
	Label  string
	Query  string
	Name   string            // q unless told
	Hidden map[string]string // filters to keep
}

func (a SearchArgs) inputAttrs() templ.Attributes {
	name := a.Name
	if name == "" {
		name = "q"
	}
	return templ.Attributes{
		"class": "input", "type": "search", "name": name, "value": a.Query, "autocomplete": "off",
		"placeholder": a.Label, "aria-label": a.Label, "data-page-search": true,
	}
}
