package web

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"capstore/internal/agent"
	"capstore/internal/capability"
	"capstore/internal/registry"
	"capstore/views"
	"capstore/views/ui"
)

// standings is the order in which entries are shown: what somebody should look
// at first, what is off last.
var standings = []registry.Standing{
	registry.Failing, registry.Held, registry.NeedsSetup, registry.Shadowed, registry.Usable, registry.Off,
}

// healthPage is the report of the reader's agent, or for an admin of another
// member's.
func (s *Site) healthPage(c *Ctx) error {
	query := c.R.URL.Query()
	filter := views.HealthFilter{Member: query.Get("member"), Standing: query.Get("standing"), Kind: query.Get("kind")}
	if filter.Member == c.Who.Subject {
		filter.Member = ""
	}
	report, err := s.Agent.Report(c.R.Context(), c.Actor(), filter.Member)
	if err != nil {
		return err
	}
	bound, err := s.Agent.BoundTo(c.R.Context(), c.Actor(), filter.Member, report.Epochs)
	if err != nil {
		return err
	}
	v := c.health(report, filter)
	for _, e := range report.Epochs {
		v.Epochs = append(v.Epochs, c.healthEpoch(e, bound[e.Epoch]))
	}
	if err := s.healthMembers(c, &v); err != nil {
		return err
	}
	return c.Render(http.StatusOK, views.HealthPage(c.agentSubpage(c.T("health.title")), v))
}

// healthMembers is whom an admin may look at.
func (s *Site) healthMembers(c *Ctx, v *views.Health) error {
	if capability.May(c.Actor(), capability.ActSettings, capability.Ownership{}) != nil {
		return nil
	}
	members, err := s.Root.Identity.Members(c.R.Context(), c.Actor())
	if err != nil {
		return err
	}
	for _, m := range members {
		option := ui.Option{Value: m.Subject, Label: m.Name, Selected: m.Subject == cmp.Or(v.Subject, c.Who.Subject)}
		if m.Subject == v.Subject {
			v.Member = m.Name
		}
		v.Members = append(v.Members, option)
	}
	return nil
}

func (c *Ctx) health(r registry.Report, filter views.HealthFilter) views.Health {
	v := views.Health{
		Workspace: c.Who.Workspace, Subject: filter.Member, Epoch: r.Epoch, Digest: r.Digest, Mode: string(r.Mode), Filter: filter, Total: len(r.Entries),
		Loop: views.HealthLoop{
			Passes: r.Loop.Passes, LastSuccess: r.Loop.LastSuccess, FailingFrom: r.Loop.FailingSince, LastError: r.Loop.LastError,
		},
	}
	for _, conn := range r.Pool {
		v.Pool = append(v.Pool, views.HealthConnection{
			Name: string(conn.Key), Connected: conn.Connected, Calls: conn.Calls, Failures: conn.Failures, RetryAt: conn.RetryAt, Reason: conn.Reason,
		})
	}
	for _, m := range r.Misreads {
		v.Misreads = append(v.Misreads, views.HealthMisread(m))
	}
	for kind, n := range r.Private {
		v.Private = append(v.Private, views.HealthCount{Name: capabilityKind(kind), N: n})
	}
	slices.SortFunc(v.Private, func(a, b views.HealthCount) int { return cmp.Compare(a.Name, b.Name) })
	c.healthEntries(&v, r.Entries)
	v.Map = c.healthMap(r.Entries)
	for _, source := range v.Map {
		v.Loaded, v.Later = v.Loaded+source.Loaded, v.Later+source.Later
	}
	return v
}

