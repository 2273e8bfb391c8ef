package capability

import (
	"net/url"
	"regexp"
	"strings"
)

// What is published can be read by whoever may see it, and an argument by every
// process of the machine: a secret in either is refused while it is not yet
// stored. The rules below are for what is plainly one; a text that only might
// be is left alone.
var (
	// knownToken are the shapes that issuers give their tokens.
	knownToken = regexp.MustCompile(`(?:^|[^A-Za-z0-9])(?:(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]|sk-[A-Za-z0-9_-]{16}|gh[pousr]_[A-Za-z0-9]{16}|` +
		`github_pat_[A-Za-z0-9]|glpat-[A-Za-z0-9_-]{16}|xox[abprs]-[A-Za-z0-9]|A(?:KIA|SIA)[0-9A-Z]{16}|AIza[0-9A-Za-z_-]{30}|` +
		`npm_[A-Za-z0-9]{30}|hf_[A-Za-z0-9]{30}|cap_[A-Za-z0-9_-]{40}|eyJ[A-Za-z0-9_-]{10,}\.eyJ)|-----BEGIN [A-Z ]*PRIVATE KEY`)
	// credentialWord ends the names of options and variables that hold one.
	credentialWord = regexp.MustCompile(`(?i)(?:^|[-_.])(?:token|tok|secret|password|passwd|pwd|credentials?|api[-_]?key|access[-_]?key|secret[-_]?key|private[-_]?key|client[-_]?secret)$`)
	assignment     = regexp.MustCompile(`^(-{0,2}[A-Za-z][A-Za-z0-9_.-]*)=(.+)$`)
	userInfo       = regexp.MustCompile(`[a-z][a-z0-9+.-]*://[^/\s:@]*:([^/\s@]+)@`)
	// standIn is what stands where a value goes, such as ${NAME}, {setting} or
	// <name>, and what is none: a path, a small number, a switch.
	standIn = regexp.MustCompile(`^(?:\$.*|\{.*\}|<.*>|\*+|x+|/.*|\d{1,9}|true|false)$`)
)

// HoldsSecret reports whether the text, standing alone, plainly holds a secret:
// a token by its shape, an address with a password, or NAME=value where the
// name is that of a credential.
func HoldsSecret(text string) bool {
	if knownToken.MatchString(text) {
		return true
	}
	for _, m := range userInfo.FindAllStringSubmatch(text, -1) {
		if !standIn.MatchString(m[1]) {
			return true
		}
	}
	m := assignment.FindStringSubmatch(text)
	return m != nil && NamesCredential(m[1]) && !standIn.MatchString(m[2])
}

// NamesCredential reports whether an option or a variable of this name plainly
// holds a secret.
func NamesCredential(name string) bool {
	return credentialWord.MatchString(strings.TrimLeft(name, "-"))
}

// literalSecrets returns the places of the arguments that hold a secret: by
// themselves, or as the value of the option before.
func literalSecrets(args []string) []int {
	var out []int
	for i, arg := range args {
		option := i > 0 && strings.HasPrefix(args[i-1], "-") && NamesCredential(args[i-1])
		if HoldsSecret(arg) || option && arg != "" && !strings.HasPrefix(arg, "-") && !standIn.MatchString(arg) {
			out = append(out, i)
		}
	}
	return out
}

// secretInQuery names the parameter of an address that holds a secret, "" for
// none.
func secretInQuery(u *url.URL) string {
	query := u.Query()
	for _, name := range sortedKeys(query) {
		for _, v := range query[name] {
			if v != "" && !standIn.MatchString(v) && (NamesCredential(name) || knownToken.MatchString(v)) {
				return name
			}
		}
	}
	return ""
}
