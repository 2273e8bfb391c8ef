package web

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/fault"
	"capstore/internal/secret"
	"capstore/internal/workspace"
	"capstore/views"
	"capstore/views/ui"
)

func (s *Site) adoptRoutes() []Route {
	return []Route{
		{Method: "GET", Pattern: "/{workspace}/store/{source}/{id}/adopt", Access: Member, handler: s.adoptPage},
		{Method: "POST", Pattern: "/{workspace}/store/{source}/{id}/adopt", Access: Member, handler: s.adopt},
		{Method: "POST", Pattern: "/{workspace}/store/{source}/{id}/unadopt", Access: Member, handler: s.unadopt},
		{Method: "POST", Pattern: "/{workspace}/store/{source}/{id}/copy", Access: Member, handler: s.copySkill},
	}
}

// adoption is everything that the adopt page decides on.
type adoption struct {
	capability catalog.Capability
	version    catalog.VersionDetail
	before     *capability.Adoption // nil for a first one
	secrets    []secret.Info
}

// loadAdoption reads the version to adopt: the one named, else the latest.
func (s *Site) loadAdoption(c *Ctx, version string) (adoption, error) {
	var a adoption
	ctx, source, id := c.R.Context(), c.R.PathValue("source"), c.R.PathValue("id")
	var err error
	if a.capability, err = s.Catalog.Get(ctx, c.Actor(), source, id); err != nil {
		return a, err
	}
	switch {
	case version != "":
		a.version, err = s.Catalog.Version(ctx, c.Actor(), source, id, version)
	case a.capability.Latest == nil:
		err = fault.Missing()
	default:
		a.version = *a.capability.Latest
	}
	if err != nil {
		return a, err
	}
	config, err := s.Workspace.Config(ctx, c.Actor())
	if err != nil {
		return a, err
	}
	a.before = config.Config.Adopted(source, id)
	a.secrets, err = s.Secrets.List(ctx, c.Actor())
	return a, err
}

func (s *Site) adoptPage(c *Ctx) error {
	a, err := s.loadAdoption(c, c.R.URL.Query().Get("version"))
	if err != nil {
		return err
	}
	return s.showAdopt(c, http.StatusOK, a, views.Form{})
}

func (s *Site) showAdopt(c *Ctx, status int, a adoption, form views.Form) error {
	v := a.version
	view := views.Adopt{
		Workspace: c.Who.Workspace, Source: v.Source, ID: v.ID, Kind: string(v.Kind), Name: v.Name, Version: v.Version,
		Digest: v.Digest, Pinned: a.capability.Pinned, Form: form, Reason: c.whyNotAdopt(a),
		UnadoptOK: a.before != nil && capability.May(c.Actor(), capability.ActAgents, capability.Fresh) == nil,
	}
	title := "adopt.title"
	var base capability.Content
	if view.Pinned != "" && view.Pinned != v.Version {
		title = "adopt.title_repin"
		view.DiffHref = views.VersionDiffPath(c.Who.Workspace, v.Source, v.ID, view.Pinned, v.Version, false)
		if pinned, err := s.Catalog.Version(c.R.Context(), c.Actor(), v.Source, v.ID, view.Pinned); err == nil {
			base = pinned.Content
		}
	}
	if base.Spec != nil {
		view.Effects = c.effectLines(base, v.Content)
	} else {
		view.Powers = c.effectWords(capability.NewPowers(base, v.Content))
	}
	c.adoptChoices(&view, a, base, form)
	page := c.Page(c.T(title, "name", v.Name), views.NavStore)
	page.Crumbs = []ui.Crumb{
		{Label: c.T("nav.store"), Href: views.StorePath(c.Who.Workspace)},
		{Label: v.Name, Href: views.CapabilityPath(c.Who.Workspace, v.Source, v.ID)}, {Label: page.Title},
	}
	return c.Render(status, views.AdoptPage(page, view))
}

