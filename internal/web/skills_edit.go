package web

import (
	"cmp"
	"net/http"
	"net/url"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/fault"
	"capstore/internal/interchange"
	"capstore/internal/workspace"
	"capstore/views"
)

// skillDraft is a skill's form on its way: of a new one while base has no id.
type skillDraft struct {
	base  workspace.Skill
	typed bool
	stale []views.Change
	files *fileList // of a form that was sent
}

// author is the draft as the form of the store knows it, whose fields and
// rules are the same.
func (d skillDraft) author() author {
	a := author{kind: capability.KindSkill}
	if d.base.ID != "" {
		a.base = &catalog.VersionDetail{}
		a.base.Name, a.base.Description, a.base.Content = d.base.Content.Name, d.base.Content.Description, d.base.Content
		a.skill = d.base.ID
	}
	a.files = d.files
	return a
}

func (s *Site) newSkillPage(c *Ctx) error {
	return c.showSkillForm(http.StatusOK, skillDraft{}, views.Form{Values: starter(capability.KindSkill)})
}

func (s *Site) editSkillPage(c *Ctx) error {
	skill, err := s.Workspace.Skill(c.R.Context(), c.Actor(), c.R.PathValue("id"))
	if err != nil {
		return err
	}
	return c.showSkillForm(http.StatusOK, skillDraft{base: skill}, views.Form{Values: draftValues(skill.Content)})
}

func (c *Ctx) showSkillForm(status int, d skillDraft, form views.Form) error {
	ws, title := c.Who.Workspace, c.T("skills.create")
	v := views.SkillForm{ID: d.base.ID, Revision: d.base.Revision, Stale: d.stale, Author: views.Author{
		Workspace: ws, Kind: string(capability.KindSkill), Form: form, Typed: d.typed, Reason: c.skillReason(), Action: views.NewSkillPath(ws),
	}}
	p := c.skillSubpage(title)
	if d.base.ID != "" {
		v.Action = views.EditSkillPath(ws, d.base.ID)
		v.Base = &views.AuthorBase{FromFile: rawOf(d.base.Content) != ""}
		p = c.skillSubpage(c.T("skills.edit"), c.skillCrumb(d.base))
	}
	if err := c.site.showFiles(c, d.author(), &v.Author); err != nil {
		return err
	}
	p.Editor = true
	return c.Render(status, views.SkillFormPage(p, v))
}

func (s *Site) newSkill(c *Ctx) error { return s.writeSkill(c, skillDraft{typed: true}) }

// editSkill saves the working copy on top of the revision that the editor
// started from.
func (s *Site) editSkill(c *Ctx) error {
	skill, err := s.Workspace.Skill(c.R.Context(), c.Actor(), c.R.PathValue("id"))
	if err != nil {
		return err
	}
	return s.writeSkill(c, skillDraft{base: skill, typed: true})
}

// writeSkill does what the pressed button says: save, or show the form again
// with a row more or less.
func (s *Site) writeSkill(c *Ctx, d skillDraft) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	plainBreaks(form)
	a, err := s.takeFiles(c, d.author(), form)
	d.files = a.files
	if err != nil {
		return s.skillAgain(c, http.StatusUnprocessableEntity, d, form, err)
	}
	if changed := rowOperation(form); changed {
		return c.showSkillForm(http.StatusOK, d, views.Form{Values: form})
	}
	r := &reading{form: form}
	in := workspace.SkillInput{Name: r.text("name"), Description: r.text("description"), Draft: form.Get("draft") != ""}
	in.Spec = a.skillSpec(r, catalog.Publication{Name: in.Name, Description: in.Description})
	if len(r.faults) > 0 {
		return s.skillAgain(c, http.StatusUnprocessableEntity, d, form, fault.Fields(r.faults))
	}
	if d.base.ID == "" {
		return s.saveNewSkill(c, d, form, in)
	}
	return s.saveSkill(c, d, form, in)
}

// rowOperation adds or removes the row that a button asks for, and reports
// whether the form is to be shown again.
func rowOperation(form url.Values) bool {
	op := form.Get("op")
	if list := views.AddedTo(op); list != "" {
		addRow(form, list)
		return true
	}
	if list, row, ok := views.RemovedFrom(op); ok {
		removeRow(form, list, row)
		return true
	}
	compactRows(form)
	return views.IsFileOp(op) || views.IsDocumentOp(op)
}

