package capability

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"capstore/internal/fault"
	"capstore/internal/jsonx"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Limits on names, in characters.
const (
	MaxName        = 64
	MaxDescription = 1024
	MaxTags        = 20
	MaxTag         = 60
	maxID          = 63
)

var (
	idPattern     = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`)
	slugPattern   = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{1,38}$`)
	secretPattern = regexp.MustCompile(`^[A-Z][A-Z0-9_]{0,63}$`)
)

// ValidID reports whether s may be a capability's id.
func ValidID(s string) bool { return idPattern.MatchString(s) }

// ValidSecretName reports whether s may name a secret.
func ValidSecretName(s string) bool { return secretPattern.MatchString(s) }

// IDFromName makes the id of a capability whose author gave none. It is
// deterministic, always valid and never empty. Where letters are lost (a
// Korean name, say) a digest of the name keeps different ones apart.
func IDFromName(name string) string {
	var b strings.Builder
	lost := false
	for _, r := range norm.NFKD.String(cases.Fold().String(name)) {
		switch {
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
			b.WriteRune(r)
		case r == '\'' || r == '’' || unicode.Is(unicode.Mn, r) && r < 0x370:
			// An apostrophe or accent leaves the letter that carried it.
		default:
			lost = lost || !isSeparator(r)
			if s := b.String(); s != "" && !strings.HasSuffix(s, "-") {
				b.WriteByte('-')
			}
		}
	}
	id := strings.Trim(b.String(), "-")
	if !lost && id != "" {
		return strings.TrimRight(id[:min(len(id), maxID)], "-")
	}
	suffix := shortDigest(8, name)
	if id == "" {
		return "c-" + suffix
	}
	return strings.TrimRight(id[:min(len(id), maxID-9)], "-") + "-" + suffix
}

func isSeparator(r rune) bool {
	return r < utf8.RuneSelf || unicode.IsSpace(r) || unicode.IsPunct(r)
}

// shortDigest is the first n hexadecimal digits of a SHA-256 over the parts.
// Each part is led by its length, so ("a", "bc") and ("ab", "c") differ.
func shortDigest(n int, parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil))[:n]
}

// reservedSlugs are the first path segments that routes use, now or likely,
// and the owners that no workspace may claim.
var reservedSlugs = []string{
	"_capstore", "about", "account", "admin", "api", "assets", "auth", "capstore", "chat", "debug", "demo", "docs",
	"drafts", "health", "healthz", "help", "import", "invite", "left", "login", "logout", "mcp", "me", "metrics", "mine",
	"new", "oauth", "oidc", "openapi", "private", "readyz", "register", "registry", "settings", "setup", "signin",
	"signout", "signup", "static", "status", "steps", "store", "unlisted", "version", "well-known", "workspaces", "www",
}

// ValidSlug returns what is wrong with a workspace's slug, under /slug; nil
// when it may be taken.
func ValidSlug(slug string) []fault.Field {
	switch {
	case slug == "":
		return []fault.Field{{Path: "/slug", Code: "required", Message: "A workspace needs a short name for its address."}}
	case slices.Contains(reservedSlugs, strings.ToLower(slug)):
		return []fault.Field{{Path: "/slug", Code: "reserved", Message: fmt.Sprintf("%q is kept for the server's own addresses; choose another.", slug)}}
	case !slugPattern.MatchString(slug):
		return []fault.Field{{
			Path: "/slug", Code: "bad_slug",
			Message: "Use 2 to 39 lower-case letters, digits and hyphens, with a letter or digit first.",
		}}
	}
	return nil
}

