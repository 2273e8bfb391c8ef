package sandbox

import (
	"fmt"
	"os"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// Bounds of a run that are part of the contract.
const (
	DefaultTimeout = 30 * time.Second
	MaxTimeout     = 300 * time.Second
	MaxOutput      = 1 << 20  // bytes of standard output
	MaxLog         = 64 << 10 // bytes kept of Log and of Stderr
	MaxArgument    = 96 << 10 // bytes of input that are also argv[1]
	MaxInput       = 16 << 20 // bytes of input
	MaxFiles       = 128      // files beside the code: each is an open file for a moment
	MaxFileBytes   = 16 << 20 // bytes of the code and its files together
	MaxEnvironment = 96 << 10 // bytes of all variables together
)

// Limits bound what one run may use of the machine.
type Limits struct {
	Memory    int64 // bytes, all processes together
	Processes int64 // processes and threads together
	FileSize  int64 // bytes of one file
	Disk      int64 // bytes of the working folder and of /tmp, each
	OpenFiles int64 // per process
}

// DefaultLimits are generous for a tool and harmless for a small server.
func DefaultLimits() Limits {
	return Limits{Memory: 512 << 20, Processes: 128, FileSize: 64 << 20, Disk: 64 << 20, OpenFiles: 256}
}

// rlimit is one resource limit, hard and soft alike.
type rlimit struct {
	resource int
	value    uint64
}

// threadStacks is what the stacks of an interpreter's own threads count for in
// RLIMIT_DATA without ever being touched: node starts ten threads of 8 MiB.
const threadStacks = 256 << 20

// rlimits returns the limits of one process. RLIMIT_AS is not among them: node
// reserves far more address space than it uses and dies at its start.
// RLIMIT_NPROC counts per user and user namespace, so it only means something
// inside a namespace of the run's own; ownUsers says that there is one.
func (l Limits) rlimits(timeout time.Duration, ownUsers bool) []rlimit {
	limits := []rlimit{
		{unix.RLIMIT_DATA, uint64(l.Memory) + threadStacks},
		{unix.RLIMIT_STACK, 8 << 20},
		{unix.RLIMIT_FSIZE, uint64(l.FileSize)},
		{unix.RLIMIT_NOFILE, uint64(l.OpenFiles)},
		{unix.RLIMIT_CPU, uint64(timeout/time.Second)*4 + 4},
		{unix.RLIMIT_CORE, 0},
		{unix.RLIMIT_MEMLOCK, 64 << 10},
		{unix.RLIMIT_MSGQUEUE, 0},
		{unix.RLIMIT_RTPRIO, 0},
	}
	if ownUsers {
		// One more, so that a control group, which keeps a count of refusals,
		// refuses first.
		limits = append(limits, rlimit{unix.RLIMIT_NPROC, uint64(l.Processes) + 1})
	}
	return limits
}

// limitProcess sets the rlimits of a process that has not yet begun to
// run foreign code. A limit above what the process may have already is left as
// it is. Who is the user of that process: root may only limit another user's
// process with CAP_SYS_RESOURCE, which containers take away, so it is asked as
// that user.
func limitProcess(pid int, limits []rlimit, who account) error {
	set := func() error { return setLimits(pid, limits) }
	if os.Geteuid() == 0 && who.uid != 0 {
		return asUser(who, set)
	}
	return set()
}

func setLimits(pid int, limits []rlimit) error {
	for _, l := range limits {
		var now unix.Rlimit
		if err := unix.Prlimit(pid, l.resource, nil, &now); err != nil {
			return fmt.Errorf("read limit %d of process %d: %w", l.resource, pid, err)
		}
		value := min(l.value, now.Max)
		if err := unix.Prlimit(pid, l.resource, &unix.Rlimit{Cur: value, Max: value}, nil); err != nil {
			return fmt.Errorf("set limit %d of process %d: %w", l.resource, pid, err)
		}
	}
	return nil
}

// asUser calls f on a thread whose real user is another; the effective user
// and the other threads stay as they are. The thread is thrown away when it
// cannot be put back.
func asUser(who account, f func() error) error {
	result := make(chan error)
	go func() {
		runtime.LockOSThread()
		err := setRealUser(who)
		if err == nil {
			err = f()
		}
		if back := setRealUser(account{}); back == nil {
			runtime.UnlockOSThread()
		}
		result <- err
	}()
	return <-result
}

// setRealUser changes the real user and group of the calling thread alone; the
// functions of package syscall would change every thread.
func setRealUser(who account) error {
	const keep = ^uintptr(0)
	if _, _, errno := unix.RawSyscall(unix.SYS_SETRESGID, uintptr(who.gid), keep, keep); errno != 0 {
		return fmt.Errorf("set the group of a thread: %w", errno)
	}
	if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, uintptr(who.uid), keep, keep); errno != 0 {
		return fmt.Errorf("set the user of a thread: %w", errno)
	}
	return nil
}
