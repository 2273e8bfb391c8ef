package interchange

import (
	"cmp"
	"slices"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/fault"
)

// The keys of server.json have changed their spelling over its life: snake_case
// before September 2025, camelCase since. Both are read, of whatever schema the
// file says it is.
const publisherMeta = "io.modelcontextprotocol.registry/publisher-provided"

// isServerJSON reports whether the object is a server as the registry of MCP
// servers describes one.
func isServerJSON(o *object) bool {
	if o == nil {
		return false
	}
	if strings.Contains(o.text("$schema"), "server.schema.json") {
		return true
	}
	described := o.list("packages") != nil || o.list("remotes") != nil || o.object("version_detail") != nil
	return o.text("name") != "" && (described || strings.Contains(o.text("name"), "/") && o.text("description") != "" && o.text("version") != "")
}

// serverJSON reads one server.json.
func (f *jsonFile) serverJSON(p string, o *object) Item {
	m, fault := f.fromRegistry(p, o)
	if fault != nil {
		return m.refused(fault)
	}
	return m.finish(o.object("_meta").object(publisherMeta).object(keptKey))
}

// fromRegistry makes what the server.json itself says, short of what capstore has
// put into its _meta.
func (f *jsonFile) fromRegistry(p string, o *object) (*maker, *fault.Fault) {
	m := f.maker(p, FormatServer)
	m.stray(o)
	if at := nulIn(o); at != "" {
		return m, zeroByte(at)
	}
	m.published(o)
	if f := m.connectPublished(o); f != nil {
		return m, f
	}
	if rest := unknownKeys(o, serverJSONKeys); len(rest) > 0 {
		m.note("keys_not_used", "These keys of the file are not used here: %s.", clip(strings.Join(rest, ", "), 200))
	}
	return m, nil
}

var serverJSONKeys = []string{"$schema", "name", "title", "description", "version", "version_detail", "packages", "remotes", "repository", "websiteUrl", "website_url", "_meta", "meta", "status", "provides", "tools", "id"}

// published takes the name, the words and the version of a server.json.
func (m *maker) published(o *object) {
	full := o.text("name")
	_, short, ok := strings.Cut(full, "/")
	if !ok {
		short = full
	}
	name := cmp.Or(o.text("title"), short)
	if _, taken := m.file.names[capability.FoldName(name)]; taken && full != name {
		m.note("name_full", "Another server of the file is called %q too; this one got its full name.", clip(capability.PlainText(name), 64))
		name = full
	}
	m.name(name)
	m.describe(o.text("description"))
	m.provides(o)
	version := cmp.Or(o.text("version"), o.object("version_detail").text("version"))
	if _, err := capability.ParseVersion(version); err == nil {
		m.version = version
	} else if version != "" {
		m.note("version_not_semver", "The version %q is no semantic version and is left out; it gets a number here.", clip(capability.PlainText(version), 40))
	}
	if o.text("status") == "deprecated" {
		m.note("deprecated_upstream", "Its publisher has deprecated it.")
	}
	m.provenance = map[string]any{"format": FormatServer, "file": m.file.path, "name": clip(full, 200)}
	for key, text := range map[string]string{
		"version": version, "homepage": o.text("websiteUrl", "website_url"), "repository": o.object("repository").text("url"), "folder": o.object("repository").text("subfolder"),
	} {
		if text != "" && !capability.HoldsSecret(text) {
			m.provenance[key] = clip(text, 500)
		}
	}
}

// provides takes the names of the tools where a file lists them.
func (m *maker) provides(o *object) {
	for _, v := range append(o.list("provides"), o.list("tools")...) {
		name, _ := v.(string)
		if tool, ok := v.(*object); ok {
			name = tool.text("name")
		}
		m.tool(name)
	}
}

// tool adds one name, up to one more than may be: the rest is refused anyway.
func (m *maker) tool(name string) {
	if name != "" && name != "*" && len(m.spec.Provides) <= 5000 && !slices.Contains(m.spec.Provides, name) {
		m.spec.Provides = append(m.spec.Provides, name)
	}
}

// offer is one of the ways in which a server.json offers its server.
type offer struct {
	o    *object
	what string // for the note on those that were not taken
	rank int    // the least is taken; 0 for none that can be
}

