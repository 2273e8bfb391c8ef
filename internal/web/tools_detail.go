package web

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/workspace"
	"capstore/views"
	"capstore/views/ui"
)

// toolPage is one row of what the member's agent carries. Skills have a page
// of their own.
func (s *Site) toolPage(c *Ctx) error {
	key, err := c.toolKey()
	if err != nil {
		return err
	}
	if parsed, _ := capability.ParseKey(string(key)); parsed.Kind == capability.KeySkill {
		return c.Redirect(views.SkillPath(c.Who.Workspace, parsed.ID))
	}
	return s.showTool(c, http.StatusOK, key, views.Form{})
}

func (s *Site) showTool(c *Ctx, status int, key capability.Key, form views.Form) error {
	detail, err := s.Workspace.Tool(c.R.Context(), c.Actor(), key)
	if err != nil {
		return err
	}
	v := c.tool(detail)
	v.Form = form
	if err := s.deprecated(c, []*views.ToolRow{&v.ToolRow}); err != nil {
		return err
	}
	offerSecrets(c, &v, detail.Known)
	if detail.Kind == capability.KindMCP && detail.Enabled {
		if err := s.askedFunctions(c, &v, detail.Key); err != nil {
			return err
		}
		if v.Held, err = s.heldDefinitions(c, detail.Key); err != nil {
			return err
		}
	}
	p := c.Page(detail.Name, views.NavSettings)
	p.Crumbs = []ui.Crumb{{Label: c.T("settings.tools"), Href: views.ToolsPath(c.Who.Workspace, "")}, {Label: detail.Name}}
	return c.Show(status, views.ToolPage(p, v), withNotice(p.Flash, views.ToolBody(v)))
}

func (c *Ctx) tool(d workspace.Detail) views.Tool {
	ws := c.Who.Workspace
	row := c.toolRow(workspace.Carried{}, d.Row, views.ToolPath(ws, string(d.Key)))
	if d.ShadowedBy != "" {
		row.Shadow = &views.Use{Label: string(d.ShadowedBy), Href: views.ToolPath(ws, string(d.ShadowedBy))}
	}
	v := views.Tool{
		ToolRow: row, Transport: c.transport(d), Needed: d.Unmet, Digest: d.Digest, Scope: string(d.Scope),
		AuthorsWord: d.Kind == capability.KindMCP && len(d.Functions) > 0, BoundElsewhere: d.Origin == capability.OriginRaw,
	}
	for _, f := range d.Functions {
		v.Functions = append(v.Functions, c.toolFunction(f))
	}
	for _, declared := range d.Secrets {
		v.Secrets = append(v.Secrets, views.ToolSecret{
			Name: declared.Name, Description: declared.Description, Bound: declared.Bound, Satisfied: declared.Available, Own: declared.Own,
		})
	}
	for _, setting := range d.Settings {
		v.Settings = append(v.Settings, views.ToolSetting{
			Name: setting.Name, Description: setting.Description, Value: cmp.Or(d.Grant.Settings[setting.Name], setting.Default),
			Missing: slices.ContainsFunc(d.Unset, func(u capability.Setting) bool { return u.Name == setting.Name }),
		})
	}
	if !d.Editable {
		v.BindReason = c.T("agent.viewer_reason")
	}
	c.toolLinks(&v, d)
	return v
}

// toolLinks says where the reader can go from the tool's page.
func (c *Ctx) toolLinks(v *views.Tool, d workspace.Detail) {
	ws := c.Who.Workspace
	if d.Source != "" && d.Held != capability.HeldGone {
		v.StoreHref = views.CapabilityTabPath(ws, d.Source, d.ID, views.DetailLens{Version: d.Version})
		if d.Origin == capability.OriginAdopted {
			v.SetupHref = views.AdoptPath(ws, d.Source, d.ID, d.Version)
		}
		if d.Source == ws && capability.May(c.Actor(), capability.ActWrite, capability.Fresh) == nil {
			v.EditHref = views.EditCapabilityPath(ws, d.Source, d.ID)
		}
	}
	runnable := slices.IndexFunc(d.Functions, func(f workspace.Function) bool { return f.Allowed })
	switch {
	case d.Channel != capability.ChannelTool:
		v.RunReason = c.T("tools.run_by_itself")
	case !d.Enabled:
		v.RunReason = c.T("tools.run_off")
	case runnable >= 0:
		v.RunHref = views.NewChatPath(ws, d.Functions[runnable].Name)
	case len(d.Functions) > 0:
		v.RunReason = c.T("tools.run_write_off")
	default:
		v.RunHref = views.PickToolPath(ws)
	}
}

