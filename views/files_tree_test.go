package views

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// treeLines is a tree as lines, folders with what is below them.
func treeLines(nodes []FileNode, indent string) []string {
	var out []string
	for _, n := range nodes {
		switch {
		case n.Leaf != nil:
			out = append(out, indent+n.Name)
		case n.Unfolded:
			out = append(append(out, indent+n.Name+"/"), treeLines(n.Nodes, indent+" ")...)
		default:
			out = append(append(out, indent+n.Name+"/…"), treeLines(n.Nodes, indent+" ")...)
		}
	}
	return out
}

func leavesOf(paths ...string) []FileLeaf {
	var out []FileLeaf
	for _, p := range paths {
		out = append(out, FileLeaf{Path: p, Lead: p == "SKILL.md"})
	}
	return out
}

func TestFileTree(t *testing.T) {
	t.Parallel()
	many := leavesOf("b/x.md")
	for i := range unfoldedFiles {
		many = append(many, FileLeaf{Path: "a/" + strings.Repeat("f", i+1)})
	}
	many[0].Current = true
	faulty := append(leavesOf("z/CON"), many[1:]...)
	faulty[0].Error = "A device."
	tests := map[string]struct {
		in   []FileLeaf
		want []string
	}{
		"nothing":              {nil, nil},
		"the document leads":   {leavesOf("a.md", "SKILL.md", "b/c"), []string{"SKILL.md", "b/", " c", "a.md"}},
		"a chain is one node":  {leavesOf("a/b/c/d.md", "a/b/c/e.md"), []string{"a/b/c/", " d.md", " e.md"}},
		"what no folder holds": {leavesOf("", "a//b", "../c", "/d"), []string{"/", " d", "../", " c", "a//", " b", ""}},
		"a file and a folder":  {leavesOf("a", "a/b"), []string{"a/", " b", "a"}},
	}
	for name, tt := range tests {
		if diff := cmp.Diff(tt.want, treeLines(FileTree(tt.in), "")); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	for name, in := range map[string][]FileLeaf{"open": many, "faulty": faulty} {
		tree := FileTree(in)
		if len(tree) != 2 || tree[0].Unfolded || !tree[1].Unfolded {
			t.Errorf("%s: unfolded %v", name, treeLines(tree, ""))
		}
	}
}

// Whatever the paths are, each file stands in the tree once.
func TestFileTreeHoldsEachFileOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		paths := rapid.SliceOfN(rapid.StringMatching(`[ab/.]{0,8}`), 0, 40).Draw(t, "paths")
		want, got := map[string]int{}, map[string]int{}
		for _, p := range paths {
			want[p]++
		}
		var walk func([]FileNode)
		walk = func(nodes []FileNode) {
			for _, n := range nodes {
				if n.Leaf != nil {
					got[n.Leaf.Path]++
				}
				walk(n.Nodes)
			}
		}
		walk(FileTree(leavesOf(paths...)))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}
