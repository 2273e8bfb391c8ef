package web

import (
	"net/http"
	"slices"

	"github.com/google/uuid"

	"capstore/internal/agent"
	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/fault"
	"capstore/views"
	"capstore/views/ui"
)

// authorRoutes are the pages on which capabilities are written and decided on.
func (s *Site) authorRoutes() []Route {
	return []Route{
		{Method: "GET", Pattern: "/{workspace}/store/new", Access: Member, handler: s.newCapabilityPage},
		{Method: "POST", Pattern: "/{workspace}/store/new", Access: Member, Body: maxForm, handler: s.newCapability},
		{Method: "GET", Pattern: "/{workspace}/store/new/drafts", Access: Member, handler: s.draftsPage},
		{Method: "POST", Pattern: "/{workspace}/store/new/drafts", Access: Member, handler: s.discardDraft},
		{Method: "POST", Pattern: "/{workspace}/store/new/stop", Access: Member, handler: s.stopTry},
		{Method: "GET", Pattern: "/{workspace}/store/{source}/{id}/edit", Access: Member, handler: s.editPage},
		{Method: "POST", Pattern: "/{workspace}/store/{source}/{id}/edit", Access: Member, Body: maxForm, handler: s.edit},
	}
}

// maxForm bounds a form with files to upload: what a draft holds, and as much
// again for how a browser spells it.
const maxForm = 2 * catalog.MaxDraft

// author is what the form writes: a new capability of a kind, or with base the
// next version of one.
type author struct {
	kind capability.Kind
	base *catalog.VersionDetail
	// skill is the id of the library's skill that is edited; "" for the store.
	skill string
	// files are those of a form that was sent; nil for one that was not.
	files *fileList
	next  map[string]string // of base: the number that each bump gives
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
	return s.openForm(c, author{kind: kind})
}

// openForm shows the form with the draft that the address names, else as it
// begins.
func (s *Site) openForm(c *Ctx, a author) error {
	v := views.Author{Form: views.Form{Values: starter(a.kind)}}
	if a.base != nil {
		v.Form.Values = draftValues(a.base.Content)
	}
	if c.R.URL.Query().Get("draft") != "" {
		form, err := s.loadDraft(c, a)
		if err != nil {
			return err
		}
		v.Form.Values = form
	}
	return s.showAuthor(c, http.StatusOK, a, v)
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
	version := ""
	if id, err := uuid.Parse(c.R.URL.Query().Get("draft")); err == nil {
		d, err := s.Catalog.Draft(c.R.Context(), c.Actor(), id)
		if err != nil {
			return err
		}
		version = d.Base.Version
	}
	a, err := s.loadEdit(c, version)
	if err != nil {
		return err
	}
	return s.openForm(c, a)
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
	v = c.aboutAuthor(a, v)
	v.Reason, v.PublicReason = c.whyNotWrite(), c.refusal(capability.MayPublishPublic(c.Actor(), s.Catalog.Policy()))
	v.Targets, v.DefaultReach = c.otherWorkspaces(), string(capability.DefaultReach(a.kind))
	if name := v.Form.Value("name", ""); name != "" {
		v.ProposedID = capability.IDFromName(name)
	}
	if err := s.showFiles(c, a, &v); err != nil {
		return err
	}
	if v.Step == views.StepPublish {
		if err := s.beforePublishing(c, a, &v); err != nil {
			return err
		}
	}
	title, crumbs := c.T("author.new_kind."+string(a.kind)), []ui.Crumb{{Label: c.T("nav.mine"), Href: views.MinePath(c.Who.Workspace)}}
	if a.base != nil {
		title = c.T("author.edit", "name", a.base.Name)
		crumbs = append(crumbs, ui.Crumb{Label: a.base.Name, Href: views.CapabilityPath(c.Who.Workspace, a.base.Source, a.base.ID)})
	}
	page := c.Page(title, views.NavMine)
	page.Crumbs, page.Editor = append(crumbs, ui.Crumb{Label: title}), true
	return c.Render(status, views.AuthorPage(page, v))
}

// aboutAuthor fills in what the form and its fragments have in common.
func (c *Ctx) aboutAuthor(a author, v views.Author) views.Author {
	v.Workspace, v.WorkspaceName, v.Kind, v.Base = c.Who.Workspace, c.Who.WorkspaceName, string(a.kind), baseOf(a)
	v.Step = v.FirstStep()
	if v.Draft == nil {
		v.Draft = draftIn(v.Form.Values)
	}
	if a.kind == capability.KindHook {
		v.SampleEvent = string(agent.SampleEvent(capability.Event(v.Form.Value("spec.event", ""))))
		if isSample(v.Form.Value("tryInput", "")) {
			v.Form.Values.Del("tryInput") // of the event that was chosen before
		}
	}
	if a.kind == capability.KindCommand {
		r := &reading{form: v.Form.Values}
		v.Preview = a.commandSpec(r).Expand(v.Form.Value("tryArguments", ""))
	}
	return v
}

// isSample reports whether the text is a sample event that nobody changed.
func isSample(text string) bool {
	return slices.ContainsFunc(capability.Events, func(e capability.Event) bool { return string(agent.SampleEvent(e)) == text })
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
