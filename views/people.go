package views

import (
	"capstore/views/ui"

	"github.com/a-h/templ"
)

// optional marks a field that may stay empty, and says what happens then.
func optional(f ui.Field, help string) ui.Field {
	f.Optional, f.Help = true, help
	return f
}

func helped(f ui.Field, help string) ui.Field {
	f.Help = help
	return f
}

// cell names a table's cell for narrow screens, where the head is away.
func cell(label string) templ.Attributes { return templ.Attributes{"data-label": label} }
