package views

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"

	"capstore/internal/i18n"
	"capstore/views/ui"
)

// Steps of writing a capability. A kind of which nothing can be checked or
// tried before it is published goes from writing to publishing.
const (
	StepKind    = "kind"
	StepWrite   = "write"
	StepCheck   = "check"
	StepPublish = "publish"
)

// triedKinds can be tried before they are published.
var triedKinds = []string{"code", "hook", "command", "mcp"}

func (a Author) tried() bool { return slices.Contains(triedKinds, a.Kind) }

// steps are those of the form of the kind.
func (a Author) steps() []string {
	if a.tried() {
		return []string{StepWrite, StepCheck, StepPublish}
	}
	return []string{StepWrite, StepPublish}
}

// fieldStep is the step in which a field stands.
func fieldStep(name string) string {
	switch name {
	case "id", "tags", "visibility", "sharedWith", "version", "bump", "note":
		return StepPublish
	case "tryInput":
		return StepCheck
	}
	return StepWrite
}

// faulty reports whether something in the step is wrong.
func (a Author) faulty(step string) bool {
	for name := range a.Form.Errors {
		if name != "" && fieldStep(name) == step {
			return true
		}
	}
	return false
}

// FirstStep is the step to show: the first in which something is wrong, else
// the one that the form is at.
func (a Author) FirstStep() string {
	steps := a.steps()
	for _, step := range steps {
		if a.faulty(step) {
			return step
		}
	}
	if at := a.Form.Value("step", StepWrite); slices.Contains(steps, at) {
		return at
	}
	return StepWrite
}

func (a Author) shows(step string) bool { return a.Step == step || a.faulty(step) }

// next is the operation that goes on from the step that is shown.
func (a Author) next() string {
	steps := a.steps()
	if at := slices.Index(steps, a.Step); at >= 0 && at+1 < len(steps) {
		return stepOp(steps[at+1])
	}
	return OpPublish
}

// previous is the operation that goes back, "" from the first step.
func (a Author) previous() string {
	if at := slices.Index(a.steps(), a.Step); at > 0 {
		return stepOp(a.steps()[at-1])
	}
	return ""
}

func stepOp(step string) string { return OpStep + ":" + step }

// allSteps are those of the line at the head of the page.
func (a Author) allSteps() []string {
	if a.Base != nil {
		return a.steps()
	}
	return append([]string{StepKind}, a.steps()...)
}

func (a Author) stepAttrs(step string) templ.Attributes {
	attrs := templ.Attributes{"class": "step", "type": "submit", "name": "op", "value": stepOp(step)}
	if step == a.Step {
		attrs["aria-current"] = "step"
	}
	return attrs
}

// AuthorDraft is what keeps a form that is being written.
type AuthorDraft struct {
	ID, Tab  string
	Revision string // "" while nothing was kept
	// SavedAt is when the form was kept just now; zero when it was not.
	SavedAt time.Time
	// Left are the fields from which a secret was left out.
	Left    []string
	Changed string // where the draft is as somebody else saved it since
	Gone    bool   // it was published or discarded elsewhere
	Trouble string // why else it could not be kept
}

// troubled reports whether the draft needs its writer.
func (d *AuthorDraft) troubled() bool {
	return d != nil && (d.Changed != "" || d.Gone || d.Trouble != "" || len(d.Left) > 0)
}

func (d *AuthorDraft) fields() map[string]string {
	return map[string]string{"draft": d.ID, "draftTab": d.Tab, "draftRevision": d.Revision}
}

// leftFields are links to the fields from which something was left out.
func (d *AuthorDraft) leftFields(ctx context.Context) []ui.SummaryItem {
	var out []ui.SummaryItem
	for _, name := range d.Left {
		out = append(out, ui.SummaryItem{FieldID: ui.FieldID(name), Text: fieldLabel(ctx, name)})
	}
	return out
}

// fieldLabels are the keys of what fields are called that are long enough to
// hold a secret, those of lists by the list.
var fieldLabels = map[string]string{
	"description": "author.description", "note": "author.note", "tryInput": "author.try_input", "tryArguments": "author.try_arguments",
	"spec.code": "author.code", "spec.parametersSchema": "author.schema", "spec.instructions": "author.instructions", "spec.raw": "author.instructions",
	"spec.url": "author.url", "spec.args": "author.args", "spec.template": "author.template", "spec.preset": "author.preset", "files.text": "author.file_content",
	"spec.env": "author.env", "spec.examples": "author.examples", "spec.settings": "author.settings", "spec.requiredSecrets": "author.secrets",
	"spec.metadata": "author.metadata", "schema.rows": "author.parameters",
}

// fieldLabel is what a field is called, with the number of its row in a list.
func fieldLabel(ctx context.Context, name string) string {
	if key := fieldLabels[name]; key != "" {
		return i18n.T(ctx, key)
	}
	parts := strings.Split(name, ".")
	if len(parts) == 4 {
		row, err := strconv.Atoi(parts[2])
		if key := fieldLabels[parts[0]+"."+parts[1]]; key != "" && err == nil {
			return i18n.T(ctx, "draft.left_row", "list", i18n.T(ctx, key), "n", row+1)
		}
	}
	return name
}

// quiet is the form without what is said of its draft at the head of the page
// already.
func (a Author) quiet() Author {
	if a.Draft != nil {
		d := *a.Draft
		d.Changed, d.Gone, d.Trouble, d.Left = "", false, "", nil
		a.Draft = &d
	}
	return a
}

// Drafts is what a member has not published yet.
type Drafts struct {
	Workspace string
	Items     []DraftLink
	// Discard is the draft that the reader is asked about; "" for none.
	Discard string
}

// DraftLink is one draft in the list.
type DraftLink struct {
	ID      string
	Kind    string
	Name    string // "" while it has none
	Version string // of what it is the next one; "" for something new
	Href    string
	At      time.Time
}

// Discarding reports whether the draft that the reader is asked about is in the
// list.
func (d Drafts) Discarding() bool {
	return slices.ContainsFunc(d.Items, func(one DraftLink) bool { return one.ID == d.Discard })
}

func (d Drafts) discarding() DraftLink {
	for _, one := range d.Items {
		if one.ID == d.Discard {
			return one
		}
	}
	return DraftLink{}
}
