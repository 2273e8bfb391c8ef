package views

import (
	"context"

	"capstore/internal/i18n"
	"capstore/views/ui"
)

// CapabilityFiles is what a skill carries, with one file opened.
type CapabilityFiles struct {
	Rows       []FileRow
	Path       string // of the opened one
	Size       int    // in bytes
	Text       string
	Language   string // as the colouring names it, "" for plain text
	Executable bool
	Image      bool // a picture that a page may show
	Binary     bool // nothing that can be read
}

// readable reports whether the opened file is shown as text, under its name.
func (f CapabilityFiles) readable() bool { return !f.Image && !f.Binary }

// FileRow is one file in the list.
type FileRow struct {
	Path       string
	Size       int
	Executable bool
}

func (f FileRow) icon() ui.IconName {
	if f.Executable {
		return ui.IconPlay
	}
	return ui.IconFile
}

func parameterColumns(ctx context.Context) []ui.Column {
	return []ui.Column{
		{Label: i18n.T(ctx, "detail.parameter")}, {Label: i18n.T(ctx, "detail.parameter_type")}, {Label: i18n.T(ctx, "detail.parameter_text")},
	}
}
