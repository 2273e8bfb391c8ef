package web

import (
	"net/http"
	"slices"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/interchange"
	"capstore/internal/interchange/intake"
	"capstore/views"
)

// stagedImport shows what is in what was sent or, once it is published, what
// became of it.
func (s *Site) stagedImport(c *Ctx) error {
	staged, err := s.Staging.Get(c.R.Context(), c.Actor(), c.R.PathValue("import"))
	if err != nil {
		return err
	}
	return s.showStaged(c, http.StatusOK, staged, views.Form{})
}

func (s *Site) showStaged(c *Ctx, status int, staged intake.Staged, form views.Form) error {
	v := views.Import{ID: staged.ID, Form: form, Show: c.R.URL.Query().Get("show"), Name: staged.Name(), Origin: staged.Origin}
	if staged.State.Publishing {
		v.Results = c.importResults(staged.State)
		return s.showImport(c, status, v)
	}
	found, err := s.lookInto(c, staged)
	if err != nil {
		return err
	}
	v.Found = found
	if form.Values == nil {
		v.Form.Values = chosenReach(staged.State)
	}
	return s.showImport(c, status, v)
}

func (s *Site) readStaged(staged intake.Staged) (interchange.Import, error) {
	return interchange.FromUploads(staged.Uploads, interchange.Options{Rules: s.Catalog.Rules(), Supply: staged.State.Supply})
}

// lookInto says of everything in what was sent what would become of it.
func (s *Site) lookInto(c *Ctx, staged intake.Staged) (*views.ImportFound, error) {
	found, err := s.readStaged(staged)
	if err != nil {
		return nil, err
	}
	out := &views.ImportFound{}
	told := map[interchange.Note]bool{}
	_, err = intake.Run(c.R.Context(), s.Catalog, c.Actor(), found, intake.Options{Preview: true}, func(o intake.Outcome) {
		for _, n := range o.Item.Notes {
			told[n] = true
		}
		out.Items = append(out.Items, c.importItem(o, staged.State))
	})
	if err != nil {
		return nil, err
	}
	rest := slices.DeleteFunc(slices.Clone(found.Notes), func(n interchange.Note) bool { return told[n] })
	out.Notes = c.importNotes("", rest)
	return out, nil
}

// importItem says of one thing what would become of it.
func (c *Ctx) importItem(o intake.Outcome, st intake.State) views.ImportItem {
	item := o.Item
	out := views.ImportItem{
		Path: item.Path, Kind: string(item.Kind), Status: fateOf(o), Repaired: item.Repaired, Notes: c.importNotes(item.Path, item.Notes),
		Name: item.Content.Name, Description: item.Content.Description, ID: o.ID, Version: o.Version, Follows: o.Follows,
		Chosen: !slices.Contains(st.Left, item.Path),
	}
	if o.Fault != nil && len(o.Fault.Fields) == 0 {
		out.Reason = c.refusal(o.Fault)
	} else if o.Fault != nil {
		for _, f := range o.Fault.Fields {
			out.Faults = append(out.Faults, strings.TrimPrefix(f.Path, "/")+": "+views.FieldText(c.Locale, f))
		}
	}
	for _, e := range o.Effects {
		out.Effects = append(out.Effects, views.ImportEffect{Text: c.effectText(e), Power: e.Power, Breaking: e.Breaking})
	}
	for _, s := range item.Secrets {
		key := intake.SecretKey(item.Path, s.Name)
		out.Secrets = append(out.Secrets, views.ImportSecret{Name: s.Name, Key: key, Keep: slices.Contains(st.Keep, key)})
	}
	given := st.Supply[item.Path]
	out.Image, out.URL = given.Image, given.URL
	for _, w := range item.Wants {
		out.Wants = append(out.Wants, string(w))
	}
	c.importContent(item.Content, &out)
	return out
}

// importContent shows what of the content a person decides by.
func (c *Ctx) importContent(content capability.Content, out *views.ImportItem) {
	switch spec := content.Spec.(type) {
	case *capability.SkillSpec:
		out.Files = len(spec.Files)
	case *capability.MCPSpec:
		out.Target = spec.URL + spec.Image
		for _, s := range spec.RequiredSecrets {
			out.Needs = append(out.Needs, s.Name)
		}
		for _, s := range spec.Settings {
			out.Needs = append(out.Needs, s.Name)
		}
	}
}

// fateOf is an outcome as the page groups it.
func fateOf(o intake.Outcome) string {
	switch {
	case o.Status == intake.Made && o.Follows == "":
		return views.ImportNew
	case o.Status == intake.Made:
		return views.ImportNext
	case o.Status == intake.Refused && len(o.Item.Wants) > 0:
		return views.ImportWants
	}
	return string(o.Status)
}

// importNotes are notes in words; the path that they stand below anyway is
// left out.
func (c *Ctx) importNotes(under string, notes []interchange.Note) []views.ImportNote {
	var out []views.ImportNote
	for _, n := range notes {
		note := views.ImportNote{Path: n.Path, Text: c.Locale.Or("import.note."+n.Code, n.Message, n.Params()), Detail: n.Detail}
		if note.Path == under {
			note.Path = ""
		}
		out = append(out, note)
	}
	return out
}
