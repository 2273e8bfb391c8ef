package interchange

import (
	"bytes"
	"cmp"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/fault"
)

// FromArchive reads what a zip holds. name is that of the file, for what stands
// at the archive's root. The error is a fault that refuses the whole; what is
// refused alone stands among the items.
func FromArchive(r io.ReaderAt, size int64, name string, o Options) (Import, error) {
	t, err := readArchive(r, size)
	if err != nil {
		return Import{}, err
	}
	t.name = stem(name)
	return find(t, o)
}

// FromFolder reads what a folder of that name holds. Links are not followed;
// give it os.Root's file system to hold even a folder that changes meanwhile.
// The file system is read until the last item is.
func FromFolder(fsys fs.FS, name string, o Options) (Import, error) {
	t, err := readFolder(fsys)
	if err != nil {
		return Import{}, err
	}
	t.name, t.sure = name, true
	return find(t, o)
}

// FromDocument reads one document that came without a folder, as when it was
// pasted: JSON or YAML of any of the formats, else a SKILL.md. name is its file's, ""
// for none.
func FromDocument(raw []byte, name string, o Options) (Import, error) {
	if isExport(raw) {
		p := cmp.Or(plainName(name), "document"+ExportSuffix)
		return Import{sources: []source{{p, func() []Item { return readExport(p, raw, o) }}}}, nil
	}
	if looksLikeJSON(raw) || strings.EqualFold(path.Ext(name), ".json") {
		p := cmp.Or(plainName(name), "document.json")
		return Import{sources: []source{{p, func() []Item { return readJSON(p, raw, o) }}}}, nil
	}
	if isYAML(name) {
		p := plainName(name)
		return Import{sources: []source{{p, func() []Item { return readYAML(p, raw, o) }}}}, nil
	}
	doc := TreeFile{Path: capability.SkillFileName, Size: int64(len(raw)), read: func() ([]byte, error) { return raw, nil }}
	return find(&tree{files: []TreeFile{doc}}, o)
}

// FromUpload reads a file that somebody sent: a zip by its first bytes, else a
// document.
func FromUpload(data []byte, name string, o Options) (Import, error) {
	if bytes.HasPrefix(data, []byte("PK")) {
		return FromArchive(bytes.NewReader(data), int64(len(data)), name, o)
	}
	return FromDocument(data, name, o)
}

// FromPath reads a folder, an archive or a document of this machine. Close the
// import when its items were read.
func FromPath(name string, o Options) (Import, error) {
	cannot := func(err error) error {
		return fault.New(fault.Invalid, "path_unreadable", "%q cannot be opened.", clip(name, 200)).Because(err)
	}
	info, err := os.Stat(name)
	if err != nil {
		return Import{}, cannot(err)
	}
	if info.IsDir() {
		return fromFolder(name, o, cannot)
	}
	if !info.Mode().IsRegular() { // a pipe or a device may never end
		return Import{}, fault.New(fault.Invalid, "path_unreadable", "%q is neither a file nor a folder.", clip(name, 200))
	}
	if info.Size() > MaxArchive {
		return Import{}, archiveFault("archive_too_large", "", "The file is larger than %d MiB.", MaxArchive>>20)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return Import{}, cannot(err)
	}
	return FromUpload(data, filepath.Base(name), o)
}

func fromFolder(name string, o Options, cannot func(error) error) (Import, error) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return Import{}, cannot(err)
	}
	root, err := os.OpenRoot(name)
	if err != nil {
		return Import{}, cannot(err)
	}
	out, err := FromFolder(root.FS(), filepath.Base(abs), o)
	if err != nil {
		_ = root.Close() // only read from
		return Import{}, err
	}
	out.closer = root
	return out, nil
}

