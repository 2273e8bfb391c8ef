package ui

import (
	"maps"

	"github.com/a-h/templ"
)

// Hx is what an element does by htmx. Every field may be empty. Whatever
// carries it must do the same without script, as a link or a form.
type Hx struct {
	Get, Post, Put, Patch, Delete string // address
	Target                        string // selector of what is replaced
	Swap                          string // how; htmx's default is innerHTML
	Select                        string // part of the answer to use
	Trigger                       string // when, else htmx's default for the element
	Include                       string // selector of further fields to send
	Indicator                     string // selector of what shows while it runs
	Sync                          string // what to do with a request under way
	Confirm                       string // question to ask first
	Push                          bool   // put the address into the history
	Replace                       bool   // replace the address in the bar
}

// Attrs returns the attributes, with the empty ones left out.
func (h Hx) Attrs() templ.Attributes {
	attrs := templ.Attributes{}
	for name, value := range map[string]string{
		"hx-get": h.Get, "hx-post": h.Post, "hx-put": h.Put, "hx-patch": h.Patch, "hx-delete": h.Delete,
		"hx-target": h.Target, "hx-swap": h.Swap, "hx-select": h.Select, "hx-trigger": h.Trigger,
		"hx-include": h.Include, "hx-indicator": h.Indicator, "hx-sync": h.Sync, "hx-confirm": h.Confirm,
	} {
		if value != "" {
			attrs[name] = value
		}
	}
	if h.Push {
		attrs["hx-push-url"] = "true"
	}
	if h.Replace {
		attrs["hx-replace-url"] = "true"
	}
	return attrs
}

// Search returns the attributes of a form that answers while one types: the
// part at target is replaced, the newest question wins, the address follows.
func Search(action, target string) templ.Attributes {
	return Hx{
		Get: action, Target: target, Swap: "outerHTML", Replace: true, Sync: "this:replace",
		Trigger: "input delay:200ms, submit",
	}.Attrs()
}

// InDialog returns the attributes of a link whose page opens as a dialog: the
// answer to htmx is a Dialog with Modal set; without script the link leads to
// the page itself.
func InDialog(href string) templ.Attributes {
	return Hx{Get: href, Target: "#dialog-host"}.Attrs()
}

// Merge returns one set of attributes; what stands later wins.
func Merge(sets ...templ.Attributes) templ.Attributes {
	merged := templ.Attributes{}
	for _, set := range sets {
		maps.Copy(merged, set)
	}
	return merged
}

// when returns the attributes if the condition holds, else none.
func when(condition bool, attrs templ.Attributes) templ.Attributes {
	if condition {
		return attrs
	}
	return nil
}

// text returns an attribute that is left out when its value is empty.
func text(name, value string) templ.Attributes {
	return when(value != "", templ.Attributes{name: value})
}