// healthEntries counts the entries by standing and kind, and groups those that
// the filter lets through.
func (c *Ctx) healthEntries(v *views.Health, entries []registry.Reported) {
	groups, shipped, kinds := map[registry.Standing][]views.HealthRow{}, map[registry.Standing][]views.HealthRow{}, map[string]int{}
	counts := map[registry.Standing]int{}
	for i := range entries {
		e := &entries[i]
		kind := capabilityKind(e.Kind)
		counts[e.Standing]++
		kinds[kind]++
		if e.Standing.Callable() {
			v.Usable++
		}
		if v.Filter.Standing != "" && v.Filter.Standing != string(e.Standing) || v.Filter.Kind != "" && v.Filter.Kind != kind {
			continue
		}
		if e.Origin == registry.OriginBuiltin {
			shipped[e.Standing] = append(shipped[e.Standing], c.healthRow(e, v.Subject != ""))
		} else {
			groups[e.Standing] = append(groups[e.Standing], c.healthRow(e, v.Subject != ""))
		}
	}
	for _, standing := range standings {
		if counts[standing] > 0 {
			v.Standings = append(v.Standings, views.HealthCount{Name: string(standing), N: counts[standing]})
		}
		if len(groups[standing])+len(shipped[standing]) > 0 {
			v.Groups = append(v.Groups, views.HealthGroup{Standing: string(standing), Rows: groups[standing], Shipped: shipped[standing]})
		}
	}
	for kind, n := range kinds {
		v.Kinds = append(v.Kinds, views.HealthCount{Name: kind, N: n})
	}
	slices.SortFunc(v.Kinds, func(a, b views.HealthCount) int { return cmp.Compare(a.Name, b.Name) })
}

// capabilityKind is the kind that people know an entry's kind by.
func capabilityKind(kind registry.EntryKind) string {
	if kind == registry.EntryTool {
		return string(capability.KindCode)
	}
	return string(kind)
}

func (c *Ctx) healthRow(e *registry.Reported, others bool) views.HealthRow {
	row := views.HealthRow{
		Kind: capabilityKind(e.Kind), Name: e.Name, Version: e.Declaration.Version, Origin: string(e.Origin),
		Reason: c.standingReason(e), Detail: e.Detail, Retired: e.Resolution == registry.Retired, Notes: e.Notes, Loading: c.loadingText(e.Tools),
	}
	if e.Declaration.Source != "" {
		row.Ref = e.Declaration.Source + "/" + e.Declaration.ID
	}
	ws := c.Who.Workspace
	row.Href = c.entryHref(e.Key, e.Declaration.Source, e.Declaration.ID, others)
	switch {
	case e.Standing == registry.NeedsSetup && !others:
		row.Remedy, row.RemedyLabel = views.ToolPath(ws, string(e.Key))+"#setup", c.T("tools.set_up")
	case e.Standing == registry.Shadowed && e.ShadowedBy != "" && !others:
		row.Remedy, row.RemedyLabel = views.ToolPath(ws, string(e.ShadowedBy)), c.T("health.shadowing")
	case e.Standing == registry.Held:
		row.Remedy, row.RemedyLabel = views.AgentPath(ws), c.T("health.who_agent")
	case e.Standing == registry.Failing && !others:
		row.Remedy, row.RemedyLabel = views.ToolPath(ws, string(e.Key)), c.T("tools.probe")
	}
	return row
}

// entryHref leads to where the entry is switched or shown.
func (c *Ctx) entryHref(key capability.Key, source, id string, others bool) string {
	ws := c.Who.Workspace
	parsed, _ := capability.ParseKey(string(key))
	switch {
	case parsed.Kind == capability.KeySkill:
		return views.SkillPath(ws, parsed.ID)
	case parsed.Kind == capability.KeyBuiltin:
		return views.ToolsPath(ws, "")
	case others && source != "":
		return views.CapabilityPath(ws, source, id)
	case others:
		return views.AgentPath(ws)
	}
	return views.ToolPath(ws, string(key))
}

// standingReason says why the entry stands as it does, with what is missing.
func (c *Ctx) standingReason(e *registry.Reported) string {
	text := e.Reason
	switch {
	case slices.Contains(capability.Reasons, capability.Reason(e.Reason)):
		text = c.reason(capability.Reason(e.Reason))
	case e.Standing == registry.Failing:
		text = c.T("health.reason_failing", "code", e.Reason)
	}
	if len(e.Missing) > 0 {
		text += " (" + strings.Join(e.Missing, ", ") + ")"
	}
	if len(e.Unmet) > 0 {
		text += " · " + c.T("tools.unmet", "names", strings.Join(e.Unmet, ", "))
	}
	return text
}

