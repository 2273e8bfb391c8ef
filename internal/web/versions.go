package web

import (
	"net/http"
	"slices"
	"strconv"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/fault"
	"capstore/views"
)

// shownVersions is how many versions the panel lists at once.
const shownVersions = 10

// history is the version line with two of its versions compared: those that
// the address names, else the one before the latest with the latest.
func (s *Site) history(c *Ctx, l lens, rows []views.VersionRow) (*views.CapabilityHistory, error) {
	c.completeLine(l, rows)
	h := &views.CapabilityHistory{
		Choices: rows, Total: len(rows), Lens: c.comparisonLens(l), MayTag: capability.MayWrite(c.Actor(), l.Access) == nil,
	}
	h.Lens.Skip = min(h.Lens.Skip, max(0, len(rows)-1))
	end := min(len(rows), h.Lens.Skip+shownVersions)
	h.Rows = rows[h.Lens.Skip:end]
	at := func(skip int) string {
		lens := h.Lens
		lens.Skip = skip
		return views.ComparisonPath(c.Who.Workspace, l.Source, l.ID, lens)
	}
	if h.Lens.Skip > 0 {
		h.Newer = at(max(0, h.Lens.Skip-shownVersions))
	}
	if end < len(rows) {
		h.Older = at(end)
	}
	if h.Lens.Base == "" || h.Lens.Candidate == "" {
		return h, nil
	}
	compared, err := s.comparison(c, l, h.Lens)
	h.Compared = compared
	return h, err
}

// completeLine marks what only the whole line tells.
func (c *Ctx) completeLine(l lens, rows []views.VersionRow) {
	for i := range rows {
		row := &rows[i]
		if i+1 < len(rows) {
			row.Previous = rows[i+1].Version
		}
		if v, err := capability.ParseVersion(row.Version); err == nil {
			row.Pre = v.IsPre()
		}
		row.Deprecated = row.Latest && l.Deprecated != nil
	}
}

// comparisonLens reads the address: the two versions, else the usual pair, and
// what is shown of them.
func (c *Ctx) comparisonLens(l lens) views.ComparisonLens {
	query := c.R.URL.Query()
	lens := views.ComparisonLens{Base: query.Get("base"), Candidate: query.Get("candidate"), Split: query.Get("view") == "split"}
	lens.Skip, _ = strconv.Atoi(query.Get("skip"))
	lens.Skip = max(0, lens.Skip)
	if query.Get("from") == views.FromMine {
		lens.From = views.FromMine
	}
	base, candidate := usualPair(l)
	if lens.Base == "" {
		lens.Base = base
	}
	if lens.Candidate == "" {
		lens.Candidate = candidate
	}
	lens.Parts = diffParts(query["part"])
	return lens
}

// diffParts are the parts of long texts that an address asks for.
func diffParts(texts []string) []views.DiffPart {
	var out []views.DiffPart
	for _, text := range texts {
		if part, ok := views.ParseDiffPart(text); ok && len(out) < maxDiffParts {
			out = append(out, part)
		}
	}
	return out
}

// maxDiffParts is how many runs of unchanged lines one address opens.
const maxDiffParts = 50

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

// tagVersion sets the tags of a version. Tags that others set since the form
// was shown are not overwritten unseen.
func (s *Site) tagVersion(c *Ctx) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	source, id, version := c.R.PathValue("source"), c.R.PathValue("id"), c.R.PathValue("version")
	seen := append([]string{}, words(form.Get("seen"), ",\n")...)
	err = s.Catalog.Retag(c.R.Context(), c.Actor(), source, id, version, seen, words(form.Get("tags"), ",\n"))
	f := fault.From(err)
	if f != nil && (f.Kind == fault.Invalid || f.Code == "changed_since") {
		for i := range f.Fields { // one field holds them all
			f.Fields[i].Path = "/tags"
		}
		return s.tagAgain(c, version, views.Form{Values: form}, f)
	}
	if err != nil {
		return err
	}
	from := ""
	if form.Get("from") == views.FromMine {
		from = views.FromMine
	}
	path := views.CapabilityTabPath(c.Who.Workspace, source, id, views.DetailLens{Tab: views.TabVersions, From: from})
	return c.Done(path, c.T("versions.tagged", "version", version))
}

// tagAgain shows the panel with the form as it was sent, at the version.
func (s *Site) tagAgain(c *Ctx, version string, form views.Form, f *fault.Fault) error {
	l, err := s.look(c)
	if err != nil {
		return err
	}
	query := c.R.URL.Query()
	query.Set("tab", views.TabVersions)
	query.Set("skip", strconv.Itoa(pageOf(l.versions, version)))
	c.R.URL.RawQuery = query.Encode()
	v, err := s.capabilityView(c, l)
	if err != nil {
		return err
	}
	tagging := views.Tagging{Version: version, Form: show(c.Locale, form.Values, f)}
	status := http.StatusUnprocessableEntity
	if f.Code == "changed_since" {
		tagging.Form.Summary, status = nil, http.StatusConflict
		at := slices.IndexFunc(l.versions, func(v catalog.VersionInfo) bool { return v.Version == version })
		tagging.Taken = append([]string{}, l.versions[at].Tags...)
	}
	v.History.Tagging = &tagging
	return c.Render(status, views.CapabilityPage(c.detailFrame(v), v))
}

// pageOf is how many versions stand on the pages before the version's own.
func pageOf(line []catalog.VersionInfo, version string) int {
	at := slices.IndexFunc(line, func(v catalog.VersionInfo) bool { return v.Version == version })
	return max(0, at) / shownVersions * shownVersions
}