func (s *Site) saveNewSkill(c *Ctx, d skillDraft, form url.Values, in workspace.SkillInput) error {
	skill, err := s.Workspace.CreateSkill(c.R.Context(), c.Actor(), in)
	if status, again := shownAgain(err); again {
		return s.skillAgain(c, status, d, form, err)
	}
	if err != nil {
		return err
	}
	return c.Done(views.SkillPath(c.Who.Workspace, skill.ID), c.T("skills.created", "name", skill.Name))
}

func (s *Site) saveSkill(c *Ctx, d skillDraft, form url.Values, in workspace.SkillInput) error {
	revision, err := revisionIn(form)
	if err != nil {
		return err
	}
	skill, err := s.Workspace.UpdateSkill(c.R.Context(), c.Actor(), d.base.ID, revision, in)
	if fault.HasCode(err, "stale_revision") {
		typed := capability.Content{Name: in.Name, Description: in.Description, Spec: in.Spec}
		d.stale = c.changes(capability.Diff(d.base.Content, typed).Changes, "part.")
		return s.skillAgain(c, http.StatusConflict, d, form, err)
	}
	if status, again := shownAgain(err); again {
		return s.skillAgain(c, status, d, form, err)
	}
	if err != nil {
		return err
	}
	key := "skills.saved"
	if skill.Revision == revision {
		key = "skills.unchanged"
	}
	return c.Done(views.SkillPath(c.Who.Workspace, skill.ID), c.T(key, "name", skill.Name))
}

func (s *Site) skillAgain(c *Ctx, status int, d skillDraft, form url.Values, err error) error {
	return c.showSkillForm(status, d, c.showDraft(form, err))
}

// importSkill makes a skill of the library from a file that holds one.
func (s *Site) importSkill(c *Ctx) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	item, err := c.skillInUpload(s.Catalog.Rules())
	if err == nil {
		var skill workspace.Skill
		spec := skillSpecOf(item.Content)
		skill, err = s.Workspace.CreateSkill(c.R.Context(), c.Actor(), workspace.SkillInput{Name: item.Content.Name, Description: item.Content.Description, Spec: spec})
		if err == nil {
			return c.Done(views.SkillPath(c.Who.Workspace, skill.ID), c.importedText(skill, item))
		}
	}
	f := fault.From(err)
	if f.Kind == fault.Internal || f.Kind == fault.Denied {
		return err
	}
	at := fault.Fields([]fault.Field{{Path: "/file", Code: f.Code, Message: c.refusal(withFields(f))}})
	return c.showSkillForm(http.StatusUnprocessableEntity, skillDraft{}, views.Form{Values: form, Errors: show(c.Locale, form, at).Errors, Summary: show(c.Locale, form, at).Summary})
}

// skillInUpload reads the one skill of the file that was sent.
func (c *Ctx) skillInUpload(rules capability.Rules) (interchange.Item, error) {
	if c.R.MultipartForm == nil || len(c.R.MultipartForm.File["file"]) == 0 {
		return interchange.Item{}, fault.New(fault.Invalid, "no_file", "Choose a file first.")
	}
	header := c.R.MultipartForm.File["file"][0]
	data, err := readUpload(header)
	if err != nil {
		return interchange.Item{}, err
	}
	found, err := interchange.FromUpload(data, header.Filename, interchange.Options{Rules: rules})
	if err != nil {
		return interchange.Item{}, err
	}
	return found.Only()
}

func (c *Ctx) importedText(skill workspace.Skill, item interchange.Item) string {
	key := "skills.created"
	if item.Repaired {
		key = "skills.created_repaired"
	}
	return c.T(key, "name", skill.Name)
}

// withFields is the fault with the first of its fields as its message, which
// says more than how many there are.
func withFields(f *fault.Fault) *fault.Fault {
	if len(f.Fields) == 0 {
		return f
	}
	out := *f
	out.Message, out.Action, out.Code = f.Fields[0].Message, "", cmp.Or(f.Fields[0].Code, f.Code)
	return &out
}
