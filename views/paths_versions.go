package views

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
)

// ComparisonLens is what the address of the Versions tab says: the two that
// are compared, how, which parts of long texts are shown, and where in the
// line of versions the page stands.
type ComparisonLens struct {
	Base, Candidate string
	Split           bool
	Parts           []DiffPart
	Skip            int    // newer versions that are not listed
	From            string // the page to go back to
}

// DiffPart asks for one part of a long text: what follows From changed lines,
// or with Last the unchanged lines from First to Last of the old text.
type DiffPart struct {
	Path        string // of the change
	From        int
	First, Last int
}

// ComparisonPath is the Versions tab as the lens shows it.
func ComparisonPath(ws, source, id string, l ComparisonLens) string {
	view, skip := "", ""
	if l.Split {
		view = "split"
	}
	if l.Skip > 0 {
		skip = strconv.Itoa(l.Skip)
	}
	pairs := []string{"tab", TabVersions, "base", l.Base, "candidate", l.Candidate, "view", view, "skip", skip, "from", l.From}
	for _, part := range l.Parts {
		pairs = append(pairs, "part", part.String())
	}
	return withQuery(CapabilityPath(ws, source, id), pairs...)
}

// VersionTagsPath takes the POST of a version's tags.
func VersionTagsPath(ws, source, id, version string) string {
	return join(ws, "store", source, id, "versions", version, "tags")
}

// String spells the part as an address holds it.
func (p DiffPart) String() string {
	if p.Last > 0 {
		return fmt.Sprintf("%s@%d-%d", p.Path, p.First, p.Last)
	}
	return fmt.Sprintf("%s@%d", p.Path, p.From)
}

var diffPart = regexp.MustCompile(`^(/.*)@([0-9]{1,9})(?:-([0-9]{1,9}))?$`)

// ParseDiffPart reads what String wrote; false for anything else.
func ParseDiffPart(s string) (DiffPart, bool) {
	m := diffPart.FindStringSubmatch(s)
	if m == nil {
		return DiffPart{}, false
	}
	first, _ := strconv.Atoi(m[2])
	if m[3] == "" {
		return DiffPart{Path: m[1], From: first}, true
	}
	last, _ := strconv.Atoi(m[3])
	return DiffPart{Path: m[1], First: first, Last: last}, last > 0
}

// with is the lens with one part more; another beginning of a text takes the
// place of all that was said of it.
func (l ComparisonLens) with(part DiffPart) ComparisonLens {
	parts := slices.Clone(l.Parts)
	if part.Last == 0 {
		parts = slices.DeleteFunc(parts, func(p DiffPart) bool { return p.Path == part.Path })
	}
	l.Parts = append(parts, part)
	return l
}
