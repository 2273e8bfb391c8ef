package web

import (
	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/views/ui"
)

// means collects what an act would mean, line by line.
type means struct {
	c     *Ctx
	lines []ui.Point
}

// say adds a line; tone is Neutral for what nobody notices.
func (m *means) say(tone ui.Tone, key string, pairs ...any) {
	m.lines = append(m.lines, ui.Point{Tone: tone, Text: m.c.T("retire."+key, pairs...)})
}

// count adds a line about n of something, and none about none.
func (m *means) count(tone ui.Tone, key string, n int) {
	if n > 0 {
		m.lines = append(m.lines, ui.Point{Tone: tone, Text: m.c.Locale.N("retire."+key, n, "workspace", m.c.Who.WorkspaceName)})
	}
}

// versionMeans says what an act on a version means for those who rest on it.
func (c *Ctx) versionMeans(op string, of catalog.VersionInfo, line []catalog.VersionInfo, rests catalog.Reliance) []ui.Point {
	m := &means{c: c}
	tone := map[string]ui.Tone{"block": ui.Danger, "withdraw": ui.Warning, "revive": ui.Info, "unblock": ui.Success}[op]
	if rests.Pinned == 0 {
		m.say(ui.Neutral, "pinned_none")
	}
	m.count(tone, op+"_pinned", rests.Pinned)
	if rests.PinnedHere {
		m.say(ui.Neutral, "here", "workspace", c.Who.WorkspaceName)
	}
	m.count(tone, op+"_switched", rests.SwitchedPinned)
	if op == "block" || op == "unblock" {
		m.count(ui.Neutral, "others", rests.Adopters-rests.Pinned)
	}
	m.latest(op, of, line)
	return m.lines
}

// latest says which version is the one to adopt afterwards, where that changes.
func (m *means) latest(op string, of catalog.VersionInfo, line []catalog.VersionInfo) {
	gone := op == "withdraw" || op == "block"
	next, any := latestAfter(of.Version, gone, line)
	switch {
	case gone && of.Latest && !any:
		m.say(ui.Warning, "latest_none")
	case gone && of.Latest:
		m.say(ui.Info, "latest_next", "version", next)
	case !gone && next == of.Version:
		m.say(ui.Info, "latest_this")
	}
}

// latestAfter is the latest version once the one named is gone or is live.
func latestAfter(version string, gone bool, line []catalog.VersionInfo) (string, bool) {
	var live []capability.Version
	for _, info := range line {
		counts := info.State == catalog.Live
		if info.Version == version {
			counts = !gone
		}
		if v, err := capability.ParseVersion(info.Version); err == nil && counts {
			live = append(live, v)
		}
	}
	latest, ok := capability.Latest(live)
	return latest.String(), ok
}

// deletionMeans says for whom a capability would end.
func (c *Ctx) deletionMeans(rests catalog.Reliance) []ui.Point {
	m := &means{c: c}
	if rests.Adopters == 0 {
		m.say(ui.Neutral, "adopters_none")
	}
	m.count(ui.Danger, "delete_adopters", rests.Adopters)
	if rests.Here {
		m.say(ui.Neutral, "here", "workspace", c.Who.WorkspaceName)
	}
	m.count(ui.Danger, "delete_switched", rests.Switched)
	m.count(ui.Neutral, "copies", rests.Copies)
	m.count(ui.Warning, "maintainers", rests.Maintainers)
	m.say(ui.Neutral, "for_good")
	return m.lines
}
