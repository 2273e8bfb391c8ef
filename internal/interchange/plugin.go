package interchange

import (
	"bytes"
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/fault"
)

// Where the documents of a plugin and of a marketplace lie in their folder.
const (
	pluginFolder   = ".claude-plugin"
	pluginManifest = pluginFolder + "/plugin.json"
	marketManifest = pluginFolder + "/marketplace.json"
)

// plugin is a Claude Code plugin of a tree on its way to items, each of its
// parts one of its own kind.
type plugin struct {
	tree *tree
	dir  string // "." for the tree itself
	o    Options
	// faces are what describes it: one, or one for each entry of a marketplace
	// that takes its parts from this folder.
	faces []*manifest
	// manifest is the item of plugin.json, which makes nothing of its own.
	manifest *Item
	// skills are the folders of its skills.
	skills map[string]bool
	// twice are the names of commands that another plugin of the tree has too.
	twice map[string]bool
}

// plugins are the folders of Claude Code plugins and of their skills, with what
// reads them.
func (t *tree) plugins(o Options) map[string]rootReader {
	found, markets := t.findPlugins(o)
	out := map[string]rootReader{}
	for dir, p := range found {
		out[dir] = p.read
	}
	docs := map[string][]string{}
	for _, f := range t.files {
		if dir, ok := owner(found, f.Path); ok && isDocument(f.Path) && path.Dir(f.Path) != dir && !found[dir].isCommand(f.Path) {
			docs[dir] = append(docs[dir], path.Dir(f.Path))
		}
	}
	for dir, below := range docs {
		p := found[dir]
		p.skills = outermost(below)
		for skill := range p.skills {
			out[skill] = func(part *part) []Item { return p.skill(skill, part) }
		}
	}
	for dir, m := range markets {
		out[path.Join(dir, pluginFolder)] = m.read
	}
	return out
}

// isCommand reports whether a document is only called like a skill's: a command
// or an agent of that name.
func (p *plugin) isCommand(full string) bool {
	first, _, _ := strings.Cut(p.inside(full), "/")
	return (first == "commands" || first == "agents") && path.Base(full) != capability.SkillFileName
}

// findPlugins finds the folders with a plugin's manifest, and those that a
// marketplace names, which need none.
func (t *tree) findPlugins(o Options) (map[string]*plugin, map[string]*market) {
	found, markets := map[string]*plugin{}, map[string]*market{}
	at := func(dir string) *plugin {
		if found[dir] == nil {
			found[dir] = &plugin{tree: t, dir: dir, o: o}
		}
		return found[dir]
	}
	for _, f := range t.files {
		if dir, ok := strings.CutSuffix(f.Path, pluginManifest); ok && (dir == "" || strings.HasSuffix(dir, "/")) {
			at(path.Clean(dir)).readManifest(f)
		}
	}
	for _, f := range t.files {
		dir, ok := strings.CutSuffix(f.Path, marketManifest)
		if !ok || dir != "" && !strings.HasSuffix(dir, "/") {
			continue
		}
		m := t.readMarketFile(path.Clean(dir), f)
		markets[m.dir] = m
		for _, e := range m.entries {
			if e.folder != "" {
				at(e.folder).enter(e)
			}
		}
	}
	for _, f := range t.files { // the folder that an agent itself reads holds the same parts
		if dir := claudeFolder(f.Path); dir != "" && found[dir] == nil {
			if _, within := owner(found, f.Path); !within {
				at(dir).faces = []*manifest{{name: "project", fields: &object{}, project: true}}
			}
		}
	}
	if dir, ok := t.undescribed(); ok && len(found) == 0 {
		at(dir)
	}
	seen := map[string]string{}
	for _, dir := range slices.Sorted(maps.Keys(found)) {
		found[dir].settle(seen)
	}
	return found, markets
}

// claudeFolder is the project's or person's .claude folder in which the path is
// a command, an agent or the settings with the hooks, "" where it is none.
func claudeFolder(p string) string {
	before, inside, ok := strings.Cut("/"+p, "/.claude/")
	part, _, _ := strings.Cut(inside, "/")
	if !ok || part != settingsFile && (part != "commands" && part != "agents" || path.Ext(p) != ".md") {
		return ""
	}
	return strings.TrimPrefix(before+"/.claude", "/")
}

