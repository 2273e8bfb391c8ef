package capability

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"capstore/internal/fault"
)

// Version is a semantic version 2.0.0 without build metadata. Its numbers stay
// decimal strings: authors do write ones that overflow every machine integer,
// and precedence compares them as integers. The zero Version is not valid.
type Version struct {
	major, minor, patch string
	pre                 []string
}

// FirstVersion is what a line starts with unless its author says otherwise.
const FirstVersion = "1.0.0"

const maxVersionLen = 128

// Bumps, as their author asks for them.
const (
	BumpPatch = "patch"
	BumpMinor = "minor"
	BumpMajor = "major"
)

var (
	versionPattern = regexp.MustCompile(`^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)` +
		`(?:-((?:0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)(?:\.(?:0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*))*))?$`)
	loosePattern = regexp.MustCompile(`^[vV=\s]*([0-9]+)(?:\.([0-9]+))?(?:\.([0-9]+))?(?:[-.]?([0-9A-Za-z.-]+))?$`)
	digits       = regexp.MustCompile(`^[0-9]+$`)
)

// ParseVersion reads s strictly. What it refuses comes back as an Invalid
// fault "bad_version" with the field /version, whose message proposes what was
// probably meant.
func ParseVersion(s string) (Version, error) {
	if len(s) <= maxVersionLen {
		if m := versionPattern.FindStringSubmatch(s); m != nil {
			v := Version{major: m[1], minor: m[2], patch: m[3]}
			if m[4] != "" {
				v.pre = strings.Split(m[4], ".")
			}
			return v, nil
		}
	}
	message := versionComplaint(s)
	f := fault.New(fault.Invalid, "bad_version", "%s", message)
	f.Fields = []fault.Field{{Path: "/version", Code: "bad_version", Message: message}}
	if near := correctedVersion(s); near != "" {
		f.With("suggestion", near)
	}
	return Version{}, f.Do("Correct the version and send it again.")
}

func versionComplaint(s string) string {
	shown := cut(s, 40)
	why := fmt.Sprintf("%q is not a version of the form 1.2.3", shown)
	switch {
	case s == "":
		why = "A version is needed, such as 1.2.3"
	case len(s) > maxVersionLen:
		why = fmt.Sprintf("A version has at most %d characters", maxVersionLen)
	case strings.Contains(s, "+"):
		why = fmt.Sprintf("%q carries build metadata, which would make two versions equal", shown)
	}
	if near := correctedVersion(s); near != "" {
		return why + "; did you mean " + near + "?"
	}
	return why + "."
}

// correctedVersion guesses the strict spelling of s, or "" when there is no
// honest guess.
func correctedVersion(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "+")
	m := loosePattern.FindStringSubmatch(s)
	if m == nil || len(s) > maxVersionLen {
		return ""
	}
	out := trimZeros(m[1]) + "." + trimZeros(m[2]) + "." + trimZeros(m[3])
	var pre []string
	for id := range strings.SplitSeq(m[4], ".") {
		if digits.MatchString(id) {
			id = trimZeros(id)
		}
		if id != "" {
			pre = append(pre, id)
		}
	}
	if len(pre) > 0 {
		out += "-" + strings.Join(pre, ".")
	}
	if !versionPattern.MatchString(out) {
		return ""
	}
	return out
}

func trimZeros(number string) string {
	if number = strings.TrimLeft(number, "0"); number == "" {
		return "0"
	}
	return number
}

// String returns the version as it was written.
func (v Version) String() string {
	s := v.major + "." + v.minor + "." + v.patch
	if len(v.pre) > 0 {
		s += "-" + strings.Join(v.pre, ".")
	}
	return s
}

// IsPre reports whether the version is a pre-release.
func (v Version) IsPre() bool { return len(v.pre) > 0 }

// Compare orders by semver precedence: negative when v comes before w, 0 when
// they are the same version.
func (v Version) Compare(w Version) int { return cmp.Compare(v.SortKey(), w.SortKey()) }

