package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// Host runs programs as ordinary children of the server. It isolates nothing
// and is for development: limits and tidiness, no safety.
type Host struct {
	folder string // holds one folder per run
	limits Limits
	search string
	groups *cgroups
}

var _ Driver = (*Host)(nil)

// HostOptions choose what a Host runs with.
type HostOptions struct {
	Folder string // for the runs' folders; "" means the system's temporary one
	Limits Limits // zero means DefaultLimits
}

const hostPrefix = "capstore-run-"

// NewHost returns the driver and removes what servers that are gone have left
// in its folder.
func NewHost(o HostOptions) (*Host, error) {
	h := &Host{
		folder: cmp.Or(o.Folder, os.TempDir()), limits: cmp.Or(o.Limits, DefaultLimits()),
		search: os.Getenv("PATH"), groups: findCgroups("/proc"),
	}
	if err := os.MkdirAll(h.folder, 0o700); err != nil {
		return nil, fmt.Errorf("make a folder for runs: %w", err)
	}
	if err := keepFiles(); err != nil {
		return nil, err
	}
	h.sweep()
	return h, nil
}

func (h *Host) sweep() {
	old, _ := filepath.Glob(filepath.Join(h.folder, hostPrefix+"*"))
	for _, dir := range old {
		owner, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), hostPrefix), "-")
		if _, err := os.Stat(filepath.Join("/proc", owner)); errors.Is(err, os.ErrNotExist) {
			_ = os.RemoveAll(dir)
		}
	}
}

// Name is "host".
func (h *Host) Name() string { return "host" }

// Isolated is false.
func (h *Host) Isolated() bool { return false }

// Probe implements Driver.
func (h *Host) Probe(ctx context.Context) Status {
	s := Status{Driver: h.Name(), Limits: "cgroup", Action: "Whoever runs this server installs python3, nodejs or bash."}
	if h.groups == nil {
		s.Limits = "rlimit"
	}
	return probe(ctx, h, s)
}

// Run implements Driver. Code of another workspace is refused.
func (h *Host) Run(ctx context.Context, run Run) (Result, error) {
	if run.Foreign {
		return Result{}, foreignRefused("")
	}
	if len(run.Egress) > 0 {
		return Result{}, egressUnsupported(run.Egress)
	}
	if err := run.validate(); err != nil {
		return Result{}, err
	}
	e, j, err := h.execute(ctx, run.Language, func(file, work, input string) job {
		return newJob(run, file, work, input, h.limits)
	})
	if err != nil {
		return Result{}, err
	}
	r := j.result(e, h.limits)
	r.Driver = h.Name()
	return r, nil
}

// Check implements Driver.
func (h *Host) Check(ctx context.Context, language Language, code string) error {
	e, _, err := h.execute(ctx, language, func(file, work, _ string) job {
		return checkJob(language, code, file, work)
	})
	if err != nil {
		return err
	}
	return e.syntax()
}

// execute lays a job out in a folder of its own, runs it, and removes the
// folder.
func (h *Host) execute(ctx context.Context, l Language, lay func(file, work, input string) job) (ended, job, error) {
	if err := ctx.Err(); err != nil {
		return ended{}, job{}, err
	}
	file, err := mustFind(l, account{uint32(os.Geteuid()), uint32(os.Getegid())}, h.search)
	if err != nil {
		return ended{}, job{}, err
	}
	dir, err := os.MkdirTemp(h.folder, fmt.Sprintf("%s%d-*", hostPrefix, os.Getpid()))
	if err != nil {
		return ended{}, job{}, fmt.Errorf("make a folder for a run: %w", err)
	}
	defer os.RemoveAll(dir)
	j := lay(file, filepath.Join(dir, "work"), filepath.Join(dir, "input.json"))
	p, err := h.prepare(j, dir)
	if err != nil {
		return ended{}, job{}, err
	}
	defer p.close()
	var m meter = &procMeter{limits: h.limits}
	if h.groups != nil {
		if p.group, err = h.groups.create(h.limits); err != nil {
			return ended{}, job{}, err
		}
		m = p.group
	}
	defer m.close()
	e, err := supervise(ctx, j, h.limits, m, p)
	return e, j, err
}

func (h *Host) prepare(j job, dir string) (*hostProcess, error) {
	work := filepath.Join(dir, "work")
	for _, f := range j.files {
		at := filepath.Join(work, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			return nil, fmt.Errorf("lay out a run: %w", err)
		}
		if err := os.WriteFile(at, f.Data, 0o600); err != nil {
			return nil, fmt.Errorf("lay out a run: %w", err)
		}
	}
	input := filepath.Join(dir, "input.json")
	if err := os.WriteFile(input, j.input, 0o400); err != nil {
		return nil, fmt.Errorf("lay out a run: %w", err)
	}
	stdin, err := os.Open(input)
	if err != nil {
		return nil, fmt.Errorf("lay out a run: %w", err)
	}
	p := &hostProcess{mark: "CAPSTORE_RUN=" + filepath.Base(dir), limits: h.limits.rlimits(j.timeout, false)}
	var held *os.File
	if held, p.door, err = os.Pipe(); err != nil {
		stdin.Close()
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	p.files = []*os.File{stdin, held}
	p.cmd = exec.Command("/bin/sh", append([]string{"-c", doorkeeper}, j.argv...)...)
	p.cmd.ExtraFiles = []*os.File{held}
	p.cmd.Env = append(j.env, p.mark)
	p.cmd.Dir = work
	p.cmd.Stdin = stdin
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	return p, nil
}
