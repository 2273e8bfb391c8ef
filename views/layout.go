package views

import (
	"strconv"

	"capstore/views/ui"

	"github.com/a-h/templ"
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

// panelAttrs loads the panel's content once it is open: at once when the reader
// left it so, else when the toggle opens it.
func panelAttrs(p Page) templ.Attributes {
	if p.ChatOpen {
		return ui.Hx{Get: p.ChatPath, Trigger: "load"}.Attrs()
	}
	return ui.Hx{Get: p.ChatPath, Trigger: "panel:open once"}.Attrs()
}

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
