package interchange

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/fault"
)

// jsonFile is a JSON document on its way to items.
type jsonFile struct {
	path    string
	options Options
	inputs  map[string]input // by their ids
	names   map[string]string
	paths   map[string]bool
	notes   []Note // about the whole file
}

func (f *jsonFile) note(code, format string, args ...any) {
	f.notes = append(f.notes, newNote(code, format, args...))
}

// read tells the format by what stands in the document; none for a document of
// no format.
func (f *jsonFile) read(root *object) []Item {
	switch {
	case root.has("openapi"), root.has("swagger"), root.has("asyncapi"):
		return nil // they have servers too, of another sort
	case isServerJSON(root):
		return []Item{f.serverJSON(f.path, root)}
	case isServerJSON(root.object("server")):
		return f.registryEntries([]any{root})
	case isRegistryList(root.list("servers")):
		return f.registryEntries(root.list("servers"))
	case isCatalogue(root.object("registry")):
		return f.dockerCatalog(root)
	}
	if found := serverMaps(root); len(found) > 0 {
		return f.configuration(root, found)
	}
	if isServer(root) {
		return []Item{f.server(f.path, "", root)}
	}
	return f.bareMap(root)
}

// serverKeys are what clients call their map of servers.
var serverKeys = []string{"mcpServers", "servers", "context_servers", "mcp.servers", "mcp_servers", "remote_servers"}

// serverMaps finds the maps of servers of a client's configuration.
func serverMaps(root *object) (out []any) {
	for _, k := range root.keys {
		if list, ok := root.values[k].([]any); slices.Contains(serverKeys, k) && (!ok || k != "servers" || namedServers(list)) {
			out = append(out, root.values[k])
		}
	}
	inner := root.object("mcp")
	if inner == nil {
		return out
	}
	if nested := serverMaps(inner); len(nested) > 0 {
		return append(out, nested...)
	}
	if holdsServer(inner) {
		out = append(out, inner)
	}
	return out
}

// namedServers reports whether a list is one of servers that say their names.
// Documents of other sorts have lists of mere addresses under the same key.
func namedServers(list []any) bool {
	return len(list) > 0 && !slices.ContainsFunc(list, func(v any) bool {
		o, ok := v.(*object)
		return !ok || o.text("name", "id") == "" || !isServer(o)
	})
}

func holdsServer(o *object) bool {
	if o == nil {
		return false
	}
	for _, v := range o.values {
		if server, ok := v.(*object); ok && isServer(server) {
			return true
		}
	}
	return false
}

// isServer reports whether an object says how to reach or start a server.
func isServer(o *object) bool {
	list := o.list(commandKeys...)
	return o.text(urlKeys...) != "" || o.text(commandKeys...) != "" || len(list) > 0 || o.object("transport", "command") != nil
}

// configuration reads a client's file.
func (f *jsonFile) configuration(root *object, found []any) []Item {
	var out []Item
	inner := root.object("mcp")
	f.readInputs(root.list("inputs"))
	if inner != nil {
		f.readInputs(inner.list("inputs"))
	}
	for _, m := range found {
		out = append(out, f.servers(m)...)
	}
	f.others(root, append([]string{"inputs", "mcp", "$schema"}, serverKeys...))
	if inner != nil && !holdsServer(inner) {
		f.others(inner, append([]string{"inputs", "$schema"}, serverKeys...))
	}
	if len(out) == 0 {
		return []Item{f.noServers()}
	}
	return out
}

func (f *jsonFile) noServers() Item {
	return Item{
		Path: f.path, Format: FormatServers, Kind: capability.KindMCP, Status: Ignored,
		Notes: []Note{{Path: f.path, Code: "no_servers", Message: "The configuration lists no server."}},
	}
}

func notAServer() *fault.Fault {
	return fault.New(fault.Invalid, "not_a_server", "A server is described by an object; here stands something else.")
}

// widened is the file with room for more questions.
func (f *jsonFile) widened() *jsonFile {
	out := *f
	out.inputs = maps.Clone(f.inputs)
	if out.inputs == nil {
		out.inputs = map[string]input{}
	}
	return &out
}

