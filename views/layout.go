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

// chatAttrs loads the panel's content once it is open: at once when the reader
// left it so, else when the toggle opens it.
func chatAttrs(p Page) templ.Attributes {
	attrs := ui.Hx{Get: p.ChatPath, Trigger: "panel:open once"}.Attrs()
	if p.ChatOpen {
		attrs["hx-trigger"] = "load"
		attrs["data-open"] = true
	}
	return attrs
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
