package web

import (
	"slices"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/views"
	"capstore/views/ui"
)

// comparison is what lies between the two versions of the lens. Missing when
// the reader may not see one of them.
func (s *Site) comparison(c *Ctx, l lens, at views.ComparisonLens) (*views.Comparison, error) {
	from, err := s.versionIn(c, l, at.Base)
	if err != nil {
		return nil, err
	}
	to, err := s.versionIn(c, l, at.Candidate)
	if err != nil {
		return nil, err
	}
	out := &views.Comparison{Effects: c.effectLines(from.Content, to.Content)}
	c.differences(out, capability.DiffWithin(from.Content, to.Content, viewOf(at.Parts)), at.Parts)
	c.move(out, l, from, to, capability.Effects(from.Content, to.Content))
	return out, nil
}

// effectLines are what the candidate changes for whoever uses it, in words.
func (c *Ctx) effectLines(base, candidate capability.Content) []views.EffectLine {
	return c.effectWords(capability.Effects(base, candidate))
}

// viewOf is what the kernel is asked for.
func viewOf(parts []views.DiffPart) capability.View {
	view := capability.View{}
	for _, part := range parts {
		window := view[part.Path]
		if part.Last > 0 {
			window.Open = append(window.Open, capability.LineRange{First: part.First, Last: part.Last})
		} else {
			window.From = part.From
		}
		view[part.Path] = window
	}
	return view
}

// differences sorts the changes: long texts for themselves. The instructions
// of a skill stand in its SKILL.md, and once is enough.
func (c *Ctx) differences(out *views.Comparison, changes capability.Changes, parts []views.DiffPart) {
	document := slices.ContainsFunc(changes.Changes, func(change capability.Change) bool {
		return change.Path == "/spec/raw" && change.Op == capability.OpChanged
	})
	list := slices.DeleteFunc(changes.Changes, func(change capability.Change) bool {
		return document && change.Path == "/spec/instructions" && change.Text != nil
	})
	for _, change := range c.changes(list, "part.") {
		if change.Lines == nil {
			out.Changes = append(out.Changes, change)
			continue
		}
		for _, part := range parts {
			if part.Path == change.Lines.Key && part.Last > 0 {
				change.Lines.Opened = append(change.Lines.Opened, ui.DiffRun{First: part.First, Last: part.Last})
			}
		}
		out.Texts = append(out.Texts, change)
	}
}

// move offers the candidate in place of what the workspace has, with the same
// decisions as adopting it; nothing where the base is not in use.
func (c *Ctx) move(out *views.Comparison, l lens, from, to catalog.VersionDetail, effects []capability.Effect) {
	if !to.Kind.Adoptable() || l.Pinned == "" || from.Version != l.Pinned || to.Version == l.Pinned {
		return
	}
	l.version = to
	if out.Move = c.adopt(l); out.Move.Reason != "" {
		return
	}
	if capability.NeedsConsent(to.Kind, l.Source, c.Who.Workspace) {
		out.Asks = append(out.Asks, c.T("versions.asks_consent"))
	}
	for _, e := range effects {
		switch e.Code {
		case capability.EffectSecrets:
			out.Asks = append(out.Asks, c.T("versions.asks_secrets", "names", strings.Join(e.Items, ", ")))
		case capability.EffectSettings:
			out.Asks = append(out.Asks, c.T("versions.asks_settings", "names", strings.Join(e.Items, ", ")))
		case capability.EffectHosts:
			out.Asks = append(out.Asks, c.T("versions.asks_hosts", "names", strings.Join(e.Items, ", ")))
		case capability.EffectWriteTools, capability.EffectWrites:
			out.Asks = append(out.Asks, c.T("versions.asks_write"))
		}
	}
	out.Asks = slices.Compact(out.Asks)
}