// NormalizeTags trims the tags, drops empty ones and repetitions (whatever
// their case; the first spelling stays) and keeps their order. Faults stand
// under /tags, indexed as the tags were given.
func NormalizeTags(tags []string) ([]string, []fault.Field) {
	var f faults
	out, seen := []string{}, map[string]bool{}
	for i, raw := range tags {
		tag := strings.TrimSpace(raw)
		if tag == "" {
			continue
		}
		f.plain(jsonx.Pointer("/tags", fmt.Sprint(i)), "A tag", tag, MaxTag)
		if key := cases.Fold().String(norm.NFC.String(tag)); !seen[key] {
			seen[key] = true
			out = append(out, tag)
		}
	}
	if len(out) > MaxTags {
		f.add("/tags", "too_many", "There are %d tags; at most %d are allowed.", len(out), MaxTags)
	}
	return out, f
}

// FoldName is the key under which two names count as the same, for collisions
// and shadowing: compatible forms, case and look-alike letters are one, and
// whatever a runtime name cannot hold is an underscore. It is never shown, and
// is empty for an empty name only.
func FoldName(name string) string {
	if key, ok := foldASCII(name); ok {
		return key
	}
	folded := cases.Fold().String(norm.NFKC.String(name))
	var b strings.Builder
	for _, r := range norm.NFC.String(folded) {
		if plain, ok := lookalikes[r]; ok {
			r = plain
		}
		switch {
		case unicode.Is(unicode.Cf, r):
		case r == '-' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			b.WriteRune(r)
		case !strings.HasSuffix(b.String(), "_"):
			b.WriteByte('_')
		}
	}
	if key := strings.Trim(b.String(), "_"); key != "" {
		return key
	}
	return folded
}

// foldASCII is FoldName for the names that most things have; a selection of a
// thousand rows took five times as long through the Unicode tables. It leaves
// to those what is not ASCII or has no letter.
func foldASCII(name string) (key string, ok bool) {
	b := make([]byte, 0, len(name))
	for i := range len(name) {
		c := name[i]
		switch {
		case c >= utf8.RuneSelf:
			return "", false
		case 'A' <= c && c <= 'Z':
			b = append(b, c+'a'-'A')
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '-':
			b = append(b, c)
		case len(b) > 0 && b[len(b)-1] != '_':
			b = append(b, '_')
		}
	}
	key = strings.TrimRight(string(b), "_")
	return key, key != ""
}

// lookalikes maps letters of other scripts to the Latin ones that they are
// drawn like, after case folding. ASCII maps to nothing: 1 and l stay apart,
// since version-like names use both in earnest.
var lookalikes = map[rune]rune{
	// Cyrillic
	'а': 'a', 'в': 'b', 'н': 'h', 'ь': 'b', 'с': 'c', 'ԁ': 'd', 'е': 'e', 'һ': 'h', 'і': 'i', 'ј': 'j', 'к': 'k', 'ӏ': 'l', 'м': 'm',
	'о': 'o', 'р': 'p', 'ԛ': 'q', 'г': 'r', 'ѕ': 's', 'т': 't', 'ѵ': 'v', 'ԝ': 'w', 'х': 'x', 'у': 'y', 'ү': 'y',
	// Greek
	'α': 'a', 'ε': 'e', 'η': 'n', 'ι': 'i', 'κ': 'k', 'ν': 'v', 'ο': 'o', 'ρ': 'p', 'τ': 't', 'υ': 'y', 'χ': 'x',
	'β': 'b', 'ζ': 'z', 'μ': 'm', 'γ': 'y', 'ω': 'w', 'ϲ': 'c', 'ϳ': 'j',
	// Armenian, Latin extensions and modifiers
	'օ': 'o', 'ս': 'u', 'հ': 'h', 'ո': 'n', 'ց': 'g', 'զ': 'q', 'ı': 'i', 'ȷ': 'j', 'ɑ': 'a', 'ɡ': 'g', 'ɩ': 'i',
	'ʀ': 'r', 'ѡ': 'w', 'ʏ': 'y', 'ᴏ': 'o', 'ᴠ': 'v', 'ᴡ': 'w', 'ᴢ': 'z', 'ꜱ': 's',
}
