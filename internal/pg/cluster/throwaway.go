package cluster

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// watch runs PostgreSQL ("$@") and, once its own input ends, stops it and
// removes the folder $0. The input is a pipe from the process that asked, so
// it ends with that process, however that happens.
const watch = `"$@" & pid=$!; cat >/dev/null; kill -QUIT $pid; wait $pid; rm -rf "$0"`

// Throwaway is a cluster that lasts as long as the process and may lose
// everything in a crash: for tests and benchmarks.
type Throwaway struct {
	sockets string
	pipe    *os.File // ends the cluster when closed
	watcher *exec.Cmd
}

// scratch returns where throw-away clusters lie: in memory where there is
// plenty. On a busy disk copying a database took over a second, fsync off and
// all, against 70 ms there (2 cores, November 2026).
func scratch() string {
	const memory, plenty = "/dev/shm", 2 << 30
	var st syscall.Statfs_t
	if err := syscall.Statfs(memory, &st); err == nil && st.Bavail*uint64(st.Bsize) >= plenty {
		return memory
	}
	return os.TempDir()
}

// StartThrowaway makes a cluster in a new folder of its own. roots are where
// the npm package is looked for besides the system's installations. It
// returns a postgres_missing fault when there is no PostgreSQL.
func StartThrowaway(ctx context.Context, roots ...string) (*Throwaway, error) {
	in, err := pick(Installations(roots...), 0)
	if err != nil {
		return nil, err
	}
	as := databaseAccount()
	if in, err = in.within(as); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(scratch(), "capstore-pg-")
	if err != nil {
		return nil, err
	}
	t, err := startThrowaway(ctx, in, as, dir)
	if err != nil {
		_ = os.RemoveAll(dir) // the error that counts is the other one
		return nil, err
	}
	return t, nil
}

func startThrowaway(ctx context.Context, in Installation, as account, dir string) (*Throwaway, error) {
	if err := os.Chmod(dir, 0o711); err != nil { // another user than the account may fill it
		return nil, err
	}
	if err := as.reach(dir); err != nil {
		return nil, err
	}
	data := filepath.Join(dir, "data")
	if err := initialise(ctx, in, as, data, "--no-sync"); err != nil {
		return nil, err
	}
	if err := as.own(dir); err != nil {
		return nil, err
	}
	if len(dir) > longestSocketDir {
		return nil, fmt.Errorf("TMPDIR is too long for a socket: %s", dir)
	}
	t := &Throwaway{sockets: dir}
	if err := t.run(in, as, dir, data); err != nil {
		return nil, err
	}
	if err := awaitReady(ctx, data); err != nil {
		t.Stop()
		return nil, err
	}
	return t, nil
}

func (t *Throwaway) run(in Installation, as account, dir, data string) error {
	args := []string{"-c", watch, dir, filepath.Join(in.Bin, "postgres"), "-D", data, "-k", dir, "-p", port, "-h", ""}
	for _, s := range []string{
		"fsync=off", "synchronous_commit=off", "full_page_writes=off", "wal_level=minimal", "max_wal_senders=0",
		"shared_buffers=32MB", "max_connections=300", "autovacuum=off", "jit=off", "max_wal_size=256MB",
	} {
		args = append(args, "-c", s)
	}
	t.watcher = exec.Command("/bin/sh", args...)
	as.adopt(t.watcher)
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	t.pipe = w
	log, err := os.OpenFile(filepath.Join(dir, "log"), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	// Not this process's own output: a test runner waits until everyone who
	// holds that has gone.
	t.watcher.Stdin, t.watcher.Stdout, t.watcher.Stderr = r, log, log
	return t.watcher.Start()
}

func awaitReady(ctx context.Context, data string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		if f, err := readPIDFile(data); err == nil && f.status == "ready" {
			return nil
		}
		select {
		case <-ctx.Done():
			out, _ := os.ReadFile(filepath.Join(filepath.Dir(data), "log")) // only adds to the cause
			return fmt.Errorf("the throw-away database did not start: %w: %s", ctx.Err(), lastLines(out))
		case <-tick.C:
		}
	}
}

// URL returns the connection URL of the named database.
func (t *Throwaway) URL(database string) string { return socketURL(t.sockets, database) }

// Stop ends the cluster and removes its folder. Without it both happen when
// the process ends.
func (t *Throwaway) Stop() {
	t.pipe.Close()
	_ = t.watcher.Wait() // its status is that of the stopped database
}
