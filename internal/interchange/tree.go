package interchange

import (
	"path"
	"slices"
	"strings"

	"capstore/internal/capability"
)

// TreeFile is one regular file of an archive or folder.
type TreeFile struct {
	Path       string // relative, slash-separated, checked
	Size       int64  // bytes
	Executable bool
	read       func() ([]byte, error)
}

// tree is what an archive or folder holds once junk is left out.
type tree struct {
	files []TreeFile
	notes []Note
	// name is that of the folder itself, "" when it has none; sure says that it
	// is the folder's and not only that of an archive.
	name string
	sure bool
	// passed lists documents in folders that are not searched.
	passed []string
}

func (t *tree) note(path, code, message string) {
	t.notes = append(t.notes, Note{Path: path, Code: code, Message: message})
}

// sort puts the files in one order, whatever the order of the source was.
func (t *tree) sort() {
	slices.SortFunc(t.files, func(a, b TreeFile) int { return strings.Compare(a.Path, b.Path) })
	slices.SortFunc(t.notes, func(a, b Note) int { return strings.Compare(a.Path, b.Path) })
}

// junkFolders hold what belongs to a machine and not to a skill.
var junkFolders = []string{"__MACOSX", ".git", ".svn", ".hg", "node_modules", "__pycache__"}

var junkFiles = []string{".ds_store", "thumbs.db", "desktop.ini"}

// junk reports whether the path is a system's droppings: the whole of it or a
// folder above it.
func junk(p string) bool {
	for segment := range strings.SplitSeq(p, "/") {
		if slices.Contains(junkFolders, segment) {
			return true
		}
	}
	base := path.Base(p)
	return strings.HasPrefix(base, "._") || slices.Contains(junkFiles, strings.ToLower(base))
}

// Junk reports whether a path is what a file system or a tool leaves behind in
// a folder, which no reader here takes.
func Junk(p string) bool { return junk(p) }

// leaveOut notes a junk file, and remembers a document among it.
func (t *tree) leaveOut(p string) {
	t.note(p, "junk", "This belongs to a file system or a tool and is left out.")
	if isDocument(p) {
		t.passed = append(t.passed, p)
	}
}

// isDocument reports whether the path is that of a SKILL.md in any case.
func isDocument(p string) bool {
	return strings.EqualFold(path.Base(p), capability.SkillFileName)
}

// portable notes names that some system cannot hold.
func (t *tree) portable(p string) {
	if strings.ContainsAny(p, `:*?"<>|`) {
		t.note(p, "not_portable", "Windows cannot hold a file of this name.")
	}
}
