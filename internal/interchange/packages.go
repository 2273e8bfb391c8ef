package interchange

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/fault"
)

// inputOf reads how a file describes a value that somebody has to give.
func inputOf(o *object) input {
	in := input{secret: o.flag("isSecret", "is_secret", "secret"), required: o.flag("isRequired", "is_required", "required")}
	in.description = capability.PlainText(o.text("description"))
	if s, ok := scalar(o.values["default"]); ok {
		in.initial = s
	}
	in.description = withChoices(in.description, o.list("choices"))
	in.description = shorten(in.description, capability.MaxDescription)
	return in
}

// withChoices puts what may be chosen behind a description.
func withChoices(description string, list []any) string {
	choices := texts(list)
	if len(choices) == 0 {
		return description
	}
	return strings.TrimSpace(description + " (" + capability.PlainText(strings.Join(choices, ", ")) + ")")
}

func variablesOf(o *object) map[string]input {
	out := map[string]input{}
	if o == nil {
		return out
	}
	for _, k := range o.keys {
		if v, ok := o.values[k].(*object); ok {
			in := inputOf(v)
			if fixed := v.text("value"); fixed != "" {
				in.initial = fixed
			}
			out[k] = in
		}
	}
	return out
}

// braced spells the placeholders of a server.json, {name}, as those with an
// input.
func braced(text string) string {
	return bracePart.ReplaceAllStringFunc(text, func(s string) string {
		if !bracedName(s[1 : len(s)-1]) {
			return s
		}
		return "${input:" + s[1:len(s)-1] + "}"
	})
}

func bracedName(s string) bool {
	return s != "" && !strings.ContainsAny(s, " \"':,") && len(s) <= 80
}

// dockerHub are the names of the registry that an image without one is of.
var dockerHub = []string{"docker.io", "index.docker.io", "registry-1.docker.io", "registry.hub.docker.com", "hub.docker.com"}

// ociPackage makes a server of an image.
func (m *maker) ociPackage(o *object) *fault.Fault {
	_, image := packageOf(o)
	if base, err := url.Parse(o.text("registryBaseUrl", "registry_base_url")); err == nil && base.Host != "" && !slices.Contains(dockerHub, base.Host) {
		if first, _, _ := strings.Cut(image, "/"); !strings.ContainsAny(first, ".:") {
			image = base.Host + "/" + image
		}
	}
	image = strings.TrimPrefix(image, "docker://")
	if version := o.text("version"); version != "" && !strings.Contains(image, "@") && !strings.Contains(image[strings.LastIndexByte(image, '/')+1:], ":") {
		image += ":" + version
	}
	words := m.argumentsOf(o.list("runtimeArguments", "runtime_arguments"))
	if len(words) > 0 && words[0] == "run" { // the engine's own word, which belongs to the hint
		words = words[1:]
	}
	r := readRun(append(words, image))
	if f := m.judge(r); f != nil {
		return f
	}
	m.runNotes(r)
	m.spec.Image = image
	m.variables(o)
	m.environment(r.environment(nil))
	m.arguments(m.argumentsOf(o.list("packageArguments", "package_arguments")))
	return nil
}

// variableKeys are the lists of variables with what is said of each.
var variableKeys = []string{"environmentVariables", "environment_variables", "env_vars"}

// variables declares the environment of a package, or of an image in a list of
// them.
func (m *maker) variables(o *object) {
	for _, v := range o.list(variableKeys...) {
		variable, ok := v.(*object)
		if !ok {
			continue
		}
		in := inputOf(variable)
		m.within(variablesOf(variable.object("variables")), func() {
			m.variable(variable.text("name"), braced(variable.text("value")), in)
		})
	}
}

// argumentsOf writes the arguments of a package as words. What waits for a
// value becomes a placeholder of the file, and what may be left out is.
func (m *maker) argumentsOf(list []any) []string {
	var out []string
	m.file = m.file.widened()
	for _, v := range list {
		o, ok := v.(*object)
		if !ok {
			continue
		}
		in, name := inputOf(o), o.text("name")
		for k, v := range variablesOf(o.object("variables")) {
			m.file.inputs[k] = v
		}
		text, fixed := o.values["value"].(string)
		text = braced(text)
		if !fixed {
			key := cmp.Or(strings.Trim(name, "-"), o.text("valueHint", "value_hint"), "argument")
			m.file.inputs[key], text = in, "${input:"+key+"}"
			if name != "" && !in.secret && o.text("format") == "" && in.initial == "" && in.description == "" {
				text = "" // a switch
			}
		}
		if !fixed && text != "" && in.initial == "" && !in.required {
			m.note("argument_optional", "The argument %s may be left out, and is.", clip(cmp.Or(name, o.text("valueHint", "value_hint")), 60))
			continue
		}
		if name != "" {
			out = append(out, name)
		}
		if text != "" || name == "" && fixed {
			out = append(out, text)
		}
	}
	return out
}