// servers reads a map of servers by name, or a list of servers that say theirs.
func (f *jsonFile) servers(v any) []Item {
	var out []Item
	switch v := v.(type) {
	case *object:
		for _, key := range v.keys {
			out = append(out, f.server(f.itemPath(key), key, v.values[key]))
		}
	case []any:
		for i, e := range v {
			o, _ := e.(*object)
			key := o.text("name", "id", "title")
			if key == "" {
				key = fmt.Sprint(i + 1)
			}
			out = append(out, f.server(f.itemPath(key), key, e))
		}
	}
	return out
}

// bareMap reads a file that is only the map: all that it holds are objects, and
// one at least is a server.
func (f *jsonFile) bareMap(root *object) []Item {
	if !holdsServer(root) {
		return nil
	}
	var out []Item
	for _, key := range root.keys {
		v, ok := root.values[key].(*object)
		switch {
		case ok:
			out = append(out, f.server(f.itemPath(key), key, v))
		case key != "$schema" && !strings.HasPrefix(key, "//"):
			return nil
		}
	}
	return out
}

// others notes the keys of the file that are none of servers.
func (f *jsonFile) others(o *object, known []string) {
	if rest := unknownKeys(o, known); len(rest) > 0 {
		f.note("other_settings", "The file has more settings of its client, which are not read here: %s.", clip(strings.Join(rest, ", "), 200))
	}
}

func unknownKeys(o *object, known []string) []string {
	var out []string
	for _, k := range o.keys {
		if !slices.Contains(known, k) && !strings.HasPrefix(k, "//") {
			out = append(out, shownKey(k, 60))
		}
	}
	return out
}

// shownKey is a key of the file for people to read.
func shownKey(key string, n int) string {
	if capability.HoldsSecret(key) {
		return "…"
	}
	return clip(capability.PlainText(key), n)
}

// itemPath is the path of one of several things of the file, unique in it.
func (f *jsonFile) itemPath(key string) string {
	if f.paths == nil {
		f.paths = map[string]bool{}
	}
	p := f.path + "#" + shownKey(key, 120)
	for n := 2; f.paths[p]; n++ {
		p = fmt.Sprintf("%s#%s~%d", f.path, shownKey(key, 120), n)
	}
	f.paths[p] = true
	return p
}

// readInputs takes the questions of a VS Code file in.
func (f *jsonFile) readInputs(list []any) {
	for _, v := range list {
		o, ok := v.(*object)
		if !ok || o.text("id") == "" {
			continue
		}
		if f.inputs == nil {
			f.inputs = map[string]input{}
		}
		initial, _ := scalar(o.values["default"])
		f.inputs[o.text("id")] = input{
			description: shorten(withChoices(capability.PlainText(o.text("description", "title")), o.list("options")), capability.MaxDescription),
			initial:     initial, secret: o.flag("password"),
		}
	}
}

// server reads one server of a client's configuration.
func (f *jsonFile) server(p, key string, v any) Item {
	o, ok := v.(*object)
	if !ok {
		return f.maker(p, FormatServers).refused(notAServer())
	}
	m, fault := f.configured(p, key, o)
	if fault != nil {
		return m.refused(fault)
	}
	return m.finish(o.object(keptKey))
}

// configured makes what the entry itself says, short of what capstore has put
// beside it.
func (f *jsonFile) configured(p, key string, o *object) (*maker, *fault.Fault) {
	m := f.maker(p, FormatServers)
	m.provenance = map[string]any{"format": FormatServers, "file": f.path}
	m.stray(o)
	m.identity(key, o)
	if f := m.connect(o); f != nil {
		return m, f
	}
	if m.spec.Image != "" {
		m.variables(o)
	}
	m.optional(o)
	return m, nil
}

// firstOf refuses a second thing of a name that counts as the same.
func (f *jsonFile) firstOf(name, p string) *fault.Fault {
	folded := capability.FoldName(name)
	if first, taken := f.names[folded]; taken {
		return fault.New(fault.Conflict, "name_repeated", "The name %q counts as the same as that of %q, which was read first.", clip(name, 64), clip(first, 160)).
			With("name", clip(name, 64)).With("first", clip(first, 160)).
			Do("Rename one of them in the file and import it again.")
	}
	f.names[folded] = p
	return nil
}

func jsonObject(v map[string]any) json.RawMessage {
	out, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return out
}