// whyNotAdopt says why the version cannot be adopted here, and who can; "" when
// it can.
func (c *Ctx) whyNotAdopt(a adoption) string {
	v := a.version
	switch {
	case v.Kind == capability.KindSkill:
		return c.T("adopt.skill")
	case !v.Kind.Adoptable():
		return c.T("adopt.not_adoptable")
	case capability.May(c.Actor(), capability.ActAgents, capability.Fresh) != nil:
		return c.T("adopt.viewer")
	case a.capability.Access.Reach == capability.ReachPrivate:
		return c.T("adopt.private")
	case v.State == catalog.Blocked:
		return c.T("adopt.blocked", "reason", v.BlockedReason)
	case v.State == catalog.Withdrawn && a.capability.Pinned != v.Version:
		return c.T("adopt.withdrawn")
	}
	return ""
}

// adoptChoices fills in what the adopter picks, with what was sent, else with
// what the workspace has now, else with the author's word.
func (c *Ctx) adoptChoices(view *views.Adopt, a adoption, pinned capability.Content, form views.Form) {
	before := cmp.Or(a.before, &capability.Adoption{})
	for _, declared := range capability.SecretsOf(a.version.Content.Spec) {
		view.Secrets = append(view.Secrets, c.adoptSecret(declared, before, a.secrets, form))
	}
	var hosts []string
	switch spec := a.version.Content.Spec.(type) {
	case *capability.MCPSpec:
		for _, setting := range spec.Settings {
			field := form.Field("settings."+setting.Name, setting.Name)
			field.Help, field.Optional = setting.Description, !setting.Required
			value := cmp.Or(before.Settings[setting.Name], setting.Default)
			view.Settings = append(view.Settings, views.AdoptSetting{Field: field, Value: form.Value(field.Name, value)})
		}
	case *capability.CodeSpec:
		hosts = spec.Egress
	}
	for _, host := range hosts {
		view.Hosts = append(view.Hosts, views.AdoptChoice{Value: host, Checked: form.Has("host", host, slices.Contains(before.Egress, host))})
	}
	c.adoptTools(view, a, before, pinned, form)
	if capability.NeedsConsent(a.version.Kind, a.version.Source, c.Who.Workspace) {
		view.Consent = consentOf(a.version, before)
	}
}

func consentOf(v catalog.VersionDetail, before *capability.Adoption) *views.AdoptConsent {
	out := &views.AdoptConsent{Given: before.ConsentDigest == v.Digest}
	switch spec := v.Content.Spec.(type) {
	case *capability.CodeSpec:
		out.Language, out.Code = string(spec.Language), spec.Code
	case *capability.HookSpec:
		out.Language, out.Code = string(spec.Language), spec.Code
	}
	return out
}

func (c *Ctx) adoptSecret(declared capability.RequiredSecret, before *capability.Adoption, have []secret.Info, form views.Form) views.AdoptSecret {
	name := "secretBindings." + declared.Name
	field := form.Field(name, declared.Name)
	field.Help, field.Optional, field.Unmarked = declared.Description, true, true
	chosen := form.Value(name, cmp.Or(before.SecretBindings[declared.Name], nameAmong(have, declared.Name)))
	options := []ui.Option{{Value: "", Label: c.T("adopt.secret_later"), Selected: chosen == ""}}
	seen := map[string]bool{}
	for _, info := range have {
		if seen[info.Name] {
			continue // a binding goes by name, whoever's value it finds
		}
		seen[info.Name] = true
		label := info.Name
		if info.Personal {
			label = c.T("adopt.secret_own", "name", info.Name)
		}
		options = append(options, ui.Option{Value: info.Name, Label: label, Selected: info.Name == chosen})
	}
	if chosen != "" && !seen[chosen] {
		options = append(options, ui.Option{Value: chosen, Label: chosen, Selected: true})
	}
	var fresh ui.Field // nothing where the name is taken: a value is replaced in Settings, not in passing
	if nameAmong(have, declared.Name) == "" {
		fresh = form.Field("newSecret."+declared.Name, c.T("adopt.secret_new"))
		fresh.Help, fresh.Optional, fresh.Unmarked = c.T("adopt.secret_new_help", "name", declared.Name), true, true
	}
	return views.AdoptSecret{Name: declared.Name, Description: declared.Description, Options: options, Field: field, New: fresh}
}

