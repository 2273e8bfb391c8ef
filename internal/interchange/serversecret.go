package interchange

import (
	"regexp"
	"strings"
	"unicode"

	"capstore/internal/capability"
)

// What an importer takes for a secret is wider than what the kernel refuses: a
// setting that is kept like a secret costs its adopter nothing, and a secret
// that is published as a setting cannot be taken back.

// secretWord ends, or is, the names that may hold a credential.
var secretWord = regexp.MustCompile(`(?:^|_)(?:key|pat|auth|authorization|bearer|jwt|dsn|cookie|session|passphrase|pass|pin|cert|signature|salt|connection_string|(?:database|db|postgres|postgresql|mysql|mongo|mongodb|redis)_(?:url|uri)|webhook(?:_url)?|apikey|apitoken|accesstoken|authtoken|token_id)$`)

// namesSecret reports whether what is called that may be a secret.
func namesSecret(name string) bool {
	snake := snakeCase(name)
	return snake != "" && (capability.NamesCredential(snake) || secretWord.MatchString(snake))
}

// snakeCase spells apiKey, API-Key and "api key" as api_key.
func snakeCase(name string) string {
	var b strings.Builder
	var before rune
	for _, r := range name {
		switch {
		case unicode.IsUpper(r) && (unicode.IsLower(before) || unicode.IsDigit(before)):
			b.WriteByte('_')
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			r = '_'
		}
		b.WriteRune(unicode.ToLower(r))
		before = r
	}
	return strings.Trim(b.String(), "_")
}

var (
	opaqueWord = regexp.MustCompile(`^[A-Za-z0-9+_=~-]{24,}$`)
	uuid       = regexp.MustCompile(`^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
)

// holdsSecret reports whether a literal text is or may be a secret: plainly, or
// as a long word of letters and digits that nobody would write by hand.
func holdsSecret(text string) bool {
	text = strings.TrimSpace(text)
	if capability.HoldsSecret(text) {
		return true
	}
	if !opaqueWord.MatchString(text) || uuid.MatchString(text) {
		return false
	}
	digits, letters := 0, 0
	for _, r := range text {
		switch {
		case unicode.IsDigit(r):
			digits++
		case unicode.IsLetter(r):
			letters++
		}
	}
	return digits >= 4 && letters >= 4
}

// secretName makes the name under which a secret is declared; what is one
// already stays as it is.
func secretName(name string) string {
	if capability.ValidSecretName(name) {
		return name
	}
	out := strings.ToUpper(snakeCase(name))
	out = strings.Map(func(r rune) rune {
		if r < 'A' || r > 'Z' {
			if r != '_' && (r < '0' || r > '9') {
				return -1
			}
		}
		return r
	}, out)
	for strings.Contains(out, "__") {
		out = strings.ReplaceAll(out, "__", "_")
	}
	out = strings.TrimLeft(out, "_0123456789")
	if out == "" {
		return "SECRET"
	}
	return strings.TrimRight(out[:min(len(out), 60)], "_")
}

// ownName makes the name of a secret that the file does not name: the server's
// stands before it, so that those of several servers stay apart where they are
// kept.
func (m *maker) ownName(base string) string {
	base = secretName(base)
	own := secretName(m.content.Name)
	if m.content.Name == "" || own == "SECRET" || strings.HasPrefix(base, own+"_") {
		return base
	}
	return secretName(own[:min(len(own), 30)] + "_" + base)
}

// holeSecret names the secret of a placeholder. That of "your token" is the
// server's, and so is one whose name says nothing in the letters of a name.
func (m *maker) holeSecret(p *placeholder) string {
	name := secretName(p.name)
	if name == "SECRET" {
		return m.ownName(name)
	}
	if own, ok := strings.CutPrefix(name, "YOUR_"); ok && own != "" {
		return m.ownName(own)
	}
	return name
}

// settingName makes the name of a setting; what is one already stays as it is.
func settingName(name string) string {
	if variablePattern.MatchString(name) && !capability.ReservedVariable(name) {
		return name
	}
	var b strings.Builder
	for _, r := range name {
		if r != '_' && (r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r)) {
			r = '_'
		}
		b.WriteRune(r)
	}
	out := strings.Trim(b.String(), "_")
	if out == "" || unicode.IsDigit(rune(out[0])) {
		out = "S_" + out
	}
	if out = out[:min(len(out), 60)]; capability.ReservedVariable(out) {
		out += "_"
	}
	return out
}
