package interchange_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/interchange"

	"github.com/google/go-cmp/cmp"
)

const tidy = "---\nname: tidy\ndescription: Tidies.\n---\n\n# Tidy\n\nDo it.\n"

func pack(t testing.TB, entries ...entry) []byte { return archive{entries: entries}.bytes(t) }

func fromZip(data []byte) (interchange.Import, error) {
	return interchange.FromArchive(bytes.NewReader(data), int64(len(data)), "upload.zip", interchange.Options{})
}

func doc() entry { return entry{name: "tidy/SKILL.md", data: tidy} }

func TestArchivesRefusedWhole(t *testing.T) {
	t.Parallel()
	const link, device, fifo = 0o120777, 0o060644, 0o010644
	zeros := strings.Repeat("\x00", 1<<20)
	many := func(n int) []entry {
		out := []entry{doc()}
		for i := range n - 1 {
			out = append(out, entry{name: fmt.Sprintf("tidy/f%d", i)})
		}
		return out
	}
	for name, c := range map[string]struct {
		a           archive
		code, names string // names is what the message must hold
	}{
		"climbs":               {a: archive{entries: []entry{doc(), {name: "../evil.md"}}}, code: "archive_path", names: "../evil.md"},
		"climbs inside":        {a: archive{entries: []entry{doc(), {name: "a/../../evil.md"}}}, code: "archive_path", names: "a/../../evil.md"},
		"absolute":             {a: archive{entries: []entry{doc(), {name: "/srv/evil"}}}, code: "archive_path", names: "/srv/evil"},
		"drive":                {a: archive{entries: []entry{doc(), {name: `C:\evil`}}}, code: "archive_path", names: "C:"},
		"backslash":            {a: archive{entries: []entry{doc(), {name: `a\..\..\evil`}}}, code: "archive_path", names: "evil"},
		"backslash separators": {a: archive{entries: []entry{{name: `tidy\SKILL.md`, data: tidy}}}, code: "archive_path", names: "SKILL.md"},
		"NUL in a name":        {a: archive{entries: []entry{doc(), {name: "tidy/ok\x00.md"}}}, code: "archive_path", names: "tidy/ok"},
		"bidi in a name":       {a: archive{entries: []entry{doc(), {name: "tidy/a\u202egpj.sh"}}}, code: "archive_path"},
		"climbing junk":        {a: archive{entries: []entry{doc(), {name: "__MACOSX/../../x"}}}, code: "archive_path"},
		"climbing folder":      {a: archive{entries: []entry{doc(), {name: "../"}}}, code: "archive_path"},
		"device name":          {a: archive{entries: []entry{doc(), {name: "tidy/CON"}}}, code: "archive_path", names: "tidy/CON"},
		"long segment":         {a: archive{entries: []entry{doc(), {name: "tidy/" + strings.Repeat("n", 300)}}}, code: "archive_path"},
		"empty name":           {a: archive{entries: []entry{doc(), {name: ""}}}, code: "archive_path"},
		"symlink":              {a: archive{entries: []entry{doc(), {name: "tidy/link", data: "../../../etc/passwd", creator: 3, mode: link}}}, code: "archive_link", names: "tidy/link"},
		"file through symlink": {a: archive{entries: []entry{doc(), {name: "tidy/d", data: "/etc", creator: 3, mode: link}, {name: "tidy/d/passwd"}}}, code: "archive_link", names: "tidy/d"},
		"device":               {a: archive{entries: []entry{doc(), {name: "tidy/sda", creator: 3, mode: device}}}, code: "archive_device", names: "tidy/sda"},
		"fifo":                 {a: archive{entries: []entry{doc(), {name: "tidy/p", creator: 3, mode: fifo}}}, code: "archive_device"},
		"duplicate":            {a: archive{entries: []entry{doc(), doc()}}, code: "archive_collision", names: "tidy/SKILL.md"},
		"case twins":           {a: archive{entries: []entry{doc(), {name: "tidy/skill.md"}}}, code: "archive_collision", names: "tidy/skill.md"},
		"twins by composition": {a: archive{entries: []entry{doc(), {name: "tidy/e\u0301"}, {name: "tidy/\u00e9"}}}, code: "archive_collision"},
		"file as folder":       {a: archive{entries: []entry{doc(), {name: "tidy/a"}, {name: "tidy/a/b"}}}, code: "archive_collision"},
		"encrypted":            {a: archive{entries: []entry{doc(), {name: "tidy/x", flags: 1}}}, code: "archive_encrypted", names: "tidy/x"},
		"nested zip":           {a: archive{entries: []entry{doc(), {name: "tidy/in.zip", data: "PK"}}}, code: "archive_nested", names: "tidy/in.zip"},
		"itself within":        {a: archive{entries: []entry{{name: "r/SKILL.md", data: tidy}, {name: "r/r.zip", data: "PK\x03\x04"}}}, code: "archive_nested", names: "r/r.zip"},
		"nested skill":         {a: archive{entries: []entry{doc(), {name: "tidy/in.SKILL", data: "PK"}}}, code: "archive_nested"},
		"other method":         {a: archive{entries: []entry{doc(), {name: "tidy/x", method: 12, raw: []byte("BZ")}}}, code: "archive_method"},
		"2,001 entries":        {a: archive{entries: many(2001)}, code: "archive_too_large", names: "2000"},
		"200,000 entries":      {a: archive{entries: many(200_000), count: 5}, code: "archive_too_large", names: "2000"},
		"count lies":           {a: archive{entries: many(10), count: 5}, code: "archive_damaged"},
		"zip64":                {a: archive{entries: many(3), zip64: true}, code: "archive_too_large"},
		"51 MiB declared":      {a: archive{entries: []entry{doc(), {name: "tidy/x", size: 51 << 20, data: "x"}}}, code: "archive_too_large", names: "tidy/x"},
		"512 MB, gives 5":      {a: archive{entries: []entry{doc(), {name: "tidy/x", size: 512 << 20, data: "12345"}}}, code: "archive_too_large"},
		"5 bytes, gives 1 MB":  {a: archive{entries: []entry{doc(), {name: "tidy/x", method: 8, raw: deflate(t, zeros), size: 5}}}, code: "archive_damaged", names: "tidy/x"},
		"100 bytes, gives 5":   {a: archive{entries: []entry{doc(), {name: "tidy/x", size: 100, data: "12345"}}}, code: "archive_damaged"},
		"ratio":                {a: archive{entries: []entry{doc(), {name: "tidy/x", method: 8, data: zeros}}}, code: "archive_too_large", names: "200-fold"},
		"wrong checksum":       {a: archive{entries: []entry{doc(), {name: "tidy/x", data: "x", crc: 7}}}, code: "archive_damaged", names: "tidy/x"},
		"broken deflate":       {a: archive{entries: []entry{doc(), {name: "tidy/x", method: 8, raw: []byte("\xff\xff\xff"), size: 9}}}, code: "archive_damaged"},
		"no skill":             {a: archive{entries: []entry{{name: "a/README.md"}}}, code: "nothing_to_import"},
		"folders only":         {a: archive{entries: []entry{{name: "tidy/"}, {name: "tidy/refs/"}}}, code: "nothing_to_import"},
		"nothing":              {a: archive{}, code: "nothing_to_import"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := fromZip(c.a.bytes(t))
			if !fault.HasCode(err, c.code) {
				t.Fatalf("got %v, want %s", err, c.code)
			}
			if len(got.Items()) > 0 {
				t.Errorf("something came through: %v", got.Items())
			}
			if !strings.Contains(fault.From(err).Message, c.names) {
				t.Errorf("the message does not name %q: %s", c.names, fault.From(err).Message)
			}
		})
	}
	for name, data := range map[string][]byte{"empty": {}, "text": []byte("PK is no archive"), "end only, cut": []byte("PK\x05\x06\x00"), "longer comment": append(pack(t, doc()), 'x'), "bytes before": append([]byte("#!/bin/sh\n"), pack(t, doc())...)} {
		if _, err := fromZip(data); !fault.HasCode(err, "archive_damaged") {
			t.Errorf("%s: %v", name, err)
		}
	}
	huge := bytes.NewReader(nil)
	if _, err := interchange.FromArchive(huge, interchange.MaxArchive+1, "", interchange.Options{}); !fault.Is(err, fault.TooLarge) {
		t.Errorf("a large archive: %v", err)
	}
}

