package capability

import (
	"regexp"
	"strings"
)

// SecretMark stands where WithoutSecrets took a secret out.
const SecretMark = "[secret]"

var (
	privateKey = regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY(?s:.*?)(?:-----END [A-Z ]*PRIVATE KEY-----|\z)`)
	// wholeToken is a known token to its end, with the character before it.
	wholeToken = regexp.MustCompile(`(?:` + knownToken.String() + `)[A-Za-z0-9_.+/=-]*`)
	wholeLine  = regexp.MustCompile(`[^\n]+`)
	inQuery    = regexp.MustCompile(`([?&])([A-Za-z0-9_.-]+)=([^&#\s]+)`)
)

// WithoutSecrets returns the text with a mark in the place of everything in it
// that is plainly a secret, by the rules of HoldsSecret for each of its lines,
// and whether there was any.
func WithoutSecrets(text string) (string, bool) {
	out := privateKey.ReplaceAllString(text, SecretMark)
	out = wholeToken.ReplaceAllStringFunc(out, func(found string) string {
		if !isAlphanumeric(found[0]) {
			return found[:1] + SecretMark
		}
		return SecretMark
	})
	out = wholeLine.ReplaceAllStringFunc(out, lineWithoutSecrets)
	return out, out != text
}

func lineWithoutSecrets(line string) string {
	line = userInfo.ReplaceAllStringFunc(line, func(address string) string {
		password := userInfo.FindStringSubmatch(address)[1]
		if standIn.MatchString(password) {
			return address
		}
		return strings.TrimSuffix(address, password+"@") + SecretMark + "@"
	})
	line = inQuery.ReplaceAllStringFunc(line, func(pair string) string {
		m := inQuery.FindStringSubmatch(pair)
		if NamesCredential(m[2]) && !standIn.MatchString(m[3]) {
			return m[1] + m[2] + "=" + SecretMark
		}
		return pair
	})
	if m := assignment.FindStringSubmatch(line); m != nil && NamesCredential(m[1]) && !standIn.MatchString(m[2]) {
		return m[1] + "=" + SecretMark
	}
	return line
}
