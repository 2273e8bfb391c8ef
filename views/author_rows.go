package views

import (
	"strconv"
	"strings"
)

// RowName is the name of a field within a row of a list that repeats, such as
// spec.requiredSecrets.0.name.
func RowName(list string, row int, field string) string {
	return list + "." + strconv.Itoa(row) + "." + field
}

// Rows returns how many rows of a list the form holds.
func (f Form) Rows(list string) int {
	n := 0
	for name := range f.Values {
		rest, ok := strings.CutPrefix(name, list+".")
		if !ok {
			continue
		}
		index, _, _ := strings.Cut(rest, ".")
		if i, err := strconv.Atoi(index); err == nil && i >= n && i < maxFormRows {
			n = i + 1
		}
	}
	return n
}

// maxFormRows bounds what a made-up field name can ask to be drawn.
const maxFormRows = 1000

// Operations of the authoring form's buttons, beside publishing. Those on a
// list go with its name, a removal with the row as well: add:spec.examples,
// remove:spec.examples.2. A step, a way to write the schema, an example to try
// and how to keep a draft follow theirs in the same way.
const (
	OpPublish = "publish"
	OpCheck   = "check"
	OpTry     = "try"
	OpSave    = "save"
	OpStep    = "step"
	OpSchema  = "schema"
	OpPreview = "preview"
	OpTake    = "take" // the tools that the server named into the list
	opAdd     = "add:"
	opRemove  = "remove:"
)

// Ways to keep a draft that was saved elsewhere meanwhile.
const (
	SaveOver = "over" // what stands here takes its place
	SaveNew  = "new"  // what stands here is another draft
)

// Ways to write the schema of parameters.
const (
	SchemaRows = "rows"
	SchemaJSON = "json"
)

// AddedTo returns the list to which the operation adds a row, "" when it does
// something else.
func AddedTo(op string) string {
	list, ok := strings.CutPrefix(op, opAdd)
	if !ok {
		return ""
	}
	return list
}

// RemovedFrom returns the list and row that the operation removes; false when
// it does something else.
func RemovedFrom(op string) (list string, row int, ok bool) {
	name, ok := strings.CutPrefix(op, opRemove)
	dot := strings.LastIndexByte(name, '.')
	if !ok || dot < 0 {
		return "", 0, false
	}
	row, err := strconv.Atoi(name[dot+1:])
	return name[:dot], row, err == nil && row >= 0
}
