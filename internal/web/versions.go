package web

import (
	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/views"
)

// history is the version line with two of its versions compared: those that
// the address names, else the one before the latest with the latest.
func (s *Site) history(c *Ctx, l lens, rows []views.VersionRow) (*views.CapabilityHistory, error) {
	query := c.R.URL.Query()
	h := &views.CapabilityHistory{Rows: rows, Base: query.Get("base"), Candidate: query.Get("candidate"), Split: query.Get("view") == "split"}
	base, candidate := usualPair(l)
	if h.Base == "" {
		h.Base = base
	}
	if h.Candidate == "" {
		h.Candidate = candidate
	}
	if h.Base == "" || h.Candidate == "" {
		return h, nil
	}
	from, err := s.versionIn(c, l, h.Base)
	if err != nil {
		return nil, err
	}
	to, err := s.versionIn(c, l, h.Candidate)
	if err != nil {
		return nil, err
	}
	c.compare(h, from.Content, to.Content)
	return h, nil
}

// usualPair is the latest version and the one before it; the pin of the
// workspace instead, where an update waits.
func usualPair(l lens) (base, candidate string) {
	if l.Latest == nil || len(l.versions) < 2 {
		return "", ""
	}
	candidate = l.Latest.Version
	if l.UpdateAvailable {
		return l.Pinned, candidate
	}
	for i, v := range l.versions {
		if v.Version == candidate && i+1 < len(l.versions) {
			return l.versions[i+1].Version, candidate
		}
	}
	return l.versions[0].Version, candidate
}

// versionIn reads a version of the line, unless it is at hand.
func (s *Site) versionIn(c *Ctx, l lens, version string) (catalog.VersionDetail, error) {
	if l.version.Version == version {
		return l.version, nil
	}
	if l.Latest != nil && l.Latest.Version == version {
		return *l.Latest, nil
	}
	return s.Catalog.Version(c.R.Context(), c.Actor(), l.Source, l.ID, version)
}

// compare fills in what lies between the two contents.
func (c *Ctx) compare(h *views.CapabilityHistory, base, candidate capability.Content) {
	for _, e := range capability.Effects(base, candidate) {
		h.Effects = append(h.Effects, views.EffectLine{Text: c.effectText(e), Power: e.Power, Breaking: e.Breaking})
	}
	for _, change := range c.changes(capability.Diff(base, candidate).Changes, "part.") {
		if change.Text != nil || change.Replaced {
			h.Texts = append(h.Texts, change)
		} else {
			h.Changes = append(h.Changes, change)
		}
	}
}
