package views

import (
	"context"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"capstore/internal/i18n"
	"capstore/views/ui"
)

// FilesForm is the part of a form in which the files of a skill or hook are
// written. One of them may be open.
type FilesForm struct {
	Action string
	Tree   []FileNode
	Count  int
	Size   int64  // bytes in all
	List   string // the list itself, as the form carries it
	Open   *OpenFile
	Notes  []string // on what was uploaded
	Whole  string   // what is wrong with the files together
	Upload ui.Field // with what is wrong with an upload
}

// OpenFile is the file of a form that can be changed.
type OpenFile struct {
	Row   int
	Path  string
	Run   bool
	Error string
	// Typed says that the content is text that is edited in place; Shown is how
	// it reads then, nil for what reads as it is written, else the picture or the
	// rest.
	Typed  bool
	Text   string
	Editor string // the language in which it is coloured
	Shown  *FilePreview
	Raw    string // where the stored content is handed over
	Gone   bool   // nothing is known of its content any more
}

// Document is a skill's SKILL.md in the form: what a model reads of it, and
// what had to be tolerated to read the file.
type Document struct {
	AsFile     bool   // it is written as the file, not by fields
	Kept       string // names the file that the fields were read from; "" for the base's
	Lead       string
	LeadTokens int
	Text       string
	TextTokens int
	Notes      []string
	Repaired   string // the front matter as it had to be read
}

// Fields of the form that carry files and document.
const (
	FilesList      = "files.list"
	FilesOpen      = "files.open"
	FilesPath      = "files.path"
	FilesRun       = "files.run"
	FilesText      = "files.text"
	FilesInto      = "files.into"
	DocumentMode   = "doc"
	DocumentAsFile = "file" // the value of DocumentMode
	DocumentRaw    = "spec.raw"
	DocumentKept   = "doc.kept" // names the file that the fields were read from
	DocumentSent   = "doc.sent" // a SKILL.md that was uploaded
)

// What a button of the files does.
const (
	FileNew     = "new"
	FileOpen    = "open"
	FileRemove  = "remove"
	FileReplace = "replace"
	FileUpload  = "upload"
)

// Operations that change how the SKILL.md is written.
const (
	OpDocumentFile   = "doc:file"
	OpDocumentFields = "doc:fields"
)

const opFile = "file:"

// OpFile is the operation of a button of the files; at is its file, where it
// has one.
func OpFile(what string, at int) string { return opFile + what + ":" + strconv.Itoa(at) }

// FileOp takes an operation apart: what it does and with which file, -1 for
// none. What is no operation of the files is "".
func FileOp(op string) (what string, at int) {
	rest, ok := strings.CutPrefix(op, opFile)
	if !ok {
		return "", -1
	}
	what, number, _ := strings.Cut(rest, ":")
	at, err := strconv.Atoi(number)
	if err != nil || at < 0 {
		at = -1
	}
	return what, at
}

// IsFileOp reports whether the operation is one of the files.
func IsFileOp(op string) bool { return strings.HasPrefix(op, opFile) }

// IsDocumentOp reports whether the operation changes how the SKILL.md is
// written.
func IsDocumentOp(op string) bool { return op == OpDocumentFile || op == OpDocumentFields }

// FileID is where a file stands in the tree of the form; faults lead there.
func FileID(at int) string { return ui.FieldID(RowName("spec.files", at, "path")) }

// button is a button of the files, which replaces them alone.
func (f FilesForm) button(what string, at int, label string, icon ui.IconName) ui.ButtonArgs {
	action := f.Action + "#" + filesRoot
	return ui.ButtonArgs{
		Label: label, Icon: icon, Small: true, Name: "op", Value: OpFile(what, at),
		Attrs: ui.Merge(templ.Attributes{"formaction": action}, filesSwap(f.Action)),
	}
}

// sender is a button that sends files along, which takes the whole form.
func (f FilesForm) sender(what string, at int, label string) ui.ButtonArgs {
	b := f.button(what, at, label, ui.IconUpload)
	b.Attrs = templ.Attributes{"formaction": f.Action + "#" + filesRoot}
	return b
}

func (f FilesForm) remove(ctx context.Context) ui.ButtonArgs {
	b := f.button(FileRemove, f.Open.Row, i18n.T(ctx, "files.remove"), ui.IconTrash)
	b.Variant = ui.Ghost
	return b
}

// hidden is what the form carries unseen.
func (f FilesForm) hidden() map[string]string {
	out := map[string]string{FilesList: f.List}
	if f.Open != nil {
		out[FilesOpen] = strconv.Itoa(f.Open.Row)
	}
	return out
}

func (f FilesForm) upload(ctx context.Context) ui.Field {
	field := f.Upload
	field.Label, field.Optional, field.Unmarked = i18n.T(ctx, "files.upload"), true, true
	return field
}

// optionalNamed is a field that is clearly there for who wants it.
func optionalNamed(name, label string) ui.Field {
	return ui.Field{Name: name, Label: label, Optional: true, Unmarked: true}
}

// emptyKey says what to do where no file is open.
func (f FilesForm) emptyKey() string {
	if f.Count == 0 {
		return "files.none"
	}
	return "files.choose"
}

// documentField is the whole SKILL.md, with the faults of its text.
func (a Author) documentField(ctx context.Context) ui.Field {
	field := a.Form.Field(DocumentRaw, "SKILL.md")
	field.ID, field.Help = ui.FieldID("spec.instructions"), i18n.T(ctx, "files.as_file_help")
	if field.Error == "" {
		field.Error = a.Form.Errors["spec.instructions"]
	}
	return field
}

// givenByFile keeps a field from being typed in whose text stands in the
// SKILL.md.
func (a Author) givenByFile() templ.Attributes {
	if a.Document.AsFile {
		return templ.Attributes{"readonly": true}
	}
	return nil
}

// hidden is what the form carries of the document unseen.
func (d Document) hidden() map[string]string {
	out := map[string]string{}
	if d.AsFile {
		out[DocumentMode] = DocumentAsFile
	}
	if d.Kept != "" {
		out[DocumentKept] = d.Kept
	}
	return out
}
