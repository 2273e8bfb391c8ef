package views

import (
	"context"
	"strconv"

	"github.com/a-h/templ"

	"capstore/internal/i18n"
	"capstore/views/ui"
)

// schemaMode is how the parameters are written now.
func (a Author) schemaMode() string { return a.Form.Value("schema.mode", SchemaJSON) }

// switchSchema is the button that writes them the other way.
func (a Author) switchSchema(ctx context.Context) ui.ButtonArgs {
	if a.schemaMode() == SchemaRows {
		return a.op(OpSchema+":"+SchemaJSON, "part-parameters", i18n.T(ctx, "author.schema_as_json"), ui.IconCode)
	}
	return a.op(OpSchema+":"+SchemaRows, "part-parameters", i18n.T(ctx, "author.schema_as_rows"), ui.IconFilter)
}

// parameterTypes and itemTypes are the types of a parameter and of the items
// of one that is a list.
var (
	parameterTypes = []string{"string", "number", "integer", "boolean", "enum", "array", "object", "any"}
	listItemTypes  = []string{"", "string", "number", "integer", "boolean", "object"}
)

func (a Author) types(ctx context.Context, row int) []ui.Option {
	return wordOptions(ctx, "author.type_", a.row("schema.rows", row, "type"), parameterTypes)
}

func (a Author) itemTypes(ctx context.Context, row int) []ui.Option {
	return wordOptions(ctx, "author.items_", a.row("schema.rows", row, "items"), listItemTypes)
}

// wordOptions are choices whose words stand in the catalogue under the key and
// the value; the empty value is any there.
func wordOptions(ctx context.Context, key, chosen string, values []string) []ui.Option {
	var out []ui.Option
	for _, v := range values {
		word := v
		if v == "" {
			word = "any"
		}
		out = append(out, ui.Option{Value: v, Label: i18n.T(ctx, key+word), Selected: v == chosen})
	}
	return out
}

func (a Author) envSources(ctx context.Context, row int) []ui.Option {
	return wordOptions(ctx, "author.env_from_", a.row("spec.env", row, "from"), []string{"literal", "secret"})
}

func (a Author) envScopes(ctx context.Context, row int) []ui.Option {
	return wordOptions(ctx, "author.env_scope_", a.row("spec.env", row, "scope"), []string{"workspace", "personal"})
}

// failureModes are what a hook that cannot run means; unsaid, it depends on the
// event.
func (a Author) failureModes(ctx context.Context) []ui.Option {
	options := a.choices(ctx, "spec.failureMode", "failure", "", "default", "advisory", "fail-closed")
	options[0].Value = ""
	options[0].Selected = a.Form.Value("spec.failureMode", "") == ""
	return options
}

// tryEvent is the event that a hook is tried with: what was typed, else one of
// the kind that it waits for.
func (a Author) tryEvent() string {
	if typed := a.Form.Value("tryInput", ""); typed != "" {
		return typed
	}
	return a.SampleEvent
}

// run is the button that tries the input, or the example of the number.
func (a Author) run(label, example string) ui.ButtonArgs {
	op := OpTry
	if example != "" {
		op += ":" + example
	}
	b := a.op(op, "part-try", label, ui.IconPlay)
	b.Attrs = ui.Merge(b.Attrs, ui.Hx{Post: a.action(), Include: "#author", Target: "#author-outcome", Swap: "innerMorph", Sync: "#author-outcome:replace"}.Attrs(),
		templ.Attributes{"hx-vals": `{"op":` + strconv.Quote(op) + `}`})
	return b
}

func (a Author) runExample(ctx context.Context, row int) ui.ButtonArgs {
	return a.run(i18n.T(ctx, "author.run_example", "name", a.exampleName(ctx, row)), strconv.Itoa(row))
}

func (a Author) exampleName(ctx context.Context, row int) string {
	if name := a.row("spec.examples", row, "name"); name != "" {
		return name
	}
	return i18n.T(ctx, "chat.example", "n", row+1)
}

// previewAttrs draw the preview anew while somebody types.
func (a Author) previewAttrs() templ.Attributes {
	return ui.Merge(ui.Hx{
		Post: a.action(), Include: "#author", Swap: "innerHTML", Sync: "this:replace", Trigger: "input from:#field-tryarguments delay:200ms",
	}.Attrs(), templ.Attributes{"id": "author-preview", "hx-vals": `{"op":"` + OpPreview + `"}`})
}

// saveAs is the button that keeps a draft all the same.
func (a Author) saveAs(ctx context.Context, how string) ui.ButtonArgs {
	return a.op(OpSave+":"+how, "author-end", i18n.T(ctx, "draft.save_"+how), ui.IconNone)
}

// title is the name of the draft, or that it has none.
func (d DraftLink) title(ctx context.Context) string {
	if d.Name == "" {
		return i18n.T(ctx, "draft.unnamed")
	}
	return d.Name
}

func (h HookOutcome) tone() ui.Tone {
	switch h.Decision {
	case "deny":
		return ui.Danger
	case "ask", "rewrite":
		return ui.Warning
	}
	return ui.Success
}

// unlisted reports whether the server has tools that the form does not list.
func (p AuthorProbe) unlisted() bool {
	for _, t := range p.Tools {
		if t.New {
			return true
		}
	}
	return false
}
