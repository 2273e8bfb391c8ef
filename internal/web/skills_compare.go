package web

import (
	"cmp"
	"slices"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/fault"
	"capstore/internal/workspace"
	"capstore/views"
)

// skillStamps lists the stamps and compares two versions of the skill: its
// working copy, a stamp, or what it was copied from.
func (s *Site) skillStamps(c *Ctx, v *views.Skill) error {
	stamps, err := s.Workspace.Stamps(c.R.Context(), c.Actor(), v.ID)
	if err != nil || len(stamps) == 0 {
		return err
	}
	for _, stamp := range stamps {
		v.Stamps = append(v.Stamps, views.StampRow{Version: stamp.Version, Note: stamp.Note, By: stamp.By.Name, At: stamp.At, Digest: stamp.Digest})
	}
	query := c.R.URL.Query()
	v.Lens = views.ComparisonLens{
		Base: cmp.Or(query.Get("base"), defaultBase(stamps, v.Unstamped)), Candidate: cmp.Or(query.Get("candidate"), defaultCandidate(stamps, v.Unstamped)),
		Split: query.Get("view") == "split", Parts: diffParts(query["part"]),
	}
	before, err := s.skillVersion(c, v, v.Lens.Base)
	if err != nil {
		return err
	}
	after, err := s.skillVersion(c, v, v.Lens.Candidate)
	if err != nil {
		return err
	}
	v.Compared = &views.Comparison{Effects: c.effectLines(before, after)}
	c.differences(v.Compared, capability.DiffWithin(before, after, viewOf(v.Lens.Parts)), v.Lens.Parts)
	return nil
}

// skillVersion is what an address names as one of the skill's versions.
func (s *Site) skillVersion(c *Ctx, v *views.Skill, name string) (capability.Content, error) {
	version, ofOrigin := views.OriginVersion(name)
	switch {
	case name == views.WorkingCopy:
		return s.Workspace.StampedContent(c.R.Context(), c.Actor(), v.ID, "")
	case !ofOrigin:
		return s.Workspace.StampedContent(c.R.Context(), c.Actor(), v.ID, name)
	case v.Origin == nil:
		return capability.Content{}, fault.Missing()
	}
	detail, err := s.Catalog.Version(c.R.Context(), c.Actor(), v.Origin.Source, v.Origin.ID, version)
	return detail.Content, err
}

// skillOrigin says what has become of the capability that the skill was copied
// from. One that the reader may not see, or not any more, has become nothing.
func (s *Site) skillOrigin(c *Ctx, v *views.Skill) error {
	if v.Origin == nil {
		return nil
	}
	line, err := s.Catalog.Versions(c.R.Context(), c.Actor(), v.Origin.Source, v.Origin.ID)
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, version := range line {
		if version.State == catalog.Live {
			v.Origin.Versions = append(v.Origin.Versions, version.Version)
		}
		if version.Latest && newer(version.Version, v.Origin.Version) {
			v.Origin.Now = version.Version
		}
	}
	if !slices.Contains(v.Origin.Versions, v.Origin.Version) {
		v.Origin.Now = "" // what it was copied from is not there to compare with
	}
	return nil
}

func newer(version, than string) bool {
	a, err := capability.ParseVersion(version)
	b, err2 := capability.ParseVersion(than)
	return err == nil && err2 == nil && a.Compare(b) > 0
}

// defaultBase and defaultCandidate are what was last changed: the edits since
// the newest stamp, else the newest stamp against the one before it.
func defaultBase(stamps []workspace.Stamp, unstamped bool) string {
	if unstamped || len(stamps) < 2 {
		return stamps[0].Version
	}
	return stamps[1].Version
}

func defaultCandidate(stamps []workspace.Stamp, unstamped bool) string {
	if unstamped || len(stamps) < 2 {
		return views.WorkingCopy
	}
	return stamps[0].Version
}
