package cluster

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"capstore/internal/fault"
)

// dataFolder is where PostgreSQL's files lie in the data folder.
const dataFolder = "pg"

// site is everything that a start of the database needs to know.
type site struct {
	in      Installation
	as      account
	data    string // PostgreSQL's own folder
	sockets string
}

// prepare finds the programs for the folder and fills it when it is new. The
// caller holds the folder.
func prepare(ctx context.Context, o Options) (site, error) {
	s := site{data: filepath.Join(o.Dir, dataFolder), as: databaseAccount()}
	major, err := madeBy(s.data)
	if err != nil {
		return s, folderUnusable(o.Dir, err)
	}
	if major > 0 {
		if s.as, err = s.as.orOwner(s.data); err != nil {
			return s, folderUnusable(o.Dir, err)
		}
	}
	if s.in, err = pick(Installations(o.Roots...), major); err != nil {
		return s, err
	}
	if s.in, err = s.in.within(s.as); err != nil {
		return s, err
	}
	if err := s.as.reach(o.Dir); err != nil {
		return s, err
	}
	if major == 0 {
		if err := s.make(ctx); err != nil {
			return s, err
		}
	}
	s.sockets, err = s.socketFolder(o.Dir)
	return s, err
}

// madeBy returns the major version that made the folder, 0 when it is not
// made yet.
func madeBy(data string) (int, error) {
	raw, err := os.ReadFile(filepath.Join(data, "PG_VERSION"))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(raw)))
}

// make fills a folder beside the final one and moves it there when it is
// whole, so that a start that was cut short leaves nothing to stumble over.
func (s site) make(ctx context.Context) error {
	tmp := s.data + ".new"
	if err := os.RemoveAll(tmp); err != nil {
		return err
	}
	if err := initialise(ctx, s.in, s.as, tmp); err != nil {
		return err
	}
	if err := os.Rename(tmp, s.data); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(s.data))
}

// syncFolder makes a rename in the folder last through a power cut: PostgreSQL
// flushes its own files, but the name of their folder is ours.
func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// socketFolder returns a folder that only the database's user may enter: in
// the data folder, or where that path is too long for a socket or holds what
// separates addresses, a short one named by a hash of it.
func (s site) socketFolder(dir string) (string, error) {
	path := filepath.Join(dir, "run")
	if len(path) > longestSocketDir || strings.ContainsAny(path, `,"'\`) {
		path = filepath.Join(shortParent(), fmt.Sprintf("capstore-%d-%x", s.as.uid, sha256.Sum256([]byte(dir)))[:30])
	}
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	} else if err == nil {
		return path, s.as.own(path)
	}
	var st syscall.Stat_t
	if err := syscall.Lstat(path, &st); err != nil {
		return "", err
	}
	if st.Mode&syscall.S_IFMT != syscall.S_IFDIR || int(st.Uid) != s.as.uid || st.Mode&0o077 != 0 {
		return "", fault.New(fault.Unavailable, "socket_folder_foreign", "%s is not a private folder of %s.", path, s.as.name).
			Do("Remove it and start again.")
	}
	return path, nil
}

func shortParent() string {
	if os.Geteuid() == 0 {
		return "/run"
	}
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		if st, err := os.Stat(dir); err == nil && st.IsDir() {
			return dir
		}
	}
	return "/tmp"
}

// start ends what an earlier process left running and starts the database.
// A database whose postmaster was killed may leave sessions that take a moment
// to notice; until then a start is refused, so a few are made.
func (s site) start(ctx context.Context) (*postmaster, error) {
	if err := s.clearOrphan(ctx); err != nil {
		return nil, err
	}
	for attempt := 1; ; attempt++ {
		pm, err := launch(ctx, s.in, s.as, s.data, s.sockets)
		if err == nil || attempt == 5 {
			return pm, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(time.Duration(attempt) * 200 * time.Millisecond):
		}
	}
}

// clearOrphan waits for, and at last ends, the database of a process that
// died without stopping it. It was told to stop when that process died, so
// mostly this only waits. What it committed is on disk either way.
func (s site) clearOrphan(ctx context.Context) error {
	f, err := readPIDFile(s.data)
	if err == nil && alive(f.pid) && servesFolder(f.pid, s.data) {
		if err := endOrphan(ctx, f.pid); err != nil {
			return err
		}
	} else if err == nil && alive(f.pid) {
		// The number now belongs to something else, which PostgreSQL cannot
		// tell from a rival. The hold on the folder says there is none.
		if err := os.Remove(filepath.Join(s.data, "postmaster.pid")); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	for _, name := range []string{".s.PGSQL." + port, ".s.PGSQL." + port + ".lock"} {
		if err := os.Remove(filepath.Join(s.sockets, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func endOrphan(ctx context.Context, pid int) error {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGQUIT} {
		_ = syscall.Kill(pid, sig) // it may have ended in between
		for deadline := time.Now().Add(stopPatience / 2); time.Now().Before(deadline); {
			if !alive(pid) {
				return nil
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(poll):
			}
		}
	}
	return fault.New(fault.Unavailable, "database_orphaned", "A database of an earlier capstore (process %d) does not end.", pid).
		Do(fmt.Sprintf("End it with: kill -QUIT %d", pid))
}

// alive reports whether a process with the number exists and has not ended.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	// The state follows the name, which stands in brackets and may hold any.
	_, state, _ := strings.Cut(string(stat[strings.LastIndexByte(string(stat), ')')+1:]), " ")
	return !strings.HasPrefix(state, "Z") && !strings.HasPrefix(state, "X")
}

// servesFolder reports whether the process is a PostgreSQL that was started on
// the folder.
func servesFolder(pid int, data string) bool {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return false
	}
	args := strings.Split(string(raw), "\x00")
	for i, arg := range args {
		if arg == "-D" && i+1 < len(args) && args[i+1] == data {
			return filepath.Base(args[0]) == "postgres"
		}
	}
	return false
}
