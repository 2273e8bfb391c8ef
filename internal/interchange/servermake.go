package interchange

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/fault"
)

// maker makes an mcp capability of what a file says of one server.
type maker struct {
	file       *jsonFile
	item       Item
	content    capability.Content
	spec       *capability.MCPSpec
	supply     Supply
	provenance map[string]any
	version    string
	described  bool // the description is the author's own
	// found are the literal secrets by the name that they are declared under,
	// hidden all texts that must not show anywhere.
	found  map[string]string
	hidden []string
}

func (f *jsonFile) maker(p string, format Format) *maker {
	return &maker{
		file: f, spec: &capability.MCPSpec{}, found: map[string]string{}, supply: f.options.Supply[p],
		item: Item{Path: p, Format: format, Kind: capability.KindMCP, Status: Refused},
	}
}

// note adds a remark once. The first of the arguments is what it is about.
func (m *maker) note(code, format string, args ...any) {
	m.remark(newNote(code, format, args...))
}

func newNote(code, format string, args ...any) Note {
	n := Note{Code: code, Message: fmt.Sprintf(format, args...)}
	if len(args) > 0 {
		n.Subject = fmt.Sprint(args[0])
	}
	return n
}

func (m *maker) remark(n Note) {
	n.Path = m.item.Path
	switch more := (Note{Path: n.Path, Code: "more_notes", Message: "There is more to remark; what is listed is the beginning."}); {
	case slices.Contains(m.item.Notes, n):
	case len(m.item.Notes) < maxNotes:
		m.item.Notes = append(m.item.Notes, n)
	case !slices.Contains(m.item.Notes, more):
		m.item.Notes = append(m.item.Notes, more)
	}
}

// Limits of one server. Far more than may be declared is not even counted: it
// is refused for what was, and the work stays bounded.
const (
	maxNotes    = 100
	maxDeclared = 200
)

// full reports whether so much is declared that the server is refused anyway.
func (m *maker) full() bool { return len(m.spec.RequiredSecrets)+len(m.spec.Settings) >= maxDeclared }

// refused gives the item as refused. The values that were found on the way do
// not leave with it.
func (m *maker) refused(f *fault.Fault) Item {
	m.item.Fault = f
	m.mask()
	return m.item
}

// identity takes the name and the description that a configuration gives.
func (m *maker) identity(key string, o *object) {
	name := key
	if name == "" {
		name = o.text("name", "title", "displayName")
	}
	m.name(name)
	m.describe(o.text("description", "title", "displayName"))
	for _, tool := range texts(o.list("provides")) {
		m.tool(tool)
	}
}

// name makes a valid name of what the file calls it.
func (m *maker) name(name string) {
	if capability.HoldsSecret(name) {
		name = ""
	}
	valid := shorten(capability.PlainText(name), capability.MaxName)
	if valid != name && valid != "" {
		m.note("name_mended", "The name in the file cannot be one here as it stands; it became %q.", valid)
		m.item.Repaired = true
	}
	m.content.Name = valid
}

func (m *maker) describe(text string) {
	text = capability.PlainText(text)
	if text == "" {
		return
	}
	m.described = true
	if short := shorten(text, capability.MaxDescription); short != text {
		m.note("description_cut", "The description is longer than %d characters and was cut.", capability.MaxDescription)
		text = short
	}
	m.content.Description = text
}

// settle completes what the file itself makes.
func (m *maker) settle() {
	m.derive()
	m.content.Spec = m.spec
}

// derive fills in what the file left out.
func (m *maker) derive() {
	target := host(m.spec.URL)
	if m.spec.Image != "" {
		target = imageName(m.spec.Image)
	}
	if m.content.Name == "" {
		m.name(shorten(target, capability.MaxName))
		m.note("name_derived", "The file gives no name; it was made from the address or the image.")
	}
	if m.content.Description != "" {
		return
	}
	m.content.Description = "MCP server at " + target + "."
	if m.spec.Image != "" {
		m.content.Description = "MCP server in the image " + shorten(m.spec.Image, 200) + "."
	}
	m.note("description_plain", "The file gives no description; a plain one was written.")
}

func host(address string) string {
	_, rest, _ := strings.Cut(address, "://")
	rest, _, _ = strings.Cut(rest, "/")
	rest, _, _ = strings.Cut(rest, "?")
	return rest
}

func imageName(image string) string {
	image, _, _ = strings.Cut(image, "@")
	image = image[strings.LastIndexByte(image, '/')+1:]
	image, _, _ = strings.Cut(image, ":")
	return image
}

// finish validates what was made and gives the item. kept is what capstore
// itself put beside the server when it wrote the file, nil for none.
func (m *maker) finish(kept *object) Item {
	m.settle()
	m.restore(kept)
	m.mask()
	fields := m.content.Validate(m.file.options.Rules)
	for _, f := range fields {
		switch f.Path {
		case "/spec/url":
			m.wants(WantURL)
		case "/spec/image":
			m.wants(WantImage)
		}
	}
	if err := fault.Fields(fields); err != nil {
		return m.refused(fault.From(err))
	}
	if f := m.file.firstOf(m.content.Name, m.item.Path); f != nil {
		return m.refused(f)
	}
	m.item.Status, m.item.Content = Ready, m.content
	m.item.As.Version = m.version
	m.item.Provenance = jsonObject(m.provenance)
	for _, s := range m.spec.RequiredSecrets {
		if v, ok := m.found[s.Name]; ok {
			m.item.Secrets = append(m.item.Secrets, FoundSecret{Name: s.Name, Value: v})
		}
	}
	return m.item
}

