package interchange

import (
	"bytes"
	"cmp"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/fault"
)

// pluginParts are what a plugin may hold that capstore has no kind for, by the
// folder or file in which it lies, with what it is.
var pluginParts = map[string]string{
	"output-styles": "Output styles", "workflows": "Workflows", "themes": "Themes", "monitors": "Monitors", "bin": "Programs for the shell",
	"evals": "Evaluations", "settings.json": "Settings", ".lsp.json": "Language servers", "channels": "Channels",
	"commands": "Commands", "agents": "Agents", "hooks": "Hooks", "skills": "Skills", ".mcp.json": "Servers",
}

// unkinded are the fields of a manifest that name such parts.
var unkinded = []string{"lspServers", "outputStyles", "workflows", "themes", "monitors", "settings", "channels"}

// rest lists what became part of nothing: each thing that capstore has no kind
// for by itself, all else by the folder in which it lies.
func (r *pluginRead) rest() {
	for _, face := range r.faces {
		for _, k := range unkinded {
			if face.names(k) {
				r.items = append(r.items, unkindedItem(face.at+"#"+face.name+"/"+k, "Named in the manifest", k))
			}
		}
	}
	names, order := map[string][]string{}, []string{}
	for _, f := range r.list {
		if r.taken[f.Path] || r.inside(f.Path) == sidecarName {
			continue
		}
		first, _, _ := strings.Cut(r.inside(f.Path), "/")
		if names[first] == nil {
			order = append(order, first)
		}
		if len(names[first]) <= 20 {
			names[first] = append(names[first], r.inside(f.Path))
		}
	}
	for _, first := range order {
		full, list := r.join(first), clip(strings.Join(names[first], ", "), 300)
		if _, file := r.files[full]; !file {
			full += "/"
		}
		if what := pluginParts[first]; what != "" && !slices.Contains([]string{"commands", "agents", "hooks", "skills", ".mcp.json"}, first) {
			r.items = append(r.items, unkindedItem(full, what, list))
			continue
		}
		r.items = append(r.items, leftItem(full, list))
	}
}

// leftItem are files of which nothing is made.
func leftItem(p, list string) Item {
	item := pluginIgnored(p, "plugin_file", "It is part of nothing that was imported: "+list+".")
	item.Notes[0].Subject = list
	return item
}

// unkindedItem is something that a plugin may hold and capstore has no kind for.
func unkindedItem(p, what, list string) Item {
	item := pluginIgnored(p, "plugin_no_kind", what+": capstore has no kind for this ("+list+").")
	item.Notes[0].Subject = list
	return item
}

// servers reads the MCP servers of a plugin: its own document, and what the
// manifest holds or names.
func (r *pluginRead) servers(face *manifest) {
	const usual = ".mcp.json"
	if face == r.faces[0] {
		r.serverFile(face, usual)
	}
	for n, v := range face.values("mcpServers") {
		switch v := v.(type) {
		case string:
			rel, f := pluginPath(v)
			if f == nil && rel != usual && !r.serverFile(face, rel) {
				f = missingPart(v)
			}
			if f != nil {
				r.refuse(face, "mcpServers", n, f)
			}
		case *object:
			raw, err := json.Marshal(&object{keys: []string{"mcpServers"}, values: map[string]any{"mcpServers": v}})
			if err == nil {
				r.serverItems(face, r.place(face, "mcpServers", n), raw)
			}
		default:
			r.refuse(face, "mcpServers", n, unreadablePart("mcpServers"))
		}
	}
}

func (r *pluginRead) serverFile(face *manifest, rel string) bool {
	f, ok := r.files[r.join(rel)]
	if !ok {
		return false
	}
	if r.taken[f.Path] {
		return true
	}
	r.taken[f.Path] = true
	if ext := path.Ext(f.Path); ext == ".mcpb" || ext == ".dxt" {
		r.items = append(r.items, unkindedItem(f.Path, "A packed server, which is not opened", path.Base(f.Path)))
		return true
	}
	raw, err := readWithin(f, MaxDocument)
	if err != nil {
		r.items = append(r.items, Item{Path: f.Path, Format: FormatServers, Kind: capability.KindMCP, Status: Refused, Fault: fault.From(err)})
		return true
	}
	r.serverItems(face, f.Path, raw)
	return true
}

// serverItems reads a document of servers as any other, once the settings that
// the plugin asks its user for are put in terms that such documents have.
func (r *pluginRead) serverItems(face *manifest, p string, raw []byte) {
	for _, item := range readJSON(p, face.withInputs(raw), r.o) {
		if item.Status != Ignored {
			item.Provenance = face.provenance(r.inside(item.Path), item.Provenance)
			item.As.Tags = face.tags(item.As.Tags)
		}
		r.items = append(r.items, item)
	}
}

// withInputs turns the plugin's user settings into inputs of the document: a
// sensitive one is asked for as a password.
func (m *manifest) withInputs(raw []byte) []byte {
	config := m.fields.object("userConfig")
	if config == nil || !bytes.Contains(raw, []byte("${user_config.")) {
		return raw
	}
	doc, _, err := readRelaxed(raw)
	root, ok := doc.(*object)
	if err != nil || !ok || root.has("inputs") {
		return raw
	}
	if !root.has("mcpServers") && !root.has("servers") {
		root = &object{keys: []string{"mcpServers"}, values: map[string]any{"mcpServers": root}}
	}
	inputs := []any{}
	for _, key := range config.keys {
		option := config.object(key)
		in := &object{values: map[string]any{}}
		in.set("type", "promptString")
		in.set("id", key)
		in.set("description", cmp.Or(option.text("description"), option.text("title")))
		in.set("password", option.flag("sensitive"))
		if s, ok := scalar(option.value("default")); ok && !option.flag("sensitive") {
			in.set("default", s)
		}
		inputs = append(inputs, in)
	}
	root.set("inputs", inputs)
	out, err := json.Marshal(root)
	if err != nil {
		return raw
	}
	return bytes.ReplaceAll(out, []byte("${user_config."), []byte("${input:"))
}

// value is what stands under the key, nil for nothing.
func (o *object) value(key string) any {
	if o == nil {
		return nil
	}
	return o.values[key]
}
