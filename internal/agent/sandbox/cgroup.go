package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// cgroups is where this process may make control groups: one folder per
// controller of version 1, or one folder of version 2 for all.
type cgroups struct {
	v2      bool
	folders map[string]string // controller -> folder; "" for version 2
}

const groupPrefix = "capstore-run-"

var groupCount atomic.Int64

// findCgroups returns where control groups for memory and processes can be
// made, nil where they cannot. It tries by making one, and removes groups that
// a server which is gone has left. Proc is the proc file system.
func findCgroups(proc string) *cgroups {
	own, err := os.ReadFile(filepath.Join(proc, "self/cgroup"))
	if err != nil {
		return nil
	}
	mounts, err := os.ReadFile(filepath.Join(proc, "self/mountinfo"))
	if err != nil {
		return nil
	}
	for _, c := range candidates(string(own), string(mounts)) {
		if c.v2 && enableControllers(c.folders[""]) != nil {
			continue
		}
		c.sweep(proc)
		g, err := c.create(DefaultLimits())
		if err != nil {
			continue
		}
		g.close()
		return c
	}
	return nil
}

// candidates reads where our groups lie from /proc/self/cgroup and
// /proc/self/mountinfo, version 2 first. In version 2 processes live in leaves
// only, so the folder above ours is tried too: that is where a service manager
// that delegates a subtree lets us make siblings.
func candidates(own, mounts string) []*cgroups {
	paths := map[string]string{} // controller, or "" for version 2
	for line := range strings.Lines(own) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) == 3 {
			for c := range strings.SplitSeq(parts[1], ",") {
				paths[c] = parts[2]
			}
		}
	}
	var found []*cgroups
	v1 := &cgroups{folders: map[string]string{}}
	for line := range strings.Lines(mounts) {
		left, right, ok := strings.Cut(line, " - ")
		from, kind := strings.Fields(left), strings.Fields(right)
		if !ok || len(from) < 5 || len(kind) < 3 {
			continue
		}
		switch kind[0] {
		case "cgroup2":
			dir := within(from[4], from[3], paths[""])
			found = append(found, &cgroups{v2: true, folders: map[string]string{"": dir}})
			if dir != from[4] {
				found = append(found, &cgroups{v2: true, folders: map[string]string{"": filepath.Dir(dir)}})
			}
		case "cgroup":
			for _, c := range []string{"memory", "pids", "cpu"} {
				if slices.Contains(strings.Split(kind[2], ","), c) {
					v1.folders[c] = within(from[4], from[3], paths[c])
				}
			}
		}
	}
	if v1.folders["memory"] != "" && v1.folders["pids"] != "" {
		found = append(found, v1)
	}
	return found
}

// within returns the folder of a group when root of its hierarchy is mounted
// at mount.
func within(mount, root, group string) string {
	if root != "/" {
		group = strings.TrimPrefix(group, root)
	}
	return filepath.Join(mount, group)
}

// enableControllers lets groups below dir have limits of their own.
func enableControllers(dir string) error {
	file := filepath.Join(dir, "cgroup.subtree_control")
	_ = os.WriteFile(file, []byte("+memory +pids +cpu"), 0) // the line below tells
	have, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	on := strings.Fields(string(have))
	if !slices.Contains(on, "memory") || !slices.Contains(on, "pids") {
		return errors.ErrUnsupported
	}
	return nil
}

// sweep removes groups of servers that are gone; a group in use stays.
func (c *cgroups) sweep(proc string) {
	for _, dir := range c.folders {
		old, _ := filepath.Glob(filepath.Join(dir, groupPrefix+"*"))
		for _, g := range old {
			owner, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(g), groupPrefix), "-")
			if _, err := os.Stat(filepath.Join(proc, owner)); errors.Is(err, os.ErrNotExist) {
				_ = os.Remove(g)
			}
		}
	}
}

// group is the control group of one run.
type group struct {
	v2   bool
	dirs map[string]string
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

// attach moves a process, and with it all that it starts later, into the group.
func (g *group) attach(pid int) error {
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
	for _, dir := range g.dirs {
		for wait := time.Millisecond; wait < time.Second; wait *= 2 {
			if err := os.Remove(dir); err == nil || errors.Is(err, os.ErrNotExist) {
				break
			}
			time.Sleep(wait)
		}
	}
}
