package web

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/fault"
	"capstore/internal/interchange"
	"capstore/views"
	"capstore/views/ui"
)

func (s *Site) importPage(c *Ctx) error {
	return s.showImport(c, http.StatusOK, views.Import{})
}

func (s *Site) showImport(c *Ctx, status int, v views.Import) error {
	v.Workspace, v.WorkspaceName, v.Targets = c.Who.Workspace, c.Who.WorkspaceName, c.otherWorkspaces()
	v.Reason, v.PublicReason = c.whyNotWrite(), c.refusal(capability.MayPublishPublic(c.Actor(), s.Catalog.Policy()))
	page := c.Page(c.T("import.title"), views.NavMine)
	page.Crumbs = []ui.Crumb{{Label: c.T("nav.mine"), Href: views.MinePath(c.Who.Workspace)}, {Label: page.Title}}
	return c.Render(status, views.ImportPage(page, v))
}

// importSkills reads what was sent and shows what is in it; with the choice
// made from that, it publishes the chosen ones.
func (s *Site) importSkills(c *Ctx) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	if form.Has("carried") {
		return s.publishImport(c, form)
	}
	data, name, err := c.importUpload(form)
	if err == nil {
		var found interchange.Import
		if found, err = interchange.FromUpload(data, name, interchange.Options{Rules: s.Catalog.Rules()}); err == nil {
			return s.showFound(c, http.StatusOK, data, name, found, views.Form{})
		}
	}
	if !fault.Is(err, fault.Invalid) && !fault.Is(err, fault.TooLarge) {
		return err
	}
	return s.showImport(c, http.StatusUnprocessableEntity, views.Import{Form: show(c.Locale, form, err)})
}

func (s *Site) showFound(c *Ctx, status int, data []byte, name string, found interchange.Import, form views.Form) error {
	items := found.Items()
	v := views.Import{Form: form, Found: &views.ImportFound{
		Carried: base64.RawURLEncoding.EncodeToString(data), Name: name, Notes: c.importNotes("", wholeNotes(found.Notes, items)),
	}}
	for _, item := range items {
		shown, err := s.importItem(c, item)
		if err != nil {
			return err
		}
		v.Found.Items = append(v.Found.Items, shown)
	}
	return s.showImport(c, status, v)
}

// importItem says of one SKILL.md what would become of it.
func (s *Site) importItem(c *Ctx, item interchange.Item) (views.ImportItem, error) {
	out := views.ImportItem{Path: item.Path, Status: string(item.Status), Repaired: item.Repaired, Notes: c.importNotes(item.Path, item.Notes)}
	if item.Fault != nil && len(item.Fault.Fields) == 0 {
		out.Reason = c.refusal(item.Fault)
	} else if item.Fault != nil {
		for _, f := range item.Fault.Fields {
			out.Faults = append(out.Faults, views.FieldText(c.Locale, f))
		}
	}
	if item.Status != interchange.Ready {
		return out, nil
	}
	out.Name, out.Description = item.Content.Name, item.Content.Description
	out.ID = capability.IDFromName(item.Content.Name)
	if spec, ok := item.Content.Spec.(*capability.SkillSpec); ok {
		out.Files = len(spec.Files)
	}
	version, err := s.existing(c, out.ID)
	out.Existing = version
	return out, err
}

// existing is the latest version of what the workspace has under the id; ""
// when the reader sees nothing there.
func (s *Site) existing(c *Ctx, id string) (string, error) {
	held, err := s.Catalog.Get(c.R.Context(), c.Actor(), c.Who.Workspace, id)
	switch {
	case fault.Is(err, fault.NotFound):
		return "", nil
	case err != nil:
		return "", err
	case held.Latest == nil:
		return "—", nil
	}
	return held.Latest.Version, nil
}

