package interchange

import (
	"bytes"
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

// FromArchive reads the skills of a zip. name is that of the file, for a skill
// that stands at the archive's root. The error is a fault that refuses the
// whole; a skill that is refused alone stands among the items.
func FromArchive(r io.ReaderAt, size int64, name string) (Import, error) {
	t, err := readArchive(r, size)
	if err != nil {
		return Import{}, err
	}
	return find(t, stem(name))
}

// FromFolder reads the skills of a folder of that name. Links are not followed;
// give it os.Root's file system to hold even a folder that changes meanwhile.
func FromFolder(fsys fs.FS, name string) (Import, error) {
	t, err := readFolder(fsys)
	if err != nil {
		return Import{}, err
	}
	return find(t, name)
}

// FromDocument reads one SKILL.md that came without a folder, as when it was
// pasted.
func FromDocument(raw []byte) (Import, error) {
	doc := TreeFile{Path: capability.SkillFileName, Size: int64(len(raw)), read: func() ([]byte, error) { return raw, nil }}
	return find(&tree{files: []TreeFile{doc}}, "")
}

// FromUpload reads a file that somebody sent: a zip by its first bytes, else a
// SKILL.md.
func FromUpload(data []byte, name string) (Import, error) {
	if bytes.HasPrefix(data, []byte("PK")) {
		return FromArchive(bytes.NewReader(data), int64(len(data)), name)
	}
	return FromDocument(data)
}

// FromPath reads a folder, an archive or a SKILL.md of this machine.
func FromPath(name string) (Import, error) {
	cannot := func(err error) error {
		return fault.New(fault.Invalid, "path_unreadable", "%q cannot be opened.", clip(name, 200)).Because(err)
	}
	info, err := os.Stat(name)
	if err != nil {
		return Import{}, cannot(err)
	}
	if info.IsDir() {
		root, err := os.OpenRoot(name)
		if err != nil {
			return Import{}, cannot(err)
		}
		defer func() { _ = root.Close() }() // only read from
		abs, err := filepath.Abs(name)
		if err != nil {
			return Import{}, cannot(err)
		}
		return FromFolder(root.FS(), filepath.Base(abs))
	}
	if info.Size() > MaxArchive {
		return Import{}, archiveFault("archive_too_large", "", "The file is larger than %d MiB.", MaxArchive>>20)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return Import{}, cannot(err)
	}
	return FromUpload(data, filepath.Base(name))
}

// stem is an archive's name without its ending: the folder it would unpack to.
func stem(name string) string {
	name = path.Base(strings.ReplaceAll(name, `\`, "/"))
	if name == "." || name == "/" {
		return ""
	}
	return strings.TrimSuffix(name, path.Ext(name))
}

// find makes items of a tree. A folder with a SKILL.md is one skill and all
// below it is its own; folders without one yield those within them.
func find(t *tree, name string) (Import, error) {
	docs := documents(t)
	roots := skillFolders(docs)
	out := Import{Notes: t.notes}
	for _, p := range t.passed {
		out.Items = append(out.Items, ignored(p, "not_searched", "It lies in a folder that is not searched."))
	}
	for _, f := range docs {
		dir := path.Dir(f.Path)
		if root, inner := above(roots, dir); inner {
			out.Items = append(out.Items, ignored(f.Path, "inside_a_skill", "It is a file of the skill in "+show(root)+"."))
		}
	}
	for _, dir := range roots {
		out.Items = append(out.Items, oneSkill(t, docs, dir, folderName(dir, name)))
	}
	if len(out.Items) == 0 {
		return out, fault.New(fault.Invalid, "no_skill", "There is no SKILL.md in it.").
			Do("Import a folder or a zip that holds one.")
	}
	slices.SortFunc(out.Items, func(a, b Item) int { return strings.Compare(a.Path, b.Path) })
	return out, nil
}

func documents(t *tree) []TreeFile {
	var out []TreeFile
	for _, f := range t.files {
		if isDocument(f.Path) {
			out = append(out, f)
		}
	}
	return out
}

// skillFolders returns the folders with a document that have none above them.
func skillFolders(docs []TreeFile) []string {
	var all, out []string
	for _, f := range docs {
		all = append(all, path.Dir(f.Path))
	}
	slices.Sort(all)
	all = slices.Compact(all)
	for _, dir := range all {
		if _, inner := above(all, dir); !inner {
			out = append(out, dir)
		}
	}
	return out
}

// above finds the folder of the list that dir lies in, itself not counted.
func above(list []string, dir string) (string, bool) {
	for dir != "." {
		dir = path.Dir(dir)
		if _, found := slices.BinarySearch(list, dir); found {
			return dir, true
		}
	}
	return "", false
}

func oneSkill(t *tree, docs []TreeFile, dir, name string) Item {
	var twins []TreeFile
	for _, f := range docs {
		if path.Dir(f.Path) == dir {
			twins = append(twins, f)
		}
	}
	if len(twins) > 1 {
		item := Item{Path: twins[0].Path, Status: Refused}
		item.Fault = docFault("document_twins", "%q and %q stand side by side; one of them must go.", path.Base(twins[0].Path), path.Base(twins[1].Path))
		return item
	}
	var files []TreeFile
	for _, f := range t.files {
		if within(dir, f.Path) && f.Path != twins[0].Path {
			files = append(files, f)
		}
	}
	return skillAt(t, twins[0], name, files)
}

func within(dir, p string) bool { return dir == "." || strings.HasPrefix(p, dir+"/") }

func folderName(dir, outer string) string {
	if dir == "." {
		return outer
	}
	return path.Base(dir)
}

func ignored(p, code, message string) Item {
	return Item{Path: p, Status: Ignored, Notes: []Note{{Path: p, Code: code, Message: message}}}
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
	ready := i.Ready()
	if len(ready) == 1 && i.Count(Refused) == 0 {
		return ready[0], nil
	}
	for _, item := range i.Items {
		if item.Status == Refused && len(ready) == 0 {
			return item, item.Fault
		}
	}
	return Item{}, fault.New(fault.Invalid, "several_skills", "There are %d skills in it; one is wanted.", len(ready)+i.Count(Refused))
}
