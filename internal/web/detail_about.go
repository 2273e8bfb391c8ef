package web

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/views"
	"capstore/views/ui"
)

// about says what a version is and does, as its kind has it.
func (c *Ctx) about(v catalog.VersionDetail) *views.CapabilityAbout {
	a := &views.CapabilityAbout{}
	c.point(a, "note", v.Note, false)
	switch s := v.Content.Spec.(type) {
	case *capability.SkillSpec:
		c.aboutSkill(a, s)
	case *capability.CodeSpec:
		c.aboutCode(a, s)
	case *capability.MCPSpec:
		c.aboutMCP(a, s)
	case *capability.HookSpec:
		c.aboutHook(a, s)
	case *capability.CommandSpec:
		c.aboutCommand(a, s)
	case *capability.EnvironmentSpec:
		c.aboutEnvironment(a, s)
	case *capability.DelegationSpec:
		c.aboutDelegation(a, s)
	}
	return a
}

// point is one line of what matters; empty texts are left out.
func (c *Ctx) point(a *views.CapabilityAbout, key, text string, mono bool) {
	if text != "" {
		a.Points = append(a.Points, ui.Fact{Label: c.T("about." + key), Text: text, Mono: mono})
	}
}

func (c *Ctx) aboutSkill(a *views.CapabilityAbout, s *capability.SkillSpec) {
	c.point(a, "allowed_tools", s.AllowedTools, true)
	a.Sections = append(a.Sections, views.AboutSection{Markdown: s.Instructions})
}

func (c *Ctx) aboutCode(a *views.CapabilityAbout, s *capability.CodeSpec) {
	c.point(a, "language", languageName(s.Language), false)
	class := "about.class_write"
	if s.IsReadOnly != nil && *s.IsReadOnly {
		class = "about.class_read"
	}
	c.point(a, "class", c.T(class), false)
	c.point(a, "time_limit", c.Locale.Duration(seconds(s.TimeoutSec)), false)
	hosts := strings.Join(s.Egress, ", ")
	c.point(a, "hosts", cmp.Or(hosts, c.T("about.no_hosts")), hosts != "")
	c.point(a, "image", s.Image, true)
	for i, e := range s.Examples {
		a.Sections = append(a.Sections, views.AboutSection{
			Title: c.exampleTitle(e, i), Lead: e.Note,
			Code: &ui.CodeArgs{Text: indented(e.Input), Language: "json", Name: c.T("about.arguments")},
		})
	}
}

func (c *Ctx) exampleTitle(e capability.Example, i int) string {
	if e.Name == "" {
		return c.T("chat.example", "n", i+1)
	}
	return c.T("about.example", "name", e.Name)
}

func (c *Ctx) aboutMCP(a *views.CapabilityAbout, s *capability.MCPSpec) {
	if s.URL != "" {
		c.point(a, "transport", c.T("about.transport_http"), false)
		c.point(a, "address", s.URL, true)
	} else {
		c.point(a, "transport", c.T("about.transport_image"), false)
		c.point(a, "image", s.Image, true)
		c.point(a, "arguments", strings.Join(s.Args, " "), true)
	}
	if s.Auth != "" {
		c.point(a, "auth", c.T("about.auth_"+string(s.Auth)), false)
	}
	class := "about.class_read"
	if s.Write {
		class = "about.class_write"
	}
	c.point(a, "class", c.T(class), false)
	c.point(a, "tools", strings.Join(s.Provides, ", "), true)
	if len(s.Settings) == 0 {
		return
	}
	section := views.AboutSection{Title: c.T("about.settings"), Lead: c.T("about.settings_lead")}
	for _, setting := range s.Settings {
		text := setting.Description
		if setting.Default != "" {
			text = strings.TrimSpace(text + " " + c.T("about.default", "value", setting.Default))
		}
		section.Facts = append(section.Facts, ui.Fact{Label: setting.Name, Text: text})
	}
	a.Sections = append(a.Sections, section)
}

func (c *Ctx) aboutHook(a *views.CapabilityAbout, s *capability.HookSpec) {
	c.point(a, "event", c.T("about.event_"+string(s.Event)), false)
	if s.Matcher == "" || s.Matcher == "*" {
		c.point(a, "matcher", c.T("about.every_tool"), false)
	} else {
		c.point(a, "matcher", s.Matcher, true)
	}
	failure := "about.failure_advisory"
	if s.FailsClosed() {
		failure = "about.failure_closed"
	}
	c.point(a, "failure", c.T(failure), false)
	c.point(a, "language", languageName(s.Language), false)
	c.point(a, "time_limit", c.Locale.Duration(seconds(s.TimeoutSec)), false)
}

func (c *Ctx) aboutCommand(a *views.CapabilityAbout, s *capability.CommandSpec) {
	c.point(a, "argument_hint", s.ArgumentHint, true)
	c.point(a, "allowed_tools", strings.Join(s.AllowedTools, ", "), true)
	a.Sections = append(a.Sections, views.AboutSection{Title: c.T("about.template"), Lead: c.T("about.template_lead"), Markdown: s.Template})
}

func (c *Ctx) aboutEnvironment(a *views.CapabilityAbout, s *capability.EnvironmentSpec) {
	c.point(a, "image", s.Image, true)
	c.point(a, "benchmark", s.Benchmark, false)
	if s.Instructions != "" {
		a.Sections = append(a.Sections, views.AboutSection{Markdown: s.Instructions})
	}
	if len(s.Preset) > 0 {
		a.Sections = append(a.Sections, views.AboutSection{
			Title: c.T("about.preset"), Lead: c.T("about.preset_lead"),
			Code: &ui.CodeArgs{Text: indented(s.Preset), Language: "json", Name: c.T("about.preset")},
		})
	}
}

func (c *Ctx) aboutDelegation(a *views.CapabilityAbout, s *capability.DelegationSpec) {
	c.point(a, "harness", s.Harness, true)
	c.point(a, "image", s.Image, true)
	c.point(a, "model", s.Model, true)
	c.point(a, "work_dir", s.WorkDir, true)
	if s.TTLSec > 0 {
		c.point(a, "time_limit", c.Locale.Duration(time.Duration(s.TTLSec)*time.Second), false)
	}
	if s.Instructions != "" {
		a.Sections = append(a.Sections, views.AboutSection{Markdown: s.Instructions})
	}
	if len(s.Env) == 0 {
		return
	}
	section := views.AboutSection{Title: c.T("about.variables")}
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		text := s.Env[name].Literal
		if ref := s.Env[name].SecretRef; ref != "" {
			text = c.T("about.from_secret", "name", ref)
		}
		section.Facts = append(section.Facts, ui.Fact{Label: name, Text: text})
	}
	a.Sections = append(a.Sections, section)
}

func seconds(n int) time.Duration {
	return time.Duration(cmp.Or(n, capability.DefaultTimeoutSec)) * time.Second
}

// languageName is the language as it calls itself.
func languageName(l capability.Language) string {
	switch l {
	case capability.Python:
		return "Python"
	case capability.Node:
		return "Node.js"
	case capability.Bash:
		return "Bash"
	}
	return string(l)
}