func TestTotalSizeIsBoundedWhileUnpacking(t *testing.T) {
	t.Parallel()
	blob := strings.Repeat("0123456789abcdefghijklmnopqrstuv", 9<<20/32)
	entries := []entry{doc()}
	for i := range 6 {
		entries = append(entries, entry{name: fmt.Sprintf("tidy/%d", i), data: blob})
	}
	if _, err := fromZip(pack(t, entries...)); !fault.HasCode(err, "archive_too_large") {
		t.Errorf("54 MiB: %v", err)
	}
}

func TestBombsAreCheapToRefuse(t *testing.T) {
	t.Parallel()
	zeros := deflate(t, strings.Repeat("\x00", 32<<20))
	bomb := pack(t, doc(), entry{name: "tidy/x", method: 8, raw: zeros, size: 5})
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			if _, err := fromZip(bomb); !fault.HasCode(err, "archive_damaged") {
				t.Errorf("got %v", err)
			}
		})
	}
	wg.Wait()
}

func BenchmarkRefuseBomb(b *testing.B) {
	bomb := pack(b, doc(), entry{name: "tidy/x", method: 8, raw: deflate(b, strings.Repeat("\x00", 32<<20)), size: 5})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := fromZip(bomb); err == nil {
			b.Fatal("accepted")
		}
	}
}

