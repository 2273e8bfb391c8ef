package ui

import (
	"strings"

	"github.com/a-h/templ"
)

// Field is what every field of a form has in common.
type Field struct {
	Name     string
	ID       string // FieldID(Name) unless told
	Label    string
	Help     string // below the label, before the reader types
	Error    string // what is wrong and how to mend it; empty when nothing is
	Optional bool   // marked as such; what is not optional is required
	// Unmarked leaves the mark away where one of several fields is wanted.
	Unmarked bool
	// Hidden keeps the label for screen readers only, as in a search field.
	HideLabel bool
}

// FieldID returns the id of the field with a name, for links from a summary.
func FieldID(name string) string { return "field-" + slug(name) }

func (f Field) id() string {
	if f.ID != "" {
		return f.ID
	}
	return FieldID(f.Name)
}

func (f Field) errorID() string { return f.id() + "-error" }
func (f Field) helpID() string  { return f.id() + "-help" }

// attrs are the attributes that tie a control to its label, help and error.
func (f Field) attrs() templ.Attributes {
	var described []string
	if f.Error != "" {
		described = append(described, f.errorID())
	}
	if f.Help != "" {
		described = append(described, f.helpID())
	}
	return Merge(
		templ.Attributes{"id": f.id(), "name": f.Name},
		text("aria-describedby", strings.Join(described, " ")),
		when(f.Error != "", templ.Attributes{"aria-invalid": "true"}),
		when(!f.Optional, templ.Attributes{"aria-required": "true"}),
	)
}

// InputArgs describes a field of one line.
type InputArgs struct {
	Field
	Type         string // text unless told
	Value        string
	Placeholder  string
	Autocomplete string // off unless told
	Mono         bool
	ReadOnly     bool
	Attrs        templ.Attributes
}

func (a InputArgs) attrs() templ.Attributes {
	kind, complete := a.Type, a.Autocomplete
	if kind == "" {
		kind = "text"
	}
	if complete == "" {
		complete = "off"
	}
	class := "input"
	if a.Mono {
		class += " font-mono"
	}
	return Merge(a.Field.attrs(),
		templ.Attributes{"class": class, "type": kind, "value": a.Value, "autocomplete": complete},
		text("placeholder", a.Placeholder),
		when(a.ReadOnly, templ.Attributes{"readonly": true}),
		when(a.Mono, templ.Attributes{"spellcheck": "false", "autocapitalize": "off"}),
		a.Attrs)
}

// TextareaArgs describes a field of many lines.
type TextareaArgs struct {
	Field
	Value       string
	Placeholder string
	Rows        int // 4 unless told
	// Editor turns it into a code editor where the page loads editor.js:
	// javascript, node, json, markdown, python, yaml or plain.
	Editor string
	Mono   bool // implied by Editor
	Attrs  templ.Attributes
}

func (a TextareaArgs) attrs() templ.Attributes {
	rows := a.Rows
	if rows == 0 {
		rows = 4
	}
	mono := a.Mono || a.Editor != ""
	return Merge(a.Field.attrs(),
		templ.Attributes{"class": "textarea", "rows": rows},
		text("placeholder", a.Placeholder),
		text("data-editor", a.Editor),
		when(mono, templ.Attributes{"data-mono": true, "spellcheck": "false", "autocapitalize": "off"}),
		a.Attrs)
}

// Option is one choice of a select, radio group or set of cards.
type Option struct {
	Value    string
	Label    string
	Help     string // shown on cards and radios only
	Icon     IconName
	Selected bool
	// Reason says why it cannot be chosen; empty when it can.
	Reason string
}

// SelectArgs describes a choice of one from a list that folds away.
type SelectArgs struct {
	Field
	Options []Option
	Attrs   templ.Attributes
}

// ChoicesArgs describes a choice that shows all of its options: one of them,
// or any number with Many.
type ChoicesArgs struct {
	Field
	Options []Option
	Many    bool
	Columns bool // two columns where there is room
}

func (a ChoicesArgs) inputAttrs(i int, o Option) templ.Attributes {
	kind := "radio"
	if a.Many {
		kind = "checkbox"
	}
	id := a.id()
	if i > 0 {
		id += "-" + slug(o.Value)
	}
	return Merge(
		templ.Attributes{"class": "input", "type": kind, "name": a.Name, "value": o.Value, "id": id},
		when(o.Selected, templ.Attributes{"checked": true}),
		when(o.Reason != "", templ.Attributes{"disabled": true}))
}

func (a ChoicesArgs) describedBy() templ.Attributes {
	var ids []string
	if a.Error != "" {
		ids = append(ids, a.errorID())
	}
	if a.Help != "" {
		ids = append(ids, a.helpID())
	}
	return text("aria-describedby", strings.Join(ids, " "))
}

// CheckboxArgs describes one box with its label at the right.
type CheckboxArgs struct {
	Field
	Value   string // "on" unless told
	Checked bool
	Attrs   templ.Attributes
}

func (a CheckboxArgs) attrs() templ.Attributes {
	value := a.Value
	if value == "" {
		value = "on"
	}
	shared := a.Field.attrs()
	delete(shared, "aria-required") // an unticked box is an answer
	return Merge(shared,
		templ.Attributes{"class": "input mt-0.5", "type": "checkbox", "value": value},
		when(a.Checked, templ.Attributes{"checked": true}), a.Attrs)
}

// SecretArgs describes a field whose value goes in and never comes out. It
// posts Name+".action" (keep, replace or remove) and Name with the new value.
type SecretArgs struct {
	Field
	Stored    bool // there is a value to keep
	Removable bool
}

func (a SecretArgs) actionName() string { return a.Name + ".action" }

// SummaryItem is one fault at the head of a form, with the field it is at.
type SummaryItem struct {
	FieldID string // see FieldID; empty for a fault of the whole
	Text    string
}

// SwitchArgs describes a switch: a form with one button, so that it works
// without script. It posts Name=true or Name=false, the state wanted.
type SwitchArgs struct {
	Action string // where the form posts
	ID     string
	Name   string // enabled unless told
	Label  string // what is switched, for screen readers
	On     bool
	Reason string            // why it cannot be switched; empty when it can
	Hidden map[string]string // further values to send
	Attrs  templ.Attributes  // of the form, such as Hx
}

func (a SwitchArgs) buttonAttrs() templ.Attributes {
	name := a.Name
	if name == "" {
		name = "enabled"
	}
	wanted, checked := "true", "false"
	if a.On {
		wanted, checked = "false", "true"
	}
	own := Merge(templ.Attributes{
		"class": "toggle", "role": "switch", "aria-checked": checked, "aria-label": a.Label,
		"type": "submit", "name": name, "value": wanted,
	}, text("id", a.ID))
	if a.Reason != "" {
		own = Merge(own, templ.Attributes{"type": "button", "aria-disabled": "true", "title": a.Reason})
	}
	return own
}

func (a SwitchArgs) state() string {
	if a.On {
		return "common.on"
	}
	return "common.off"
}
