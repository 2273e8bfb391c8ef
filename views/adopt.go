package views

import (
	"context"
	"strconv"
	"strings"

	"capstore/internal/i18n"
	"capstore/views/ui"
)

// Adopt is the page on which a version is adopted, or the pin moved to it.
type Adopt struct {
	Workspace string
	Source    string
	ID        string
	Kind      string
	Name      string
	Version   string
	Digest    string
	// Pinned is what the workspace has now; "" for a first adoption.
	Pinned   string
	DiffHref string // of pinned → this version; "" without a pin

	Powers  []EffectLine // what it will be able to do, for a first adoption
	Effects []EffectLine // what moving the pin changes
	Reads   bool         // nothing of it writes

	Secrets  []AdoptSecret
	Settings []AdoptSetting
	Hosts    []AdoptChoice
	Writes   []AdoptChoice // tools that change something
	Classes  []AdoptClass  // tools whose class the adopter confirms

	// Consent is there for code of another workspace: what is agreed to.
	Consent   *AdoptConsent
	Form      Form
	Reason    string // why it cannot be adopted, and who can; "" when it can
	UnadoptOK bool   // an adoption is there, and the reader may end it
}

// nothingKey is the text for a version that brings nothing to decide on.
func (a Adopt) nothingKey() string {
	if a.DiffHref != "" {
		return "versions.words_only"
	}
	return "adopt.no_powers"
}

// AdoptConsent is the exact source that an adopter agrees to.
type AdoptConsent struct {
	Language string
	Code     string
	Given    bool // the workspace agreed to this digest before
}

// AdoptSecret is a declared secret with what it can be bound to.
type AdoptSecret struct {
	Name        string
	Description string
	Options     []ui.Option
	Field       ui.Field // of the choice
	New         ui.Field // of a value made in place
}

// AdoptSetting is a variable that the adopter fills in.
type AdoptSetting struct {
	Field ui.Field
	Value string
}

// AdoptChoice is one thing that the adopter may allow.
type AdoptChoice struct {
	Value   string
	Checked bool
}

// AdoptClass is one tool with the author's word on it.
type AdoptClass struct {
	Tool  string
	Field ui.Field
	Read  bool
}

// primary is the word on the page's one button.
func (a Adopt) primary() string {
	switch a.Pinned {
	case "":
		return "adopt.submit"
	case a.Version:
		return "adopt.save"
	}
	return "adopt.repin"
}

// choiceField is a box of several under one name, each with an id of its own.
func choiceField(name string, i int, label string) ui.Field {
	return ui.Field{Name: name, ID: ui.FieldID(name) + "-" + strconv.Itoa(i), Label: label, Optional: true}
}

func classOptions(ctx context.Context, read bool) []ui.Option {
	return []ui.Option{
		{Value: "read", Label: i18n.T(ctx, "adopt.class_read"), Selected: read},
		{Value: "write", Label: i18n.T(ctx, "adopt.class_write"), Selected: !read},
	}
}

// shortDigest is enough of a digest for eyes to compare.
func shortDigest(digest string) string {
	_, hex, ok := strings.Cut(digest, ":")
	if !ok || len(hex) < 12 {
		return digest
	}
	return hex[:12]
}

// pin names the exact version.
func (a Adopt) pin() string { return a.Source + "/" + a.ID + "@" + a.Version }
