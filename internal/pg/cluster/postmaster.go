package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"capstore/internal/fault"
)

const (
	superuser = "capstore" // the role that initdb makes, and its database
	port      = "5432"     // names the socket file; nothing listens on TCP
	// longestSocketDir leaves room for "/.s.PGSQL.5432.lock" within the 107
	// bytes that a socket address holds.
	longestSocketDir = 107 - len("/.s.PGSQL."+port+".lock")
	stopPatience     = 30 * time.Second
	poll             = 10 * time.Millisecond
)

// socketURL is the connection URL of a database behind the socket in dir.
func socketURL(dir, database string) string {
	q := url.Values{"host": {dir}, "port": {port}, "user": {superuser}, "sslmode": {"disable"}}
	// pgx reads %20 as a space but keeps a plus sign.
	return "postgres:///" + database + "?" + strings.ReplaceAll(q.Encode(), "+", "%20")
}

// initialise fills the empty folder data with a cluster that has our database.
func initialise(ctx context.Context, in Installation, as account, data string, extra ...string) error {
	maker, err := as.maker()
	if err != nil {
		return err
	}
	if err := maker.own(data); err != nil {
		return fmt.Errorf("make %s: %w", data, err)
	}
	if err := initdb(ctx, in, maker, data, extra); err != nil {
		return fault.New(fault.Unavailable, "database_not_made", "PostgreSQL could not set up its folder %s.", data).
			Do("See the log for what initdb said.").Because(err)
	}
	cmd := exec.CommandContext(ctx, filepath.Join(in.Bin, "postgres"), "--single", "-D", data, "postgres")
	maker.adopt(cmd)
	cmd.Stdin = strings.NewReader("create database " + database + ";\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("create the database: %w: %s", err, lastLines(out))
	}
	if maker == as {
		return nil
	}
	return as.take(data)
}

// initdb makes the cluster. Sorting is by bytes, so that it is the same
// everywhere, while letters are known in every script where the machine has
// C.UTF-8: without it words in Korean would not be searchable.
func initdb(ctx context.Context, in Installation, as account, data string, extra []string) error {
	args := append([]string{"-D", data, "-U", superuser, "--encoding=UTF8", "--locale=C",
		"--auth-local=trust", "--auth-host=reject", "--no-instructions"}, extra...)
	var failed error
	for _, ctype := range []string{"C.UTF-8", "C"} {
		cmd := exec.CommandContext(ctx, filepath.Join(in.Bin, "initdb"), append(slices.Clone(args), "--lc-ctype="+ctype)...)
		as.adopt(cmd)
		out, err := cmd.CombinedOutput()
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		failed = errors.Join(failed, fmt.Errorf("initdb --lc-ctype=%s: %w: %s", ctype, err, lastLines(out)))
	}
	return failed
}

// postmaster is a running PostgreSQL that this process started.
type postmaster struct {
	data   string
	pid    int
	exited chan struct{} // closed when it has ended
	err    error         // how it ended; read after exited
}

// launch starts PostgreSQL on data with its socket in sockets and waits until
// it accepts connections. It is told to stop when this process dies, however
// that happens.
func launch(ctx context.Context, in Installation, as account, data, sockets string, settings ...string) (*postmaster, error) {
	logPath := filepath.Join(data, "postgres.log")
	log, err := openLog(logPath, as)
	if err != nil {
		return nil, fmt.Errorf("open the database's log: %w", err)
	}
	defer log.Close()
	args := []string{"-D", data, "-k", sockets, "-p", port, "-h", ""}
	for _, s := range append([]string{"unix_socket_permissions=0700", "jit=off"}, settings...) {
		args = append(args, "-c", s)
	}
	cmd := exec.Command(filepath.Join(in.Bin, "postgres"), args...)
	as.adopt(cmd)
	cmd.Stdout, cmd.Stderr = log, log
	p := &postmaster{data: data, exited: make(chan struct{})}
	if err := p.run(cmd); err != nil {
		return nil, fault.New(fault.Unavailable, "database_not_started", "PostgreSQL could not be started.").
			Do("See the log for the cause.").Because(err)
	}
	if err := p.ready(ctx); err != nil {
		p.stop()
		tail, _ := os.ReadFile(logPath) // the log only adds to the cause
		return nil, fault.New(fault.Unavailable, "database_not_started", "PostgreSQL did not come up on %s.", data).
			Do("See " + logPath + " for what it said.").Because(fmt.Errorf("%w: %s", err, lastLines(tail)))
	}
	return p, nil
}

// run starts cmd and watches it. Linux sends the death signal when the thread
// that started the child ends, not the process, so that thread is kept for as
// long as the child lives. SIGINT is PostgreSQL's fast, clean stop.
func (p *postmaster) run(cmd *exec.Cmd) error {
	cmd.SysProcAttr.Pdeathsig = syscall.SIGINT
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		if err == nil {
			p.pid = cmd.Process.Pid
		}
		started <- err
		if err == nil {
			p.err = cmd.Wait()
			close(p.exited)
		}
	}()
	return <-started
}

// ready waits until the postmaster says in its pid file that it is ready.
func (p *postmaster) ready(ctx context.Context) error {
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		if f, err := readPIDFile(p.data); err == nil && f.pid == p.pid && f.status == "ready" {
			return nil
		}
		select {
		case <-p.exited:
			return fmt.Errorf("it ended at once: %w", p.err)
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// stop ends the postmaster: sessions are cut, what was committed is flushed.
// When that takes too long it is ended at once and recovers at its next start.
func (p *postmaster) stop() {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGKILL} {
		select {
		case <-p.exited: // the number may be another process's by now
			return
		default:
			_ = syscall.Kill(p.pid, sig) // it may have ended in between
		}
		select {
		case <-p.exited:
			return
		case <-time.After(stopPatience):
		}
	}
}

// pidFile is what postmaster.pid tells about the server of a data folder.
type pidFile struct {
	pid     int
	sockets string // folder of the socket
	status  string // "ready" once it accepts connections
}

// readPIDFile reads postmaster.pid, whose lines are documented in PostgreSQL's
// src/include/utils/pidfile.h.
func readPIDFile(data string) (pidFile, error) {
	raw, err := os.ReadFile(filepath.Join(data, "postmaster.pid"))
	if err != nil {
		return pidFile{}, err
	}
	lines := strings.Split(string(raw), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(lines[0]))
	if err != nil {
		return pidFile{}, fmt.Errorf("postmaster.pid: %w", err)
	}
	f := pidFile{pid: pid}
	if len(lines) > 4 {
		f.sockets = strings.TrimSpace(lines[4])
	}
	if len(lines) > 7 {
		f.status = strings.TrimSpace(lines[7])
	}
	return f, nil
}

// biggestLog is where the database's log is begun anew, the last one kept.
const biggestLog = 8 << 20

// openLog opens the log and gives it to the database's user, so that it can be
// opened again whoever starts the cluster next. The folder is that user's, so
// a link there is not followed: it could point at anything of root's.
func openLog(path string, as account) (*os.File, error) {
	if st, err := os.Stat(path); err == nil && st.Size() > biggestLog {
		if err := os.Rename(path, path+".1"); err != nil {
			return nil, err
		}
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY|syscall.O_NOFOLLOW, 0o600)
	if err != nil || !as.switched {
		return f, err
	}
	if err := f.Chown(as.uid, as.gid); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// lastLines keeps the end of a program's output short enough for a log line.
func lastLines(out []byte) string {
	s := strings.TrimSpace(string(out))
	if i := len(s) - 1000; i > 0 {
		s = s[i:]
	}
	return s
}