func nameAmong(have []secret.Info, name string) string {
	if slices.ContainsFunc(have, func(i secret.Info) bool { return i.Name == name }) {
		return name
	}
	return ""
}

// adoptTools lists the tools whose class the adopter confirms, and those that
// write. One that did not write in the pinned version is asked for anew, also
// where everything was allowed.
func (c *Ctx) adoptTools(view *views.Adopt, a adoption, before *capability.Adoption, pinned capability.Content, form views.Form) {
	classes, known := classesOf(a.version.Content), classesOf(pinned)
	for _, tool := range slices.Sorted(maps.Keys(classes)) {
		class := cmp.Or(capability.ToolClass(form.Value("class."+tool, "")), before.ToolClasses[tool], classes[tool])
		if a.version.Kind == capability.KindMCP {
			field := form.Field("class."+tool, tool)
			view.Classes = append(view.Classes, views.AdoptClass{Tool: tool, Field: field, Read: class == capability.ClassRead})
		}
		if classes[tool] != capability.ClassRead || class == capability.ClassWrite {
			wrote := pinned.Spec == nil || known[tool] == capability.ClassWrite || before.ToolClasses[tool] == capability.ClassWrite
			allowed := before.EnableWrite && (len(before.WriteTools) == 0 && wrote || slices.Contains(before.WriteTools, tool))
			view.Writes = append(view.Writes, views.AdoptChoice{Value: tool, Checked: form.Has("writeTool", tool, allowed)})
		}
	}
}

// classesOf are the tools that a content names, with the author's word of them;
// one that he says nothing of counts as writing.
func classesOf(content capability.Content) map[string]capability.ToolClass {
	classes := map[string]capability.ToolClass{}
	if content.Spec == nil {
		return classes
	}
	maps.Copy(classes, content.SuggestedClasses())
	if spec, ok := content.Spec.(*capability.MCPSpec); ok {
		for _, tool := range spec.Provides {
			classes[tool] = cmp.Or(classes[tool], capability.ClassWrite)
		}
	}
	return classes
}

func (s *Site) adopt(c *Ctx) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	a, err := s.loadAdoption(c, form.Get("version"))
	if err != nil {
		return err
	}
	in, err := s.readAdoption(c, a, form)
	if err == nil {
		_, err = s.Workspace.Adopt(c.R.Context(), c.Actor(), in)
	}
	if err != nil {
		return s.adoptAgain(c, a, form, err)
	}
	return s.adopted(c, a)
}

// adoptAgain shows the form with what is wrong, where it can be mended there.
func (s *Site) adoptAgain(c *Ctx, a adoption, form url.Values, err error) error {
	f := fault.From(err)
	if f.Kind != fault.Invalid && f.Kind != fault.Conflict && f.Kind != fault.Denied {
		return err
	}
	for name := range form {
		if strings.HasPrefix(name, "newSecret.") {
			form.Del(name)
		}
	}
	if have, err := s.Secrets.List(c.R.Context(), c.Actor()); err == nil {
		a.secrets = have // one may have been stored just now
	}
	if f.Code == "consent_required" {
		f.Fields = []fault.Field{{Path: "/consentDigest", Code: f.Code, Message: views.FaultText(c.Locale, f)}}
	}
	return s.showAdopt(c, http.StatusUnprocessableEntity, a, show(c.Locale, form, f))
}

// adopted says what is adopted now, and whether something is still missing.
func (s *Site) adopted(c *Ctx, a adoption) error {
	v, text := a.version, "adopt.done"
	detail, err := s.Workspace.Tool(c.R.Context(), c.Actor(), capability.CapabilityKey(v.Source, v.ID))
	switch {
	case err == nil && detail.Reason == capability.HeldSetup:
		text = "adopt.done_setup"
	case a.before != nil && a.before.Version != v.Version:
		text = "adopt.repinned"
	}
	return c.Done(views.CapabilityPath(c.Who.Workspace, v.Source, v.ID), c.T(text, "name", v.Name, "version", v.Version))
}

