// Package views holds the pages: templ components that take plain structs and
// call no service. ui holds what they are made of.
package views

import (
	"slices"

	"capstore/internal/i18n"
	"capstore/views/ui"
)

// Cookies that the scripts set and the server reads to render a page as the
// reader left it.
const (
	ThemeCookie = "theme" // light, dark; absent follows the system
	ChatCookie  = "chat"  // open; absent is folded
)

// Page is what the frame around every page needs. It is data only.
type Page struct {
	Title      string
	Locale     i18n.Locale
	Theme      string // value of ThemeCookie; anything unknown follows the system
	Nav        Nav    // the entry that is lit
	Viewer     *Viewer
	Workspace  *Workspace  // the one acted in; nil outside of any
	Workspaces []Workspace // the viewer's, for the switch
	Flash      *Flash
	Path       string // of this page, with its query, to come back to
	// Crumbs is the way to this page below its workspace; the title alone
	// unless told. The last one has no address.
	Crumbs []ui.Crumb
	// OwnSearch leaves the store's search out of the top bar, for a page that
	// has a search of its own.
	OwnSearch bool
	// Editor loads the code editor, which only pages that edit need.
	Editor bool
	// ChatPath is the address of the panel's content; empty leaves the panel
	// out. ChatOpen says that the reader left it open.
	ChatPath string
	ChatOpen bool
	// Waiting is how many calls wait for the viewer's word, 100 for more.
	Waiting int
}

// Viewer is the person who looks at the page.
type Viewer struct {
	Name  string
	Email string
}

// Workspace is one that the viewer may switch to.
type Workspace struct {
	Slug string
	Name string
	Role string
}

// Flash is the notice of what the last form did, shown once.
type Flash struct {
	Tone ui.Tone // ui.Success unless told
	Text string
	Undo *Undo
}

// Undo takes back what a flash or toast reports.
type Undo struct {
	Action string
	Values map[string]string
}

// Nav is an entry of the side bar.
type Nav string

// The entries of the side bar.
const (
	NavNone     Nav = ""
	NavStore    Nav = "store"
	NavMine     Nav = "mine"
	NavChat     Nav = "chat"
	NavApproval Nav = "approvals"
	NavSettings Nav = "settings"
)

// navLink is an entry as it is drawn.
type navLink struct {
	ui.Tab
	Nav  Nav
	Icon ui.IconName
}

func (p Page) nav() []navLink {
	if p.Workspace == nil {
		return nil
	}
	slug := p.Workspace.Slug
	links := []struct {
		nav  Nav
		icon ui.IconName
		href string
	}{
		{NavStore, ui.IconStore, StorePath(slug)},
		{NavMine, ui.IconMine, MinePath(slug)},
		{NavChat, ui.IconChat, ChatPath(slug)},
		{NavApproval, ui.IconShield, ApprovalsPath(slug, "", "")},
		{NavSettings, ui.IconSettings, SettingsPath(slug, "agent")},
	}
	var out []navLink
	for _, link := range links {
		label := p.Locale.T("nav." + string(link.nav))
		out = append(out, navLink{ui.Tab{Label: label, Href: link.href, Current: link.nav == p.Nav}, link.nav, link.icon})
	}
	return out
}

// settingsAreas are the parts of a workspace's settings, in order.
var settingsAreas = []string{"agent", "policies", "tools", "skills", "models", "members", "secrets", "usage"}

func (p Page) settings(area string) []ui.Tab {
	var tabs []ui.Tab
	for _, a := range settingsAreas {
		tabs = append(tabs, ui.Tab{
			Label: p.Locale.T("settings." + a), Href: SettingsPath(p.Workspace.Slug, a), Current: a == area,
		})
	}
	return tabs
}

// crumbs is the way to this page, from the workspace on.
func (p Page) crumbs() []ui.Crumb {
	var way []ui.Crumb
	if p.Workspace != nil {
		way = append(way, ui.Crumb{Label: p.Workspace.Name, Href: WorkspacePath(p.Workspace.Slug)})
	}
	if len(p.Crumbs) == 0 {
		return append(way, ui.Crumb{Label: p.Title})
	}
	return append(way, p.Crumbs...)
}

func (p Page) theme() string {
	if slices.Contains([]string{"light", "dark"}, p.Theme) {
		return p.Theme
	}
	return ""
}

func (p Page) documentTitle() string {
	if p.Workspace != nil {
		return p.Title + " · " + p.Workspace.Name + " · capstore"
	}
	return p.Title + " · capstore"
}

// Trouble is what an error page says: what happened, whose turn it is, and the
// number under which the log has it.
type Trouble struct {
	Kind      string // of the fault, such as not_found
	Message   string
	Fields    []string // every fault of an input that no form can show again
	Action    string
	Reference string
	Link      string // where to go; the start page unless told
	LinkLabel string
}
