package toolschema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"capstore/internal/fault"
	"capstore/internal/jsonx"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

var english = message.NewPrinter(language.English)

// maxFaults is how many faults one answer lists.
const maxFaults = 50

// explain turns the validator's tree into a flat list in the order of paths.
// doc is the value that was checked, nil when it is itself a schema.
func explain(v *jsonschema.ValidationError, doc any) []fault.Field {
	out := leaves(v, doc)
	slices.SortStableFunc(out, func(a, b fault.Field) int { return strings.Compare(a.Path, b.Path) })
	out = slices.Compact(out)
	if n := len(out); n > maxFaults {
		out = append(out[:maxFaults], fault.Field{Code: "more_faults", Message: fmt.Sprintf("There are %d more faults.", n-maxFaults)})
	}
	return out
}

func leaves(v *jsonschema.ValidationError, doc any) []fault.Field {
	at := jsonx.Pointer("", v.InstanceLocation...)
	switch k := v.ErrorKind.(type) {
	case *kind.AnyOf:
		return alternatives(v, at, doc)
	case *kind.OneOf:
		if len(k.Subschemas) > 0 {
			return []fault.Field{{Path: at, Code: "matches_several", Message: "This matches more than one of the allowed forms; it must match exactly one."}}
		}
		return alternatives(v, at, doc)
	case *kind.PropertyNames:
		return []fault.Field{{Path: jsonx.Pointer(at, k.Property), Code: "property_name", Message: fmt.Sprintf("The key %q is not allowed here.", clip(k.Property, 80))}}
	}
	if len(v.Causes) > 0 {
		var out []fault.Field
		for _, c := range v.Causes {
			out = append(out, leaves(c, doc)...)
		}
		return out
	}
	return leaf(v, at, doc)
}

// alternatives reports that no branch fits, and what the closest one misses:
// the branch with the fewest faults, those that fail on the whole value last.
func alternatives(v *jsonschema.ValidationError, at string, doc any) []fault.Field {
	var best []fault.Field
	bestCost := -1
	for _, c := range v.Causes {
		faults := leaves(c, doc)
		cost := len(faults)
		for _, f := range faults {
			if f.Path == at && f.Code == "wrong_type" {
				cost += 1000
			}
		}
		if bestCost < 0 || cost < bestCost {
			best, bestCost = faults, cost
		}
	}
	head := fault.Field{Path: at, Code: "no_alternative", Message: fmt.Sprintf("This fits none of the %d allowed forms.", len(v.Causes))}
	if len(v.Causes) == 1 {
		return best
	}
	if bestCost >= 1000 {
		head.Message += " " + wantedKinds(v, doc)
		return []fault.Field{head}
	}
	head.Message += " What the closest one misses is listed too."
	return append([]fault.Field{head}, best...)
}

func wantedKinds(v *jsonschema.ValidationError, doc any) string {
	var want []string
	for _, c := range v.Causes {
		for _, e := range flattenCauses(c) {
			if t, ok := e.ErrorKind.(*kind.Type); ok && len(e.InstanceLocation) == len(v.InstanceLocation) {
				want = union(want, t.Want)
			}
		}
	}
	return fmt.Sprintf("Expected %s, found %s.", strings.Join(want, " or "), found(v.InstanceLocation, doc))
}

func flattenCauses(v *jsonschema.ValidationError) []*jsonschema.ValidationError {
	out := []*jsonschema.ValidationError{v}
	for _, c := range v.Causes {
		out = append(out, flattenCauses(c)...)
	}
	return out
}

func leaf(v *jsonschema.ValidationError, at string, doc any) []fault.Field {
	one := func(code, format string, args ...any) []fault.Field {
		return []fault.Field{{Path: at, Code: code, Message: fmt.Sprintf(format, args...)}}
	}
	switch k := v.ErrorKind.(type) {
	case *kind.Type:
		return one("wrong_type", "Expected %s, found %s.", strings.Join(k.Want, " or "), found(v.InstanceLocation, doc))
	case *kind.Required:
		return missing(at, k.Missing, "")
	case *kind.DependentRequired:
		return missing(at, k.Missing, k.Prop)
	case *kind.Dependency:
		return missing(at, k.Missing, k.Prop)
	case *kind.AdditionalProperties:
		return unknown(at, k.Properties)
	case *kind.FalseSchema:
		return one("not_allowed", "Nothing is allowed here.")
	case *kind.Enum:
		return one("not_in_list", "Expected one of %s, found %s.", listed(k.Want), found(v.InstanceLocation, doc))
	case *kind.Const:
		return one("not_in_list", "Expected %s, found %s.", listed([]any{k.Want}), found(v.InstanceLocation, doc))
	case *kind.Not:
		return one("not_allowed", "This is a form that the tool does not allow.")
	case *kind.Pattern:
		return one("pattern", "Expected text that matches the pattern %s, found %s.", clip(k.Want, 120), found(v.InstanceLocation, doc))
	case *kind.Format:
		return one("format", "Expected text in the format %s, found %s.", k.Want, found(v.InstanceLocation, doc))
	}
	code := "broken_rule"
	if p := v.ErrorKind.KeywordPath(); len(p) > 0 {
		code = snake(p[0])
	}
	return one(code, "%s, found %s.", sentence(v.ErrorKind.LocalizedString(english)), found(v.InstanceLocation, doc))
}

func missing(at string, names []string, because string) []fault.Field {
	out := make([]fault.Field, 0, len(names))
	for _, n := range names {
		text := fmt.Sprintf("The parameter %q is required and missing.", n)
		if because != "" {
			text = fmt.Sprintf("The parameter %q is required where %q is given.", n, because)
		}
		out = append(out, fault.Field{Path: jsonx.Pointer(at, n), Code: "required", Message: text})
	}
	return out
}

func unknown(at string, keys []string) []fault.Field {
	out := make([]fault.Field, 0, len(keys))
	for _, k := range keys {
		out = append(out, fault.Field{Path: jsonx.Pointer(at, k), Code: "unknown_key", Message: fmt.Sprintf("There is no parameter %q here.", clip(k, 80))})
	}
	return out
}

// found describes the value at the place, short enough for a message.
func found(tokens []string, doc any) string {
	if doc == nil {
		return "something else"
	}
	v, ok := valueAt(doc, tokens)
	if !ok {
		return "something else"
	}
	switch v := v.(type) {
	case string:
		return fmt.Sprintf("the string %q", clip(v, 60))
	case json.Number:
		return "the number " + clip(string(v), 60)
	case bool:
		return fmt.Sprint(v)
	}
	return jsonx.Kind(v)
}

func valueAt(doc any, tokens []string) (any, bool) {
	for _, t := range tokens {
		switch v := doc.(type) {
		case map[string]any:
			e, ok := v[t]
			if !ok {
				return nil, false
			}
			doc = e
		case []any:
			i, err := strconv.Atoi(t)
			if err != nil || i < 0 || i >= len(v) {
				return nil, false
			}
			doc = v[i]
		default:
			return nil, false
		}
	}
	return doc, true
}

func listed(values []any) string {
	parts := make([]string, 0, len(values))
	for i, v := range values {
		if i == 20 {
			parts = append(parts, "…")
			break
		}
		b, err := json.Marshal(v)
		if err != nil {
			continue
		}
		parts = append(parts, clip(string(b), 60))
	}
	return strings.Join(parts, ", ")
}

func snake(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r >= 'A' && r <= 'Z' {
			b.WriteByte('_')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

func sentence(s string) string {
	if s == "" {
		return "A rule of the schema is broken"
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
