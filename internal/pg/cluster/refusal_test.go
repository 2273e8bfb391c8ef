package cluster

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"capstore/internal/fault"
)

func TestRefusals(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		arrange func(t *testing.T, dir string) string
		code    string
	}{
		"a file in place of the folder": {func(t *testing.T, dir string) string {
			write(t, filepath.Join(dir, "f"), "")
			return filepath.Join(dir, "f")
		}, "data_folder_unusable"},
		"below a file": {func(t *testing.T, dir string) string {
			write(t, filepath.Join(dir, "f"), "")
			return filepath.Join(dir, "f", "data")
		}, "data_folder_unusable"},
		"made by a version that is not here": {func(t *testing.T, dir string) string {
			if err := os.Mkdir(filepath.Join(dir, dataFolder), 0o700); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(dir, dataFolder, "PG_VERSION"), "12\n")
			return dir
		}, "postgres_version"},
		"damaged": {func(t *testing.T, dir string) string {
			fill(t, dir)
			if err := os.Remove(filepath.Join(dir, dataFolder, "global", "pg_control")); err != nil {
				t.Fatal(err)
			}
			return dir
		}, "database_not_started"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := test.arrange(t, emptyDir(t))
			c, err := Start(t.Context(), Options{Dir: dir, Roots: roots})
			if err == nil {
				c.Stop()
			}
			if !fault.HasCode(err, test.code) {
				t.Errorf("Start = %v, want %s", err, test.code)
			}
			if f := fault.From(err); f.Action == "" {
				t.Error("the fault does not say what to do")
			}
		})
	}
}

// A stranger's user is simulated by the account, so that this holds for
// whoever runs the test.
func TestReachNamesTheClosedFolder(t *testing.T) {
	t.Parallel()
	dir := emptyDir(t)
	closed := filepath.Join(dir, "home")
	if err := os.MkdirAll(filepath.Join(closed, "clone", "data"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	stranger := account{uid: 4242, gid: 4242, name: "uid 4242", switched: true}
	err := stranger.reach(filepath.Join(closed, "clone", "data"))
	if !fault.HasCode(err, "folder_closed") || !strings.Contains(fault.From(err).Message, "may not enter "+closed+".") {
		t.Errorf("reach = %v, want a fault that names %s", err, closed)
	}
	if err := stranger.reach(dir); err != nil {
		t.Errorf("reach of an open folder: %v", err)
	}
}

func TestASocketFolderOfSomeoneElse(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	if err := os.Symlink("/tmp", filepath.Join(dir, "run")); err != nil {
		t.Fatal(err)
	}
	c, err := Start(t.Context(), Options{Dir: dir, Roots: roots})
	if err == nil {
		c.Stop()
	}
	if !fault.HasCode(err, "socket_folder_foreign") {
		t.Errorf("Start = %v", err)
	}
}

func TestDefaultDir(t *testing.T) {
	want := rootDir
	if os.Geteuid() != 0 {
		want = "/x/capstore"
	}
	t.Setenv("XDG_DATA_HOME", "/x")
	if got, err := DefaultDir(); got != want || err != nil {
		t.Errorf("DefaultDir = %s, %v, want %s", got, err, want)
	}
}
