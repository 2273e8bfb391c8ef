package web

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"capstore/internal/fault"
	"capstore/views"
	"capstore/views/ui"
)

// draftFields are the fields of the forms of authoring and managing that stand
// once, beside the rows.
var draftFields = []string{
	"name", "description", "id", "tags", "visibility", "sharedWith", "version", "bump", "note", "upload", "tryInput", "tryArguments",
	"spec.language", "spec.code", "spec.parametersSchema", "spec.isReadOnly", "spec.timeoutSec", "spec.image", "spec.egress",
	"spec.instructions", "spec.license", "spec.compatibility", "spec.allowedTools", "spec.serves", "spec.requires",
	"path", "maintainers", "deprecated.successor", "deprecated.note", "reason", "confirm",
	"spec.url", "spec.args", "spec.auth", "spec.provides", "spec.write", "schema.rest",
	"spec.event", "spec.matcher", "spec.failureMode", "spec.template", "spec.argumentHint", "spec.preset", "spec.benchmark",
	"spec.harness", "spec.model", "spec.workDir", "spec.instructionsFile", "spec.ttlSec",
}

// fieldAliases are fields of the spec that the form asks for in another one.
var fieldAliases = map[string]string{"spec.toolClasses": "spec.provides", "spec.raw": "spec.instructions"}

// draftField finds the field of the form at which a fault stands, and where
// within it. The name is "" for a fault of the whole.
func draftField(values url.Values, path string) (name string, rest []string) {
	parts := strings.Split(fieldName(inRows(values, path)), ".")
	for n := len(parts); n > 0; n-- {
		name := strings.Join(parts[:n], ".")
		if alias, ok := fieldAliases[name]; ok {
			name = alias
		}
		if isDraftField(name, parts[:n]) {
			return name, parts[n:]
		}
	}
	return "", parts
}

func isDraftField(name string, parts []string) bool {
	if slices.Contains(draftFields, name) || rowLists[name] != nil {
		return true
	}
	return len(parts) == 4 && slices.Contains(rowLists[strings.Join(parts[:2], ".")], parts[3])
}

// inRows is the path of what the spec holds under a name and the form in the
// row of that name: variables, and parameters while they are written as rows.
func inRows(values url.Values, path string) string {
	tokens := strings.Split(path, "/")
	switch {
	case strings.HasPrefix(path, "/spec/env/"):
		if row := rowOf(values, "spec.env", unescaped(tokens[3])); row != "" {
			return "/spec/env/" + row + "/" + cmp.Or(strings.Join(tokens[4:], "/"), "value")
		}
	case values.Get("schema.mode") != views.SchemaRows || !strings.HasPrefix(path, schemaPath):
	case strings.HasPrefix(path, schemaPath+"/properties/"):
		if row := rowOf(values, "schema.rows", unescaped(tokens[4])); row != "" {
			return "/schema/rows/" + row + "/rest/" + strings.Join(tokens[5:], "/")
		}
	default:
		return "/schema/rest" + strings.TrimPrefix(path, schemaPath)
	}
	return path
}

// schemaPath is where the parameters of a code tool stand in its spec.
const schemaPath = "/spec/parametersSchema"

func unescaped(token string) string { return strings.NewReplacer("~1", "/", "~0", "~").Replace(token) }

// rowOf is the number of the row with the name, "" where there is none.
func rowOf(values url.Values, list, name string) string {
	for i, row := range readRows(values, list) {
		if strings.TrimSpace(row["name"]) == name {
			return strconv.Itoa(i)
		}
	}
	return ""
}

// showDraft is the form with every fault at its field, and said within which
// part of it where a field holds more than one thing.
func (c *Ctx) showDraft(values url.Values, err error) views.Form {
	problem := fault.From(err)
	if len(problem.Fields) == 0 {
		return show(c.Locale, values, err)
	}
	form := views.Form{Values: values, Errors: map[string]string{}}
	for _, f := range problem.Fields {
		name, rest := draftField(values, f.Path)
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
	rest = slices.DeleteFunc(slices.Clone(rest), func(part string) bool { return part == "" })
	if len(rest) == 0 {
		return text
	}
	if n, err := strconv.Atoi(rest[0]); err == nil && len(rest) == 1 {
		return c.T("author.line", "n", n+1, "text", text)
	}
	return c.T("author.within", "where", strings.Join(rest, "."), "text", text)
}