// readAdoption makes the adoption that the form asks for. A secret's value
// that was entered is stored first: it is of use whatever comes of the rest.
func (s *Site) readAdoption(c *Ctx, a adoption, form url.Values) (workspace.AdoptInput, error) {
	v := a.version
	in := workspace.AdoptInput{
		Source: v.Source, ID: v.ID, Version: v.Version, SecretBindings: map[string]string{}, Settings: map[string]string{},
		Egress: append([]string{}, form["host"]...), WriteTools: append([]string{}, form["writeTool"]...),
		ConsentDigest: form.Get("consentDigest"),
	}
	if capability.NeedsConsent(v.Kind, v.Source, c.Who.Workspace) && in.ConsentDigest != v.Digest {
		// Adopt would say so too, but by then a secret would have been stored.
		return in, fault.New(fault.Conflict, "consent_required", "The source must be agreed to first.")
	}
	write := len(in.WriteTools) > 0
	in.EnableWrite = &write
	if v.Kind == capability.KindMCP {
		in.ToolClasses = map[string]capability.ToolClass{}
	}
	for name := range form {
		if tool, ok := strings.CutPrefix(name, "class."); ok && in.ToolClasses != nil {
			in.ToolClasses[tool] = capability.ToolClass(form.Get(name))
		}
		if setting, ok := strings.CutPrefix(name, "settings."); ok && form.Get(name) != "" {
			in.Settings[setting] = form.Get(name)
		}
	}
	for _, declared := range capability.SecretsOf(v.Content.Spec) {
		bound := form.Get("secretBindings." + declared.Name)
		if value := form.Get("newSecret." + declared.Name); value != "" {
			if err := s.storeFor(c.R.Context(), c.Actor(), declared.Name, value); err != nil {
				return in, err
			}
			bound = declared.Name
			form.Set("secretBindings."+declared.Name, bound) // kept, should the form be shown again
		}
		if bound != "" {
			in.SecretBindings[declared.Name] = bound
		}
	}
	return in, nil
}

// storeFor keeps a value as a secret of the workspace, under the name that the
// capability declares; its faults stand at the field of that name.
func (s *Site) storeFor(ctx context.Context, actor capability.Actor, name, value string) error {
	_, err := s.Secrets.Set(ctx, actor, secret.NewSecret{Name: name, Value: secret.NewValue(value), New: true})
	f := fault.From(err)
	if f == nil || f.Kind != fault.Invalid && f.Kind != fault.Denied && f.Code != "secret_taken" {
		return err
	}
	return fault.Fields([]fault.Field{{Path: "/newSecret." + name, Code: f.Code, Message: strings.TrimSpace(f.Message + " " + f.Action)}})
}

func (s *Site) unadopt(c *Ctx) error {
	source, id := c.R.PathValue("source"), c.R.PathValue("id")
	if _, err := s.Workspace.Unadopt(c.R.Context(), c.Actor(), source, id); err != nil {
		return err
	}
	return c.Done(views.SettingsPath(c.Who.Workspace, "agent"), c.T("adopt.ended", "name", source+"/"+id))
}

// copySkill copies a published skill into the workspace's library.
func (s *Site) copySkill(c *Ctx) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	a, err := s.loadAdoption(c, form.Get("version"))
	if err != nil {
		return err
	}
	skill, err := s.Workspace.TakeFromStore(c.R.Context(), c.Actor(), workspace.TakeInput{
		Source: a.version.Source, ID: a.version.ID, Version: a.version.Version, Name: form.Get("name"),
	})
	if err != nil {
		return err
	}
	return c.Done(views.SettingsPath(c.Who.Workspace, "skills"), c.T("adopt.copied", "name", skill.Content.Name))
}
