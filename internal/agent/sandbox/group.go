package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// group is the control group of one run.
type group struct {
	v2   bool
	dirs map[string]string
	born *os.File // the folder, when processes are started in it
}

// create makes a group with the limits.
func (c *cgroups) create(l Limits) (*group, error) {
	g := &group{v2: c.v2, dirs: map[string]string{}}
	name := fmt.Sprintf("%s%d-%d", groupPrefix, os.Getpid(), groupCount.Add(1))
	for controller, folder := range c.folders {
		dir := filepath.Join(folder, name)
		if err := os.Mkdir(dir, 0o755); err != nil {
			g.close()
			return nil, fmt.Errorf("make a control group: %w", err)
		}
		g.dirs[controller] = dir
	}
	if err := g.limit(l); err != nil {
		g.close()
		return nil, fmt.Errorf("limit a control group: %w", err)
	}
	return g, nil
}

// limit writes the limits. The processor needs none: a group has the share of
// one process, however many are in it. Swap cannot be limited on every kernel; where it
// can, a run gets none.
func (g *group) limit(l Limits) error {
	memory, pids := strconv.FormatInt(l.Memory, 10), strconv.FormatInt(l.Processes, 10)
	if g.v2 {
		_ = g.write("", "memory.swap.max", "0")
		_ = g.write("", "memory.oom.group", "1")
		return errors.Join(g.write("", "memory.max", memory), g.write("", "pids.max", pids))
	}
	err := errors.Join(g.write("memory", "memory.limit_in_bytes", memory), g.write("pids", "pids.max", pids))
	_ = g.write("memory", "memory.memsw.limit_in_bytes", memory)
	return err
}

func (g *group) write(controller, file, value string) error {
	return os.WriteFile(filepath.Join(g.dirs[controller], file), []byte(value), 0)
}

// place lets a process begin its life in the group, which version 2 allows.
// Moving it there later costs up to 10 ms: the kernel waits for all processors.
func (g *group) place(attr *syscall.SysProcAttr) error {
	if !g.v2 {
		return nil
	}
	dir, err := os.Open(g.dirs[""])
	if err != nil {
		return fmt.Errorf("open a control group: %w", err)
	}
	g.born = dir
	attr.UseCgroupFD, attr.CgroupFD = true, int(dir.Fd())
	return nil
}

// attach moves a process, and with it all that it starts later, into the group.
func (g *group) attach(pid int) error {
	if g.born != nil {
		return nil
	}
	for controller := range g.dirs {
		if err := g.write(controller, "cgroup.procs", strconv.Itoa(pid)); err != nil {
			return fmt.Errorf("move process %d into its control group: %w", pid, err)
		}
	}
	return nil
}

// sample reads which limits have been hit so far.
func (g *group) sample() usage {
	if g.v2 {
		return usage{
			oomKilled:    counter(filepath.Join(g.dirs[""], "memory.events"), "oom_kill") > 0,
			processesHit: counter(filepath.Join(g.dirs[""], "pids.events"), "max") > 0,
		}
	}
	return usage{
		oomKilled:    counter(filepath.Join(g.dirs["memory"], "memory.oom_control"), "oom_kill") > 0,
		processesHit: counter(filepath.Join(g.dirs["pids"], "pids.events"), "max") > 0,
	}
}

// counter reads one number of a file of "name number" lines, 0 when missing.
func counter(file, name string) int64 {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == name {
			n, _ := strconv.ParseInt(f[1], 10, 64)
			return n
		}
	}
	return 0
}

// members returns the processes in the group.
func (g *group) members() []int {
	var pids []int
	for _, dir := range g.dirs {
		text, _ := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
		for line := range strings.Lines(string(text)) {
			if pid, err := strconv.Atoi(strings.TrimSpace(line)); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// close removes the group. Its processes have been killed; the kernel may need
// a moment to let go of the last.
func (g *group) close() {
	if g.born != nil {
		g.born.Close()
	}
	for _, dir := range g.dirs {
		for wait := time.Millisecond; wait < time.Second; wait *= 2 {
			if err := os.Remove(dir); err == nil || errors.Is(err, os.ErrNotExist) {
				break
			}
			time.Sleep(wait)
		}
	}
}
