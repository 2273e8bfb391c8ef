package web

import (
	"encoding/json"
	"slices"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/workspace"
	"capstore/views"
)

// requirements says of everything that the version leans on whether the
// reader's agent carries it, and where to get it when not.
func (c *Ctx) requirements(l lens, names []string) []views.Requirement {
	lacks := l.carried.Lacking(names)
	var out []views.Requirement
	for _, name := range names {
		r := views.Requirement{Label: name, Met: !slices.Contains(lacks, name)}
		if known, ok := l.known[name]; ok {
			r.Href = views.CapabilityPath(c.Who.Workspace, known.Source, known.ID)
		}
		if !r.Met {
			c.meet(&r, l.carried)
		}
		out = append(out, r)
	}
	return out
}

// meet says what would meet a requirement that nothing meets.
func (c *Ctx) meet(r *views.Requirement, carried workspace.Carried) {
	if row, ok := provider(carried, r.Label); ok {
		r.Lack, r.Way, r.WayHref = c.T("detail.lack_off"), c.T("detail.lack_switch"), views.ToolPath(c.Who.Workspace, string(row.Key))
		return
	}
	_, _, isCapability := strings.Cut(r.Label, "/")
	switch {
	case r.Href != "":
		r.Lack, r.Way, r.WayHref = c.T("detail.lack_store"), c.T("detail.lack_look"), r.Href
	case isCapability:
		r.Lack = c.T("detail.lack_unseen")
	default:
		tool := r.Label[strings.LastIndex(r.Label, "__")+1:]
		r.Lack, r.Way = c.T("detail.lack_tool"), c.T("detail.lack_search")
		r.WayHref = views.StoreListPath(c.Who.Workspace, views.ShelfStore, views.StoreFilters{Query: strings.TrimLeft(tool, "_")})
	}
}

// provider is the row that would meet the requirement if it were on.
func provider(carried workspace.Carried, name string) (workspace.Row, bool) {
	for _, row := range carried.Rows {
		named := row.Key == capability.Key("capability:"+name)
		if named || slices.ContainsFunc(row.Functions, func(f workspace.Function) bool { return f.Name == name }) {
			return row, true
		}
	}
	return workspace.Row{}, false
}

// origin says where an import came from, as far as its provenance tells; nil
// for what was written here.
func (c *Ctx) origin(raw json.RawMessage) *views.Provenance {
	var held map[string]any
	if json.Unmarshal(raw, &held) != nil || len(held) == 0 {
		return nil
	}
	text := func(key string) string {
		s, _ := held[key].(string)
		return s
	}
	p := &views.Provenance{Format: text("format"), Name: text("plugin"), Version: text("pluginVersion"), Market: text("marketplace")}
	if p.Name == "" {
		p.Name = text("name")
	}
	for _, key := range []string{"from", "copiedFrom"} {
		if from := text(key); from != "" {
			p.From = from
		}
	}
	for _, key := range []string{"path", "file"} {
		if path := text(key); path != "" && path != "." {
			p.Path = path
		}
	}
	for _, key := range []string{"homepage", "repository", "websiteUrl"} {
		if href := text(key); isWeb(href) && !slices.Contains(p.Links, href) {
			p.Links = append(p.Links, href)
		}
	}
	return p
}

func isWeb(href string) bool {
	return strings.HasPrefix(href, "https://") || strings.HasPrefix(href, "http://")
}
