package cluster

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"

	"capstore/internal/fault"
)

// account is the system user that PostgreSQL runs as. It refuses to run as
// root, so a root process lends it another user.
type account struct {
	uid, gid int
	name     string
	switched bool // differs from the user of this process
}

// nobodyID serves on machines without a postgres user. No file of a usual
// system belongs to it, and code tools run under another one.
const nobodyID = 65532

// databaseAccount returns the present user, or for root the user postgres,
// or else the number 65532.
func databaseAccount() account {
	if uid := os.Geteuid(); uid != 0 {
		return account{uid: uid, gid: os.Getegid(), name: "uid " + strconv.Itoa(uid)}
	}
	if a, ok := named("postgres"); ok {
		return a
	}
	return account{uid: nobodyID, gid: nobodyID, name: fmt.Sprintf("uid %d", nobodyID), switched: true}
}

// named returns the account of the system's user of that name, for root to
// lend; root itself does not count.
func named(name string) (account, bool) {
	u, err := user.Lookup(name)
	if err != nil {
		return account{}, false
	}
	uid, errUID := strconv.Atoi(u.Uid)
	gid, errGID := strconv.Atoi(u.Gid)
	return account{uid: uid, gid: gid, name: name, switched: true}, errUID == nil && errGID == nil && uid != 0
}

// maker returns the user that fills a new folder for this one. initdb wants a
// user whom the system knows by name, which the server itself does not; root
// lends it nobody for that while.
func (a account) maker() (account, error) {
	if _, err := user.LookupId(strconv.Itoa(a.uid)); err == nil {
		return a, nil
	}
	if nobody, ok := named("nobody"); ok && a.switched {
		return nobody, nil
	}
	return a, fault.New(fault.Unavailable, "user_unknown", "PostgreSQL needs a user that the system knows by name, and %s has no name.", a.name).
		Do("Add the user to /etc/passwd, or set CAPSTORE_DATABASE_URL.")
}

// take gives everything below path to the account.
func (a account) take(path string) error {
	return filepath.WalkDir(path, func(p string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(p, a.uid, a.gid)
	})
}

// orOwner returns the owner of an existing folder when this is root's choice of
// user: what one user made, root serves as that user.
func (a account) orOwner(path string) (account, error) {
	if !a.switched {
		return a, nil
	}
	var st syscall.Stat_t
	if err := syscall.Stat(path, &st); err != nil {
		return a, err
	}
	if st.Uid == 0 || int(st.Uid) == a.uid {
		return a, nil
	}
	return account{uid: int(st.Uid), gid: int(st.Gid), name: fmt.Sprintf("uid %d", st.Uid), switched: true}, nil
}

// adopt makes cmd run as the account, in a process group of its own, so that
// an interrupt typed at a terminal reaches this process alone, and in a
// folder that the account can enter. The environment stays here: it may hold
// the secret key, and the account could read it in its own process.
func (a account) adopt(cmd *exec.Cmd) {
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if a.switched {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(a.uid), Gid: uint32(a.gid)}
	}
}

// own makes the folder at path, if need be, and gives it to the account alone.
func (a account) own(path string) error {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return err
	}
	if a.switched {
		if err := os.Chown(path, a.uid, a.gid); err != nil {
			return err
		}
	}
	return os.Chmod(path, 0o700)
}

// reach returns a fault that names the first folder on the way to path which
// the account may not enter, and nil when it can get there.
func (a account) reach(path string) error {
	if closed := a.closed(path); closed != "" {
		return fault.New(fault.Unavailable, "folder_closed",
			"PostgreSQL runs as %s here, which may not enter %s.", a.name, closed).
			Do(fmt.Sprintf("Choose a folder that every user can reach, such as %s, or open this one with: chmod a+x %s", rootDir, closed))
	}
	return nil
}

// closed returns the first folder from the root towards path, path included,
// that the account may not enter, or "".
func (a account) closed(path string) string {
	if !a.switched {
		return ""
	}
	if parent := filepath.Dir(path); parent != path {
		if closed := a.closed(parent); closed != "" {
			return closed
		}
	}
	var st syscall.Stat_t
	if err := syscall.Stat(path, &st); err != nil {
		return ""
	}
	mode := st.Mode
	switch {
	case int(st.Uid) == a.uid:
		mode >>= 6
	case int(st.Gid) == a.gid:
		mode >>= 3
	}
	if mode&1 == 0 {
		return path
	}
	return ""
}