// offers lists the ways of a server.json: an address before an image, since
// nothing has to run here for it.
func offers(o *object) []offer {
	var out []offer
	for _, v := range o.list("remotes") {
		remote, _ := v.(*object)
		rank := map[string]int{"http": 1, "sse": 2, "": 1}[transports[separators.Replace(strings.ToLower(remote.text("type", "transport_type", "transport")))]]
		if remote.text("url") == "" {
			rank = 0
		}
		out = append(out, offer{remote, cmp.Or(remote.text("type", "transport_type"), "an address") + " " + host(remote.text("url")), rank})
	}
	for _, v := range o.list("packages") {
		pack, _ := v.(*object)
		kind, name := packageOf(pack)
		rank := 0
		if way := cmp.Or(pack.object("transport").text("type"), pack.text("transport"), "stdio"); (kind == "oci" || kind == "docker") && way == "stdio" {
			rank = 3
		}
		out = append(out, offer{pack, strings.TrimSpace(kind + " " + name), rank})
	}
	return out
}

func packageOf(o *object) (kind, name string) {
	return strings.ToLower(o.text("registryType", "registry_type", "registry_name", "registryName", "registry")), o.text("identifier", "name")
}

// connectPublished takes the best of the ways that the file offers.
func (m *maker) connectPublished(o *object) *fault.Fault {
	all := offers(o)
	best := -1
	for i, w := range all {
		if w.rank > 0 && (best < 0 || w.rank < all[best].rank) {
			best = i
		}
	}
	if m.supply.URL != "" || m.supply.Image != "" {
		return m.suppliedFor(all)
	}
	var others []string
	for i, w := range all {
		if i != best {
			others = append(others, capability.PlainText(clip(w.what, 80)))
		}
	}
	if best < 0 {
		m.wants(WantImage, WantURL)
		what := cmp.Or(clip(strings.Join(others, ", "), 200), "nothing")
		return fault.New(fault.Invalid, "needs_image_or_url", "The file offers only what would run as a program of a machine (%s); capstore runs no such packages. It needs an image or a URL.", what).
			With("what", what).
			Do("Give an image that serves it over stdio, or the address of a server that runs already.")
	}
	if len(others) > 0 {
		m.note("other_ways", "The file offers the server in more ways, which were not taken: %s.", clip(strings.Join(others, ", "), 200))
	}
	if all[best].rank == 3 {
		return m.ociPackage(all[best].o)
	}
	return m.publishedRemote(all[best].o, all[best].rank == 2)
}

// suppliedFor takes what the importer gave, with the variables of the first
// package as declarations.
func (m *maker) suppliedFor(all []offer) *fault.Fault {
	var pack *object
	for _, w := range all {
		if pack == nil && w.o.text("identifier", "name") != "" {
			pack = w.o
		}
	}
	env := &maker{file: m.file, spec: &capability.MCPSpec{}, found: map[string]string{}, item: Item{Path: m.item.Path}}
	env.variables(pack)
	if m.supply.URL != "" {
		m.note("url_supplied", "The address was supplied at the import; the file has another way to start it.")
		if f := m.address(m.supply.URL); f != nil {
			return f
		}
		m.carryOver(env)
		return nil
	}
	m.note("image_supplied", "The image was supplied at the import; the file has another way to start it.")
	m.spec.Image = strings.TrimSpace(m.supply.Image)
	m.variables(pack)
	m.arguments(m.argumentsOf(pack.list("packageArguments", "package_arguments")))
	return nil
}

// publishedRemote makes a server that is reached by its address.
func (m *maker) publishedRemote(o *object, legacy bool) *fault.Fault {
	if legacy {
		m.legacy()
	}
	var f *fault.Fault
	m.within(variablesOf(o.object("variables")), func() { f = m.address(braced(o.text("url"))) })
	if f != nil {
		return f
	}
	for _, v := range o.list("headers") {
		header, ok := v.(*object)
		if !ok {
			continue
		}
		if f := m.publishedHeader(header); f != nil {
			return f
		}
	}
	return nil
}

func (m *maker) publishedHeader(o *object) (f *fault.Fault) {
	in, name := inputOf(o), o.text("name")
	m.within(variablesOf(o.object("variables")), func() {
		v := m.file.value(name, cmp.Or(braced(o.text("value")), in.initial))
		f = m.header(capability.RequiredSecret{Description: in.description}, name, v)
	})
	return f
}

// within does something with other variables to fill in than those of the file.
func (m *maker) within(vars map[string]input, do func()) {
	outer := m.file
	m.file = outer.with(vars)
	do()
	m.file = outer
}

// with is the file with other variables to fill in.
func (f *jsonFile) with(vars map[string]input) *jsonFile {
	out := *f
	out.inputs = vars
	return &out
}