// plainName is a file's name without the folders that some browsers send.
func plainName(name string) string {
	if name == "" {
		return ""
	}
	return path.Base(strings.ReplaceAll(name, `\`, "/"))
}

// stem is an archive's name without its ending: the folder it would unpack to.
func stem(name string) string {
	name = path.Base(strings.ReplaceAll(name, `\`, "/"))
	if name == "." || name == "/" {
		return ""
	}
	return strings.TrimSuffix(name, path.Ext(name))
}

// find tells what a tree holds. A plugin's folder and that of a skill own all
// below them; folders that are neither yield what is within them.
func find(t *tree, o Options) (Import, error) {
	roots := t.roots(o)
	out := Import{Notes: t.notes}
	for _, p := range t.passed {
		out.sources = append(out.sources, source{p, func() []Item {
			return []Item{ignored(p, "not_searched", "It lies in a folder that is not searched.")}
		}})
	}
	for dir, p := range t.divide(roots) {
		read := roots[dir]
		out.sources = append(out.sources, source{path.Join(dir, "."), func() []Item { return read(p) }})
	}
	for _, f := range t.files {
		if _, owned := owner(roots, f.Path); !owned && (isConfiguration(f.Path) || isSettings(f) || isDockerFile(f)) {
			out.sources = append(out.sources, source{f.Path, func() []Item { return readBeside(f, o) }})
		}
	}
	if len(out.sources) == 0 {
		return out, fault.New(fault.Invalid, "nothing_to_import", "There is nothing in it that can be imported: no SKILL.md, server.json, mcpServers configuration, plugin or export of capstore.").
			Do("Import a folder, a zip or a file that holds one.")
	}
	slices.SortFunc(out.sources, func(a, b source) int { return strings.Compare(a.path, b.path) })
	return out, nil
}

// readBeside reads a document that lies in no skill and no plugin.
func readBeside(f TreeFile, o Options) []Item {
	if !isExportFile(f.Path) {
		return readConfiguration(f, o)
	}
	raw, err := readWithin(f, MaxArchive)
	if err != nil {
		return []Item{refusedExport(f.Path, fault.From(err))}
	}
	return readExport(f.Path, raw, o)
}

// rootReader reads everything that lies in the folder of one skill or plugin.
type rootReader func(*part) []Item

// roots are the folders that own what is below them.
func (t *tree) roots(o Options) map[string]rootReader {
	out := t.plugins(o)
	var all []string
	for _, f := range t.files {
		if _, owned := owner(out, f.Path); isDocument(f.Path) && !owned {
			all = append(all, path.Dir(f.Path))
		}
	}
	skills := outermost(all)
	for dir := range out {
		if _, inner := owner(skills, path.Join(dir, "x")); inner {
			delete(out, dir)
		}
	}
	for dir := range skills {
		out[dir] = func(p *part) []Item { return t.skill(dir, p, o) }
	}
	return out
}

// part is what belongs to one skill or plugin.
type part struct {
	dir   string
	docs  []TreeFile // in the folder itself: one, unless there are twins
	files []TreeFile // everything else below it
	notes []Note
}

// divide gives each file and note to the folder that owns it.
func (t *tree) divide(roots map[string]rootReader) map[string]*part {
	out := make(map[string]*part, len(roots))
	for dir := range roots {
		out[dir] = &part{dir: dir}
	}
	for _, f := range t.files {
		root, ok := owner(roots, f.Path)
		switch {
		case !ok:
		case isDocument(f.Path) && path.Dir(f.Path) == root:
			out[root].docs = append(out[root].docs, f)
		default:
			out[root].files = append(out[root].files, f)
		}
	}
	for _, n := range t.notes {
		if root, ok := owner(roots, n.Path); ok {
			out[root].notes = append(out[root].notes, n)
		}
	}
	return out
}

// owner finds the innermost of the folders that the path lies in.
func owner[V any](roots map[string]V, p string) (string, bool) {
	for p != "." {
		p = path.Dir(p)
		if _, found := roots[p]; found {
			return p, true
		}
	}
	return "", false
}

// outermost keeps the folders that have none of the others above them.
func outermost(dirs []string) map[string]bool {
	all := map[string]bool{}
	for _, dir := range dirs {
		all[dir] = true
	}
	out := map[string]bool{}
	for dir := range all {
		if _, inner := owner(all, dir); !inner {
			out[dir] = true
		}
	}
	return out
}

// skill reads the one skill of a folder, and says of each SKILL.md further down
// that it is a file of it.
func (t *tree) skill(dir string, p *part, o Options) []Item {
	name, sure := t.name, t.sure
	if dir != "." {
		name, sure = path.Base(dir), true
	}
	out := []Item{skillAt(p, name, sure, o)}
	for _, f := range p.files {
		if isDocument(f.Path) {
			out = append(out, ignored(f.Path, "inside_a_skill", "It is a file of the skill in "+show(dir)+"."))
		}
	}
	return out
}

func ignored(p, code, message string) Item {
	return Item{Path: p, Format: FormatSkill, Kind: capability.KindSkill, Status: Ignored, Notes: []Note{{Path: p, Code: code, Message: message}}}
}

func show(dir string) string {
	if dir == "." {
		return "the folder itself"
	}
	return clip(dir, 120)
}

// Only returns the one skill of an import, or the fault that says why there is
// not exactly one: that of the skill itself where it was refused.
func (i Import) Only() (Item, error) {
	ready, refused := 0, 0
	var skill, failed Item
	for _, item := range i.Items() {
		switch {
		case item.Format != FormatSkill:
		case item.Status == Ready:
			ready, skill = ready+1, item
		case item.Status == Refused:
			refused, failed = refused+1, item
		}
	}
	switch {
	case ready == 1 && refused == 0:
		return skill, nil
	case ready == 0 && refused > 0:
		return failed, failed.Fault
	case ready+refused == 0:
		return Item{}, fault.New(fault.Invalid, "no_skill", "There is no SKILL.md in it.").
			Do("Import a folder or a zip that holds one.")
	}
	return Item{}, fault.New(fault.Invalid, "several_skills", "There are %d skills in it; one is wanted.", ready+refused)
}
