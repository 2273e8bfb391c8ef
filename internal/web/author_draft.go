package web

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/fault"
	"capstore/views"
)

// notKept are the fields of the form that are no part of its draft.
var notKept = []string{"op", "draft", "draftTab", "draftRevision"}

// draftIn is the draft that a form belongs to: the one that it says, or a new
// one. The tab stands for this very form as it is open somewhere.
func draftIn(form url.Values) *views.AuthorDraft {
	d := &views.AuthorDraft{ID: form.Get("draft"), Tab: form.Get("draftTab"), Revision: form.Get("draftRevision")}
	if uuid.Validate(d.ID) != nil || uuid.Validate(d.Tab) != nil {
		*d = views.AuthorDraft{ID: uuid.NewString(), Tab: uuid.NewString()}
	}
	return d
}

// draftOf is what is kept of the form, and the names of its fields from which
// something was left out that plainly is a secret.
func (a author) draftOf(form url.Values) (catalog.Draft, []string, error) {
	in := draftIn(form)
	d := catalog.Draft{Kind: a.kind, Name: strings.TrimSpace(form.Get("name"))}
	d.ID, d.SavedBy = uuid.MustParse(in.ID), uuid.MustParse(in.Tab)
	d.Revision, _ = strconv.ParseInt(in.Revision, 10, 64) // nothing that reads as a number was never saved
	if a.base != nil {
		d.Base = capability.Ref{Source: a.base.Source, ID: a.base.ID, Version: a.base.Version}
	}
	raw, err := json.Marshal(form)
	if err != nil || len(raw) > catalog.MaxDraft { // refused by its length: nobody needs to look through it
		d.Form = raw
		return d, nil, err
	}
	kept, left := withoutSecrets(form)
	for _, name := range notKept {
		kept.Del(name)
	}
	d.Form, err = json.Marshal(kept)
	return d, left, err
}

// withoutSecrets is the form without what plainly is a secret in it, with the
// names of the fields that held one. Contents that are no text stay whole.
func withoutSecrets(form url.Values) (url.Values, []string) {
	kept, left := url.Values{}, []string{}
	for _, name := range slices.Sorted(maps.Keys(form)) {
		for _, value := range form[name] {
			text, held := value, false
			if row, ok := strings.CutSuffix(name, ".content"); !ok || form.Get(row+".encoding") != capability.EncodingBase64 {
				text, held = capability.WithoutSecrets(value)
			}
			if row, ok := strings.CutSuffix(name, ".value"); ok && !held && capability.HoldsSecret(form.Get(row+".name")+"="+value) {
				text, held = "", true
			}
			kept.Add(name, text)
			if held {
				left = append(left, name)
			}
		}
	}
	return kept, left
}

// keep saves the form as its draft and says how that went. Only what no sender
// can do something about is an error.
func (s *Site) keep(c *Ctx, a author, form url.Values) (*views.AuthorDraft, error) {
	d, left, err := a.draftOf(form)
	if err != nil {
		return nil, err
	}
	out := draftIn(form)
	saved, err := s.Catalog.SaveDraft(c.R.Context(), c.Actor(), d)
	switch f := fault.From(err); {
	case f == nil:
		out.Revision, out.SavedAt, out.Left = strconv.FormatInt(saved.Revision, 10), saved.UpdatedAt, left
	case f.Code == "draft_changed":
		out.Changed = s.draftPath(c, a, out.ID)
	case f.Kind == fault.NotFound:
		out.Gone = true
	case f.Kind == fault.Limited, f.Kind == fault.TooLarge, f.Kind == fault.Denied, f.Kind == fault.Invalid:
		out.Trouble = c.refusal(f)
	default:
		return nil, err
	}
	return out, nil
}

// autosave keeps the form while somebody fills it in; nil for a form that
// belongs to no draft. The address then names the draft, so that coming back to
// it goes on there.
func (s *Site) autosave(c *Ctx, a author, form url.Values) (*views.AuthorDraft, error) {
	if uuid.Validate(form.Get("draft")) != nil {
		return nil, nil
	}
	d, err := s.keep(c, a, form)
	if err == nil && !d.SavedAt.IsZero() {
		c.W.Header().Set("HX-Replace-Url", s.draftPath(c, a, d.ID))
	}
	return d, err
}

func (s *Site) draftPath(c *Ctx, a author, id string) string {
	if a.base != nil {
		return views.EditDraftPath(c.Who.Workspace, a.base.Source, a.base.ID, id)
	}
	return views.NewDraftPath(c.Who.Workspace, string(a.kind), id)
}

