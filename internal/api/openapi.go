package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"capstore/internal/httpd"
	"capstore/internal/ops"
)

// Version is that of the JSON contract. Adding to the contract moves the minor
// number; taking away or changing what is there moves the major one.
const Version = "1.2.0"

// schemaPrefix is where the description's references lead.
const schemaPrefix = "#/components/schemas/"

// Document returns the OpenAPI 3.1 description of the operations, made from
// their declarations.
func Document(operations []ops.Operation) ([]byte, error) {
	b := builder{registry: ops.NewSchemas(schemaPrefix), paths: map[string]*huma.PathItem{}}
	b.registry.Schema(reflect.TypeFor[httpd.Problem](), true, "")
	for _, op := range operations {
		if err := b.add(op); err != nil {
			return nil, fmt.Errorf("api: describe %s: %w", op.Name, err)
		}
	}
	b.registry.Mend()
	return b.encode()
}

type builder struct {
	registry ops.Schemas
	paths    map[string]*huma.PathItem
}

func (b builder) encode() ([]byte, error) {
	doc := &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{
			Title: "capstore", Version: Version,
			Description: "A store of capabilities for AI agents. Errors are problem documents (RFC 9457) with a stable code.",
		},
		Paths: b.paths,
		Components: &huma.Components{
			Schemas: b.registry.Registry, Responses: problems(),
			SecuritySchemes: map[string]*huma.SecurityScheme{
				"token":   {Type: "http", Scheme: "bearer", Description: "A personal access token of the workspace: capstore token create."},
				"session": {Type: "apiKey", In: "cookie", Name: "capstore_session", Description: "The session of a page of this site; __Host-capstore where the site has TLS."},
			},
		},
		Security: []map[string][]string{{"token": {}}, {"session": {}}},
	}
	raw, err := json.Marshal(doc)
	if err != nil {
		return nil, fmt.Errorf("api: encode the description: %w", err)
	}
	var out bytes.Buffer
	if err := json.Indent(&out, raw, "", "  "); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

func (b builder) add(op ops.Operation) error {
	o := &huma.Operation{
		OperationID: op.Name, Summary: op.Summary, Tags: []string{op.Area}, Responses: b.responses(op),
		Extensions: map[string]any{"x-action": string(op.Action), "x-read-only": op.ReadOnly, "x-guarded": op.Guarded},
	}
	for _, segment := range strings.Split(op.Path, "/") {
		if segment == "{workspace}" {
			o.Parameters = append(o.Parameters, &huma.Param{
				Name: "workspace", In: "path", Required: true, Description: "The workspace's short name.", Schema: &huma.Schema{Type: huma.TypeString},
			})
		}
	}
	for _, p := range op.Params() {
		if p.Place != ops.InBody {
			o.Parameters = append(o.Parameters, b.parameter(p))
			continue
		}
		body, err := b.body(op, p)
		if err != nil {
			return err
		}
		o.RequestBody = body
	}
	if !op.ReadOnly {
		o.Parameters = append(o.Parameters, &huma.Param{
			Name: keyHeader, In: "header", Schema: &huma.Schema{Type: huma.TypeString},
			Description: "The same key with the same request gives the same answer and does it once; kept for a day.",
		})
	}
	item := b.paths[Base+op.Path]
	if item == nil {
		item = &huma.PathItem{}
		b.paths[Base+op.Path] = item
	}
	return place(item, op.Method, o)
}

func place(item *huma.PathItem, method string, o *huma.Operation) error {
	slot, ok := map[string]**huma.Operation{
		http.MethodGet: &item.Get, http.MethodPut: &item.Put, http.MethodPost: &item.Post,
		http.MethodDelete: &item.Delete, http.MethodPatch: &item.Patch,
	}[method]
	if !ok || *slot != nil {
		return fmt.Errorf("%s is unknown or declared twice", method)
	}
	*slot = o
	return nil
}

func (b builder) parameter(p ops.Param) *huma.Param {
	return &huma.Param{Name: p.Name, In: string(p.Place), Required: p.Required, Description: p.Doc, Schema: b.registry.Parameter(p)}
}

