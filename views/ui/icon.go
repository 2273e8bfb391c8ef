package ui

import (
	"context"
	"io"

	"github.com/a-h/templ"
)

// IconName is one of the icons of this package.
type IconName string

// The icons. One stands for each kind and each reach, the same everywhere.
const (
	IconNone        IconName = ""
	IconMCP         IconName = "mcp"
	IconCode        IconName = "code"
	IconSkill       IconName = "skill"
	IconEnvironment IconName = "environment"
	IconDelegation  IconName = "delegation"
	IconHook        IconName = "hook"
	IconCommand     IconName = "command"
	IconLock        IconName = "lock"
	IconPeople      IconName = "people"
	IconShared      IconName = "shared"
	IconGlobe       IconName = "globe"
	IconStore       IconName = "store"
	IconMine        IconName = "mine"
	IconChat        IconName = "chat"
	IconSettings    IconName = "settings"
	IconSearch      IconName = "search"
	IconPlus        IconName = "plus"
	IconCheck       IconName = "check"
	IconClose       IconName = "close"
	IconChevron     IconName = "chevron"
	IconRight       IconName = "right"
	IconLeft        IconName = "left"
	IconUpDown      IconName = "updown"
	IconMore        IconName = "more"
	IconMenu        IconName = "menu"
	IconCopy        IconName = "copy"
	IconInfo        IconName = "info"
	IconWarning     IconName = "warning"
	IconDanger      IconName = "danger"
	IconSuccess     IconName = "success"
	IconExternal    IconName = "external"
	IconDownload    IconName = "download"
	IconUpload      IconName = "upload"
	IconTrash       IconName = "trash"
	IconEdit        IconName = "edit"
	IconKey         IconName = "key"
	IconTag         IconName = "tag"
	IconClock       IconName = "clock"
	IconUser        IconName = "user"
	IconUsers       IconName = "users"
	IconFile        IconName = "file"
	IconFolder      IconName = "folder"
	IconImage       IconName = "image"
	IconDiff        IconName = "diff"
	IconPlay        IconName = "play"
	IconStop        IconName = "stop"
	IconSend        IconName = "send"
	IconSun         IconName = "sun"
	IconMoon        IconName = "moon"
	IconScreen      IconName = "screen"
	IconSignOut     IconName = "signout"
	IconPin         IconName = "pin"
	IconFilter      IconName = "filter"
	IconRefresh     IconName = "refresh"
	IconShield      IconName = "shield"
	IconLogo        IconName = "logo"
)

