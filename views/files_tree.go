package views

import (
	"cmp"
	"slices"
	"strings"

	"github.com/a-h/templ"

	"capstore/views/ui"
)

// FileLeaf is a file as a tree shows it: a link to where it is opened, or with
// Op a button of the form that opens it.
type FileLeaf struct {
	Path       string
	Size       int64 // bytes
	NoSize     bool  // it is not told
	Executable bool
	Image      bool
	Current    bool
	Lead       bool // stands before everything else: the document of a skill
	Href       string
	Op         string
	Action     string // where the form goes for Op, with the anchor to return to
	ID         string // of the link or button; faults lead to it
	Error      string // what is wrong with the file
	Mark       string // such as "changed", after the name
}

// FileNode is a folder with what is in it, or with Leaf a file.
type FileNode struct {
	Name     string
	Nodes    []FileNode
	Leaf     *FileLeaf
	Unfolded bool
}

// unfoldedFiles is up to how many files all folders stand open.
const unfoldedFiles = 30

// FileTree orders files by folder: folders before files, each by name. A chain
// of folders that hold nothing else is one node. Paths that no folder could
// hold are shown as well, since a form has to show what is wrong with them.
func FileTree(leaves []FileLeaf) []FileNode {
	root := &folder{}
	for i := range leaves {
		leaf := &leaves[i]
		segments := strings.Split(leaf.Path, "/")
		at := root
		for _, name := range segments[:len(segments)-1] {
			at = at.folder(name)
		}
		at.files = append(at.files, FileNode{Name: segments[len(segments)-1], Leaf: leaf})
	}
	out := root.nodes(len(leaves) <= unfoldedFiles)
	slices.SortStableFunc(out, func(a, b FileNode) int { return cmp.Compare(b.lead(), a.lead()) })
	return out
}

func (n FileNode) lead() int {
	if n.Leaf != nil && n.Leaf.Lead {
		return 1
	}
	return 0
}

// folder is a folder on its way into a tree.
type folder struct {
	name    string
	folders []*folder
	byName  map[string]*folder
	files   []FileNode
}

func (f *folder) folder(name string) *folder {
	if found := f.byName[name]; found != nil {
		return found
	}
	if f.byName == nil {
		f.byName = map[string]*folder{}
	}
	made := &folder{name: name}
	f.byName[name], f.folders = made, append(f.folders, made)
	return made
}

func (f *folder) nodes(unfolded bool) []FileNode {
	var out []FileNode
	for _, in := range f.folders {
		name := in.name
		for len(in.files) == 0 && len(in.folders) == 1 {
			in = in.folders[0]
			name += "/" + in.name
		}
		nodes := in.nodes(unfolded)
		out = append(out, FileNode{Name: name, Nodes: nodes, Unfolded: unfolded || wanted(nodes)})
	}
	byName := func(a, b FileNode) int { return cmp.Compare(a.Name, b.Name) }
	slices.SortStableFunc(out, byName)
	slices.SortStableFunc(f.files, byName)
	return append(out, f.files...)
}

// wanted reports whether something among the nodes is to be seen at once: the
// file that is open, or one with a fault.
func wanted(nodes []FileNode) bool {
	return slices.ContainsFunc(nodes, func(n FileNode) bool {
		if n.Leaf != nil {
			return n.Leaf.Current || n.Leaf.Error != ""
		}
		return n.Unfolded && wanted(n.Nodes)
	})
}

func (l FileLeaf) icon() ui.IconName {
	switch {
	case l.Error != "":
		return ui.IconDanger
	case l.Executable:
		return ui.IconPlay
	case l.Image:
		return ui.IconImage
	}
	return ui.IconFile
}

func (l FileLeaf) attrs() templ.Attributes {
	out := templ.Attributes{"class": "tree-item"}
	if l.ID != "" {
		out["id"] = l.ID
	}
	if l.Error != "" {
		out["data-fault"] = true
	}
	if l.Op == "" {
		return ui.Merge(out, pageCurrent(l.Current))
	}
	out["type"], out["name"], out["value"], out["formaction"] = "submit", "op", l.Op, l.Action
	if l.Current {
		out["aria-current"] = "true"
	}
	return ui.Merge(out, filesSwap(l.Action))
}

// filesSwap lets a button of the form replace the files alone. Without script
// it sends the form.
func filesSwap(action string) templ.Attributes {
	return ui.Hx{Post: action, Target: "#" + filesRoot, Select: "#" + filesRoot, Swap: "outerHTML", Sync: "closest form:replace"}.Attrs()
}

// filesRoot is the part of a form in which files are written.
const filesRoot = "files"
