package interchange

import (
	"cmp"
	"encoding/json"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/fault"
)

// manifest is what a plugin.json and the entry of a marketplace say of a
// plugin.
type manifest struct {
	name   string
	market string
	fields *object // of plugin.json, with those of the entry that it lacks
	// own and entry are where components are named; either may be nil.
	own, entry *object
	// project says that it is no plugin but a project's own folder.
	project bool
	// at is the document that faults of it name.
	at string
}

// pluginName is what Claude Code takes for one.
var pluginName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// manifestFields are the fields that a manifest may have.
var manifestFields = []string{
	"$schema", "name", "displayName", "version", "description", "author", "homepage", "repository", "license", "keywords", "metadata",
	"defaultEnabled", "icon", "dependencies", "settings", "userConfig", "channels", "commands", "agents", "skills", "hooks", "mcpServers",
	"lspServers", "outputStyles", "workflows", "themes", "monitors", "category", "tags", "strict", "source", "relevance", "headers",
	"headersHelper",
}

// readManifest takes the plugin.json in. One that cannot be read is refused,
// and the parts are read from where they lie by default.
func (p *plugin) readManifest(f TreeFile) {
	item := pluginIgnored(f.Path, "plugin_manifest", "It describes the plugin; each part of it is an entry of its own.")
	p.manifest = &item
	raw, err := readWithin(f, MaxDocument)
	var doc any
	var notes []Note
	if err == nil {
		doc, notes, err = readRelaxed(raw)
	}
	fields, ok := doc.(*object)
	if err == nil && !ok {
		err = fault.New(fault.Invalid, "plugin_manifest_unreadable", "A plugin.json is a JSON object.")
	}
	if err != nil {
		p.manifest.Status, p.manifest.Notes = Refused, nil
		p.manifest.Fault = fault.From(err).Do("Correct the plugin.json and import the plugin again. Its parts were looked for in their usual folders.")
		return
	}
	item.Notes = append(item.Notes, at(f.Path, notes)...)
	name := capability.PlainText(fields.text("name"))
	item.note(name == "", "plugin_unnamed", "The manifest gives no name; the folder's is taken.")
	item.note(name != "" && !pluginName.MatchString(name), "plugin_name", "Claude Code wants a plugin's name in lower-case letters, digits and single hyphens.")
	if name == "" {
		name = path.Base(p.dir)
	}
	var unknown []string
	for _, k := range fields.keys {
		if !slices.Contains(manifestFields, k) {
			unknown = append(unknown, k)
		}
	}
	item.about(len(unknown) > 0, "plugin_fields", "The manifest has fields that no plugin has", clip(strings.Join(unknown, ", "), 200))
	item.note(fields.has("dependencies"), "plugin_dependencies", "The plugin depends on others; they are not fetched.")
	p.manifest = &item
	p.faces = append(p.faces, &manifest{name: name, fields: fields, own: fields, at: f.Path})
}

func (i *Item) note(when bool, code, message string) {
	if when {
		i.Notes = append(i.Notes, Note{Path: i.Path, Code: code, Message: message})
	}
}

// about is note with what the message is about after it.
func (i *Item) about(when bool, code, message, subject string) {
	if when {
		i.Notes = append(i.Notes, Note{Path: i.Path, Code: code, Message: message + ": " + subject + ".", Subject: subject})
	}
}

// enter takes the entry of a marketplace in. The manifest's word comes first;
// an entry without one stands for it.
func (p *plugin) enter(e marketEntry) {
	face := &manifest{name: e.name, market: e.market, fields: e.fields, entry: e.fields, at: e.path}
	first := len(p.faces) == 1 && p.faces[0].entry == nil
	if first {
		own := p.faces[0]
		*face = manifest{name: own.name, market: e.market, fields: merged(own.fields, e.fields), own: own.own, entry: e.fields, at: own.at}
		p.faces[0] = face
		return
	}
	p.faces = append(p.faces, face)
}

func merged(a, b *object) *object {
	out := &object{keys: slices.Clone(a.keys), values: map[string]any{}}
	for _, k := range a.keys {
		out.values[k] = a.values[k]
	}
	for _, k := range b.keys {
		if !a.has(k) {
			out.keys, out.values[k] = append(out.keys, k), b.values[k]
		}
	}
	return out
}

