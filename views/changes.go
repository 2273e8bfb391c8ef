package views

import (
	"context"

	"capstore/internal/i18n"
	"capstore/views/ui"
)

// Change is one difference of two versions of something, in words.
type Change struct {
	Part   string // what differs, in words
	Path   string // where within it, such as capabilities/acme/unit-convert; "" for the part itself
	Op     string // added, removed, changed or renamed
	Before string // "" where it was not
	After  string // "" where it is no more
	// Notes say what is no difference of words: another name, another size,
	// other ends of lines.
	Notes []string
	// Lines is how a long text differs; nil for all else.
	Lines *LineChange
}

// name says to screen readers what a text is of.
func (c Change) name() string {
	if c.Path == "" {
		return c.Part
	}
	return c.Part + " " + c.Path
}

var changeTones = map[string]ui.Tone{"added": ui.Success, "removed": ui.Danger, "changed": ui.Neutral}

func (c Change) badge(ctx context.Context) ui.BadgeArgs {
	return ui.BadgeArgs{Label: i18n.T(ctx, "change.op_"+c.Op), Tone: changeTones[c.Op]}
}