func (c *Ctx) toolFunction(f workspace.Function) views.ToolFunction {
	out := views.ToolFunction{Name: f.Name, Write: f.Write, Allowed: f.Allowed}
	switch {
	case f.Allowed:
	case f.Write:
		out.Refused = c.T("tools.refused_write")
	default:
		out.Refused = c.T("tools.refused_policy")
	}
	return out
}

// transport says in one sentence how the row is reached.
func (c *Ctx) transport(d workspace.Detail) string {
	if d.Held == capability.HeldGone || d.Held == capability.HeldUnsupported {
		return c.T("tools.reached_gone")
	}
	switch spec := d.Spec.(type) {
	case *capability.MCPSpec:
		if spec.Image != "" {
			return c.T("tools.reached_image", "image", spec.Image)
		}
		return c.T("tools.reached_http", "url", spec.URL)
	case *capability.CodeSpec:
		if len(d.Grant.Egress) > 0 {
			return c.T("tools.reached_code_hosts", "language", c.T("tools.language_"+string(spec.Language)), "hosts", strings.Join(d.Grant.Egress, ", "))
		}
		return c.T("tools.reached_code", "language", c.T("tools.language_"+string(spec.Language)))
	case *capability.HookSpec:
		return c.T("tools.reached_hook", "language", c.T("tools.language_"+string(spec.Language)), "event", c.T("tools.event_"+string(spec.Event)))
	}
	if d.Transport == workspace.TransportBuiltin {
		return c.T("tools.reached_builtin")
	}
	return c.T("tools.reached_text")
}

// offerSecrets fills in what each declared secret can be bound to, and where a
// new one is made under the declared name.
func offerSecrets(c *Ctx, v *views.Tool, names []string) {
	viewer := capability.May(c.Actor(), capability.ActSecrets, capability.Fresh) != nil
	back := views.ToolPath(c.Who.Workspace, v.Key)
	for i := range v.Secrets {
		declared := &v.Secrets[i]
		bound := v.Form.Value("secretBindings."+declared.Name, declared.Bound)
		declared.Options = []ui.Option{{Value: "", Label: c.T("tools.secret_none"), Selected: bound == ""}}
		for _, name := range withName(names, declared.Bound) {
			declared.Options = append(declared.Options, ui.Option{Value: name, Label: name, Selected: name == bound})
		}
		if name := cmp.Or(declared.Bound, declared.Name); !slices.Contains(names, name) {
			declared.NewHref = views.NewSecretPath(c.Who.Workspace, name, viewer, back)
		}
	}
}

// withName is the names with one more where it is missing: a binding to a
// secret that is gone stays in sight.
func withName(names []string, name string) []string {
	if name == "" || slices.Contains(names, name) {
		return names
	}
	return append(slices.Clone(names), name)
}

// bindSecrets binds the tool's declared secrets for the workspace.
func (s *Site) bindSecrets(c *Ctx) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	key, err := c.toolKey()
	if err != nil {
		return err
	}
	_, err = s.Workspace.BindSecrets(c.R.Context(), c.Actor(), key, bindingsIn(form))
	if status, again := shownAgain(err); again {
		return s.showTool(c, status, key, show(c.Locale, form, err))
	}
	if err != nil {
		return err
	}
	return c.Done(views.ToolPath(c.Who.Workspace, string(key)), c.T("tools.bound"))
}

func bindingsIn(form url.Values) map[string]string {
	out := map[string]string{}
	for field := range form {
		if declared, ok := strings.CutPrefix(field, "secretBindings."); ok {
			out[declared] = form.Get(field)
		}
	}
	return out
}
