package web

import (
	"net/url"
	"slices"
	"strings"

	"capstore/internal/fault"
	"capstore/internal/i18n"
	"capstore/views"
	"capstore/views/ui"
)

// show makes the view of a form. err nil is a form that nobody has sent yet.
func show(l i18n.Locale, values url.Values, err error) views.Form {
	f := views.Form{Values: values}
	if err == nil {
		return f
	}
	problem := fault.From(err)
	f.Errors = map[string]string{}
	for _, field := range problem.Fields {
		name := fieldName(field.Path)
		text := views.FieldText(l, field)
		if _, taken := f.Errors[name]; !taken {
			f.Errors[name] = text
		}
		item := ui.SummaryItem{Text: text}
		if name != "" {
			item.FieldID = ui.FieldID(name)
		}
		f.Summary = append(f.Summary, item)
	}
	if len(problem.Fields) == 0 {
		f.Summary = []ui.SummaryItem{{Text: strings.TrimSpace(views.FaultText(l, problem) + " " + views.FaultAction(l, problem))}}
	}
	return f
}

// fieldName is the form field of a JSON pointer: /spec/code is spec.code.
func fieldName(path string) string {
	name := strings.ReplaceAll(strings.TrimPrefix(path, "/"), "/", ".")
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
}

// shownAgain reports whether the error is one that the sender of a form can
// mend in it, and the status under which it is shown again.
func shownAgain(err error) (status int, again bool) {
	f := fault.From(err)
	switch {
	case f == nil:
		return 0, false
	case f.Kind == fault.Invalid, f.Kind == fault.Limited, f.Kind == fault.Conflict && len(f.Fields) > 0:
		return statusOf(f), true
	default:
		return 0, false
	}
}

// renamed is the error with its fields' path changed from the service's to the
// form's.
func renamed(err error, from, to string) error {
	f := *fault.From(err)
	f.Fields = slices.Clone(f.Fields)
	for i := range f.Fields {
		if f.Fields[i].Path == from {
			f.Fields[i].Path = to
		}
	}
	return &f
}