// drawings are the insides of 24 × 24 line icons.
var drawings = map[IconName]string{
	IconMCP:         `<rect x="3" y="4" width="18" height="7" rx="2"/><rect x="3" y="13" width="18" height="7" rx="2"/><path d="M7 7.5h.01M7 16.5h.01M11 7.5h6M11 16.5h6"/>`,
	IconCode:        `<path d="m8 7-5 5 5 5M16 7l5 5-5 5M13.5 4.5l-3 15"/>`,
	IconSkill:       `<path d="M4 5.5A2.5 2.5 0 0 1 6.5 3H20v15H6.5A2.5 2.5 0 0 0 4 20.5z"/><path d="M4 20.5A2.5 2.5 0 0 0 6.5 21H20v-3M8.5 8h7M8.5 12h4"/>`,
	IconEnvironment: `<path d="m12 3 8.5 4.5v9L12 21l-8.5-4.5v-9z"/><path d="M3.5 7.5 12 12l8.5-4.5M12 12v9"/>`,
	IconDelegation:  `<circle cx="6" cy="6" r="2.5"/><circle cx="18" cy="12" r="2.5"/><circle cx="6" cy="18" r="2.5"/><path d="M8.5 6H11a3 3 0 0 1 3 3v0a3 3 0 0 0 1.5 2.6M8.5 18H11a3 3 0 0 0 3-3v0a3 3 0 0 1 1.5-2.6"/>`,
	IconHook:        `<path d="M14 3v4M11.5 7h5v2.5a2.5 2.5 0 0 1-5 0z"/><path d="M14 12v4a4.5 4.5 0 0 1-9 0v-3l2.5 2.5"/>`,
	IconCommand:     `<rect x="3" y="4" width="18" height="16" rx="2.5"/><path d="m7 9 3 3-3 3M12.5 15H17"/>`,
	IconLock:        `<rect x="5" y="10.5" width="14" height="10" rx="2.5"/><path d="M8 10.5V7.5a4 4 0 0 1 8 0v3"/>`,
	IconPeople:      `<circle cx="9" cy="8" r="3.5"/><path d="M2.5 20a6.5 6.5 0 0 1 13 0M16 4.8a3.5 3.5 0 0 1 0 6.4M18 14.5a6.5 6.5 0 0 1 3.5 5.5"/>`,
	IconShared:      `<rect x="3" y="3" width="9" height="9" rx="2"/><rect x="12" y="12" width="9" height="9" rx="2"/><path d="M16 4.5h1.5a2 2 0 0 1 2 2V8M8 19.5H6.5a2 2 0 0 1-2-2V16"/>`,
	IconGlobe:       `<circle cx="12" cy="12" r="9"/><path d="M3 12h18M12 3c2.5 2.6 3.8 5.6 3.8 9s-1.3 6.4-3.8 9c-2.5-2.6-3.8-5.6-3.8-9S9.5 5.6 12 3z"/>`,
	IconStore:       `<rect x="3" y="3" width="7.5" height="7.5" rx="2"/><rect x="13.5" y="3" width="7.5" height="7.5" rx="2"/><rect x="3" y="13.5" width="7.5" height="7.5" rx="2"/><path d="M17.25 13.5v7.5M13.5 17.25H21"/>`,
	IconMine:        `<path d="m12 3 9 5-9 5-9-5z"/><path d="m3 12.5 9 5 9-5M3 17l9 5 9-5" opacity=".6"/>`,
	IconChat:        `<path d="M20 4H4a1.5 1.5 0 0 0-1.5 1.5v10A1.5 1.5 0 0 0 4 17h3v4l5-4h8a1.5 1.5 0 0 0 1.5-1.5v-10A1.5 1.5 0 0 0 20 4z"/>`,
	IconSettings:    `<path d="M4 7h9M19 7h1M4 17h1M11 17h9"/><circle cx="16" cy="7" r="2.5"/><circle cx="8" cy="17" r="2.5"/>`,
	IconSearch:      `<circle cx="11" cy="11" r="6.5"/><path d="m20.5 20.5-4.7-4.7"/>`,
	IconPlus:        `<path d="M12 5v14M5 12h14"/>`,
	IconCheck:       `<path d="M20 6.5 9.5 17.5 4 12"/>`,
	IconClose:       `<path d="M6 6l12 12M18 6 6 18"/>`,
	IconChevron:     `<path d="m6 9.5 6 6 6-6"/>`,
	IconRight:       `<path d="m9.5 6 6 6-6 6"/>`,
	IconLeft:        `<path d="m14.5 6-6 6 6 6"/>`,
	IconUpDown:      `<path d="m7.5 14.5 4.5 4.5 4.5-4.5M7.5 9.5 12 5l4.5 4.5"/>`,
	IconMore:        `<circle cx="5" cy="12" r="1"/><circle cx="12" cy="12" r="1"/><circle cx="19" cy="12" r="1"/>`,
	IconMenu:        `<path d="M4 7h16M4 12h16M4 17h16"/>`,
	IconCopy:        `<rect x="8.5" y="8.5" width="12" height="12" rx="2"/><path d="M15.5 8.5v-3a2 2 0 0 0-2-2h-8a2 2 0 0 0-2 2v8a2 2 0 0 0 2 2h3"/>`,
	IconInfo:        `<circle cx="12" cy="12" r="9"/><path d="M12 11v5M12 7.8h.01"/>`,
	IconWarning:     `<path d="M10.3 4.2 2.6 17.5A2 2 0 0 0 4.3 20.5h15.4a2 2 0 0 0 1.7-3L13.7 4.2a2 2 0 0 0-3.4 0z"/><path d="M12 9.5v4M12 17h.01"/>`,
	IconDanger:      `<path d="M8.2 3h7.6L21 8.2v7.6L15.8 21H8.2L3 15.8V8.2z"/><path d="M12 8v4.5M12 16h.01"/>`,
	IconSuccess:     `<circle cx="12" cy="12" r="9"/><path d="m8.5 12.3 2.4 2.4 4.8-5.2"/>`,
	IconExternal:    `<path d="M14 4h6v6M20 4l-9 9M18 14v4a2 2 0 0 1-2 2H6a2 2 0 0 1-2-2V8a2 2 0 0 1 2-2h4"/>`,
	IconDownload:    `<path d="M12 4v11M7.5 11 12 15.5 16.5 11M4.5 19.5h15"/>`,
	IconUpload:      `<path d="M12 15.5v-11M7.5 8.5 12 4l4.5 4.5M4.5 19.5h15"/>`,
	IconTrash:       `<path d="M4 6.5h16M9 6.5V4.5h6v2M6 6.5l1 13a1.5 1.5 0 0 0 1.5 1.5h7a1.5 1.5 0 0 0 1.5-1.5l1-13M10 11v6M14 11v6"/>`,
	IconEdit:        `<path d="m4 20 .9-4.2L16.3 4.4a1.7 1.7 0 0 1 2.4 0l.9.9a1.7 1.7 0 0 1 0 2.4L8.2 19.1z"/><path d="m14.5 6.2 3.3 3.3"/>`,
	IconKey:         `<circle cx="8" cy="15.5" r="4.5"/><path d="m11.3 12.3 8.2-8.3M16 7.5l3 3M13.5 10l1.8 1.8"/>`,
	IconTag:         `<path d="M3.5 4.5v7L12.5 20.5a1.7 1.7 0 0 0 2.4 0l5.6-5.6a1.7 1.7 0 0 0 0-2.4L11.5 3.5h-7a1 1 0 0 0-1 1z"/><path d="M8 8h.01"/>`,
	IconClock:       `<circle cx="12" cy="12" r="9"/><path d="M12 7v5.3l3.3 2"/>`,
	IconUser:        `<circle cx="12" cy="8" r="4"/><path d="M4.5 20.5a7.5 7.5 0 0 1 15 0"/>`,
	IconUsers:       `<circle cx="9" cy="8" r="3.5"/><path d="M2.5 20a6.5 6.5 0 0 1 13 0M16 4.8a3.5 3.5 0 0 1 0 6.4M18 14.5a6.5 6.5 0 0 1 3.5 5.5"/>`,
	IconFile:        `<path d="M13.5 3H7a2 2 0 0 0-2 2v14a2 2 0 0 0 2 2h10a2 2 0 0 0 2-2V8.5z"/><path d="M13.5 3v5.5H19"/>`,
	IconFolder:      `<path d="M3 7a2 2 0 0 1 2-2h4l2.5 3H19a2 2 0 0 1 2 2v7a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2z"/>`,
	IconImage:       `<rect x="3" y="4.5" width="18" height="15" rx="2"/><circle cx="8.5" cy="9.5" r="1.5"/><path d="m4 17.5 5-4.5 3.5 3 3-2.5 5 4"/>`,
	IconDiff:        `<path d="M12 4v8M8 8h8M8 18h8"/>`,
	IconPlay:        `<path d="M7 4.8v14.4a.8.8 0 0 0 1.2.7l11.3-7.2a.8.8 0 0 0 0-1.4L8.2 4.1a.8.8 0 0 0-1.2.7z"/>`,
	IconStop:        `<rect x="6" y="6" width="12" height="12" rx="2"/>`,
	IconSend:        `<path d="M20.5 3.5 10 14M20.5 3.5l-6.5 17-4-6.5-6.5-4z"/>`,
	IconSun:         `<circle cx="12" cy="12" r="4"/><path d="M12 2.5v2M12 19.5v2M2.5 12h2M19.5 12h2M5.3 5.3l1.4 1.4M17.3 17.3l1.4 1.4M18.7 5.3l-1.4 1.4M6.7 17.3l-1.4 1.4"/>`,
	IconMoon:        `<path d="M20.5 14.5A8.5 8.5 0 0 1 9.5 3.5a8.5 8.5 0 1 0 11 11z"/>`,
	IconScreen:      `<rect x="3" y="4" width="18" height="12.5" rx="2"/><path d="M8.5 20.5h7M12 16.5v4"/>`,
	IconSignOut:     `<path d="M14.5 8V5.5a2 2 0 0 0-2-2h-6a2 2 0 0 0-2 2v13a2 2 0 0 0 2 2h6a2 2 0 0 0 2-2V16M10 12h10.5M17 8.5l3.5 3.5-3.5 3.5"/>`,
	IconPin:         `<path d="M9 3.5h6l-.8 6.5 3.3 3.5v1.5h-11V13.5L9.8 10zM12 15v6"/>`,
	IconFilter:      `<path d="M4 6h16M7 12h10M10.5 18h3"/>`,
	IconRefresh:     `<path d="M20 12a8 8 0 1 1-2.4-5.7L20 8.5M20 3.5v5h-5"/>`,
	IconShield:      `<path d="m12 3 7.5 2.8v5.5c0 4.6-3 8-7.5 9.7-4.5-1.7-7.5-5.1-7.5-9.7V5.8z"/><path d="m9 12 2.2 2.2L15 10"/>`,
	IconLogo:        `<path d="M19 7.2A8.5 8.5 0 1 0 19 16.8" stroke-width="3"/><circle cx="18.5" cy="12" r="2" fill="currentColor"/>`,
}

// Icon draws one icon. It is decoration: what it means stands beside it in
// words, or in the label of the control around it. An unknown name draws nothing.
func Icon(name IconName) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		drawing, ok := drawings[name]
		if !ok {
			return nil
		}
		_, err := io.WriteString(w, `<svg viewBox="0 0 24 24" width="16" height="16" fill="none" stroke="currentColor" stroke-width="1.75" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" focusable="false">`+drawing+`</svg>`)
		return err
	})
}

// KindIcon returns the icon of a kind of capability, or none.
func KindIcon(kind string) IconName {
	switch name := IconName(kind); name {
	case IconMCP, IconCode, IconSkill, IconEnvironment, IconDelegation, IconHook, IconCommand:
		return name
	}
	return IconNone
}

// ReachIcon returns the icon of a reach, or none.
func ReachIcon(reach string) IconName {
	return map[string]IconName{
		"private": IconLock, "workspace": IconPeople, "subset": IconShared, "public": IconGlobe,
	}[reach]
}