// keptPath is where the draft goes on that was kept of the form; "" where none
// was.
func (s *Site) keptPath(c *Ctx, a author, form url.Values) string {
	if d := draftIn(form); d.Revision != "" {
		return s.draftPath(c, a, d.ID)
	}
	return ""
}

// saveDraft keeps the form and goes on with it. Over takes the place of what
// was saved elsewhere, and new makes another draft of it.
func (s *Site) saveDraft(c *Ctx, a author, v views.Author, how string) error {
	form := v.Form.Values
	switch how {
	case views.SaveOver:
		if now, err := s.Catalog.Draft(c.R.Context(), c.Actor(), uuid.MustParse(draftIn(form).ID)); err == nil {
			form.Set("draftRevision", strconv.FormatInt(now.Revision, 10))
		}
	case views.SaveNew:
		form.Del("draft")
	}
	d := draftIn(form)
	form.Set("draft", d.ID)
	form.Set("draftTab", d.Tab)
	form.Set("draftRevision", d.Revision)
	d, err := s.keep(c, a, form)
	if err != nil {
		return err
	}
	if d.SavedAt.IsZero() || len(d.Left) > 0 { // shown where what was typed still stands
		v.Draft = d
		status := http.StatusOK
		if d.SavedAt.IsZero() {
			status = http.StatusConflict
		}
		return s.showAuthor(c, status, a, v)
	}
	return c.Done(s.draftPath(c, a, d.ID), c.T("draft.saved"))
}

// leaveForKinds goes back to the choice of a kind, with what was typed kept.
func (s *Site) leaveForKinds(c *Ctx, a author, v views.Author) error {
	d, err := s.keep(c, a, v.Form.Values)
	if err != nil {
		return err
	}
	if d.SavedAt.IsZero() {
		v.Draft = d
		return s.showAuthor(c, http.StatusConflict, a, v)
	}
	return c.Done(views.NewCapabilityPath(c.Who.Workspace, ""), c.T("draft.kept"))
}

// loadDraft is the form of the draft that the address names, opened anew. A
// draft of something else is missing.
func (s *Site) loadDraft(c *Ctx, a author) (url.Values, error) {
	id, err := uuid.Parse(c.R.URL.Query().Get("draft"))
	if err != nil {
		return nil, fault.Missing()
	}
	d, err := s.Catalog.Draft(c.R.Context(), c.Actor(), id)
	if err != nil {
		return nil, err
	}
	base := capability.Ref{}
	if a.base != nil {
		base = capability.Ref{Source: a.base.Source, ID: a.base.ID, Version: a.base.Version}
	}
	if d.Kind != a.kind || d.Base != base {
		return nil, fault.Missing()
	}
	form := url.Values{}
	if err := json.Unmarshal(d.Form, &form); err != nil {
		return nil, err
	}
	form.Set("draft", d.ID.String())
	form.Set("draftTab", uuid.NewString())
	form.Set("draftRevision", strconv.FormatInt(d.Revision, 10))
	return form, nil
}

// draftsPage lists what the reader has not published yet, or asks whether one
// of them is to be discarded.
func (s *Site) draftsPage(c *Ctx) error {
	drafts, err := s.Catalog.Drafts(c.R.Context(), c.Actor())
	if err != nil {
		return err
	}
	list := views.Drafts{Workspace: c.Who.Workspace, Discard: c.R.URL.Query().Get("discard")}
	for _, d := range drafts {
		link := views.DraftLink{ID: d.ID.String(), Kind: string(d.Kind), Name: d.Name, At: d.UpdatedAt, Version: d.Base.Version}
		link.Href = views.NewDraftPath(c.Who.Workspace, link.Kind, link.ID)
		if d.Base.ID != "" {
			link.Href = views.EditDraftPath(c.Who.Workspace, d.Base.Source, d.Base.ID, link.ID)
		}
		list.Items = append(list.Items, link)
	}
	if list.Discard != "" && !list.Discarding() {
		return fault.Missing()
	}
	return c.Show(http.StatusOK, views.DraftsPage(c.Page(c.T("draft.title"), views.NavMine), list), views.DraftList(list))
}

// discardDraft removes a draft of the reader's own.
func (s *Site) discardDraft(c *Ctx) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	id, err := uuid.Parse(form.Get("draft"))
	if err != nil {
		return fault.Missing()
	}
	if err := s.Catalog.DiscardDraft(c.R.Context(), c.Actor(), id); err != nil {
		return err
	}
	return c.Done(views.MinePath(c.Who.Workspace), c.T("draft.discarded"))
}
