package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
)

// cgroups is where this process may make control groups: one folder per
// controller of version 1, or one folder of version 2 for all.
type cgroups struct {
	v2      bool
	folders map[string]string // controller -> folder; "" for version 2
}

// groupPrefix is how the names of our groups begin, up to the process: each
// space of process numbers has one of its own, so that servers in containers
// which share a tree of groups do not take one another's for left behind.
var groupPrefix = "capstore-run-" + pidSpace() + "-"

// pidSpace names the space of process numbers that this process is in.
func pidSpace() string {
	link, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return "0"
	}
	return strings.Trim(strings.TrimPrefix(link, "pid:"), "[]")
}

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
