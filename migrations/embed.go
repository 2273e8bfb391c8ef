// Package migrations holds the numbered SQL that builds the schema. goose
// applies it at start, and sqlc reads the same files as its schema.
package migrations

import "embed"

// FS holds every migration, named NNNNN_what.sql.
//
//go:embed *.sql
var FS embed.FS
