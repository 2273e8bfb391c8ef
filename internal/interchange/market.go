package interchange

import (
	"fmt"
	"path"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/fault"
)

// market is a marketplace.json of a tree.
type market struct {
	dir     string // of the marketplace, the folder above the document's
	path    string
	name    string
	entries []marketEntry
	notes   []Note
	fault   *fault.Fault
	tree    *tree
}

// marketEntry is a plugin that a marketplace lists.
type marketEntry struct {
	name   string
	market string
	fields *object
	path   string // of the document
	folder string // in the tree, "" for none
	item   Item   // its fate where it is not read from the tree
}

// readMarketFile reads the marketplace of a folder and finds the plugins that
// lie in it.
func (t *tree) readMarketFile(dir string, f TreeFile) *market {
	m := &market{dir: dir, path: f.Path, tree: t}
	raw, err := readWithin(f, MaxDocument)
	if err != nil {
		m.fault = fault.From(err)
		return m
	}
	doc, notes, err := readRelaxed(raw)
	root, ok := doc.(*object)
	switch {
	case err != nil:
		m.fault = fault.From(err)
	case !ok || !isMarket(root):
		m.fault = fault.New(fault.Invalid, "marketplace_unreadable", "A marketplace.json is a JSON object with a list of plugins.").Do(correctFile)
	default:
		m.notes = at(f.Path, notes)
		m.fill(root)
	}
	return m
}

// isMarket reports whether a JSON document is a marketplace.
func isMarket(o *object) bool {
	_, ok := o.values["plugins"].([]any)
	return ok
}

// readMarket reads a marketplace that came without its folder: every plugin of
// it lies somewhere else.
func readMarket(p string, root *object) []Item {
	m := &market{dir: ".", path: p}
	m.fill(root)
	return m.items()
}

func (m *market) fill(root *object) {
	m.name = shorten(capability.PlainText(root.text("name")), 100)
	base := ""
	if meta := root.object("metadata"); meta != nil {
		base = meta.text("pluginRoot")
	}
	seen := map[string]bool{}
	for n, v := range root.list("plugins") {
		e := marketEntry{market: m.name, path: m.path}
		e.fields, _ = v.(*object)
		e.name = shorten(capability.PlainText(e.fields.text("name")), 100)
		e.item = Item{Path: fmt.Sprintf("%s#%s", m.path, e.name), Format: FormatPlugin, Status: Refused}
		if e.name == "" || seen[e.name] {
			e.item.Path = fmt.Sprintf("%s#%d", m.path, n+1)
		}
		switch {
		case e.fields == nil:
			e.item.Fault = marketFault("An entry of the marketplace is no object.")
		case e.name == "":
			e.item.Fault = marketFault("An entry of the marketplace has no name.")
		case seen[e.name]:
			e.item.Fault = marketFault("The marketplace lists %q twice.", e.name)
		default:
			m.place(&e, base)
		}
		seen[e.name] = true
		m.entries = append(m.entries, e)
	}
}

func marketFault(format string, args ...any) *fault.Fault {
	return fault.New(fault.Invalid, "marketplace_entry", format, args...).Do("Its author has to correct the marketplace.json.")
}

// place finds where the plugin of an entry lies.
func (m *market) place(e *marketEntry, base string) {
	source, relative := e.fields.values["source"].(string)
	switch {
	case relative && m.tree != nil:
		e.folder, e.item.Fault = m.folder(source, base)
	case relative:
		e.liesAt(clip(capability.PlainText(source), 300))
	default:
		e.elsewhere(e.fields.object("source"))
	}
}

// folder is the folder of the tree that a relative source names.
func (m *market) folder(source, base string) (string, *fault.Fault) {
	rel := source
	if base != "" && !strings.HasPrefix(source, "./") {
		rel = strings.TrimSuffix(base, "/") + "/" + source
	}
	rel, f := pluginPath(rel)
	if f != nil {
		return "", f
	}
	dir := path.Join(m.dir, rel)
	if len(m.tree.below(dir)) == 0 {
		return "", missingPart(source)
	}
	return dir, nil
}

// elsewhere notes the address from which the plugin could be imported. Nothing
// is fetched.
func (e *marketEntry) elsewhere(source *object) {
	address := ""
	switch kind := source.text("source"); kind {
	case "github":
		address = "https://github.com/" + source.text("repo")
	case "url", "git-subdir", "archive":
		address = source.text("url")
		if sub := source.text("path"); sub != "" {
			address += " (" + sub + ")"
		}
	case "npm":
		address = "npm " + source.text("package")
	case "":
		e.item.Fault = marketFault("The entry %q names no source.", e.name)
		return
	default:
		e.item.Fault = marketFault("The entry %q has a source of the unknown sort %q.", e.name, clip(kind, 40)).With("what", e.name)
		return
	}
	e.liesAt(clip(capability.PlainText(address), 300))
}

// liesAt notes where the plugin could be imported from.
func (e *marketEntry) liesAt(address string) {
	e.item.Status = Ignored
	e.item.about(true, "plugin_elsewhere", "The plugin lies elsewhere, and nothing was fetched. Import it from there", address)
}

// items are the fates of the document and of the entries that are not read from
// the tree.
func (m *market) items() []Item {
	if m.fault != nil {
		return []Item{{Path: m.path, Format: FormatPlugin, Status: Refused, Fault: m.fault}}
	}
	out := []Item{pluginIgnored(m.path, "marketplace", "It lists plugins; what lies with it is imported part by part.", m.notes...)}
	for _, e := range m.entries {
		if e.folder == "" {
			out = append(out, e.item)
		}
	}
	return out
}

// read gives the items of the folder in which a marketplace's document lies.
func (m *market) read(p *part) []Item {
	out := m.items()
	for _, f := range p.files {
		if f.Path == m.path {
			continue
		}
		if plugin := path.Join(m.dir, pluginManifest); f.Path == plugin {
			continue // it is an entry of the plugin that shares the folder
		}
		out = append(out, leftItem(f.Path, path.Base(f.Path)))
	}
	return out
}
