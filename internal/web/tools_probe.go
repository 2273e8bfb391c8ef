package web

import (
	"cmp"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/httpd"
	"capstore/internal/registry"
	"capstore/internal/workspace"
	"capstore/views"
	"capstore/views/ui"
)

// askedFunctions shows what an MCP server said when it was last asked, in
// place of its author's word.
func (s *Site) askedFunctions(c *Ctx, v *views.Tool, key capability.Key) error {
	v.ProbeHref = views.ToolProbePath(c.Who.Workspace, string(key))
	snap, err := s.Agent.Bind(c.R.Context(), c.Actor())
	if err != nil {
		return err
	}
	entry, ok := snap.Find(key)
	if !ok || !asked(entry) {
		return nil
	}
	v.Said, v.AuthorsWord, v.Functions = c.serverSaid(snap, key), false, nil
	v.RunHref, v.RunReason = "", c.T("tools.run_write_off")
	for _, t := range entry.Tools {
		if t.Refused != "" {
			continue // told among the notes
		}
		f := c.toolFunction(workspace.Function{Name: t.Name, Raw: t.Raw, Write: t.Write, Allowed: t.Allowed})
		f.Text = t.Description
		v.Functions = append(v.Functions, f)
		if t.Allowed && v.RunHref == "" {
			v.RunHref, v.RunReason = views.NewChatPath(c.Who.Workspace, t.Name), ""
		}
	}
	if len(v.Functions) == 0 {
		v.RunReason = c.T("tools.run_nothing")
	}
	return nil
}

// asked reports whether the server was asked for its functions: what it said
// has schemas, and what it did not say is trouble.
func asked(entry registry.Entry) bool {
	if entry.Trouble != "" || len(entry.Notes) > 0 {
		return true
	}
	for _, t := range entry.Tools {
		if t.Schema != nil || t.Refused != "" {
			return true
		}
	}
	return false
}

// probeTool asks the MCP server for its functions now.
func (s *Site) probeTool(c *Ctx) error {
	key, err := c.toolKey()
	if err != nil {
		return err
	}
	snap, err := s.Agent.Learn(c.R.Context(), c.Actor(), key)
	if err != nil {
		return err
	}
	entry, ok := snap.Find(key)
	if !ok {
		return fault.Missing()
	}
	said, tone := c.serverSaid(snap, key), ui.Success
	if entry.Trouble != "" {
		tone = ui.Warning
	}
	c.site.Root.AddFlash(c.W, c.R, httpd.Flash{Tone: string(tone), Text: cmp.Or(said.Text, entry.Trouble)})
	return c.Redirect(views.ToolPath(c.Who.Workspace, string(key)))
}
