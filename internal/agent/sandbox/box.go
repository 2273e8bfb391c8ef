package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// box is one sandbox: bwrap's own process outside, and the first process
// inside, whose end takes every other with it.
type box struct {
	cmd    *exec.Cmd
	limits []rlimit
	who    account
	files  []*os.File // ours for the child: closed after the start
	info   *os.File   // bwrap tells the first process here
	door   *os.File   // a byte written here lets the program begin
	back   *os.File   // reading end of door: the byte is still there when bwrap failed
	pidfd  int        // of the first process, -1 before the start
}

// pipes makes the two conversations with bwrap; the child's ends come back.
func (x *box) pipes() (infoEnd *os.File, err error) {
	if x.info, infoEnd, err = os.Pipe(); err != nil {
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	if x.back, x.door, err = os.Pipe(); err != nil {
		infoEnd.Close()
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	return infoEnd, nil
}

func (x *box) close() {
	for _, f := range append(x.files, x.info, x.door, x.back) {
		if f != nil {
			f.Close()
		}
	}
	if x.pidfd >= 0 {
		unix.Close(x.pidfd)
	}
}

// start implements process: it returns with the limits set and the program
// running. A sandbox that cannot be made is a fault with bwrap's own words.
func (x *box) start(stdout, stderr *os.File, m meter) error {
	x.cmd.Stdout, x.cmd.Stderr = stdout, stderr
	if err := m.place(x.cmd.SysProcAttr); err != nil {
		return err
	}
	if x.cmd.SysProcAttr.Credential != nil { // else /dev/stderr is not theirs to open
		for _, stream := range []*os.File{stdout, stderr} {
			if err := stream.Chown(int(x.who.uid), int(x.who.gid)); err != nil {
				return fmt.Errorf("hand over a pipe: %w", err)
			}
		}
	}
	err := x.cmd.Start()
	for _, f := range x.files {
		f.Close()
	}
	x.files = nil
	if errors.Is(err, fs.ErrPermission) {
		return unavailable("the sandbox's user may not start bubblewrap", installBubblewrap).Because(err)
	}
	if err != nil {
		return fmt.Errorf("start bubblewrap: %w", err)
	}
	var told struct {
		PID int `json:"child-pid"`
	}
	if json.NewDecoder(x.info).Decode(&told) != nil || told.PID <= 0 {
		return errNoBox
	}
	if x.pidfd, err = openChild(told.PID, x.cmd.Process.Pid); err != nil {
		return errNoBox
	}
	if err := limitProcess(told.PID, x.limits, x.who); err != nil {
		return ignoreGone(err)
	}
	if err := m.attach(told.PID); err != nil {
		return ignoreGone(err)
	}
	if _, err := x.door.Write([]byte{'\n'}); err != nil {
		return fmt.Errorf("open the sandbox: %w", err)
	}
	return nil
}

// errNoBox says that bwrap ended before there was a sandbox; its standard
// error tells why.
var errNoBox = errors.New("bubblewrap made no sandbox")

// ignoreGone turns the loss of a process that we were about to limit into
// errNoBox: bwrap has failed by itself.
func ignoreGone(err error) error {
	if errors.Is(err, unix.ESRCH) {
		return errNoBox
	}
	return err
}

// openChild returns a handle on a process, made sure to be a child of parent:
// a number alone may have been given to another process by now.
func openChild(pid, parent int) (int, error) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return -1, err
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil || statusNumber(status, "PPid:") != int64(parent) {
		unix.Close(fd)
		return -1, errNoBox
	}
	return fd, nil
}

// kill implements process. The first process inside is the init of its
// namespace: the kernel ends every other with it, daemons included.
func (x *box) kill() {
	if x.pidfd >= 0 {
		_ = unix.PidfdSendSignal(x.pidfd, unix.SIGKILL, nil, 0) // already gone is as good
	}
	if x.cmd.Process != nil {
		_ = x.cmd.Process.Kill()
	}
}

// wait implements process: it returns when all processes are gone.
func (x *box) wait() int {
	_ = x.cmd.Wait() // the state says it all
	x.kill()
	if x.pidfd >= 0 {
		for {
			_, err := unix.Poll([]unix.PollFd{{Fd: int32(x.pidfd), Events: unix.POLLIN}}, -1)
			if !errors.Is(err, unix.EINTR) {
				break
			}
		}
	}
	return exitCode(x.cmd.ProcessState)
}

// failure implements process: the byte that we left at the door is still
// there when bwrap never came to run the program.
func (x *box) failure(stderr string) error {
	x.door.Close() // so that the read ends
	n, _ := x.back.Read(make([]byte, 1))
	if n != 1 && !strings.HasPrefix(stderr, "bwrap: execvp ") {
		return nil
	}
	return noBox(stderr)
}

func noBox(stderr string) error {
	reason, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(stderr), "bwrap: "), "\n")
	if reason == "" {
		reason = "it ended at once"
	}
	return unavailable("bubblewrap could not make a sandbox ("+reason+")", installBubblewrap)
}

// exitCode returns a program's exit code, 128 plus the signal that ended it.
func exitCode(state *os.ProcessState) int {
	if state == nil {
		return -1
	}
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return state.ExitCode()
}
