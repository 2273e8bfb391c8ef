package web

import (
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/fault"
	"capstore/internal/jsonx"
)

// reading collects what the form's texts cannot be read as. What does not read
// is replaced by something harmless, so that all other faults show as well.
type reading struct {
	form   url.Values
	faults []fault.Field
}

func (r *reading) add(path, code, message string) {
	r.faults = append(r.faults, fault.Field{Path: path, Code: code, Message: message})
}

func (r *reading) text(name string) string { return strings.TrimSpace(r.form.Get(name)) }

// json reads a field that holds JSON. An empty one is nil, which the kernel
// refuses where something is required.
func (r *reading) json(path, text string, harmless string) json.RawMessage {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil
	}
	if err := jsonx.Check([]byte(text), 0); err != nil {
		f := fault.From(err)
		r.add(path, f.Code, f.Message)
		return json.RawMessage(harmless)
	}
	return json.RawMessage(text)
}

// number reads a whole number; an empty field is 0.
func (r *reading) number(path, text string) int {
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		r.add(path, "not_a_number", "Write a whole number.")
		return 0
	}
	return n
}

// publication is what the form asks to publish. The faults are those of texts
// that could not be read, together with all that the kernel finds then.
func (a author) publication(form url.Values) (catalog.Publication, []fault.Field) {
	r := &reading{form: form}
	p := catalog.Publication{Name: r.text("name"), Description: r.text("description"), Note: r.text("note")}
	if id, err := uuid.Parse(form.Get("draft")); err == nil {
		p.Draft = id // kept or not: it may have been saved since by the page itself
	}
	p.Spec = a.spec(r, p)
	if a.base != nil {
		p.ID, p.IfMatch, p.Bump = a.base.ID, form.Get("ifMatch"), form.Get("bump")
		if p.Bump == "exact" {
			p.Bump, p.Version = "", r.text("version")
			if p.Version == "" {
				r.add("/version", "required", "Write the number, or let it be counted on.")
			}
		}
	} else {
		p.ID, p.Version, p.Tags = r.text("id"), r.text("version"), words(form.Get("tags"), ",\n")
		p.Visibility = cmp.Or(capability.Reach(form.Get("visibility")), capability.DefaultReach(a.kind))
		if p.Visibility == capability.ReachSubset {
			if p.SharedWith = form["sharedWith"]; len(p.SharedWith) == 0 {
				r.faults = append(r.faults, noTarget())
			}
		}
	}
	if len(r.faults) > 0 {
		r.alsoKernel(p)
	}
	return p, r.faults
}

// noTarget is the fault of a shared reach that is shared with nobody.
func noTarget() fault.Field {
	return fault.Field{Path: "/sharedWith", Code: "no_target", Message: "Choose at least one workspace to share with, or another reach."}
}

// alsoKernel adds what the kernel finds in the rest, so that nobody mends one
// fault to be told the next. The publication itself is not sent then.
func (r *reading) alsoKernel(p catalog.Publication) {
	spec, fields := capability.DecodeSpec(p.Spec)
	if spec != nil {
		fields = capability.Content{Name: p.Name, Description: p.Description, Spec: spec}.Validate(capability.Rules{AllowLoopbackHTTP: true})
	}
	for _, f := range fields {
		told := slices.ContainsFunc(r.faults, func(have fault.Field) bool { return strings.HasPrefix(f.Path, have.Path) })
		if !told {
			r.faults = append(r.faults, f)
		}
	}
}

// spec reads the fields of the kind. Fields of which nobody touched any give
// the very spec that they were filled from.
func (a author) spec(r *reading, p catalog.Publication) json.RawMessage {
	if a.kind == capability.KindSkill { // whose original stands for more than its fields
		return capability.EncodeSpec(a.skillSpec(r, p))
	}
	spec := a.readSpec(r)
	if len(r.faults) == 0 && a.untouched(r.form) && slices.Equal(besideOf(spec), besideOf(a.baseSpec())) {
		spec = a.baseSpec()
	}
	return capability.EncodeSpec(spec)
}

func (a author) readSpec(r *reading) capability.Spec {
	switch a.kind {
	case capability.KindMCP:
		return a.mcpSpec(r)
	case capability.KindHook:
		return a.hookSpec(r)
	case capability.KindCommand:
		return a.commandSpec(r)
	case capability.KindEnvironment:
		return a.environmentSpec(r)
	case capability.KindDelegation:
		return a.delegationSpec(r)
	}
	return a.codeSpec(r)
}

// untouched reports whether the fields of the spec are as the base filled
// them, but for what a browser does to line breaks.
func (a author) untouched(form url.Values) bool {
	if a.base == nil {
		return false
	}
	filled := draftValues(a.base.Content)
	for _, values := range []url.Values{filled, form} {
		for name := range values {
			ofSpec := strings.HasPrefix(name, "spec.") || strings.HasPrefix(name, "schema.") || name == "transport"
			if ofSpec && plainText(filled.Get(name)) != plainText(form.Get(name)) {
				return false
			}
		}
	}
	return true
}