// undescribed finds the plugin that the whole tree is without saying so, since
// the manifest may be left out: hooks, or commands or agents with front matter,
// lie where a plugin has them, at the top or in the one folder there.
func (t *tree) undescribed() (dir string, ok bool) {
	if len(t.files) == 0 {
		return "", false
	}
	dir = "."
	first, _, nested := strings.Cut(t.files[0].Path, "/")
	if last, _, _ := strings.Cut(t.files[len(t.files)-1].Path, "/"); nested && first == last && !slices.Contains(partFolders, first) {
		dir = first
	}
	if _, ok := t.file(path.Join(dir, capability.SkillFileName)); ok {
		return "", false
	}
	if _, ok := t.file(path.Join(dir, "hooks", "hooks.json")); ok {
		return dir, true
	}
	for _, part := range []string{"commands", "agents"} {
		if slices.ContainsFunc(t.below(path.Join(dir, part)), isPrompt) {
			return dir, true
		}
	}
	return "", false
}

// partFolders are the folders of a plugin that it can be told by.
var partFolders = []string{"commands", "agents", "hooks", "skills"}

// isPrompt reports whether the file is Markdown with front matter.
func isPrompt(f TreeFile) bool {
	if path.Ext(f.Path) != ".md" || f.Size > MaxDocument {
		return false
	}
	raw, err := f.read()
	return err == nil && bytes.HasPrefix(bytes.TrimPrefix(raw, []byte(byteOrderMark)), []byte("---"))
}

// settle gives the plugin a face where nothing described it, and notes which
// names of commands were seen before.
func (p *plugin) settle(seen map[string]string) {
	if len(p.faces) == 0 {
		name := path.Base(p.dir)
		if p.dir == "." {
			name = p.tree.name
		}
		p.faces = []*manifest{{name: name, fields: &object{}}}
	}
	p.twice = map[string]bool{}
	for _, f := range p.tree.below(path.Join(p.dir, "commands")) {
		if name := commandStem(f.Path); path.Ext(f.Path) == ".md" {
			if other, again := seen[name]; again && other != p.dir {
				p.twice[name] = true
			}
			seen[name] = p.dir
		}
	}
}

// below are the files within a folder, in the order of their paths.
func (t *tree) below(dir string) []TreeFile {
	if dir == "." {
		return t.files
	}
	prefix := dir + "/"
	i, _ := slices.BinarySearchFunc(t.files, prefix, func(f TreeFile, s string) int { return strings.Compare(f.Path, s) })
	j := i
	for j < len(t.files) && strings.HasPrefix(t.files[j].Path, prefix) {
		j++
	}
	return t.files[i:j]
}

// file finds a file by its path.
func (t *tree) file(p string) (TreeFile, bool) {
	i, ok := slices.BinarySearchFunc(t.files, p, func(f TreeFile, s string) int { return strings.Compare(f.Path, s) })
	if !ok {
		return TreeFile{}, false
	}
	return t.files[i], true
}

// pluginRead is one reading of a plugin's folder.
type pluginRead struct {
	*plugin
	files map[string]TreeFile // what belongs to it and to none of its skills
	list  []TreeFile          // the same, in order
	taken map[string]bool     // the files that are part of an item
	items []Item
	names map[string]bool // names of hooks, which the format does not give
	whole bool            // its folder is itself a skill
	side  pluginSidecar
}

// read gives the items of the plugin, its skills apart: parts that become
// something, parts that capstore has no kind for, and the rest by folders.
func (p *plugin) read(part *part) []Item {
	r := &pluginRead{plugin: p, list: part.files, files: map[string]TreeFile{}, taken: map[string]bool{}, names: map[string]bool{}}
	for _, f := range part.files {
		r.files[f.Path] = f
	}
	r.readSidecar()
	if len(part.docs) > 0 {
		r.wholeSkill(part)
	}
	for _, face := range p.faces {
		r.skillPaths(face)
		r.commands(face)
		r.agents(face)
		r.hooks(face)
		r.servers(face)
	}
	r.describe()
	r.rest()
	for i := range r.items {
		if r.items[i].Path == r.join(pluginManifest) {
			r.items[i].Notes = append(r.items[i].Notes, part.notes...)
		}
	}
	return r.items
}