// loadingText says how many of the tools a model has before it from the start.
func (c *Ctx) loadingText(tools []registry.Function) string {
	if len(tools) == 0 {
		return ""
	}
	s := loadingOf(tools)
	var parts []string
	for _, p := range []struct {
		key string
		n   int
	}{{"health.load_loaded", s.Loaded}, {"health.load_later", s.Later}, {"health.load_withheld", s.Withheld}} {
		switch {
		case p.n == len(tools) && p.n == 1:
			parts = append(parts, c.T(p.key))
		case p.n > 0:
			parts = append(parts, c.T("health.map_node", "name", c.T(p.key), "n", p.n))
		}
	}
	return strings.Join(parts, ", ")
}

func loadingOf(tools []registry.Function) views.HealthSource {
	var s views.HealthSource
	for _, t := range tools {
		switch t.Loading {
		case registry.Loaded:
			s.Loaded++
		case registry.Deferred, registry.Unlearnt:
			s.Later++
		default:
			s.Withheld++
		}
	}
	return s
}

// healthMap is where the tools come from, the largest source first.
func (c *Ctx) healthMap(entries []registry.Reported) []views.HealthSource {
	by := map[string]*views.HealthSource{}
	for i := range entries {
		e := &entries[i]
		if len(e.Tools) == 0 || e.Standing == registry.Off {
			continue
		}
		name := e.Declaration.Source
		switch {
		case e.Origin == registry.OriginRaw:
			name = e.Name
		case name == "":
			name = c.T("health.origin_" + string(e.Origin))
		}
		if by[name] == nil {
			by[name] = &views.HealthSource{Name: name}
		}
		s := loadingOf(e.Tools)
		by[name].Loaded, by[name].Later, by[name].Withheld = by[name].Loaded+s.Loaded, by[name].Later+s.Later, by[name].Withheld+s.Withheld
	}
	var out []views.HealthSource
	for _, s := range by {
		out = append(out, *s)
	}
	size := func(s views.HealthSource) int { return s.Loaded + s.Later + s.Withheld }
	slices.SortFunc(out, func(a, b views.HealthSource) int {
		return cmp.Or(size(b)-size(a), cmp.Compare(a.Name, b.Name))
	})
	return out
}

func (c *Ctx) healthEpoch(e registry.Epoch, bound agent.Bound) views.HealthEpoch {
	out := views.HealthEpoch{
		Epoch: e.Epoch, First: e.Delta.From == 0, Digest: e.Digest, At: e.At, Added: len(e.Delta.Added), Removed: len(e.Delta.Removed), Changed: len(e.Delta.Changed),
		More: bound.Total - int64(len(bound.Turns)),
	}
	for _, part := range []struct {
		key  string
		list []registry.Change
	}{{"health.line_added", e.Delta.Added}, {"health.line_removed", e.Delta.Removed}, {"health.line_changed", e.Delta.Changed}} {
		for _, change := range part.list {
			line := c.T(part.key, "kind", c.T("kind."+capabilityKind(change.Kind)), "name", strings.TrimSpace(change.Name+" "+change.Version))
			if slices.Contains(capability.Reasons, capability.Reason(change.Reason)) {
				line += " · " + c.reason(capability.Reason(change.Reason))
			}
			out.Lines = append(out.Lines, line)
		}
	}
	if e.Delta.Mode != "" {
		out.Lines = append(out.Lines, c.T("health.line_mode", "mode", c.T("agent.mode_"+e.Delta.Mode)))
	}
	for _, t := range bound.Turns {
		out.Turns = append(out.Turns, views.HealthTurn{Href: views.SeenPath(c.Who.Workspace, t.Turn.String()), At: t.StartedAt, State: string(t.State)})
	}
	return out
}
