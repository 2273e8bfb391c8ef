package web

import (
	"net/http"
	"net/url"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/fault"
	"capstore/views"
	"capstore/views/ui"
)

// maxImport bounds an upload of skills, which travels once more, as text, with
// the choice of what to publish.
const maxImport = 16 << 20

// authorRoutes are the pages on which capabilities are written and decided on.
func (s *Site) authorRoutes() []Route {
	return []Route{
		{Method: "GET", Pattern: "/{workspace}/store/new", Access: Member, handler: s.newCapabilityPage},
		{Method: "POST", Pattern: "/{workspace}/store/new", Access: Member, handler: s.newCapability},
		{Method: "GET", Pattern: "/{workspace}/store/{source}/{id}/edit", Access: Member, handler: s.editPage},
		{Method: "POST", Pattern: "/{workspace}/store/{source}/{id}/edit", Access: Member, handler: s.edit},
		{Method: "GET", Pattern: "/{workspace}/store/import", Access: Member, handler: s.importPage},
		{Method: "POST", Pattern: "/{workspace}/store/import", Access: Member, Body: 2 * maxImport, handler: s.importSkills},
	}
}

// author is what the form writes: a new capability of a kind, or with base the
// next version of one.
type author struct {
	kind capability.Kind
	base *catalog.VersionDetail
	next map[string]string // of base: the number that each bump gives
}

func (s *Site) newCapabilityPage(c *Ctx) error {
	kind := capability.Kind(c.R.URL.Query().Get("kind"))
	if kind == "" {
		page := c.Page(c.T("author.new"), views.NavMine)
		return c.Render(http.StatusOK, views.AuthorPickPage(page, c.Who.Workspace, c.whyNotWrite()))
	}
	if !kind.Known() {
		return fault.Missing()
	}
	return s.showAuthor(c, http.StatusOK, author{kind: kind}, views.Author{Form: views.Form{Values: starter(kind)}})
}

// whyNotWrite says why the reader cannot publish here and who can; "" when he
// can.
func (c *Ctx) whyNotWrite() string {
	return c.refusal(capability.May(c.Actor(), capability.ActWrite, capability.Fresh))
}

// refusal puts a refusal into words: why, and who can. "" for none.
func (c *Ctx) refusal(err error) string {
	if err == nil {
		return ""
	}
	f := fault.From(err)
	text, action := views.FaultText(c.Locale, f), views.FaultAction(c.Locale, f)
	if action != "" {
		text += " " + action
	}
	return text
}

func (s *Site) newCapability(c *Ctx) error {
	kind := capability.Kind(c.R.URL.Query().Get("kind"))
	if !kind.Known() {
		return fault.Missing()
	}
	return s.write(c, author{kind: kind})
}

func (s *Site) editPage(c *Ctx) error {
	a, err := s.loadEdit(c, "")
	if err != nil {
		return err
	}
	return s.showAuthor(c, http.StatusOK, a, views.Author{Form: views.Form{Values: draftValues(a.base.Content)}})
}

func (s *Site) edit(c *Ctx) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	a, err := s.loadEdit(c, form.Get("base"))
	if err != nil {
		return err
	}
	return s.write(c, a)
}

// loadEdit reads the version that an edit starts from, the latest unless told,
// and refuses whoever may not write it.
func (s *Site) loadEdit(c *Ctx, version string) (author, error) {
	ctx, source, id := c.R.Context(), c.R.PathValue("source"), c.R.PathValue("id")
	held, err := s.Catalog.Get(ctx, c.Actor(), source, id)
	if err != nil {
		return author{}, err
	}
	if err := capability.MayWrite(c.Actor(), held.Access); err != nil {
		return author{}, err
	}
	line, err := s.Catalog.Versions(ctx, c.Actor(), source, id)
	if err != nil {
		return author{}, err
	}
	a := author{base: held.Latest, next: bumpsOf(line[0].Version)}
	if a.base == nil || version != "" && version != a.base.Version {
		if version == "" {
			version = line[0].Version // all are withdrawn: the greatest is where to go on
		}
		from, err := s.Catalog.Version(ctx, c.Actor(), source, id, version)
		if err != nil {
			return author{}, err
		}
		a.base = &from
	}
	a.kind = a.base.Kind
	return a, nil
}

