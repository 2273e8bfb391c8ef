package cluster

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"capstore/internal/fault"
)

func TestPick(t *testing.T) {
	t.Parallel()
	all := []Installation{{Bin: "/a", Major: 18, Version: "18.4"}, {Bin: "/b", Major: 15, Version: "15.1"}}
	for _, test := range []struct {
		name  string
		all   []Installation
		major int
		bin   string
		code  string
	}{
		{"the first", all, 0, "/a", ""},
		{"the one that made the data", all, 15, "/b", ""},
		{"none for the data", all, 16, "", "postgres_version"},
		{"none", nil, 0, "", "postgres_missing"},
	} {
		in, err := pick(test.all, test.major)
		if in.Bin != test.bin || (test.code == "") != (err == nil) || !(err == nil || fault.HasCode(err, test.code)) {
			t.Errorf("%s: %q, %v", test.name, in.Bin, err)
		}
	}
}

// fakePackage is the npm package with programs that only know their version.
func fakePackage(t *testing.T, version, links string) (root string) {
	t.Helper()
	root = emptyDir(t)
	native := filepath.Join(root, packagePath)
	for _, d := range []string{"bin", "lib"} {
		if err := os.MkdirAll(filepath.Join(native, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, program := range []string{"initdb", "postgres"} {
		script := "#!/bin/sh\necho 'postgres (PostgreSQL) " + version + "'\n"
		if err := os.WriteFile(filepath.Join(native, "bin", program), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(native, "lib", "libpq.so.5.18"), "library")
	write(t, filepath.Join(native, "pg-symlinks.json"), links)
	return root
}

func TestInstallationsFindsTheNPMPackage(t *testing.T) {
	t.Parallel()
	root := fakePackage(t, "18.4", `[{"source":"native/lib/libpq.so.5.18","target":"native/lib/libpq.so.5"}]`)
	for range 2 { // the links exist the second time
		found := Installations(root)
		if len(found) == 0 {
			t.Fatal("found nothing")
		}
		last := found[len(found)-1]
		if last.Version != "18.4" || last.Major != 18 || !strings.HasPrefix(last.Bin, root) {
			t.Errorf("found %+v", last)
		}
	}
	body, err := os.ReadFile(filepath.Join(root, packagePath, "lib", "libpq.so.5"))
	if err != nil || string(body) != "library" {
		t.Errorf("the library link: %q, %v", body, err)
	}
}

func TestInstallationsLeavesOut(t *testing.T) {
	t.Parallel()
	for name, root := range map[string]string{
		"an old version":            fakePackage(t, "14.9", `[]`),
		"links out of its package":  fakePackage(t, "18.4", `[{"source":"native/lib/libpq.so.5.18","target":"../../../x"}]`),
		"a package that was broken": fakePackage(t, "18.4", `[`),
		"a nonsense version":        fakePackage(t, "?", `[]`),
		"a folder without it":       emptyDir(t),
	} {
		for _, in := range Installations(root) {
			if strings.HasPrefix(in.Bin, root) {
				t.Errorf("%s: found %+v", name, in)
			}
		}
	}
}