func paths(files []capability.File) []string {
	var out []string
	for _, f := range files {
		out = append(out, f.Path)
	}
	return out
}

func codes(notes []interchange.Note) []string {
	var out []string
	for _, n := range notes {
		out = append(out, n.Path+" "+n.Code)
	}
	slices.Sort(out)
	return out
}

func one(t *testing.T, i interchange.Import, err error) interchange.Item {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	item, err := i.Only()
	if err != nil {
		t.Fatal(err)
	}
	return item
}

func skill(t *testing.T, item interchange.Item) *capability.SkillSpec {
	t.Helper()
	s, ok := item.Content.Spec.(*capability.SkillSpec)
	if !ok {
		t.Fatalf("no skill: %+v", item)
	}
	return s
}

func TestMacArchive(t *testing.T) {
	t.Parallel()
	for _, top := range []string{"tidy/", "", "x-main/skills/tidy/"} {
		entries := []entry{
			{name: top + "run.py", data: "print(1)", creator: 3, mode: 0o100755},
			{name: "__MACOSX/" + top + "._SKILL.md", data: "x"},
			{name: top + ".DS_Store", data: "x"},
			{name: top + "Thumbs.db", data: "x"},
			{name: top + ".git/config", data: "x"},
			{name: top + "._run.py", data: "x"},
			{name: top + "refs/", creator: 3, mode: 0o040755},
			{name: top + "refs/a.md", data: "A", creator: 3, mode: 0o100644},
			{name: top + "SKILL.md", data: tidy, method: 8},
		}
		i, err := fromZip(pack(t, entries...))
		item := one(t, i, err)
		got := skill(t, item)
		if diff := cmp.Diff([]string{"refs/a.md", "run.py"}, paths(got.Files)); diff != "" {
			t.Errorf("%q: %s", top, diff)
		}
		if item.Content.Name != "tidy" || got.Raw != tidy || !got.Files[1].Executable || got.Files[0].Executable {
			t.Errorf("%q: %+v", top, item.Content)
		}
		if n := len(i.Notes); n != 5 {
			t.Errorf("%q: %d notes of junk, want 5: %v", top, n, i.Notes)
		}
		// The order of entries, their times, the junk and the packing do not move
		// the digest.
		slices.Reverse(entries)
		for i := range entries {
			entries[i].stamp, entries[i].method = 0x5a21_7b3c+uint32(i), 8
		}
		other := one(t, must(t, pack(t, entries[0], entries[1], entries[8])), nil)
		if item.Content.Digest() != other.Content.Digest() {
			t.Errorf("%q: the digest moved", top)
		}
	}
}

func must(t *testing.T, data []byte) interchange.Import {
	t.Helper()
	i, err := fromZip(data)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func TestFileNames(t *testing.T) {
	t.Parallel()
	i := must(t, pack(t, doc(),
		entry{name: "tidy/na\xc3\xafve.md", data: "utf-8 without the flag"},
		entry{name: "tidy/na\x8bve2.md", data: "code page 437"},
		entry{name: "tidy/e\u0301.md", flags: 0x800, data: "decomposed"},
		entry{name: "tidy/data/BTC:USD.csv", data: "1,2"},
		entry{name: "tidy/components.tar.gz", data: "\x1f\x8b\x08 opaque"},
	))
	item := one(t, i, nil)
	got := skill(t, item)
	if diff := cmp.Diff([]string{"components.tar.gz", "data/BTC:USD.csv", "naïve.md", "naïve2.md", "é.md"}, paths(got.Files)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"tidy/data/BTC:USD.csv not_portable", "tidy/naïve2.md name_decoded", "tidy/é.md name_decoded"}, codes(item.Notes)); diff != "" {
		t.Error(diff)
	}
	if f := got.Files[0]; f.Encoding != "base64" || f.MediaType != "application/gzip" {
		t.Errorf("an inner archive stays as it is: %+v", f)
	}
}

func FuzzArchive(f *testing.F) {
	f.Add(pack(f, doc(), entry{name: "tidy/a.txt", data: "x", method: 8}))
	f.Add(pack(f, doc(), entry{name: "../x"}))
	f.Add(archive{entries: []entry{doc()}, comment: "PK\x05\x06", zip64: true}.bytes(f))
	f.Fuzz(func(t *testing.T, data []byte) {
		i, err := fromZip(data)
		if err != nil {
			if fault.Is(err, fault.Internal) {
				t.Fatalf("an unclear error: %v", err)
			}
			return
		}
		if len(i.Items()) != interchange.Count(i.Items(), interchange.Ready)+interchange.Count(i.Items(), interchange.Refused)+interchange.Count(i.Items(), interchange.Ignored) {
			t.Fatal("the numbers do not add up")
		}
		for _, item := range ready(i) {
			if _, err := interchange.ExportFolder(item.Content); err != nil {
				t.Fatalf("what came in does not go out: %v", err)
			}
		}
	})
}
