package api

import (
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"capstore/internal/fault"
	"capstore/internal/jsonx"
	"capstore/internal/ops"
)

// read fills the operation's input from the request and returns it with the
// body as it came.
func (rt route) read(w http.ResponseWriter, r *http.Request) (in any, body []byte, err error) {
	query, err := rt.query(r)
	if err != nil {
		return nil, nil, err
	}
	v := reflect.New(rt.In).Elem()
	for _, p := range rt.params {
		field := v.FieldByIndex(p.Index)
		switch p.Place {
		case ops.InPath:
			value := r.PathValue(p.Name)
			if !isText(value) {
				return nil, nil, fault.Missing()
			}
			field.SetString(value)
		case ops.InQuery:
			err = set(field, p, query[p.Name])
		case ops.InHeader:
			var tag string
			tag, err = tagOf(r.Header.Values(p.Name))
			field.SetString(tag)
		case ops.InBody:
			body, err = readBody(w, r, field.Addr().Interface())
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return v.Interface(), body, nil
}

// query reads the query, in which every name is one that the operation knows.
func (rt route) query(r *http.Request) (url.Values, error) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, fault.New(fault.Malformed, "bad_query", "The query cannot be read.").Do("Percent-encode it and send it again.")
	}
	var known, unknown []string
	for _, p := range rt.params {
		if p.Place != ops.InQuery {
			continue
		}
		known = append(known, p.Name)
		if p.Required && values.Get(p.Name) == "" {
			return nil, fault.New(fault.Malformed, "missing_parameter", "The parameter %s is needed.", p.Name)
		}
	}
	for name := range values {
		if !slices.Contains(known, name) {
			unknown = append(unknown, strconv.QuoteToASCII(name))
		}
	}
	if len(unknown) == 0 {
		return values, nil
	}
	slices.Sort(unknown)
	out := fault.New(fault.Malformed, "unknown_parameter", "Unknown query parameter: %s.", strings.Join(unknown, ", "))
	if len(known) == 0 {
		return nil, out.Do("This route takes none.")
	}
	return nil, out.Do("This route takes " + strings.Join(known, ", ") + ".")
}

// set fills a field of the input from the values of one query parameter.
func set(field reflect.Value, p ops.Param, values []string) error {
	for _, v := range values {
		if !isText(v) {
			return badParameter(p, "is no text")
		}
		if len(p.Choices) > 0 && !slices.Contains(p.Choices, v) {
			return badParameter(p, "is one of "+strings.Join(p.Choices, ", "))
		}
	}
	if field.Kind() == reflect.Slice {
		for _, v := range values {
			field.Set(reflect.Append(field, reflect.ValueOf(v).Convert(field.Type().Elem())))
		}
		return nil
	}
	switch len(values) {
	case 0:
		return nil
	case 1:
		return setOne(field, p, values[0])
	}
	return badParameter(p, "may stand only once")
}

func setOne(field reflect.Value, p ops.Param, value string) error {
	switch field.Kind() {
	case reflect.String:
		field.SetString(value)
	case reflect.Int:
		n, err := strconv.ParseInt(value, 10, 32)
		if err != nil {
			return badParameter(p, "is a whole number")
		}
		field.SetInt(n)
	case reflect.Bool:
		if value != "true" && value != "false" {
			return badParameter(p, "is true or false")
		}
		field.SetBool(value == "true")
	default:
		return fmt.Errorf("api: parameter %s has the type %s", p.Name, field.Type())
	}
	return nil
}

func badParameter(p ops.Param, why string) error {
	return fault.New(fault.Malformed, "bad_parameter", "The query parameter %s %s.", p.Name, why)
}

// isText reports whether PostgreSQL can hold s: what it cannot is no name of
// anything, and must not look like a failure.
func isText(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }

// tagOf reads If-Match: one entity tag, whose weakness is a proxy's doing and
// does not matter here. The star is met by whatever is there.
func tagOf(values []string) (string, error) {
	if len(values) == 0 {
		return "", nil
	}
	tag := strings.TrimPrefix(strings.TrimSpace(values[0]), "W/")
	// An empty one names no state at all, and must not count as no condition.
	if len(values) > 1 || strings.Trim(tag, `"`) == "" || strings.ContainsAny(tag, ", ") || !isText(tag) {
		return "", fault.New(fault.Malformed, "bad_if_match", "If-Match takes one ETag.")
	}
	if tag == "*" {
		return "", nil
	}
	return strings.Trim(tag, `"`), nil
}

const (
	maxJSON   = jsonx.MaxBody
	maxUpload = 64 << 20
)
