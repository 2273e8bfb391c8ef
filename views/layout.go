package views

import (
	"strconv"

	"github.com/a-h/templ"

	"capstore/views/ui"
)

func themeAttrs(p Page) templ.Attributes {
	if theme := p.theme(); theme != "" {
		return templ.Attributes{"data-theme": theme}
	}
	return nil
}

func themeKey(theme string) string {
	if theme == "" {
		return "theme.system"
	}
	return "theme." + theme
}

// openAttrs shows the panel as the reader left it.
func openAttrs(p Page) templ.Attributes {
	if p.ChatOpen {
		return templ.Attributes{"data-open": true}
	}
	return nil
}

// panelAttrs say where the panel's content is, for the script to fetch it when
// the panel can be seen.
func panelAttrs(p Page) templ.Attributes { return templ.Attributes{"data-src": p.ChatPath} }

func pageCurrent(on bool) templ.Attributes {
	if on {
		return templ.Attributes{"aria-current": "page"}
	}
	return nil
}

func boolText(b bool) string { return strconv.FormatBool(b) }

func (f Flash) tone() ui.Tone {
	if f.Tone == "" {
		return ui.Success
	}
	return f.Tone
}
