package ops

import (
	"reflect"
	"slices"
	"strings"
)

// Place is where a surface that has places finds a parameter.
type Place string

const (
	InPath   Place = "path"
	InQuery  Place = "query"
	InHeader Place = "header"
	InBody   Place = "body"
)

// Param is one field of an operation's input.
type Param struct {
	Place Place
	Name  string // "" for the body
	Doc   string
	Index []int // of the field in In
	Type  reflect.Type
	// Choices are the only values; nil allows all.
	Choices []string
	// Required is always true of a path.
	Required bool
}

// Params lists the fields of the input: path, query, header and the body last.
func (o Operation) Params() []Param {
	var out []Param
	for _, f := range reflect.VisibleFields(o.In) {
		for _, place := range []Place{InPath, InQuery, InHeader, InBody} {
			if name, ok := f.Tag.Lookup(string(place)); ok {
				out = append(out, Param{
					Place: place, Name: name, Doc: f.Tag.Get("doc"), Index: f.Index, Type: f.Type,
					Choices: choices(f.Tag.Get("enum")), Required: place == InPath || f.Tag.Get("required") == "true",
				})
			}
		}
	}
	order := []Place{InPath, InQuery, InHeader, InBody}
	slices.SortStableFunc(out, func(a, b Param) int { return slices.Index(order, a.Place) - slices.Index(order, b.Place) })
	return out
}

// Body returns the parameter that is the body, false when there is none.
func (o Operation) Body() (Param, bool) {
	params := o.Params()
	i := slices.IndexFunc(params, func(p Param) bool { return p.Place == InBody })
	if i < 0 {
		return Param{}, false
	}
	return params[i], true
}

func choices(enum string) []string {
	if enum == "" {
		return nil
	}
	return strings.Split(enum, ",")
}
