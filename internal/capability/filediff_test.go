package capability_test

import (
	"strings"
	"testing"

	"capstore/internal/capability"

	"github.com/google/go-cmp/cmp"
)

func file(path, content string) obj {
	return obj{"path": path, "encoding": "utf-8", "content": content}
}

func TestFilesAreComparedOneByOne(t *testing.T) {
	t.Parallel()
	binary := func(path, content string) obj { return obj{"path": path, "encoding": "base64", "content": content} }
	base := []obj{file("a.md", "one\ntwo\n"), file("run.sh", "true\n"), binary("p.png", "AAE="), file("empty", "")}
	for name, tc := range map[string]struct {
		files []obj
		want  []string
	}{
		"nothing": {base, []string{}},
		"a line":  {[]obj{file("a.md", "one\n2\n"), base[1], base[2], base[3]}, []string{"changed /spec/files/a.md/content +1 -1"}},
		"added":   {append([]obj{file("new/b.md", "x\ny\n")}, base...), []string{"added /spec/files/new~1b.md +2 -0"}},
		"removed": {base[1:], []string{"removed /spec/files/a.md +0 -2"}},
		"emptied": {[]obj{file("a.md", ""), base[1], base[2], base[3]}, []string{"changed /spec/files/a.md/content +0 -2"}},
		"executable": {[]obj{base[0], {"path": "run.sh", "encoding": "utf-8", "content": "true\n", "executable": true}, base[2], base[3]}, []string{
			"added /spec/files/run.sh/executable →true"}},
		"renamed": {[]obj{file("docs/a.md", "one\ntwo\n"), base[1], base[2], base[3]}, []string{"changed /spec/files/docs~1a.md from a.md"}},
		"renamed beside a copy": {append([]obj{file("docs/a.md", "one\ntwo\n"), file("z.md", "one\ntwo\n")}, base[1:]...), []string{
			"changed /spec/files/docs~1a.md from a.md", "added /spec/files/z.md +2 -0"}},
		"an empty one moved": {append([]obj{file("void", "")}, base[:3]...), []string{"removed /spec/files/empty +0 -0", "added /spec/files/void +0 -0"}},
		"another picture":    {[]obj{base[0], base[1], binary("p.png", "AAEC"), base[3]}, []string{"changed /spec/files/p.png/content 2 b413f47d→3 ae4b3280"}},
		"a picture gone":     {[]obj{base[0], base[1], base[3]}, []string{"removed /spec/files/p.png 2 b413f47d→"}},
		"a text to a picture": {[]obj{base[0], binary("run.sh", "AAE="), base[2], base[3]}, []string{
			`changed /spec/files/run.sh/encoding "utf-8"→"base64"`, "changed /spec/files/run.sh/content 5 a17fcf0a→2 b413f47d"}},
	} {
		got := told(capability.Diff(edited(t, capability.KindSkill, obj{"files": base}), edited(t, capability.KindSkill, obj{"files": tc.files})))
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// The lines that are given unasked are counted over all texts together; what
// a reader asks for is given whatever came before.
func TestManyLongFilesShareOnePage(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("line\n", 1500)
	base := edited(t, capability.KindSkill, obj{"files": []obj{}})
	next := edited(t, capability.KindSkill, obj{"files": []obj{file("a", long), file("b", long), file("c", "short\n")}})
	given := func(view capability.View) []int {
		var out []int
		for _, change := range capability.DiffWithin(base, next, view).Changes {
			out = append(out, change.Text.Given)
		}
		return out
	}
	if diff := cmp.Diff([]int{1500, 500, 0}, given(nil)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int{1500, 500, 1}, given(capability.View{"/spec/files/c": {}})); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int{1500, 1000, 1}, given(capability.View{"/spec/files/b": {From: 500}})); diff != "" {
		t.Error(diff)
	}
}

func TestALongValueIsLeftOut(t *testing.T) {
	t.Parallel()
	base := edited(t, capability.KindSkill, nil)
	next := edited(t, capability.KindSkill, obj{"instructions": strings.Repeat("word\n", 20_000)})
	change := capability.Diff(base, next).Changes[0]
	if change.Before == nil || change.After != nil || change.Text == nil || change.Text.Added != 20_000 {
		t.Errorf("%s before, %d bytes after, %+v", change.Before, len(change.After), change.Text)
	}
}
