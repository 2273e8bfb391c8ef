package web

import (
	"strings"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/views"
	"capstore/views/ui"
)

// capabilityFacts fills the column beside the capability.
func (c *Ctx) capabilityFacts(l lens) views.CapabilityFacts {
	f := views.CapabilityFacts{
		Author: l.version.Author.Name, Created: l.CreatedAt, Published: l.version.CreatedAt, Adopters: l.Adopters, Tags: l.Tags,
		VersionTags: l.version.Tags, Digest: l.version.Digest,
	}
	for _, m := range l.Maintainers {
		f.Maintainers = append(f.Maintainers, m.Name)
	}
	if l.Source == c.Who.Workspace { // whom else it is shared with is the owner's to know
		f.SharedWith = l.Access.SharedWith
	}
	for _, s := range capability.SecretsOf(l.version.Content.Spec) {
		f.Secrets = append(f.Secrets, views.SecretNeed{Name: s.Name, Description: s.Description})
	}
	if skill, ok := l.version.Content.Spec.(*capability.SkillSpec); ok {
		f.Licence, f.Compatible = skill.License, skill.Compatibility
	}
	leans := leansOf(l.version.Content.Spec)
	f.Domains = leans.Serves
	f.Requires = c.requirements(l, leans.Requires)
	f.Origin = c.origin(l.version.Provenance)
	return f
}

// leansOf is what the spec declares of domains and requirements; zero for the
// kinds that never reach the agent.
func leansOf(spec capability.Spec) capability.Leans {
	switch s := spec.(type) {
	case *capability.MCPSpec:
		return s.Leans
	case *capability.CodeSpec:
		return s.Leans
	case *capability.SkillSpec:
		return s.Leans
	case *capability.HookSpec:
		return s.Leans
	case *capability.CommandSpec:
		return s.Leans
	}
	return capability.Leans{}
}

// follow leads a deprecated capability's readers on, where they see what
// follows; else it is only named.
func (c *Ctx) follow(n *views.Notice, next catalog.Known, ref string) {
	text := c.T("detail.successor", "ref", ref)
	if next.ID == "" {
		n.Text = strings.TrimSpace(n.Text + " " + text)
		return
	}
	n.Link, n.Href = text, views.CapabilityPath(c.Who.Workspace, next.Source, next.ID)
}

// pinBefell says what became of the version that the workspace pins, where that
// is not the one looked at; "" while it is live.
func (c *Ctx) pinBefell(l lens) string {
	switch {
	case l.row == nil || l.Pinned == l.version.Version:
		return ""
	case l.row.Held == capability.HeldBlocked:
		return c.T("store.pin_blocked", "version", l.Pinned, "reason", l.row.BlockedReason)
	case l.row.Withdrawn:
		return c.T("store.pin_withdrawn", "version", l.Pinned)
	}
	return ""
}

// notices lists what to know before reading on.
func (c *Ctx) notices(l lens) []views.Notice {
	var out []views.Notice
	if d := l.Deprecated; d != nil {
		n := views.Notice{Tone: ui.Warning, Title: c.T("detail.deprecated"), Text: d.Note}
		if d.Successor != "" {
			c.follow(&n, l.known[d.Successor], d.Successor)
		}
		out = append(out, n)
	}
	if text := c.pinBefell(l); text != "" {
		out = append(out, views.Notice{Tone: ui.Warning, Text: text})
	}
	if lacks := l.carried.Lacking(l.requires()); l.row != nil && len(lacks) > 0 {
		out = append(out, views.Notice{Tone: ui.Warning, Text: c.T("detail.lacks", "names", strings.Join(lacks, ", "))})
	}
	if why := c.cannotRun(l.version.Content.Spec, l.Source); why != "" {
		out = append(out, views.Notice{Tone: ui.Warning, Title: c.T("reason.unsupported"), Text: why})
	}
	latest := views.Notice{Link: c.T("detail.see_latest"), Href: views.CapabilityPath(c.Who.Workspace, l.Source, l.ID)}
	if l.Latest == nil {
		latest = views.Notice{}
	}
	switch {
	case l.version.State == catalog.Blocked:
		latest.Tone, latest.Title, latest.Text = ui.Danger, c.T("detail.blocked", "version", l.version.Version), l.version.BlockedReason
	case l.version.State == catalog.Withdrawn:
		latest.Tone, latest.Title = ui.Warning, c.T("detail.withdrawn", "version", l.version.Version)
		latest.Text = c.T("versions.withdrawn_help")
	case l.Latest != nil && l.version.Version != l.Latest.Version:
		latest.Tone, latest.Text = ui.Info, c.T("detail.other_version", "version", l.version.Version, "latest", l.Latest.Version)
	default:
		return out
	}
	return append(out, latest)
}
