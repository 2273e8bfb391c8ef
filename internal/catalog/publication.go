package catalog

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/jsonx"
)

const (
	maxNote       = 1000
	maxProvenance = 64 << 10
)

// Publication is what an author sends: a capability that is new, or the next
// version of one that exists.
type Publication struct {
	ID          string // "" takes the one that the name makes
	Name        string
	Description string
	Spec        json.RawMessage
	// Visibility and SharedWith are the reach of a new capability; "" takes the
	// kind's default. On an existing one they are a fault.
	Visibility capability.Reach
	SharedWith []string
	// Tags are the capability's; nil leaves those of an existing one alone.
	Tags    []string
	Version string // explicit, or
	Bump    string // patch (default), minor, major
	Note    string
	// VersionTags are labels of the version.
	VersionTags []string
	// IfMatch is the digest of the latest version that the author saw; ""
	// does not care.
	IfMatch string
	// Provenance says where an import came from; a JSON object or nothing.
	Provenance json.RawMessage
	// Draft is the author's draft that this publishes, and that is gone
	// afterwards; uuid.Nil for none.
	Draft uuid.UUID
}

// draft is a Publication that passed every check that needs no database.
type draft struct {
	Publication
	content   capability.Content
	canonical string
	digest    string
	kind      capability.Kind
}

// check validates the publication on its own, every fault at once.
func (p Publication) check(rules capability.Rules) (draft, error) {
	d := draft{Publication: p}
	fields := p.checkPlain()
	var spec capability.Spec
	if len(p.Spec) > 0 {
		var faults []fault.Field
		spec, faults = capability.DecodeSpec(p.Spec)
		fields = append(fields, faults...)
	}
	d.content = capability.Content{Name: p.Name, Description: p.Description, Spec: spec}
	// Where the spec does not decode the other faults are still worth telling.
	for _, f := range d.content.Validate(rules) {
		if spec != nil || len(p.Spec) == 0 || !strings.HasPrefix(f.Path, "/spec") {
			fields = append(fields, f)
		}
	}
	var faults []fault.Field
	if p.Tags != nil {
		d.Tags, faults = capability.NormalizeTags(p.Tags)
		fields = append(fields, faults...)
	}
	d.VersionTags, faults = capability.NormalizeTags(p.VersionTags)
	fields = append(fields, relocate(faults, "/tags", "/versionTags")...)
	if err := fault.Fields(fields); err != nil {
		return draft{}, err
	}
	if d.ID == "" {
		d.ID = capability.IDFromName(p.Name)
	}
	canonical, err := d.content.Canonical()
	if err != nil {
		return draft{}, err
	}
	d.canonical, d.digest, d.kind = string(canonical), d.content.Digest(), spec.Kind()
	return d, nil
}

func (p Publication) checkPlain() []fault.Field {
	var out []fault.Field
	if p.ID != "" && !capability.ValidID(p.ID) {
		out = append(out, fault.Field{
			Path: "/id", Code: "bad_id",
			Message: "Use 1 to 63 lower-case letters, digits and hyphens, with a letter or digit first.",
		})
	}
	out = append(out, checkReach(p.Visibility, p.SharedWith)...)
	out = append(out, checkNote("/note", p.Note)...)
	if p.Version != "" {
		_, err := capability.ParseVersion(p.Version)
		out = append(out, fieldsOf(err)...)
	}
	if _, err := capability.NextVersion(nil, "", p.Bump); err != nil {
		out = append(out, fieldsOf(err)...)
	}
	if p.Version != "" && p.Bump != "" {
		out = append(out, fault.Field{Path: "/bump", Code: "one_of", Message: "Name a version or a bump, not both."})
	}
	if len(p.Provenance) > 0 && (len(p.Provenance) > maxProvenance || jsonx.Check(p.Provenance, maxProvenance) != nil) {
		out = append(out, fault.Field{Path: "/provenance", Code: "malformed", Message: "The provenance is not JSON of at most 64 KiB."})
	}
	return out
}

// checkReach checks a reach and its targets for shape; "" is "not said".
func checkReach(reach capability.Reach, sharedWith []string) []fault.Field {
	var out []fault.Field
	if reach != "" && !slices.Contains(capability.Reaches, reach) {
		out = append(out, fault.Field{
			Path: "/visibility", Code: "not_allowed",
			Message: "The reach is private, workspace, subset or public.",
		})
	}
	if len(sharedWith) > 0 && reach != capability.ReachSubset {
		out = append(out, fault.Field{
			Path: "/sharedWith", Code: "not_allowed",
			Message: "Workspaces to share with go with the reach subset only.",
		})
	}
	return out
}

func checkNote(path, note string) []fault.Field {
	if !utf8.ValidString(note) || strings.ContainsRune(note, 0) {
		return []fault.Field{{Path: path, Code: "invalid_text", Message: "This is not plain text."}}
	}
	if n := utf8.RuneCountInString(note); n > maxNote {
		return []fault.Field{{
			Path: path, Code: "too_long",
			Message: fmt.Sprintf("This has %d characters; at most %d are allowed.", n, maxNote),
		}}
	}
	return nil
}

func fieldsOf(err error) []fault.Field {
	if err == nil {
		return nil
	}
	return fault.From(err).Fields
}

func relocate(fields []fault.Field, from, to string) []fault.Field {
	for i := range fields {
		if rest, ok := strings.CutPrefix(fields[i].Path, from); ok {
			fields[i].Path = to + rest
		}
	}
	return fields
}

// domains lists what the content serves, for filters.
func (d draft) domains() []string {
	_, domains, _ := discoverable(d.content.Spec)
	return tagList(domains)
}
