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
	t.name = stem(name)
	return find(t)
}

// FromFolder reads the skills of a folder of that name. Links are not followed;
// give it os.Root's file system to hold even a folder that changes meanwhile.
func FromFolder(fsys fs.FS, name string) (Import, error) {
	t, err := readFolder(fsys)
	if err != nil {
		return Import{}, err
	}
	t.name, t.sure = name, true
	return find(t)
}

// FromDocument reads one SKILL.md that came without a folder, as when it was
// pasted.
func FromDocument(raw []byte) (Import, error) {
	doc := TreeFile{Path: capability.SkillFileName, Size: int64(len(raw)), read: func() ([]byte, error) { return raw, nil }}
	return find(&tree{files: []TreeFile{doc}})
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
func find(t *tree) (Import, error) {
	roots := skillFolders(t.files)
	parts := divide(t, roots)
	out := Import{Notes: t.notes}
	for _, p := range t.passed {
		out.Items = append(out.Items, ignored(p, "not_searched", "It lies in a folder that is not searched."))
	}
	for _, dir := range roots {
		part := parts[dir]
		out.Items = append(out.Items, t.skill(dir, part))
		for _, f := range part.files {
			if isDocument(f.Path) {
				out.Items = append(out.Items, ignored(f.Path, "inside_a_skill", "It is a file of the skill in "+show(dir)+"."))
			}
		}
	}
	if len(out.Items) == 0 {
		return out, fault.New(fault.Invalid, "no_skill", "There is no SKILL.md in it.").
			Do("Import a folder or a zip that holds one.")
	}
	slices.SortFunc(out.Items, func(a, b Item) int { return strings.Compare(a.Path, b.Path) })
	return out, nil
}

// part is what belongs to one skill.
type part struct {
	docs  []TreeFile // in the folder itself: one, unless there are twins
	files []TreeFile // everything else below it
	notes []Note
}

// divide gives each file and note to the skill whose folder it lies in.
func divide(t *tree, roots []string) map[string]*part {
	out := make(map[string]*part, len(roots))
	for _, dir := range roots {
		out[dir] = &part{}
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

// owner finds the folder of the sorted list that the path lies in.
func owner(roots []string, p string) (string, bool) {
	for p != "." {
		p = path.Dir(p)
		if _, found := slices.BinarySearch(roots, p); found {
			return p, true
		}
	}
	return "", false
}

// skillFolders returns the folders with a document that have none above them,
// sorted.
func skillFolders(files []TreeFile) []string {
	var all, out []string
	for _, f := range files {
		if isDocument(f.Path) {
			all = append(all, path.Dir(f.Path))
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	for _, dir := range all {
		if _, inner := owner(all, dir); !inner {
			out = append(out, dir)
		}
	}
	return out
}

func (t *tree) skill(dir string, p *part) Item {
	if len(p.docs) > 1 {
		item := Item{Path: p.docs[0].Path, Status: Refused}
		item.Fault = docFault("document_twins", "%q and %q stand side by side; one of them must go.", path.Base(p.docs[0].Path), path.Base(p.docs[1].Path))
		return item
	}
	name, sure := t.name, t.sure
	if dir != "." {
		name, sure = path.Base(dir), true
	}
	return skillAt(p, name, sure)
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