// wholeNotes are the notes that stand at no item.
func wholeNotes(notes []interchange.Note, items []interchange.Item) []interchange.Note {
	var out []interchange.Note
	for _, note := range notes {
		told := slices.ContainsFunc(items, func(i interchange.Item) bool { return slices.Contains(i.Notes, note) })
		if !told {
			out = append(out, note)
		}
	}
	return out
}

// importNotes are notes in words; the path that they stand below anyway is
// left out.
func (c *Ctx) importNotes(below string, notes []interchange.Note) []views.ImportNote {
	var out []views.ImportNote
	for _, n := range notes {
		note := views.ImportNote{Path: n.Path, Text: c.Locale.Or("import.note."+n.Code, n.Message, n.Params()), Detail: n.Detail}
		if note.Path == below {
			note.Path = ""
		}
		out = append(out, note)
	}
	return out
}

// publishImport publishes the chosen skills, each whole or not at all.
func (s *Site) publishImport(c *Ctx, form url.Values) error {
	data, err := base64.RawURLEncoding.DecodeString(form.Get("carried"))
	if err != nil {
		return fault.New(fault.Malformed, "bad_form", "The form could not be read.").Because(err)
	}
	name := form.Get("carriedName")
	found, err := interchange.FromUpload(data, name, interchange.Options{Rules: s.Catalog.Rules()})
	if err != nil {
		return err
	}
	p, err := importReach(form)
	if err != nil {
		return s.showFound(c, http.StatusUnprocessableEntity, data, name, found, show(c.Locale, form, err))
	}
	results := []views.ImportResult{}
	for _, item := range found.Each() {
		if item.Status != interchange.Ready || !slices.Contains(form["path"], item.Path) {
			continue
		}
		result, err := s.publishItem(c, p, item)
		if err != nil {
			return err
		}
		results = append(results, result)
	}
	if len(results) == 0 {
		none := fault.Fields([]fault.Field{{Path: "/path", Code: "none_chosen", Message: c.T("import.none_chosen")}})
		return s.showFound(c, http.StatusUnprocessableEntity, data, name, found, show(c.Locale, form, none))
	}
	return s.showImport(c, http.StatusOK, views.Import{Results: results})
}

// importReach is the reach that the new ones of an import get.
func importReach(form url.Values) (catalog.Publication, error) {
	p := catalog.Publication{Visibility: capability.Reach(form.Get("visibility"))}
	if p.Visibility == capability.ReachSubset {
		if p.SharedWith = form["sharedWith"]; len(p.SharedWith) == 0 {
			return p, fault.Fields([]fault.Field{noTarget()})
		}
	}
	return p, nil
}

// publishItem publishes one skill. A refusal is its result; only what is not
// about the skill is an error.
func (s *Site) publishItem(c *Ctx, p catalog.Publication, item interchange.Item) (views.ImportResult, error) {
	id := capability.IDFromName(item.Content.Name)
	version, err := s.existing(c, id)
	if err != nil {
		return views.ImportResult{}, err
	}
	p.Name, p.Description, p.Spec = item.Content.Name, item.Content.Description, capability.EncodeSpec(item.Content.Spec)
	if version != "" {
		p.Visibility, p.SharedWith = "", nil
	}
	out, err := s.Catalog.Publish(c.R.Context(), c.Actor(), p)
	result := views.ImportResult{Status: "made", Name: item.Content.Name, Ref: item.Path, Reach: string(p.Visibility)}
	if err != nil {
		f := fault.From(err)
		if f.Kind == fault.Internal || f.Kind == fault.Unavailable {
			return result, err
		}
		result.Status, result.Text, result.Reach = "refused", c.refusal(f), ""
		return result, nil
	}
	if out.NoChanges {
		result.Status, result.Reach = "unchanged", ""
	}
	v := out.Version
	result.Ref, result.Href = v.Source+"/"+v.ID+"@"+v.Version, views.CapabilityPath(c.Who.Workspace, v.Source, v.ID)
	return result, nil
}