func (a author) codeSpec(r *reading) *capability.CodeSpec {
	spec := &capability.CodeSpec{
		Language: capability.Language(r.text("spec.language")), Code: r.form.Get("spec.code"),
		ParametersSchema: r.schema(), TimeoutSec: r.number("/spec/timeoutSec", r.text("spec.timeoutSec")), Image: r.text("spec.image"),
		RequiredSecrets: r.secrets(false), Egress: words(r.form.Get("spec.egress"), " \n,"), Leans: r.leans(),
	}
	base, edited := a.baseSpec().(*capability.CodeSpec)
	if edited {
		spec.Code = keptText(base.Code, spec.Code)
	}
	if only, err := strconv.ParseBool(r.text("spec.isReadOnly")); err == nil {
		spec.IsReadOnly = &only
	}
	for i, row := range readRows(r.form, "spec.examples") {
		input := r.json(jsonx.Pointer("/spec/examples", strconv.Itoa(i), "input"), row["input"], "{}")
		if edited && i < len(base.Examples) {
			row["note"] = keptText(base.Examples[i].Note, row["note"])
		}
		spec.Examples = append(spec.Examples, capability.Example{Name: strings.TrimSpace(row["name"]), Input: input, Note: row["note"]})
	}
	return spec
}

func (a author) mcpSpec(r *reading) *capability.MCPSpec {
	spec := &capability.MCPSpec{
		RequiredSecrets: r.secrets(r.form.Get("transport") != "image"), Write: r.form.Get("spec.write") != "", Leans: r.leans(),
	}
	if r.form.Get("transport") == "image" {
		spec.Image, spec.Args = r.text("spec.image"), lines(r.form.Get("spec.args"))
		if spec.Image == "" {
			r.add("/spec/image", "required", "Name the image that serves MCP over its standard streams.")
		}
	} else {
		spec.URL, spec.Auth = r.text("spec.url"), capability.Auth(r.text("spec.auth"))
	}
	if base, ok := a.baseSpec().(*capability.MCPSpec); spec.Auth == capability.AuthNone && (!ok || base.Auth == "") {
		spec.Auth = "" // the same, as the author had it
	}
	for _, row := range readRows(r.form, "spec.settings") {
		spec.Settings = append(spec.Settings, capability.Setting{
			Name: strings.TrimSpace(row["name"]), Description: strings.TrimSpace(row["description"]), Default: row["default"], Required: row["required"] != "",
		})
	}
	for _, line := range lines(r.form.Get("spec.provides")) {
		tool, class := toolLine(line)
		spec.Provides = append(spec.Provides, tool)
		if class != "" {
			if spec.ToolClasses == nil {
				spec.ToolClasses = map[string]capability.ToolClass{}
			}
			spec.ToolClasses[tool] = class
		}
	}
	return spec
}

// toolLine reads a tool and, after it, what it does.
func toolLine(line string) (tool string, class capability.ToolClass) {
	for _, class := range []capability.ToolClass{capability.ClassRead, capability.ClassWrite} {
		if name, ok := strings.CutSuffix(line, " "+string(class)); ok {
			return strings.TrimSpace(name), class
		}
	}
	return line, ""
}

func (r *reading) secrets(http bool) []capability.RequiredSecret {
	var out []capability.RequiredSecret
	for _, row := range readRows(r.form, "spec.requiredSecrets") {
		s := capability.RequiredSecret{
			Name: strings.TrimSpace(row["name"]), Description: strings.TrimSpace(row["description"]), Env: strings.TrimSpace(row["env"]),
		}
		if http {
			s.Header, s.Scheme = strings.TrimSpace(row["header"]), strings.TrimSpace(row["scheme"])
		}
		out = append(out, s)
	}
	return out
}

func (r *reading) leans() capability.Leans {
	return capability.Leans{Serves: words(r.form.Get("spec.serves"), " ,\n"), Requires: words(r.form.Get("spec.requires"), " ,\n")}
}

func (a author) baseSpec() capability.Spec {
	if a.base == nil {
		return nil
	}
	return a.base.Content.Spec
}

// words splits a text at any of the separators; nil when nothing is in it.
func words(text, separators string) []string {
	var out []string
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(separators, r) }) {
		if word = strings.TrimSpace(word); word != "" {
			out = append(out, word)
		}
	}
	return out
}

func lines(text string) []string { return words(text, "\n") }

// keptText is the base's text where the form holds the same but for what a
// browser does to line breaks, else the form's.
func keptText(base, typed string) string {
	if plainText(base) == plainText(typed) {
		return base
	}
	return typed
}

// plainText is the text as a browser sends it back, with plain line breaks.
func plainText(text string) string {
	return strings.TrimPrefix(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text), "\n")
}
