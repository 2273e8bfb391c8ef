package capability

import (
	"encoding/json"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"capstore/internal/jsonx"
)

// ConditionOp compares one argument of a call with the value of a condition.
type ConditionOp string

const (
	OpEquals    ConditionOp = "equals"
	OpNotEquals ConditionOp = "notEquals"
	OpMatches   ConditionOp = "matches" // a text; the value is a glob
	OpIn        ConditionOp = "in"      // the value is a list
	OpExists    ConditionOp = "exists"  // no value
	OpAbsent    ConditionOp = "absent"  // no value
	OpLess      ConditionOp = "less"    // a number
	OpGreater   ConditionOp = "greater" // a number
)

// ConditionOps lists every comparison.
var ConditionOps = []ConditionOp{OpEquals, OpNotEquals, OpMatches, OpIn, OpExists, OpAbsent, OpLess, OpGreater}

// TakesValue reports whether the comparison needs a value.
func (op ConditionOp) TakesValue() bool { return op != OpExists && op != OpAbsent }

// ArgumentCondition is one thing that a rule demands of a call's arguments.
// Numbers are compared exactly, however long they are, and by their value: 1
// equals 1.0.
type ArgumentCondition struct {
	Path  string          `json:"path"` // JSON pointer
	Op    ConditionOp     `json:"op"`
	Value json.RawMessage `json:"value,omitempty"`
}

// truth is the outcome of a condition: it may be that it cannot be told.
type truth int

const (
	isFalse truth = iota
	isUnknown
	isTrue
)

func truthOf(b bool) truth {
	if b {
		return isTrue
	}
	return isFalse
}

// conditionsHold reports whether all of the conditions hold of the arguments.
// One that cannot be evaluated counts as unclear says; one that plainly does
// not hold settles it.
func conditionsHold(all []ArgumentCondition, arguments any, unclear bool) bool {
	lowest := isTrue
	for _, c := range all {
		lowest = min(lowest, c.holds(arguments))
	}
	return lowest == isTrue || lowest == isUnknown && unclear
}

// Meets reports whether the arguments of a call meet all of the conditions. It
// is false where one cannot be told: a path that is not there, another type.
func Meets(all []ArgumentCondition, arguments json.RawMessage) bool {
	v, err := jsonx.Parse(arguments, 0)
	return err == nil && conditionsHold(all, v, false)
}

// holds evaluates the condition on a value of jsonx.Parse.
func (c ArgumentCondition) holds(arguments any) truth {
	if arguments == nil {
		return isUnknown
	}
	found, there := valueAt(arguments, c.Path)
	switch c.Op {
	case OpExists:
		return truthOf(there)
	case OpAbsent:
		return truthOf(!there)
	}
	want, err := jsonx.Parse(c.Value, 0)
	if !there || err != nil {
		return isUnknown
	}
	switch c.Op {
	case OpEquals:
		return equalJSON(found, want)
	case OpNotEquals:
		return isTrue - equalJSON(found, want)
	case OpMatches:
		text, isText := found.(string)
		glob, isGlob := want.(string)
		if !isText || !isGlob {
			return isUnknown
		}
		return truthOf(Glob(glob, text))
	case OpIn:
		return isAmong(found, want)
	case OpLess, OpGreater:
		return ordered(c.Op, found, want)
	}
	return isUnknown
}

func isAmong(found, want any) truth {
	list, ok := want.([]any)
	if !ok {
		return isUnknown
	}
	highest := isFalse
	compared := len(list) == 0
	for _, one := range list {
		t := equalJSON(found, one)
		compared = compared || t != isUnknown
		if t == isTrue {
			highest = isTrue
		}
	}
	if !compared {
		return isUnknown
	}
	return highest
}

func ordered(op ConditionOp, found, want any) truth {
	a, b := exact(found), exact(want)
	if a == nil || b == nil {
		return isUnknown
	}
	if op == OpLess {
		return truthOf(a.Cmp(b) < 0)
	}
	return truthOf(a.Cmp(b) > 0)
}

// equalJSON compares two values of jsonx.Parse: numbers by value, objects
// without regard to order. Values of different types cannot be compared.
func equalJSON(a, b any) truth {
	if jsonx.Kind(a) != jsonx.Kind(b) {
		return isUnknown
	}
	switch a := a.(type) {
	case json.Number:
		x, y := exact(a), exact(b)
		if x == nil || y == nil {
			return isUnknown
		}
		return truthOf(x.Cmp(y) == 0)
	case []any:
		b, _ := b.([]any)
		return truthOf(slices.EqualFunc(a, b, func(x, y any) bool { return equalJSON(x, y) == isTrue }))
	case map[string]any:
		b, _ := b.(map[string]any)
		for k, v := range a {
			if w, ok := b[k]; !ok || equalJSON(v, w) != isTrue {
				return isFalse
			}
		}
		return truthOf(len(a) == len(b))
	}
	return truthOf(a == b)
}

// exact is the number without any rounding, nil for what is no number. The
// reader of JSON bounds its length and exponent.
func exact(v any) *big.Rat {
	n, ok := v.(json.Number)
	if !ok {
		return nil
	}
	r, ok := new(big.Rat).SetString(string(n))
	if !ok {
		return nil
	}
	return r
}

// valueAt follows the JSON pointer; false where it leads nowhere.
func valueAt(v any, pointer string) (any, bool) {
	if pointer == "" {
		return v, true
	}
	for token := range strings.SplitSeq(pointer[1:], "/") {
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		switch at := v.(type) {
		case map[string]any:
			next, ok := at[token]
			if !ok {
				return nil, false
			}
			v = next
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(at) || strconv.Itoa(i) != token {
				return nil, false
			}
			v = at[i]
		default:
			return nil, false
		}
	}
	return v, true
}
