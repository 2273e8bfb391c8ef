package intake

import (
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/interchange"
)

// Report is an import as programs read it. The numbers add up: found is made,
// unchanged, refused and ignored together.
type Report struct {
	Found     int                `json:"found"`
	Made      int                `json:"made"`
	Repaired  int                `json:"repaired" doc:"Of those made or unchanged, how many had to be mended to be read."`
	Unchanged int                `json:"unchanged"`
	Refused   int                `json:"refused"`
	Ignored   int                `json:"ignored"`
	Items     []ReportItem       `json:"items"`
	Notes     []interchange.Note `json:"notes" doc:"About the whole, such as junk left out."`
}

// ReportItem is one thing that was found.
type ReportItem struct {
	Path        string              `json:"path"`
	Format      string              `json:"format,omitempty"`
	Kind        string              `json:"kind,omitempty"`
	Status      string              `json:"status" enum:"made,unchanged,refused,ignored"`
	ID          string              `json:"id,omitempty"`
	Version     string              `json:"version,omitempty"`
	Follows     string              `json:"follows,omitempty" doc:"The latest version before this one."`
	Name        string              `json:"name,omitempty"`
	Description string              `json:"description,omitempty"`
	Digest      string              `json:"digest,omitempty"`
	Repaired    bool                `json:"repaired"`
	Notes       []interchange.Note  `json:"notes"`
	Effects     []capability.Effect `json:"effects,omitempty" doc:"In a preview: what it changes for those who use the version before."`
	Secrets     []string            `json:"secrets,omitempty" doc:"Literal secrets that were found in it, by the name under which it declares them. The values are kept nowhere."`
	Wants       []string            `json:"wants,omitempty" doc:"What would make a refused one possible if it were supplied."`
	Code        string              `json:"code,omitempty" doc:"Why it was refused."`
	Message     string              `json:"message,omitempty"`
	Action      string              `json:"action,omitempty"`
	Errors      []fault.Field       `json:"errors,omitempty"`
}

// NewReport returns the report of an import that nothing was read of yet.
func NewReport(notes []interchange.Note) *Report {
	return &Report{Items: []ReportItem{}, Notes: append([]interchange.Note{}, notes...)}
}

// Add takes an outcome in.
func (r *Report) Add(o Outcome) { r.Items = append(r.Items, Line(o)) }

// Count takes the numbers in.
func (r *Report) Count(c Counts) {
	r.Found, r.Made, r.Unchanged, r.Refused, r.Ignored, r.Repaired = c.Found, c.Made, c.Unchanged, c.Refused, c.Ignored, c.Repaired
}

// Line is an outcome without the content, and without the values of secrets.
func Line(o Outcome) ReportItem {
	out := ReportItem{
		Path: o.Item.Path, Format: string(o.Item.Format), Kind: string(o.Item.Kind), Status: string(o.Status),
		ID: o.ID, Version: o.Version, Follows: o.Follows, Name: o.Item.Content.Name, Description: o.Item.Content.Description,
		Digest: o.Digest, Repaired: o.Item.Repaired, Notes: append([]interchange.Note{}, o.Item.Notes...), Effects: o.Effects,
	}
	for _, s := range o.Item.Secrets {
		out.Secrets = append(out.Secrets, s.Name)
	}
	if o.Status != Refused {
		return out
	}
	for _, w := range o.Item.Wants {
		out.Wants = append(out.Wants, string(w))
	}
	out.Code, out.Message, out.Action, out.Errors = o.Fault.Code, o.Fault.Message, o.Fault.Action, o.Fault.Fields
	return out
}