// SortKey spells the version so that the order of bytes is the order of
// precedence, which a database index keeps by itself (text, collation "C").
// A number is led by its length, a pre-release sorts below its release ("-"
// before "~"), numeric identifiers below others, and "!" ends an identifier
// since it sorts below every character that one may hold.
func (v Version) SortKey() string {
	var b strings.Builder
	for _, n := range []string{v.major, v.minor, v.patch} {
		writeNumber(&b, n)
	}
	if len(v.pre) == 0 {
		b.WriteByte('~')
		return b.String()
	}
	b.WriteByte('-')
	for _, id := range v.pre {
		if digits.MatchString(id) {
			b.WriteByte('0')
			writeNumber(&b, id)
			continue
		}
		b.WriteString("1" + id + "!")
	}
	return b.String()
}

func writeNumber(b *strings.Builder, n string) { fmt.Fprintf(b, "%03d%s", len(n), n) }

// Bump returns the next version of that size. Bumping a pre-release to the
// release that it leads to takes only the pre-release away. An unknown bump is
// an Invalid fault.
func Bump(current Version, bump string) (Version, error) {
	zero := Version{major: current.major, minor: "0", patch: "0"}
	switch bump {
	case "", BumpPatch:
		zero.minor, zero.patch = current.minor, current.patch
		if !current.IsPre() {
			zero.patch = increment(current.patch)
		}
		return zero, nil
	case BumpMinor:
		zero.minor = current.minor
		if !current.IsPre() || current.patch != "0" {
			zero.minor = increment(current.minor)
		}
		return zero, nil
	case BumpMajor:
		if !current.IsPre() || current.minor != "0" || current.patch != "0" {
			zero.major = increment(current.major)
		}
		return zero, nil
	}
	return Version{}, fault.Fields([]fault.Field{{
		Path: "/bump", Code: "not_allowed", Message: "A bump is patch, minor or major.",
	}})
}

// increment adds one to a decimal string.
func increment(n string) string {
	b := []byte(n)
	for i := len(b) - 1; i >= 0; i-- {
		if b[i] != '9' {
			b[i]++
			return string(b)
		}
		b[i] = '0'
	}
	return "1" + string(b)
}

// Latest returns the greatest version that is no pre-release, else the
// greatest pre-release; false for none. Pass live versions only.
func Latest(versions []Version) (Version, bool) {
	var best Version
	for i, v := range versions {
		if i == 0 || v.supersedes(best) {
			best = v
		}
	}
	return best, len(versions) > 0
}

func (v Version) supersedes(w Version) bool {
	if v.IsPre() != w.IsPre() {
		return w.IsPre()
	}
	return v.Compare(w) > 0
}

// NextVersion decides the number of a new version: the explicit one, which
// must order above newest, else newest bumped ("" is patch), else 1.0.0 where
// there is none yet. Newest is the greatest of the live and deleted ones.
func NextVersion(newest *Version, explicit, bump string) (Version, error) {
	if explicit != "" && bump != "" {
		return Version{}, fault.Fields([]fault.Field{{
			Path: "/bump", Code: "one_of", Message: "Name a version or a bump, not both.",
		}})
	}
	if explicit != "" {
		return explicitVersion(newest, explicit)
	}
	if newest == nil {
		if _, err := Bump(Version{major: "0", minor: "0", patch: "0"}, bump); err != nil {
			return Version{}, err
		}
		return ParseVersion(FirstVersion)
	}
	return Bump(*newest, bump)
}

func explicitVersion(newest *Version, explicit string) (Version, error) {
	v, err := ParseVersion(explicit)
	if err != nil || newest == nil || v.Compare(*newest) > 0 {
		return v, err
	}
	message := fmt.Sprintf("%s does not come after %s, the newest one.", v, newest)
	f := fault.New(fault.Invalid, "version_not_newer", "%s", message)
	f.Fields = []fault.Field{{Path: "/version", Code: "version_not_newer", Message: message}}
	if next, err := Bump(*newest, BumpPatch); err == nil {
		f.With("suggestion", next.String())
	}
	return Version{}, f.With("newest", newest.String()).Do("Take a greater version, or leave it out to get the next one.")
}
