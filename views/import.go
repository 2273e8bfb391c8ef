package views

import (
	"context"

	"github.com/a-h/templ"

	"capstore/internal/i18n"
	"capstore/views/ui"
)

// Import is where skills come in from files: first the choice of what to read,
// then what was found, then what became of it.
type Import struct {
	Workspace     string
	WorkspaceName string
	Form          Form
	Reason        string // why the reader cannot publish and who can; "" when he can
	PublicReason  string
	Targets       []Workspace
	// Found is what was read; nil before anything was.
	Found *ImportFound
	// Results is what became of the chosen ones; nil before they are published.
	Results []ImportResult
}

// ImportFound is all that was found, and the bytes that it was found in.
type ImportFound struct {
	Carried string // the upload, to be sent along
	Name    string // of the uploaded file
	Items   []ImportItem
	Notes   []ImportNote // about the whole
}

// ImportItem is one SKILL.md that was found.
type ImportItem struct {
	Path        string
	Status      string // ready, refused or ignored
	Repaired    bool
	Name        string
	Description string
	ID          string
	Files       int
	// Existing is the version that is there already, which this one follows.
	Existing string
	Reason   string // why it was refused
	Faults   []string
	Notes    []ImportNote
}

// ImportNote is something that was tolerated, changed or left out.
type ImportNote struct {
	Path   string
	Text   string
	Detail string
}

// ImportResult is what became of one chosen skill.
type ImportResult struct {
	Status string // made, unchanged or refused
	Name   string
	Ref    string
	Href   string // "" when there is nothing to see
	Text   string // why it was refused
	Reach  string
}

func (f ImportFound) with(status string) []ImportItem {
	var out []ImportItem
	for _, item := range f.Items {
		if item.Status == status {
			out = append(out, item)
		}
	}
	return out
}

// any reports whether one of the ready items would be new: only those take a
// reach.
func (f ImportFound) anyNew() bool {
	for _, item := range f.with("ready") {
		if item.Existing == "" {
			return true
		}
	}
	return false
}

func (v Import) count(status string) int {
	n := 0
	for _, r := range v.Results {
		if r.Status == status {
			n++
		}
	}
	return n
}

func (v Import) field(ctx context.Context, name, key string) ui.Field {
	f := v.Form.Field(name, i18n.T(ctx, "import."+key))
	f.Help, f.Optional, f.Unmarked = i18n.T(ctx, "import."+key+"_help"), true, true
	return f
}

func (v Import) reaches(ctx context.Context) []ui.Option {
	options := ReachOptions(ctx, v.Form.Value("visibility", "private"), v.WorkspaceName, v.PublicReason)
	if len(v.Targets) == 0 {
		options[2].Reason = i18n.T(ctx, "author.no_targets")
	}
	return options
}

// choose is the box by which one found skill is published or not.
func (v Import) choose(i int, item ImportItem) ui.CheckboxArgs {
	f := choiceField("path", i, item.Name)
	f.Help = item.Description
	return ui.CheckboxArgs{Field: f, Value: item.Path, Checked: v.Form.Has("path", item.Path, true)}
}

func fileInput(accept string) templ.Attributes { return templ.Attributes{"accept": accept} }

// folderInput takes a whole folder, which browsers know by this old name.
func folderInput() templ.Attributes {
	return templ.Attributes{"webkitdirectory": true, "multiple": true}
}

var importTones = map[string]ui.Tone{"made": ui.Success, "unchanged": ui.Neutral, "refused": ui.Danger}