// bumpsOf is the number that each bump gives after the newest one.
func bumpsOf(newest string) map[string]string {
	out := map[string]string{}
	v, err := capability.ParseVersion(newest)
	if err != nil {
		return out
	}
	for _, bump := range []string{capability.BumpPatch, capability.BumpMinor, capability.BumpMajor} {
		if next, err := capability.Bump(v, bump); err == nil {
			out[bump] = next.String()
		}
	}
	return out
}

// showAuthor draws the form, with everything that does not depend on what was
// typed filled in here.
func (s *Site) showAuthor(c *Ctx, status int, a author, v views.Author) error {
	v.Workspace, v.WorkspaceName, v.Kind = c.Who.Workspace, c.Who.WorkspaceName, string(a.kind)
	v.Reason, v.PublicReason = c.whyNotWrite(), c.refusal(capability.MayPublishPublic(c.Actor(), s.Catalog.Policy()))
	v.Targets, v.DefaultReach = c.otherWorkspaces(), string(capability.DefaultReach(a.kind))
	if name := v.Form.Value("name", ""); name != "" {
		v.ProposedID = capability.IDFromName(name)
	}
	v.Files = c.authorFiles(a, v.Form)
	title, crumbs := c.T("author.new_kind", "kind", c.T("kind."+string(a.kind))), []ui.Crumb{{Label: c.T("nav.mine"), Href: views.MinePath(c.Who.Workspace)}}
	if a.base != nil {
		v.Base = baseOf(a)
		title = c.T("author.edit", "name", a.base.Name)
		crumbs = append(crumbs, ui.Crumb{Label: a.base.Name, Href: views.CapabilityPath(c.Who.Workspace, a.base.Source, a.base.ID)})
	}
	page := c.Page(title, views.NavMine)
	page.Crumbs, page.Editor = append(crumbs, ui.Crumb{Label: title}), true
	return c.Render(status, views.AuthorPage(page, v))
}

// baseOf is what the view knows of the version that an edit starts from; nil
// for a new capability.
func baseOf(a author) *views.AuthorBase {
	if a.base == nil {
		return nil
	}
	return &views.AuthorBase{
		Source: a.base.Source, ID: a.base.ID, Name: a.base.Name, Version: a.base.Version, Digest: a.base.Digest, Next: a.next,
		FromFile: rawOf(a.base.Content) != "",
	}
}

// otherWorkspaces are the reader's own, but for the one he acts in.
func (c *Ctx) otherWorkspaces() []views.Workspace {
	var out []views.Workspace
	for _, m := range c.Who.Memberships {
		if m.Workspace != c.Who.Workspace {
			out = append(out, views.Workspace{Slug: m.Workspace, Name: m.Name, Role: string(m.Role)})
		}
	}
	return out
}

// write does what the pressed button says: publish, or show the form again
// with a row more or less, checked or tried.
func (s *Site) write(c *Ctx, a author) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	plainBreaks(form)
	op := form.Get("op")
	if c.Htmx() {
		op = views.OpCheck // what its buttons do comes without
	}
	v := views.Author{Form: views.Form{Values: form}, Typed: true}
	if err := c.takeUploads(form); err != nil {
		return s.showAuthor(c, http.StatusUnprocessableEntity, a, withFaults(c, a, v, err))
	}
	if list := views.AddedTo(op); list != "" {
		addRow(form, list)
		return s.showAuthor(c, http.StatusOK, a, v)
	}
	if list, row, ok := views.RemovedFrom(op); ok {
		removeRow(form, list, row)
		return s.showAuthor(c, http.StatusOK, a, v)
	}
	compactRows(form)
	switch op {
	case views.OpPublish:
		return s.publishDraft(c, a, v)
	case views.OpCheck:
		return s.checkDraft(c, a, v)
	case views.OpTry:
		return s.tryDraft(c, a, v)
	}
	return s.showAuthor(c, http.StatusOK, a, v)
}

