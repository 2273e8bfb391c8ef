package capability

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"capstore/internal/jsonx"
)

// ofSchema reads what a schema says of a function's parameters. One that is
// no object says nothing.
func (f *facets) ofSchema(raw json.RawMessage) {
	f.parameters, f.parameterWords, f.required = facet{}, facet{}, facet{}
	tree, err := jsonx.Parse(raw, len(raw))
	schema, ok := tree.(map[string]any)
	if err != nil || !ok {
		return
	}
	properties, _ := schema["properties"].(map[string]any)
	for name, property := range properties {
		f.parameters[name], f.parameterWords[name] = spelt(meaning(property)), spelt(property)
	}
	required, _ := schema["required"].([]any)
	for _, name := range required {
		if name, ok := name.(string); ok {
			f.required[name] = ""
		}
	}
	rest := maps.Clone(schema)
	maps.DeleteFunc(rest, func(key string, _ any) bool { return key == "properties" || key == "required" || key == "$schema" })
	f.rules = spelt(meaning(rest))
}

// annotations are the keywords of a schema that constrain nothing.
var annotations = []string{"title", "description", "examples", "$comment"}

// namedSchemas are the keywords whose members are names, which no annotation is.
var namedSchemas = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}

// meaning is a schema without the words that only explain it.
func meaning(schema any) any {
	switch v := schema.(type) {
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = meaning(e)
		}
		return out
	case map[string]any:
		return keywords(v)
	}
	return schema
}

func keywords(schema map[string]any) map[string]any {
	out := map[string]any{}
	for key, value := range schema {
		named, isObject := value.(map[string]any)
		switch {
		case slices.Contains(annotations, key):
		case key == "enum", key == "const", key == "default":
			out[key] = value
		case isObject && slices.Contains(namedSchemas, key):
			inner := map[string]any{}
			for name, e := range named {
				inner[name] = meaning(e)
			}
			out[key] = inner
		default:
			out[key] = meaning(value)
		}
	}
	return out
}

// hiddenIn counts the characters that no reader sees, by the part or the path
// of the file that holds them.
func hiddenIn(c Content) map[string]int {
	out := map[string]int{}
	count := func(part, text string) {
		text = strings.TrimPrefix(text, "\ufeff")
		for _, r := range text {
			if deceptive(r) {
				out[part]++
			}
		}
	}
	count("description", c.Description)
	files := []File(nil)
	switch s := c.Spec.(type) {
	case *CodeSpec:
		count("code", s.Code)
	case *SkillSpec:
		count("instructions", s.Instructions)
		files = s.Files
	case *HookSpec:
		count("code", s.Code)
		files = s.Files
	case *CommandSpec:
		count("template", s.Template)
	case *EnvironmentSpec:
		count("instructions", s.Instructions)
	case *DelegationSpec:
		count("instructions", s.Instructions)
	}
	for _, file := range files {
		if file.Encoding != EncodingBase64 {
			count(file.Path, file.Content)
		}
	}
	return out
}
