package interchange

import (
	"fmt"

	"capstore/internal/capability"
)

const officialMeta = "io.modelcontextprotocol.registry/official"

// entry is one of the servers in a list of the registry.
type entry struct {
	server *object
	meta   *object
	order  int
}

func (e entry) name() string { return e.server.text("name") }

func (e entry) version() string {
	if v := e.server.text("version"); v != "" {
		return v
	}
	return e.server.object("version_detail").text("version")
}

// isRegistryList reports whether a list is one of servers as the registry
// describes them.
func isRegistryList(list []any) bool {
	for _, v := range list {
		if o, ok := v.(*object); ok && (isServerJSON(o) || isServerJSON(o.object("server"))) {
			return true
		}
	}
	return false
}

// registryEntries reads a list of the registry. Of a server in several versions
// the latest is taken: the others are the past of the same thing.
func (f *jsonFile) registryEntries(list []any) []Item {
	var all []entry
	latest := map[string]int{}
	for i, v := range list {
		o, _ := v.(*object)
		e := entry{server: o, meta: officialOf(o), order: i}
		if inner := o.object("server"); inner != nil {
			e.server = inner
		}
		all = append(all, e)
		if best, seen := latest[e.name()]; e.meta.text("status") != "deleted" && (!seen || e.after(all[best])) {
			latest[e.name()] = i
		}
	}
	var out []Item
	for i, e := range all {
		out = append(out, f.registryEntry(i, e, latest))
	}
	return out
}

// officialOf finds what the registry itself says of an entry, in any of the
// places where it has stood.
func officialOf(o *object) *object {
	for _, holder := range []*object{o.object("_meta"), o.object("server").object("_meta"), o} {
		if meta := holder.object(officialMeta, "x-"+officialMeta, "x-io.modelcontextprotocol.registry"); meta != nil {
			return meta
		}
	}
	return nil
}

// after reports whether the entry is later than another of the same name: by
// the word of the registry, else by version.
func (e entry) after(other entry) bool {
	if mine, theirs := e.meta.flag("isLatest", "is_latest"), other.meta.flag("isLatest", "is_latest"); mine != theirs {
		return mine
	}
	a, errA := capability.ParseVersion(e.version())
	b, errB := capability.ParseVersion(other.version())
	if errA != nil || errB != nil {
		return errA == nil
	}
	return a.Compare(b) > 0
}

func (f *jsonFile) registryEntry(i int, e entry, latest map[string]int) Item {
	key := e.name()
	if key == "" {
		key = fmt.Sprint(i + 1)
	}
	if e.version() != "" {
		key += "@" + e.version()
	}
	p := f.itemPath(key)
	ignore := func(code, message string) Item {
		return Item{Path: p, Format: FormatServer, Kind: capability.KindMCP, Status: Ignored, Notes: []Note{{Path: p, Code: code, Message: message}}}
	}
	best, seen := latest[e.name()]
	switch {
	case e.server == nil || !isServerJSON(e.server):
		m := f.maker(p, FormatServer)
		return m.refused(notAServer())
	case e.meta.text("status") == "deleted":
		return ignore("deleted_upstream", "Its publisher has deleted it.")
	case seen && best != i:
		return ignore("older_version", "Another version of the same server in the file is later.")
	}
	item := f.serverJSON(p, e.server)
	if e.meta.text("status") == "deprecated" {
		item.Notes = append(item.Notes, Note{Path: p, Code: "deprecated_upstream", Message: "Its publisher has deprecated it."})
	}
	return item
}