// publishDraft publishes what the form says, or shows what is wrong with it.
func (s *Site) publishDraft(c *Ctx, a author, v views.Author) error {
	p, faults := a.publication(v.Form.Values)
	if len(faults) > 0 {
		return s.showAuthor(c, http.StatusUnprocessableEntity, a, withFaults(c, a, v, fault.Fields(faults)))
	}
	out, err := s.Catalog.Publish(c.R.Context(), c.Actor(), p)
	if err != nil {
		return s.publishAgain(c, a, v, p, err)
	}
	return s.published(c, p, out)
}

// publishAgain shows the form with why it was not published, where that can be
// mended there.
func (s *Site) publishAgain(c *Ctx, a author, v views.Author, p catalog.Publication, err error) error {
	f := fault.From(err)
	switch {
	case f.Code == "changed_since" && a.base != nil:
		return s.staleDraft(c, a, v)
	case f.Kind == fault.Conflict:
		return s.showAuthor(c, http.StatusConflict, a, withFaults(c, a, v, atConflict(c, p, f)))
	case f.Kind == fault.Invalid:
		return s.showAuthor(c, http.StatusUnprocessableEntity, a, withFaults(c, a, v, c.onExisting(p, f)))
	case f.Code == "public_needs_admin":
		denied := fault.Fields([]fault.Field{{Path: "/visibility", Code: f.Code, Message: c.refusal(f)}})
		return s.showAuthor(c, http.StatusUnprocessableEntity, a, withFaults(c, a, v, denied))
	}
	return err
}

// staleDraft shows the form beside the version that came between. Publishing
// once more is then a choice made in its sight.
func (s *Site) staleDraft(c *Ctx, a author, v views.Author) error {
	source, id := a.base.Source, a.base.ID
	held, err := s.Catalog.Get(c.R.Context(), c.Actor(), source, id)
	if err != nil {
		return err
	}
	if held.Latest == nil {
		v.Form.Values.Set("ifMatch", "")
		return s.showAuthor(c, http.StatusConflict, a, v)
	}
	v.Form.Values.Set("ifMatch", held.Latest.Digest)
	v.Stale = &views.AuthorStale{
		Version:  held.Latest.Version,
		DiffHref: views.VersionDiffPath(c.Who.Workspace, source, id, a.base.Version, held.Latest.Version, false),
	}
	return s.showAuthor(c, http.StatusConflict, a, v)
}

// published says what became of it and shows it.
func (s *Site) published(c *Ctx, p catalog.Publication, out catalog.Published) error {
	key := "author.published"
	switch {
	case out.NoChanges:
		key = "author.unchanged"
	case out.Revived:
		key = "author.revived"
	case p.Visibility == capability.ReachPrivate:
		key = "author.published_private"
	}
	text := c.T(key, "name", out.Version.Name, "version", out.Version.Version)
	return c.Done(views.CapabilityPath(c.Who.Workspace, out.Version.Source, out.Version.ID), text)
}

// withFaults is the form with every fault at its field.
func withFaults(c *Ctx, a author, v views.Author, err error) views.Author {
	v.Form = c.showDraft(a.kind, v.Form.Values, err)
	return v
}

// atConflict puts a name or number that is taken at its field.
func atConflict(c *Ctx, p catalog.Publication, f *fault.Fault) error {
	path := map[string]string{"name_taken": "/name", "id_taken": "/id", "version_exists": "/version"}[f.Code]
	if path == "/id" && p.ID == "" {
		path = "/name"
	}
	if path == "" {
		return f
	}
	return fault.Fields([]fault.Field{{Path: path, Code: f.Code, Message: c.refusal(f)}})
}

// onExisting tells the author of a new capability that its id is there already,
// which the service can only say as a reach that may not change.
func (c *Ctx) onExisting(p catalog.Publication, f *fault.Fault) error {
	id := p.ID
	if id == "" {
		id = capability.IDFromName(p.Name)
	}
	out := *f
	out.Fields = nil
	for _, field := range f.Fields {
		if field.Code == "reach_on_existing" {
			field = fault.Field{Path: "/id", Code: "exists", Message: c.T("author.exists", "id", id)}
		}
		out.Fields = append(out.Fields, field)
	}
	return &out
}

// starter is what a new form begins with.
func starter(kind capability.Kind) url.Values {
	values := url.Values{}
	for name, value := range starters[kind] {
		values.Set(name, value)
	}
	return values
}
