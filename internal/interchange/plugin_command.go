package interchange

import (
	"path"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/fault"
)

// commands reads the commands of a plugin: its Markdown files, and those that
// the manifest holds itself.
func (r *pluginRead) commands(face *manifest) {
	if !face.names("commands") {
		if face == r.faces[0] {
			r.commandFiles(face, "commands")
		}
		return
	}
	for n, v := range face.values("commands") {
		switch v := v.(type) {
		case string:
			rel, f := pluginPath(v)
			if f == nil && !r.commandFiles(face, rel) {
				f = missingPart(v)
			}
			if f != nil {
				r.refuse(face, "commands", n, f)
			}
		case *object:
			r.commandMap(face, r.place(face, "commands", n)+"/", v)
		default:
			r.refuse(face, "commands", n, unreadablePart("commands"))
		}
	}
}

func unreadablePart(component string) *fault.Fault {
	return fault.New(fault.Invalid, "plugin_part_unreadable", "An entry of %q is neither a path nor the part itself.", component).
		Do("Its author has to correct the manifest.").With("what", component)
}

// markdown are the documents of a folder, the notes to its readers left out,
// and whether there is any Markdown file. A path of a file gives that.
func (r *pluginRead) markdown(rel string) (docs []TreeFile, found bool) {
	full := r.join(rel)
	if f, ok := r.files[full]; ok {
		return []TreeFile{f}, true
	}
	for _, f := range r.tree.below(full) {
		if _, own := r.files[f.Path]; !own || !strings.EqualFold(path.Ext(f.Path), ".md") {
			continue
		}
		found = true
		if !strings.EqualFold(path.Base(f.Path), "README.md") {
			docs = append(docs, f)
		}
	}
	return docs, found
}

// commandFiles reads a file, or every Markdown file of a folder; false where
// there is neither.
func (r *pluginRead) commandFiles(face *manifest, rel string) bool {
	docs, found := r.markdown(rel)
	for _, f := range docs {
		r.command(face, f, named{name: r.commandName(face, f.Path)})
	}
	return found
}

// named is what a manifest says of a command beside its file.
type named struct {
	name   string
	fields *object
}

// commandMap reads commands that the manifest names one by one, with their text
// or the path of it. The paths of those with their text begin with head.
func (r *pluginRead) commandMap(face *manifest, head string, m *object) {
	for _, name := range m.keys {
		given := named{shorten(capability.PlainText(name), capability.MaxName), m.object(name)}
		source := given.fields.text("source")
		if source == "" {
			item := Item{Path: head + name, Format: FormatPlugin, Kind: capability.KindCommand}
			r.commandItem(face, item, []byte(given.fields.text("content")), given)
			continue
		}
		rel, f := pluginPath(source)
		file, ok := r.files[r.join(rel)]
		switch {
		case f != nil:
			r.add(face, Item{Path: head + name, Format: FormatPlugin, Kind: capability.KindCommand, Fault: f})
		case !ok:
			r.add(face, Item{Path: head + name, Format: FormatPlugin, Kind: capability.KindCommand, Fault: missingPart(source)})
		default:
			r.command(face, file, given)
		}
	}
}

func (r *pluginRead) command(face *manifest, f TreeFile, given named) {
	if r.taken[f.Path] {
		return
	}
	r.taken[f.Path] = true
	item := Item{Path: f.Path, Format: FormatPlugin, Kind: capability.KindCommand}
	raw, err := readWithin(f, MaxDocument)
	if err != nil {
		item.Fault = fault.From(err)
		r.add(face, item)
		return
	}
	r.commandItem(face, item, raw, given)
}

func (r *pluginRead) commandItem(face *manifest, item Item, raw []byte, given named) {
	read, err := readCommand(raw, given.name)
	if err != nil {
		item.Fault = fault.From(err)
		r.add(face, item)
		return
	}
	read.give(given.fields)
	item.Content, item.Repaired, item.Notes = read.content, read.repaired, at(item.Path, read.notes)
	r.add(face, item)
}

// commandName is the file's name, with the plugin's and the folder's before it
// where another command of the import has the same.
func (r *pluginRead) commandName(face *manifest, full string) string {
	name := commandStem(full)
	for _, f := range r.tree.below(r.join("commands")) {
		if f.Path < full && commandStem(f.Path) == commandStem(full) && strings.EqualFold(path.Ext(f.Path), ".md") {
			name = path.Base(path.Dir(full)) + "-" + name
			break
		}
	}
	if r.twice[commandStem(full)] {
		name = face.name + "-" + name
	}
	return shorten(capability.PlainText(name), capability.MaxName)
}
