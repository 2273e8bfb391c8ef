package views

import (
	"net/url"

	"capstore/views/ui"
)

// Form is a form as it is shown: what was typed, and what is wrong with it.
type Form struct {
	Values  url.Values
	Errors  map[string]string // by field name
	Summary []ui.SummaryItem
}

// Value is what the field holds, the fallback where nothing was typed yet.
func (f Form) Value(name, fallback string) string {
	if f.Values != nil && f.Values.Has(name) {
		return f.Values.Get(name)
	}
	return fallback
}

// Has reports whether the field holds the value among its several.
func (f Form) Has(name, value string, fallback bool) bool {
	if f.Values == nil {
		return fallback
	}
	for _, v := range f.Values[name] {
		if v == value {
			return true
		}
	}
	return false
}

// Field is the common part of a field with its error, if it has one.
func (f Form) Field(name, label string) ui.Field {
	return ui.Field{Name: name, Label: label, Error: f.Errors[name]}
}
