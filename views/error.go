package views

import (
	"context"
	"strings"

	"capstore/internal/fault"
	"capstore/internal/i18n"
)

func (t Trouble) link() string {
	if t.Link == "" {
		return HomePath()
	}
	return t.Link
}

func (t Trouble) linkLabel(ctx context.Context) string {
	if t.LinkLabel == "" {
		return i18n.T(ctx, "error.home")
	}
	return t.LinkLabel
}

// TroubleOf turns an error into what its page says, in the reader's language
// where the catalogues have the fault's code, else in the fault's own words.
func TroubleOf(l i18n.Locale, err error, reference string) Trouble {
	f := fault.From(err)
	t := Trouble{Kind: string(f.Kind), Message: FaultText(l, f), Action: FaultAction(l, f), Reference: reference}
	for _, field := range f.Fields {
		t.Fields = append(t.Fields, FieldText(l, field))
	}
	return t
}

// FaultText is the fault's message in the reader's language: fault.<code> of
// the catalogues, filled from the fault's Detail, else its own message.
func FaultText(l i18n.Locale, f *fault.Fault) string {
	return l.Or("fault."+f.Code, f.Message, f.Detail)
}

// FaultAction is what to do about it: fault.<code>.action of the catalogues,
// else the fault's own words. It may be empty.
func FaultAction(l i18n.Locale, f *fault.Fault) string {
	return l.Or("fault."+f.Code+".action", f.Action, f.Detail)
}

// FieldText is the message of one faulty field in the reader's language:
// fault.field.<field>.<code> of the catalogues, which knows what the field
// takes, else fault.field.<code>, else the fault's own words.
func FieldText(l i18n.Locale, f fault.Field) string {
	field := f.Path[strings.LastIndexByte(f.Path, '/')+1:]
	return l.Or("fault.field."+field+"."+f.Code, l.Or("fault.field."+f.Code, f.Message, nil), nil)
}
