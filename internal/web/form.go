package web

import (
	"net/url"
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