// values are what the manifest and the entry give for a component, in order.
func (m *manifest) values(component string) []any {
	var out []any
	for _, o := range []*object{m.own, m.entry} {
		if !o.has(component) {
			continue
		}
		if list, ok := o.values[component].([]any); ok {
			out = append(out, list...)
			continue
		}
		if v := o.values[component]; v != nil {
			out = append(out, v)
		}
	}
	return out
}

// names reports whether anything is given for the component.
func (m *manifest) names(component string) bool { return len(m.values(component)) > 0 }

// paths are the paths that are given for a component and may be used.
func (m *manifest) paths(component string) []string {
	var out []string
	for _, v := range m.values(component) {
		if s, ok := v.(string); ok {
			if rel, f := pluginPath(s); f == nil {
				out = append(out, rel)
			}
		}
	}
	return out
}

// pluginPath checks a path that a manifest names: it begins at the plugin's
// folder and stays inside it.
func pluginPath(s string) (string, *fault.Fault) {
	rel := strings.TrimSuffix(strings.TrimPrefix(s, "./"), "/")
	if rel == "" || rel == "." {
		return ".", nil
	}
	if code, message := capability.PathFault(rel); code != "" {
		return "", fault.New(fault.Invalid, "plugin_path", "The plugin names %q. %s", clip(s, 120), message).
			Do("Its author has to name a path that begins with ./ and stays inside the plugin.").With("what", clip(s, 120))
	}
	return rel, nil
}

// refuse adds the item of something that a manifest names and that cannot be
// read.
func (r *pluginRead) refuse(face *manifest, component string, n int, f *fault.Fault) {
	r.items = append(r.items, Item{Path: r.place(face, component, n), Format: FormatPlugin, Status: Refused, Fault: f})
}

// place is the path of what a manifest itself holds.
func (r *pluginRead) place(face *manifest, component string, n int) string {
	return cmp.Or(face.at, r.join(pluginManifest)) + "#" + face.name + "/" + component + "/" + strconv.Itoa(n+1)
}

func missingPart(s string) *fault.Fault {
	return fault.New(fault.Invalid, "plugin_part_missing", "The plugin names %q, which is not in it.", clip(s, 120)).
		Do("Import the whole folder of the plugin, or ask its author for the missing part.").With("what", clip(s, 120))
}

// tags are the keywords and the category of the plugin, beside those given.
func (m *manifest) tags(more []string) []string {
	words := slices.Clone(more)
	for _, v := range append(m.fields.list("keywords"), m.fields.list("tags")...) {
		if s, ok := v.(string); ok {
			words = append(words, shorten(capability.PlainText(s), capability.MaxTag))
		}
	}
	words = append(words, shorten(capability.PlainText(m.fields.text("category")), capability.MaxTag))
	out, faults := capability.NormalizeTags(words)
	if len(faults) > 0 {
		out, _ = capability.NormalizeTags(words[:min(len(words), capability.MaxTags)])
	}
	return out
}

// provenance says where a part comes from, as JSON for the version that it
// becomes. What the part itself says stands beside it.
func (m *manifest) provenance(p string, own json.RawMessage) json.RawMessage {
	out := map[string]any{}
	mergeJSON(out, own)
	set := func(key, value string) {
		if value = shorten(capability.PlainText(value), 300); value != "" {
			out[key] = value
		}
	}
	set("path", p)
	if set("format", string(FormatPlugin)); m.project {
		set("format", projectFolder)
		return encoded(out)
	}
	set("plugin", m.name)
	set("pluginVersion", m.fields.text("version"))
	set("author", authorOf(m.fields))
	set("homepage", webAddress(m.fields.text("homepage")))
	set("repository", webAddress(m.fields.text("repository")))
	if o := m.fields.object("repository"); o != nil {
		set("repository", webAddress(o.text("url")))
	}
	set("license", m.fields.text("license"))
	set("marketplace", m.market)
	return encoded(out)
}

// projectFolder is the format of what came out of a project's own folder.
const projectFolder = "claude-folder"

// encoded is the map as JSON; it holds texts and what was JSON before.
func encoded(v map[string]any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return raw
}

func authorOf(o *object) string {
	if a := o.object("author"); a != nil {
		return a.text("name")
	}
	return o.text("author")
}

// webAddress keeps only what may become a link.
func webAddress(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil {
		return ""
	}
	return u.String()
}
