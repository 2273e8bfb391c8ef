package identity

import (
	"net/mail"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/i18n"
)

const (
	maxEmail    = 254 // RFC 5321's path, less its brackets
	minPassword = 10
	maxPassword = 256
)

// Themes that a person may choose; "" leaves it to the system.
var Themes = []string{"", "light", "dark"}

var hintPattern = regexp.MustCompile(`^[a-z0-9._-]{1,64}$`)

// input collects the faults of one form.
type input struct{ fields []fault.Field }

func (in *input) fault(path, code, message string) {
	in.fields = append(in.fields, fault.Field{Path: path, Code: code, Message: message})
}

func (in *input) err() error { return fault.Fields(in.fields) }

// email returns the form under which an address is stored and looked up:
// lower case, since no server that matters tells the cases apart.
func (in *input) email(raw string) string {
	email := foldEmail(raw)
	parsed, err := mail.ParseAddress(email)
	switch {
	case email == "":
		in.fault("/email", "required", "An e-mail address is needed.")
	case err != nil || parsed.Address != email || parsed.Name != "" || !plain(email) || len(email) > maxEmail:
		in.fault("/email", "bad_email", "This does not read as an e-mail address, such as ada@example.com.")
	}
	return email
}

func foldEmail(raw string) string { return strings.ToLower(norm.NFC.String(strings.TrimSpace(raw))) }

// name returns a name as it is stored: NFC, without spaces around it.
func (in *input) name(path, label, raw string) string {
	name := norm.NFC.String(strings.TrimSpace(raw))
	switch {
	case name == "":
		in.fault(path, "required", label+" needs a name.")
	case !plain(name):
		in.fault(path, "control_characters", "A name is one line of plain text, without control or direction characters.")
	case utf8.RuneCountInString(name) > capability.MaxName:
		in.fault(path, "too_long", "A name has at most 64 characters.")
	}
	return name
}

// plain reports whether s is one line of text that hides nothing: cleaning it
// as an importer would changes no more than its spacing.
func plain(s string) bool {
	return !strings.ContainsFunc(s, unicode.IsControl) &&
		strings.Join(strings.Fields(s), " ") == capability.PlainText(s)
}

// password returns the password as it is hashed: NFC, so that one typed on
// another keyboard is the same.
func (in *input) password(path, raw string) string {
	switch n := utf8.RuneCountInString(raw); {
	case n < minPassword:
		in.fault(path, "too_short", "A password has at least 10 characters.")
	case n > maxPassword:
		in.fault(path, "too_long", "A password has at most 256 characters.")
	case !utf8.ValidString(raw):
		in.fault(path, "bad_text", "A password is text.")
	}
	return norm.NFC.String(raw)
}

func (in *input) oneOf(path, value string, allowed []string) {
	if !slices.Contains(allowed, value) {
		in.fault(path, "unknown_choice", "This is none of the choices.")
	}
}

// locale takes what there are texts for; "" leaves it to the browser.
func (in *input) locale(value string) {
	known := func(language [2]string) bool { return language[0] == value }
	if value != "" && !slices.ContainsFunc(i18n.Languages(), known) {
		in.fault("/locale", "unknown_choice", "There are no texts in this language.")
	}
}

func (in *input) role(role capability.Role) {
	if !slices.Contains(capability.Roles, role) {
		in.fault("/role", "unknown_choice", "A role is viewer, member or admin.")
	}
}
