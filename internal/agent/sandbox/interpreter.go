package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// account is a user as the kernel checks permissions for it.
type account struct{ uid, gid uint32 }

// interpreter says how a language is run.
type interpreter struct {
	command string   // name to look for
	suffix  string   // of the file that holds the code
	run     []string // flags before the file, for a run
	check   []string // flags before the file, for a parse
	install string   // what an operator installs
}

// Python runs unbuffered so that the log of a program that had to be stopped
// is not lost. The parse of python compiles in memory and writes nothing.
var interpreters = map[Language]interpreter{
	Python: {
		command: "python3", suffix: ".py", run: []string{"-u", "-X", "utf8"},
		check:   []string{"-c", "import sys;compile(open(sys.argv[1],'rb').read(),sys.argv[1],'exec')"},
		install: "python3",
	},
	Node: {command: "node", suffix: ".js", check: []string{"--check"}, install: "nodejs"},
	Bash: {command: "bash", suffix: ".sh", check: []string{"-n"}, install: "bash"},
}

// systemFolders are searched for interpreters besides PATH, whose first hit is
// often a version manager's script in a home that the sandbox cannot enter.
var systemFolders = []string{"/usr/local/bin", "/usr/bin", "/bin"}

// findInterpreter returns the path, free of symbolic links, of an interpreter
// that the account can execute; the error says why there is none.
func findInterpreter(l Language, who account, path string) (string, error) {
	in, ok := interpreters[l]
	if !ok {
		return "", fmt.Errorf("there is no language %q", l)
	}
	closed := ""
	for _, dir := range slices.Concat(systemFolders, filepath.SplitList(path)) {
		if !filepath.IsAbs(dir) {
			continue
		}
		file, err := filepath.EvalSymlinks(filepath.Join(dir, in.command))
		if err != nil {
			continue
		}
		if err := who.canExecute(file); err != nil {
			closed = file
			continue
		}
		return file, nil
	}
	if closed != "" {
		return "", fmt.Errorf("%s lies at %s, which the sandbox's user cannot read", in.command, closed)
	}
	return "", fmt.Errorf("%s is not installed", in.command)
}

// canExecute reports whether the account may enter every folder above file and
// execute it. Symbolic links must have been resolved.
func (a account) canExecute(file string) error {
	if a.uid == 0 {
		_, err := os.Stat(file)
		return err
	}
	for dir := filepath.Dir(file); ; dir = filepath.Dir(dir) {
		if err := a.may(dir, 1); err != nil {
			return err
		}
		if dir == "/" || dir == "." {
			break
		}
	}
	return a.may(file, 5)
}

// may checks permission bits (4 read, 2 write, 1 execute) on one path.
func (a account) may(path string, bits fs.FileMode) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return errors.ErrUnsupported
	}
	mode := info.Mode().Perm()
	switch {
	case st.Uid == a.uid:
		mode >>= 6
	case st.Gid == a.gid:
		mode >>= 3
	}
	if mode&bits != bits {
		return fmt.Errorf("%s: %w", path, fs.ErrPermission)
	}
	return nil
}

// prefix returns the folder that holds everything of an interpreter outside
// /usr, such as /opt/node for /opt/node/bin/node; "" inside /usr.
func prefix(file string) string {
	if strings.HasPrefix(file, "/usr/") {
		return ""
	}
	return filepath.Dir(filepath.Dir(file))
}