func (p *plugin) join(rel string) string { return path.Join(p.dir, rel) }

// inside is the path within the plugin.
func (p *plugin) inside(full string) string {
	if p.dir == "." {
		return full
	}
	return strings.TrimPrefix(full, p.dir+"/")
}

// add finishes an item: where it comes from, what it is tagged with, what the
// sidecar says of it, and whether the kernel takes it.
func (r *pluginRead) add(face *manifest, item Item) {
	if item.Fault == nil && item.Status != Ignored {
		item.Content = r.side.restore(r.inside(item.Path), item.Content)
		if err := fault.Fields(item.Content.Validate(r.o.Rules)); err != nil {
			item.Fault = fault.From(err)
		}
	}
	r.items = append(r.items, r.finish(face, item))
}

func (p *plugin) finish(face *manifest, item Item) Item {
	switch {
	case item.Status == Ignored:
		return item
	case item.Fault != nil:
		item.Status, item.Content = Refused, capability.Content{}
	default:
		item.Status = Ready
	}
	item.As.Tags = face.tags(item.As.Tags)
	item.Provenance = face.provenance(p.inside(item.Path), item.Provenance)
	return item
}

// skill reads a skill of the plugin.
func (p *plugin) skill(dir string, part *part) []Item {
	face, listed := p.faceOf("skills", dir)
	items := p.tree.skill(dir, part, p.o)
	for i := range items {
		if items[i].Status == Ignored {
			continue
		}
		if !listed && !strings.HasPrefix(dir, p.join("skills")+"/") {
			items[i].Notes = append(items[i].Notes, Note{Path: items[i].Path, Code: "skill_unlisted",
				Message: "The plugin does not name this folder, so that its own host would not load the skill."})
		}
		items[i] = p.finish(face, items[i])
	}
	return items
}

// wholeSkill reads a plugin whose folder is itself one skill.
func (r *pluginRead) wholeSkill(p *part) {
	own := *p
	own.files, own.notes = nil, nil
	for _, f := range p.files {
		first, _, nested := strings.Cut(r.inside(f.Path), "/")
		if nested && (pluginParts[first] != "" || first == pluginFolder) || !nested && pluginParts[first] != "" {
			continue
		}
		own.files = append(own.files, f)
		r.taken[f.Path] = true
	}
	r.whole = true
	r.items = append(r.items, r.finish(r.faces[0], skillAt(&own, r.faces[0].name, false, r.o)))
}

// skillPaths refuses what a manifest names as skills and that holds none.
func (r *pluginRead) skillPaths(face *manifest) {
	for n, v := range face.values("skills") {
		s, isText := v.(string)
		rel, f := pluginPath(s)
		switch {
		case !isText:
			f = unreadablePart("skills")
		case f == nil && !r.holdsSkill(r.join(rel)):
			f = missingPart(s)
		}
		if f != nil {
			r.refuse(face, "skills", n, f)
		}
	}
}

func (r *pluginRead) holdsSkill(full string) bool {
	for dir := range r.skills {
		if dir == full || strings.HasPrefix(dir, full+"/") || full == "." || strings.HasPrefix(full, dir+"/") {
			return true
		}
	}
	return r.whole && full == r.dir
}

// faceOf is the face that names the path among its components, else the first;
// named says whether one does.
func (p *plugin) faceOf(component, full string) (face *manifest, named bool) {
	for _, face := range p.faces {
		for _, named := range face.paths(component) {
			clean := p.join(named)
			if clean == full || strings.HasPrefix(full, clean+"/") || clean == "." {
				return face, true
			}
		}
	}
	return p.faces[0], false
}

// describe adds the manifest's own item.
func (r *pluginRead) describe() {
	if r.manifest != nil {
		r.taken[r.manifest.Path] = true
		r.items = append(r.items, *r.manifest)
	}
}

func pluginIgnored(p, code, message string, notes ...Note) Item {
	return Item{Path: p, Format: FormatPlugin, Status: Ignored, Notes: append([]Note{{Path: p, Code: code, Message: message}}, notes...)}
}

func mergeJSON(into map[string]any, raw json.RawMessage) {
	var more map[string]any
	if len(raw) > 0 && json.Unmarshal(raw, &more) == nil {
		maps.Copy(into, more)
	}
}
