package web

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/views"
	"capstore/views/ui"
)

// draftFields are the fields of the forms of authoring and managing that stand
// once, beside the rows.
var draftFields = []string{
	"name", "description", "id", "tags", "visibility", "sharedWith", "version", "bump", "note", "upload", "tryInput",
	"spec.language", "spec.code", "spec.parametersSchema", "spec.isReadOnly", "spec.timeoutSec", "spec.image", "spec.egress",
	"spec.instructions", "spec.license", "spec.compatibility", "spec.allowedTools", "spec.serves", "spec.requires",
	"path", "maintainers", "deprecated.successor", "deprecated.note", "reason", "versionTags", "confirm",
	"spec.url", "spec.args", "spec.auth", "spec.provides", "spec.write",
}

// fieldAliases are fields of the spec that the form asks for in another one.
var fieldAliases = map[string]string{"spec.toolClasses": "spec.provides", "spec.raw": "spec.instructions"}

// draftField finds the field of the form at which a fault stands, and where
// within it. The name is "" for a fault of the whole.
func draftField(kind capability.Kind, path string) (name string, rest []string) {
	parts := strings.Split(fieldName(path), ".")
	for n := len(parts); n > 0; n-- {
		name := strings.Join(parts[:n], ".")
		if alias, ok := fieldAliases[name]; ok {
			name = alias
		}
		if isDraftField(kind, name, parts[:n]) {
			return name, parts[n:]
		}
	}
	return "", parts
}

func isDraftField(kind capability.Kind, name string, parts []string) bool {
	if !formKind(kind) && strings.HasPrefix(name, "spec") {
		return name == "spec"
	}
	if slices.Contains(draftFields, name) || rowLists[name] != nil {
		return true
	}
	if len(parts) != 4 {
		return false
	}
	return slices.Contains(rowLists[strings.Join(parts[:2], ".")], parts[3])
}

// formKind reports whether the kind has a form of its own.
func formKind(kind capability.Kind) bool {
	return kind == capability.KindCode || kind == capability.KindSkill || kind == capability.KindMCP
}

// showDraft is the form with every fault at its field, and said within which
// part of it where a field holds more than one thing.
func (c *Ctx) showDraft(kind capability.Kind, values url.Values, err error) views.Form {
	problem := fault.From(err)
	if len(problem.Fields) == 0 {
		return show(c.Locale, values, err)
	}
	form := views.Form{Values: values, Errors: map[string]string{}}
	for _, f := range problem.Fields {
		name, rest := draftField(kind, f.Path)
		text := c.placed(views.FieldText(c.Locale, f), rest)
		if before, told := form.Errors[name]; told && len(rest) > 0 {
			form.Errors[name] = before + " " + text
		} else if !told {
			form.Errors[name] = text
		}
		item := ui.SummaryItem{Text: text}
		if name != "" {
			item.FieldID = ui.FieldID(name)
		}
		form.Summary = append(form.Summary, item)
	}
	return form
}

// placed says where within its field a fault is: a line of a list, or a path
// within JSON.
func (c *Ctx) placed(text string, rest []string) string {
	if len(rest) == 0 {
		return text
	}
	if n, err := strconv.Atoi(rest[0]); err == nil && len(rest) == 1 {
		return c.T("author.line", "n", n+1, "text", text)
	}
	return c.T("author.within", "where", strings.Join(rest, "."), "text", text)
}
