package web

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/workspace"
	"capstore/views"
)

func (s *Site) newServerPage(c *Ctx) error {
	return s.showServer(c, http.StatusOK, views.Form{})
}

func (s *Site) showServer(c *Ctx, status int, form views.Form) error {
	v := views.ServerForm{Workspace: c.Who.Workspace, Form: form, Reason: c.agentReason()}
	var err error
	if v.Secrets, err = s.secretNames(c); err != nil {
		return err
	}
	return c.Render(status, views.NewServerPage(c.agentSubpage(c.T("agent.server_add")), v))
}

// newServer wires an MCP server by hand. Faults of its entry in the config are
// those of the form's fields.
func (s *Site) newServer(c *Ctx) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	entry := serverIn(form)
	at := 0
	_, err = s.Workspace.Change(c.R.Context(), c.Actor(), workspace.AnyVersion, c.T("agent.note_server_added", "name", entry.Name), func(config *capability.AgentConfig) error {
		at = len(config.MCPServers)
		config.MCPServers = append(config.MCPServers, entry)
		return nil
	})
	if status, again := shownAgain(err); again {
		return s.showServer(c, status, show(c.Locale, form, below(err, fmt.Sprintf("/mcpServers/%d", at))))
	}
	if err != nil {
		return err
	}
	return c.Done(views.ToolPath(c.Who.Workspace, string(capability.RawServerKey(entry.Name))), c.T("agent.server_added", "name", entry.Name))
}

func serverIn(form url.Values) capability.RawServer {
	entry := capability.RawServer{
		Name: strings.TrimSpace(form.Get("name")), URL: strings.TrimSpace(form.Get("url")), AuthSecret: form.Get("authSecret"),
		Write: form.Get("write") != "",
	}
	separates := func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\r' }
	entry.Serves = append(entry.Serves, strings.FieldsFunc(form.Get("serves"), separates)...)
	return entry
}

// below is the error with its fields named from the path on, the entries of a
// list under the list's own name.
func below(err error, path string) error {
	f := *fault.From(err)
	f.Fields = slices.Clone(f.Fields)
	for i := range f.Fields {
		rest, found := strings.CutPrefix(f.Fields[i].Path, path+"/")
		if name, _, _ := strings.Cut(rest, "/"); found {
			f.Fields[i].Path = "/" + name
		}
	}
	return &f
}

// server is the row of the hand-wired server that the path names.
func (s *Site) server(c *Ctx) (workspace.Carried, workspace.Row, error) {
	carried, err := s.Workspace.Carried(c.R.Context(), c.Actor())
	if err != nil {
		return carried, workspace.Row{}, err
	}
	row, ok := carried.Find(capability.RawServerKey(c.R.PathValue("name")))
	if !ok {
		return carried, row, fault.Missing()
	}
	return carried, row, nil
}

func (s *Site) removeServerPage(c *Ctx) error {
	carried, row, err := s.server(c)
	if err != nil {
		return err
	}
	ws := c.Who.Workspace
	return c.Render(http.StatusOK, views.EndingPage(c.agentSubpage(row.Name), views.Ending{
		Action: views.RemoveServerPath(ws, row.Name), Name: row.Name, Ref: row.Description, Leaning: c.leaning(carried, row.Key),
		Back: views.AgentPath(ws), Reason: c.agentReason(), Server: true,
	}))
}

func (s *Site) removeServer(c *Ctx) error {
	_, row, err := s.server(c)
	if err != nil {
		return err
	}
	_, err = s.Workspace.Change(c.R.Context(), c.Actor(), workspace.AnyVersion, c.T("agent.note_server_removed", "name", row.Name), func(config *capability.AgentConfig) error {
		config.MCPServers = slices.DeleteFunc(config.MCPServers, func(e capability.RawServer) bool { return e.Name == row.Name })
		return nil
	})
	if err != nil {
		return err
	}
	return c.Done(views.AgentPath(c.Who.Workspace), c.T("agent.server_removed", "name", row.Name))
}
