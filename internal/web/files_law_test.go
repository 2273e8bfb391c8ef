package web

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"capstore/internal/capability"
	"capstore/views"
)

var anyFile = rapid.Custom(func(t *rapid.T) capability.File {
	return capability.File{
		Path: rapid.StringMatching(`[a-c]{1,3}(/[a-c.]{1,3}){0,2}`).Draw(t, "path"), MediaType: rapid.SampledFrom([]string{"", "text/x-own"}).Draw(t, "type"),
		Content: rapid.StringMatching(`(a|b|\n|\r\n|é){0,6}`).Draw(t, "content"), Executable: rapid.Bool().Draw(t, "run"),
	}
})

// A list goes through its form unchanged, and a form that nobody typed in gives
// the very files that it began with.
func TestAFileListGoesThroughItsForm(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		base := rapid.SliceOfNDistinct(anyFile, 0, 6, func(f capability.File) string { return f.Path }).Draw(t, "base")
		l, err := newFileList(base)
		if err != nil {
			t.Fatal(err)
		}
		if len(base) > 0 {
			l.show(rapid.IntRange(-1, len(base)-1).Draw(t, "open"))
		}
		form := url.Values{}
		l.write(form)
		if l.open >= 0 { // what the page makes of it
			row := l.rows[l.open]
			content, _ := l.content(l.open)
			form.Set(views.FilesPath, row.Path)
			form.Set(views.FilesText, strings.ReplaceAll(string(content), "\r\n", "\n"))
			if row.Run {
				form.Set(views.FilesRun, "on")
			}
		}
		again, err := newFileList(base)
		if err != nil {
			t.Fatal(err)
		}
		if err := again.read(form); err != nil {
			t.Fatal(err)
		}
		r := &reading{form: form}
		if diff := cmp.Diff(base, again.files(r), cmpopts.EquateEmpty()); diff != "" || len(r.faults) > 0 {
			t.Errorf("%v %s", r.faults, diff)
		}
	})
}

func TestATypedTextKeepsItsLineEnds(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ before, typed, want string }{
		{"a\r\nb\r\n", "a\nb\n", "a\r\nb\r\n"},
		{"a\r\nb\r\n", "a\nc\n", "a\r\nc\r\n"},
		{"a\rb", "a\nb", "a\rb"},
		{"a\r\nb\n", "a\nc\n", "a\nc\n"},
		{"\na", "a", "\na"},
		{"", "a\n", "a\n"},
		{"\ufeffa\r\n", "\ufeffa\n", "\ufeffa\r\n"},
	} {
		if got := asBefore(tt.before, tt.typed); got != tt.want {
			t.Errorf("%q typed over %q gave %q, want %q", tt.typed, tt.before, got, tt.want)
		}
	}
}

// Whatever a form says of its files, it is read or refused, and every file can
// be drawn.
func FuzzFileList(f *testing.F) {
	f.Add(`[{"p":"a","d":"x","s":3,"k":"b","x":true}]`, "0")
	f.Add(`[]`, "-1")
	f.Add(`[{"p":"../x"}]`, "99999999999999999999")
	f.Fuzz(func(t *testing.T, list, open string) {
		l, err := newFileList([]capability.File{{Path: "b", Content: "kept"}})
		if err != nil {
			t.Fatal(err)
		}
		form := url.Values{views.FilesList: {list}, views.FilesOpen: {open}, views.FilesText: {"typed"}}
		if l.read(form) != nil {
			return
		}
		if l.open >= len(l.rows) {
			t.Fatalf("file %d of %d is open", l.open, len(l.rows))
		}
		l.settle()
		if got := l.files(&reading{form: form}); len(got) != len(l.rows) {
			t.Errorf("%d files of %d rows", len(got), len(l.rows))
		}
		l.remove(l.open)
		l.write(form)
	})
}
