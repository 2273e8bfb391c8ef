package ui

import "github.com/a-h/templ"

// Variant is the weight of a button.
type Variant string

// The variants. A page and state has one Primary.
const (
	Primary     Variant = "primary"
	Secondary   Variant = "secondary"
	Outline     Variant = "outline"
	Ghost       Variant = "ghost"
	Destructive Variant = "destructive"
)

// ButtonArgs describes a button, or a link that looks like one when Href is
// set. The label is a verb.
type ButtonArgs struct {
	Label    string
	Icon     IconName
	IconOnly bool // the label is kept for screen readers only
	Variant  Variant
	Small    bool
	ID       string
	Href     string // makes it a link
	Button   bool   // does not submit its form; with neither, it submits
	Name     string
	Value    string
	Form     string // id of the form it submits, when it stands outside of it
	// Reason says why it cannot be pressed and who could. A button with a
	// reason can be reached and read, and does nothing.
	Reason string
	Attrs  templ.Attributes
}

func (a ButtonArgs) attrs() templ.Attributes {
	own := templ.Attributes{"class": "btn", "data-variant": string(a.Variant)}
	if a.Variant == "" {
		own["data-variant"] = string(Outline)
	}
	switch {
	case a.IconOnly && a.Small:
		own["data-size"] = "icon-sm"
	case a.IconOnly:
		own["data-size"] = "icon"
	case a.Small:
		own["data-size"] = "sm"
	}
	own = Merge(own, text("id", a.ID), when(a.IconOnly, templ.Attributes{"aria-label": a.Label, "title": a.Label}))
	if a.Reason != "" {
		return Merge(own, templ.Attributes{"type": "button", "aria-disabled": "true", "aria-describedby": a.reasonID()})
	}
	if a.Href != "" {
		return Merge(own, a.Attrs)
	}
	own["type"] = "submit"
	if a.Button {
		own["type"] = "button"
	}
	return Merge(own, text("name", a.Name), text("value", a.Value), text("form", a.Form), a.Attrs)
}

func (a ButtonArgs) reasonID() string {
	if a.ID != "" {
		return a.ID + "-reason"
	}
	return "reason-" + slug(a.Label)
}

// CopyArgs describes a button that copies: Text itself, or the content of the
// element with the id From.
type CopyArgs struct {
	Text string
	From string
	Name string // what is copied, for the label: "Copy digest"
}
