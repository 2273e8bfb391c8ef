package capability

import (
	"slices"
	"strconv"
	"strings"

	"capstore/internal/fault"
	"capstore/internal/jsonx"
)

const (
	maxConditions     = 20
	maxConditionValue = 4 << 10 // bytes of JSON
)

func (f *faults) policies(rules []PolicyRule) {
	f.count("/policy", "rules", len(rules), maxRules)
	for i, r := range rules {
		at := jsonx.Pointer("/policy", strconv.Itoa(i))
		if !slices.Contains(PolicyEffects, r.Effect) {
			f.add(at+"/effect", "not_allowed", "A rule denies, asks, guards or allows.")
		}
		f.glob(at+"/match", r.Match)
		f.plain(at+"/tool", "The tool", r.Tool, 200)
		f.plain(at+"/note", "The note", r.Note, MaxDescription)
		f.count(at+"/arguments", "conditions", len(r.Arguments), maxConditions)
		for j, c := range r.Arguments {
			f.condition(at+jsonx.Pointer("/arguments", strconv.Itoa(j)), c)
		}
	}
}

func (f *faults) condition(at string, c ArgumentCondition) {
	if !isPointer(c.Path) {
		f.add(at+"/path", "bad_pointer", "The path is a JSON pointer such as /to or /items/0/name.")
	}
	if !slices.Contains(ConditionOps, c.Op) {
		f.add(at+"/op", "not_allowed", "A condition is equals, notEquals, matches, in, exists, absent, less or greater.")
		return
	}
	switch {
	case !c.Op.TakesValue():
		if len(c.Value) > 0 {
			f.add(at+"/value", "not_allowed", "%s takes no value.", c.Op)
		}
	case len(c.Value) == 0:
		f.add(at+"/value", "required", "%s takes a value.", c.Op)
	default:
		f.conditionValue(at+"/value", c)
	}
}

func (f *faults) conditionValue(at string, c ArgumentCondition) {
	value, err := jsonx.Parse(c.Value, maxConditionValue)
	if err != nil {
		f.add(at, fault.From(err).Code, "%s", fault.From(err).Message)
		return
	}
	wants := map[ConditionOp]string{
		OpMatches: "a string", OpIn: "a list", OpLess: "a number", OpGreater: "a number",
	}[c.Op]
	if wants != "" && jsonx.Kind(value) != wants {
		f.add(at, "wrong_type", "%s takes %s, found %s.", c.Op, wants, jsonx.Kind(value))
	}
}

// isPointer reports whether the text is a JSON pointer to a part of a value.
func isPointer(p string) bool {
	if !strings.HasPrefix(p, "/") || len(p) > 500 || !plainText(p) {
		return false
	}
	for i := range len(p) {
		if p[i] == '~' && (i+1 == len(p) || p[i+1] != '0' && p[i+1] != '1') {
			return false
		}
	}
	return true
}

func plainText(s string) bool {
	_, odd := notPlain(s)
	return !odd
}