func (b builder) body(op ops.Operation, p ops.Param) (*huma.RequestBody, error) {
	if p.Type == reflect.TypeFor[ops.Upload]() {
		file := &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}
		return &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/zip": file, "application/json": file, "text/markdown": file}}, nil
	}
	media := &huma.MediaType{Schema: b.registry.Input(p.Type, op.Name)}
	if err := json.Unmarshal([]byte(op.Example), &media.Example); err != nil {
		return nil, fmt.Errorf("example: %w", err)
	}
	return &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/json": media}}, nil
}

// responses are the operation's own and a reference for every fault that it
// may answer.
func (b builder) responses(op ops.Operation) map[string]*huma.Response {
	out := map[string]*huma.Response{}
	for _, status := range statuses(op) {
		r := &huma.Response{Description: http.StatusText(status)}
		switch {
		case op.Out == reflect.TypeFor[ops.File]():
			file := &huma.Schema{Type: huma.TypeString, Format: "binary"}
			// Which of the two it is, the format decides. An empty schema takes any JSON.
			r.Content = map[string]*huma.MediaType{"application/zip": {Schema: file}, "application/json": {Schema: &huma.Schema{}}}
		case op.Out == reflect.TypeFor[ops.Events]():
			r.Content = map[string]*huma.MediaType{"text/event-stream": {Schema: &huma.Schema{Type: huma.TypeString}}}
		case status != http.StatusNoContent:
			r.Content = map[string]*huma.MediaType{"application/json": {Schema: b.registry.Schema(op.Out, true, op.Name)}}
		}
		out[strconv.Itoa(status)] = r
	}
	for _, status := range faultsOf(op) {
		out[strconv.Itoa(status)] = &huma.Response{Ref: "#/components/responses/" + responseName(status)}
	}
	return out
}

// statuses are those of the operation's success.
func statuses(op ops.Operation) []int {
	success := op.Success
	if success == 0 {
		success = http.StatusOK
	}
	if op.Out.Kind() == reflect.Pointer {
		return []int{success, http.StatusNoContent}
	}
	if op.Out.Implements(reflect.TypeFor[ops.WithStatus]()) && op.Method != http.MethodGet {
		return slices.Compact([]int{http.StatusOK, http.StatusCreated})
	}
	return []int{success}
}

func faultsOf(op ops.Operation) []int {
	out := []int{
		http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusInternalServerError, http.StatusServiceUnavailable,
	}
	if op.Action != "" {
		out = append(out, http.StatusNotFound)
	}
	if !op.ReadOnly {
		out = append(out, http.StatusConflict, http.StatusUnprocessableEntity)
	}
	for _, p := range op.Params() {
		switch p.Place {
		case ops.InHeader:
			out = append(out, http.StatusPreconditionFailed)
		case ops.InBody:
			out = append(out, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity)
		case ops.InQuery:
			out = append(out, http.StatusUnprocessableEntity)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// problemMeanings says of each fault's status what it means here.
var problemMeanings = map[int]string{
	http.StatusBadRequest:            "The request cannot be read; the detail names the place.",
	http.StatusUnauthorized:          "Nobody is signed in, or the token is unknown, expired or revoked.",
	http.StatusForbidden:             "The person may not do this; the action says who can.",
	http.StatusNotFound:              "There is nothing here, or nothing that the person may see.",
	http.StatusConflict:              "A name is taken, a state was changed by somebody else, or a consent is missing; the code says which.",
	http.StatusPreconditionFailed:    "The state is not the one that If-Match names.",
	http.StatusRequestEntityTooLarge: "The body is too long.",
	http.StatusUnsupportedMediaType:  "The body is of another type than is read here.",
	http.StatusUnprocessableEntity:   "The input breaks a rule; errors lists every fault with its place.",
	http.StatusInternalServerError:   "Something went wrong on the server; the reference finds it in the log.",
	http.StatusServiceUnavailable:    "A part cannot be reached just now; try again.",
}

func responseName(status int) string {
	return strings.ReplaceAll(http.StatusText(status), " ", "")
}

func problems() map[string]*huma.Response {
	out := map[string]*huma.Response{}
	for status, meaning := range problemMeanings {
		out[responseName(status)] = &huma.Response{
			Description: meaning,
			Content:     map[string]*huma.MediaType{"application/problem+json": {Schema: &huma.Schema{Ref: schemaPrefix + "Problem"}}},
		}
	}
	return out
}
