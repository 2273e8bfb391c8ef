package web

import (
	"net/url"
	"strings"

	"capstore/views"
)

// rowLists are the lists of the form whose rows repeat, with the fields of a
// row.
var rowLists = map[string][]string{
	"spec.examples":        {"input", "name", "note"},
	"spec.requiredSecrets": {"name", "description", "header", "scheme", "env"},
	"spec.settings":        {"name", "description", "default", "required"},
	"spec.metadata":        {"key", "value"},
	"spec.files":           {"path", "content", "mediaType", "encoding", "kept", "executable"},
	"spec.env":             {"name", "from", "value", "secretRef", "scope"},
	"schema.rows":          {"name", "type", "description", "required", "default", "values", "items", "rest"},
}

// plainBreaks turns the line breaks that browsers send into plain ones.
func plainBreaks(form url.Values) {
	for _, values := range form {
		for i, v := range values {
			values[i] = strings.ReplaceAll(v, "\r\n", "\n")
		}
	}
}

// readRows reads the rows of a list, in order, as field → value.
func readRows(form url.Values, list string) []map[string]string {
	var rows []map[string]string
	for i := range (views.Form{Values: form}).Rows(list) {
		row := map[string]string{}
		for _, field := range rowLists[list] {
			row[field] = form.Get(views.RowName(list, i, field))
		}
		rows = append(rows, row)
	}
	return rows
}

// writeRows makes rows the whole of the list.
func writeRows(form url.Values, list string, rows []map[string]string) {
	for i := range (views.Form{Values: form}).Rows(list) {
		for _, field := range rowLists[list] {
			form.Del(views.RowName(list, i, field))
		}
	}
	for i, row := range rows {
		setRow(form, list, i, row)
	}
}

// addRow appends an empty row to a list that there is.
func addRow(form url.Values, list string) {
	fields, ok := rowLists[list]
	if !ok {
		return
	}
	row := map[string]string{}
	for _, field := range fields {
		row[field] = ""
	}
	writeRows(form, list, append(readRows(form, list), row))
}

// removeRow takes a row out; a row that is not there is none to remove.
func removeRow(form url.Values, list string, row int) {
	rows := readRows(form, list)
	if row >= len(rows) {
		return
	}
	writeRows(form, list, append(rows[:row], rows[row+1:]...))
}

// compactRows drops rows in which nothing was written, so that the places in
// faults are those of the rows shown.
func compactRows(form url.Values) {
	for list := range rowLists {
		var kept []map[string]string
		for _, row := range readRows(form, list) {
			if !blank(row) {
				kept = append(kept, row)
			}
		}
		writeRows(form, list, kept)
	}
}

// chosen are the fields of a row that always hold one of their choices.
var chosen = map[string]bool{"type": true, "items": true, "from": true, "scope": true}

func blank(row map[string]string) bool {
	for field, value := range row {
		if !flags[field] && !chosen[field] && strings.TrimSpace(value) != "" {
			return false
		}
	}
	return true
}
