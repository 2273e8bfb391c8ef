package web

import (
	"cmp"
	"net/http"
	"slices"

	"github.com/google/uuid"

	"capstore/internal/agent"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/registry"
	"capstore/views"
	"capstore/views/ui"
)

// turnPage is what a turn could see: the reader's own, or for an admin another
// member's without what was said in it.
func (s *Site) turnPage(c *Ctx) error {
	id, err := uuid.Parse(c.R.PathValue("turn"))
	if err != nil {
		return fault.Missing()
	}
	seen, err := s.Agent.Seen(c.R.Context(), c.Actor(), id)
	if err != nil {
		return err
	}
	if in := c.R.PathValue("id"); in != "" && in != seen.Conversation.String() {
		return fault.Missing()
	}
	page := c.Page(c.T("health.turn_title"), views.NavSettings)
	page.Crumbs = []ui.Crumb{
		{Label: c.T("settings.agent"), Href: views.AgentPath(c.Who.Workspace)}, {Label: c.T("health.title"), Href: views.HealthPath(c.Who.Workspace, "")}, {Label: page.Title},
	}
	return c.Render(http.StatusOK, views.TurnSeenPage(page, c.turnSeen(seen)))
}

func (c *Ctx) turnSeen(seen agent.Seen) views.TurnSeen {
	v := views.TurnSeen{
		Workspace: c.Who.Workspace, Epoch: seen.Epoch, Digest: seen.Digest, Mode: string(seen.Mode), Model: seen.Model,
		State: string(seen.State), StartedAt: seen.StartedAt, Requests: int64(seen.Requests), Calls: int64(seen.Calls), FailedCalls: int64(seen.FailedCalls),
		Input: seen.Usage.Input, Cached: seen.Usage.CachedInput, Out: seen.Usage.Output, Cost: seen.Usage.Cost,
	}
	if seen.EndedAt != nil {
		v.Took = seen.EndedAt.Sub(seen.StartedAt)
	}
	if seen.Own {
		v.Conversation = seen.Conversation.String()
	} else {
		v.Member, v.Subject = seen.Member, seen.Subject
	}
	if seen.Surface != nil {
		v.Reading = seen.Surface.Reading
	}
	for i := range seen.Entries {
		to := &v.Entries
		if seen.Entries[i].Origin == registry.OriginBuiltin {
			to = &v.Shipped
		}
		*to = append(*to, c.seenEntry(&seen.Entries[i], seen))
	}
	for kind, n := range seen.Private {
		v.Private = append(v.Private, views.HealthCount{Name: capabilityKind(kind), N: n})
	}
	slices.SortFunc(v.Private, func(a, b views.HealthCount) int { return cmp.Compare(a.Name, b.Name) })
	return v
}

func (c *Ctx) seenEntry(l *registry.Listed, seen agent.Seen) views.SeenEntry {
	out := views.SeenEntry{
		Kind: capabilityKind(l.Kind), Name: l.Name, Origin: string(l.Origin), Version: l.Version, Digest: l.Digest, Standing: string(l.Standing), Reason: l.Reason,
	}
	if slices.Contains(capability.Reasons, capability.Reason(l.Reason)) {
		out.Reason = c.reason(capability.Reason(l.Reason))
	}
	if l.Source != "" && l.Source != capability.FirstPartyOwner {
		out.Href = views.CapabilityPath(c.Who.Workspace, l.Source, l.ID)
	}
	for _, name := range l.Tools {
		t := views.SeenTool{Name: name}
		if seen.Surface != nil && l.Standing.Callable() && l.Origin != registry.OriginBuiltin {
			t.Loading = "later"
			if slices.Contains(seen.Surface.Loaded, name) {
				t.Loading = "loaded"
			}
		}
		out.Tools = append(out.Tools, t)
	}
	return out
}