func (m *maker) wants(w ...Want) {
	for _, w := range w {
		if !slices.Contains(m.item.Wants, w) {
			m.item.Wants = append(m.item.Wants, w)
		}
	}
}

// declare adds a secret under a name of its own and returns it.
func (m *maker) declare(s capability.RequiredSecret) string {
	base := s.Name
	for n := 2; slices.ContainsFunc(m.spec.RequiredSecrets, func(o capability.RequiredSecret) bool { return o.Name == s.Name }); n++ {
		s.Name = fmt.Sprintf("%s_%d", base, n)
	}
	s.Description = shorten(capability.PlainText(s.Description), capability.MaxDescription)
	m.spec.RequiredSecrets = append(m.spec.RequiredSecrets, s)
	return s.Name
}

// keep remembers the literal value of a declared secret for whoever imports.
func (m *maker) keep(name, value string) {
	if value == "" {
		return
	}
	m.found[name] = value
	if len(value) >= 8 || len(value) >= 4 && namesSecret(name) { // shorter ones would blot out words by chance
		m.hidden = append(m.hidden, value)
	}
	m.note("literal_secret", "The value of %s was written in the file. It was taken out: what is published only declares the secret.", name)
}

// setting declares a setting once. Another place that names it adds what the
// first did not say.
func (m *maker) setting(s capability.Setting) {
	s.Description = shorten(capability.PlainText(s.Description), capability.MaxDescription)
	if len(s.Default) > 4096 || capability.PlainText(s.Default) != strings.Join(strings.Fields(s.Default), " ") || strings.ContainsAny(s.Default, "\n\r\t") {
		m.note("default_dropped", "The value of %s is no line of plain text and is left out; it has to be given at adoption.", s.Name)
		s.Default, s.Required = "", true
	}
	i := slices.IndexFunc(m.spec.Settings, func(o capability.Setting) bool { return o.Name == s.Name })
	if i < 0 {
		m.spec.Settings = append(m.spec.Settings, s)
		return
	}
	first := &m.spec.Settings[i]
	first.Description = cmp.Or(first.Description, s.Description)
	if first.Default == "" && s.Default != "" {
		first.Default, first.Required = s.Default, false
	}
}

// stray remembers what plainly is a secret wherever it stands: in a description,
// in a key, in what a message would repeat.
func (m *maker) stray(v any) {
	switch v := v.(type) {
	case string:
		for word := range strings.FieldsSeq(v) {
			if word = strings.Trim(word, "\"'`,;()<>"); capability.HoldsSecret(word) {
				m.hidden = append(m.hidden, word)
			}
		}
	case []any:
		for _, e := range v {
			m.stray(e)
		}
	case *object:
		for _, k := range v.keys {
			if k != keptKey { // that is a content which was published
				m.stray(k)
				m.stray(v.values[k])
			}
		}
	}
}

// mask takes the hidden texts out of all that can be shown, should they have
// got there by another way, such as a description that repeats a token.
func (m *maker) mask() {
	slices.SortFunc(m.hidden, func(a, b string) int { return len(b) - len(a) }) // the longest first, should one hold another
	m.hidden = slices.Compact(m.hidden)
	clean := func(s string) string {
		for _, v := range m.hidden {
			s = strings.ReplaceAll(s, v, "…")
		}
		return s
	}
	m.content.Name, m.content.Description = clean(m.content.Name), clean(m.content.Description)
	for i := range m.spec.RequiredSecrets {
		m.spec.RequiredSecrets[i].Description = clean(m.spec.RequiredSecrets[i].Description)
	}
	for i := range m.spec.Settings {
		m.spec.Settings[i].Description = clean(m.spec.Settings[i].Description)
		if initial := m.spec.Settings[i].Default; clean(initial) != initial {
			m.spec.Settings[i].Default = ""
		}
	}
	for i := range m.spec.Provides {
		m.spec.Provides[i] = clean(m.spec.Provides[i])
	}
	for i := range m.item.Notes {
		m.item.Notes[i].Message, m.item.Notes[i].Subject = clean(m.item.Notes[i].Message), clean(m.item.Notes[i].Subject)
	}
	for k, v := range m.provenance {
		if s, ok := v.(string); ok {
			m.provenance[k] = clean(s)
		}
	}
	if f := m.item.Fault; f != nil {
		f.Message = clean(f.Message)
		for k, v := range f.Detail {
			if s, ok := v.(string); ok {
				f.Detail[k] = clean(s)
			}
		}
		for i := range f.Fields {
			f.Fields[i].Message = clean(f.Fields[i].Message)
		}
	}
}
