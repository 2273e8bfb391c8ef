package interchange

import (
	"strings"

	"capstore/internal/capability"
	"capstore/internal/fault"
)

var catalogKeys = []string{"title", "description", "icon", "image", "command", "volumes", "secrets", "env", "tools", "config", "type", "remote", "name", "ref",
	"dateAdded", "readme", "toolsUrl", "source", "upstream", "metadata", "prompts", "resources", "oauth", "about", "meta", "dynamic", "longLived"}

// isCatalogue reports whether what stands under "registry" is a catalogue.
func isCatalogue(o *object) bool {
	if o == nil {
		return false
	}
	for _, v := range o.values {
		if _, ok := v.(*object); !ok {
			return false
		}
	}
	return true
}

// dockerCatalog reads a catalogue of Docker's MCP gateway: its entries are
// images or addresses.
func (f *jsonFile) dockerCatalog(root *object) []Item {
	var out []Item
	registry := root.object("registry")
	for _, key := range registry.keys {
		out = append(out, f.catalogEntry(f.itemPath(key), key, registry.values[key]))
	}
	f.others(root, []string{"registry", "name", "displayName", "version", "$schema"})
	if len(out) == 0 {
		return []Item{f.noServers()}
	}
	return out
}

func (f *jsonFile) catalogEntry(p, key string, v any) Item {
	m := f.maker(p, FormatServers)
	o, ok := v.(*object)
	if !ok {
		return m.refused(notAServer())
	}
	m.stray(o)
	if at := nulIn(o); at != "" {
		return m.refused(zeroByte(at))
	}
	m.provenance = map[string]any{"format": FormatServers, "file": f.path, "name": clip(key, 200)}
	m.name(key)
	m.describe(o.text("description", "title"))
	m.provides(o)
	if fault := m.catalogWay(o); fault != nil {
		return m.refused(fault)
	}
	if len(o.list("oauth")) > 0 && m.spec.URL != "" && len(m.spec.RequiredSecrets) == 0 {
		m.spec.Auth = capability.AuthOAuth
	}
	if rest := unknownKeys(o, catalogKeys); len(rest) > 0 {
		m.note("keys_not_used", "These keys of the file are not used here: %s.", clip(strings.Join(rest, ", "), 200))
	}
	return m.finish(nil)
}

func (m *maker) catalogWay(o *object) *fault.Fault {
	w := way{image: o.text("image"), args: texts(o.list("command")), env: m.catalogVariables(o)}
	if remote := o.object("remote"); remote != nil {
		w.url, w.headers = remote.text("url"), remote.object("headers")
		w.kind = transports[separators.Replace(strings.ToLower(remote.text("transport_type", "transportType")))]
	}
	if mounts := texts(o.list("volumes")); len(mounts) > 0 {
		r := run{}
		for _, v := range mounts {
			r.volume(v)
		}
		if f := m.judge(r); f != nil && m.supply.Image == "" && m.supply.URL == "" {
			return f
		}
		m.runNotes(r)
	}
	switch {
	case m.supply.URL != "" || m.supply.Image != "":
		return m.supplied(w)
	case w.url != "":
		return m.remote(w)
	case w.image != "":
		m.image(w.image, w.args, w.env)
		return nil
	}
	m.wants(WantImage, WantURL)
	return nothingToConnect()
}

// isDockerEntry reports whether a document describes one server for Docker's
// registry, in which the parts of a catalogue's entry stand in groups.
func isDockerEntry(root *object) bool {
	return root.text("name") != "" && root.object("about") != nil && (root.text("image") != "" || root.object("remote").text("url") != "")
}

// flatEntry is such a server as an entry of a catalogue.
func flatEntry(root *object) *object {
	about, run, config := root.object("about"), root.object("run"), root.object("config")
	out := &object{values: map[string]any{}}
	put := func(key string, from *object, name string) {
		if from.has(name) {
			out.keys = append(out.keys, key)
			out.values[key] = from.values[name]
		}
	}
	for _, k := range root.keys {
		if k != "about" && k != "run" && k != "config" && k != "meta" && k != "source" {
			put(k, root, k)
		}
	}
	put("title", about, "title")
	put("description", about, "description")
	put("command", run, "command")
	put("volumes", run, "volumes")
	for _, k := range []string{"user", "allowHosts", "disableNetwork"} {
		put("run."+k, run, k)
	}
	put("secrets", config, "secrets")
	env := config.list("env")
	if vars := run.object("env"); vars != nil {
		for _, name := range vars.keys {
			env = append(env, &object{keys: []string{"name", "value"}, values: map[string]any{"name": name, "value": vars.values[name]}})
		}
	}
	out.keys = append(out.keys, "env", "config")
	out.values["env"] = env
	out.values["config"] = []any{&object{values: map[string]any{"name": root.values["name"], "properties": config.object("parameters").object("properties")}}}
	return out
}

// catalogInputs are what an entry says of the values that its {{server.key}}
// stand for.
func (m *maker) catalogInputs(o *object) {
	for _, v := range o.list("config") {
		c, _ := v.(*object)
		properties := c.object("properties")
		if properties == nil {
			continue
		}
		for _, key := range properties.keys {
			if about, ok := properties.values[key].(*object); ok {
				m.file.inputs[c.text("name")+"."+key] = inputOf(about)
			}
		}
	}
}

// catalogVariables are the variables and secrets of an entry as an environment.
func (m *maker) catalogVariables(o *object) *object {
	out := &object{values: map[string]any{}}
	add := func(name string, v any) {
		if name != "" && !out.has(name) {
			out.keys = append(out.keys, name)
			out.values[name] = v
		}
	}
	m.file = m.file.widened()
	m.catalogInputs(o)
	for _, v := range o.list("secrets") {
		if s, ok := v.(*object); ok {
			name := s.text("env", "name")
			m.file.inputs[name] = input{description: capability.PlainText(s.text("description")), secret: true}
			add(name, "${input:"+name+"}")
		}
	}
	for _, v := range o.list("env") {
		if e, ok := v.(*object); ok {
			text, _ := scalar(e.values["value"])
			add(e.text("name"), text)
		}
	}
	return out
}
