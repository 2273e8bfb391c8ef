package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFindInterpreter(t *testing.T) {
	t.Parallel()
	root := folder(t)
	closed := filepath.Join(root, "home", "shims")
	open := filepath.Join(root, "opt", "bin")
	for _, dir := range []string{closed, open} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "tool"), nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(root, "home"), 0o700); err != nil {
		t.Fatal(err)
	}
	stranger := account{sandboxID, sandboxID}
	if err := stranger.canExecute(filepath.Join(closed, "tool")); err == nil {
		t.Error("a stranger enters a closed home")
	}
	if err := stranger.canExecute(filepath.Join(open, "tool")); err != nil {
		t.Errorf("a stranger cannot run %v", err)
	}
	for _, l := range Languages() {
		file, err := findInterpreter(l, stranger, closed+":"+os.Getenv("PATH"))
		if err != nil || !strings.HasPrefix(file, "/usr/") {
			t.Errorf("%s: %q, %v", l, file, err)
		}
	}
	if got := prefix("/opt/node/bin/node"); got != "/opt/node" {
		t.Errorf("prefix %q", got)
	}
	if _, err := findInterpreter("perl", stranger, ""); err == nil {
		t.Error("found an interpreter for a language that is none of ours")
	}
}

func TestCandidates(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, own, mounts string
		want              []map[string]string
	}{
		{
			"version 1", "4:memory:/a\n8:pids:/\n1:cpu,cpuacct:/a\n",
			"30 29 0:26 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n" +
				"31 29 0:27 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n" +
				"32 29 0:28 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n",
			[]map[string]string{{"memory": "/sys/fs/cgroup/memory/a", "pids": "/sys/fs/cgroup/pids", "cpu": "/sys/fs/cgroup/cpu/a"}},
		},
		{
			"version 2 of a service", "0::/system.slice/capstore.service/server\n",
			"30 29 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n",
			[]map[string]string{{"": "/sys/fs/cgroup/system.slice/capstore.service/server"}, {"": "/sys/fs/cgroup/system.slice/capstore.service"}},
		},
		{
			"version 2 in a container", "0::/\n", "30 29 0:26 / /sys/fs/cgroup ro - cgroup2 cgroup rw\n",
			[]map[string]string{{"": "/sys/fs/cgroup"}},
		},
		{
			"a part of the hierarchy is mounted", "4:memory:/docker/1/x\n5:pids:/docker/1\n",
			"30 29 0:26 /docker/1 /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n31 29 0:27 /docker/1 /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n",
			[]map[string]string{{"memory": "/sys/fs/cgroup/memory/x", "pids": "/sys/fs/cgroup/pids"}},
		},
		{"memory alone is not enough", "4:memory:/\n", "30 29 0:26 / /m rw - cgroup cgroup rw,memory\n", nil},
		{"nothing", "", "garbage\n", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []map[string]string
			for _, c := range candidates(tt.own, tt.mounts) {
				got = append(got, c.folders)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestGroupVersion2 writes the limits of version 2 into a folder that stands
// for the kernel's.
func TestGroupVersion2(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	g := &group{v2: true, dirs: map[string]string{"": dir}}
	if err := g.limit(Limits{Memory: 1 << 20, Processes: 7}); err != nil {
		t.Fatal(err)
	}
	if err := g.attach(42); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{"memory.max": "1048576", "memory.swap.max": "0", "pids.max": "7", "cgroup.procs": "42"} {
		if err := os.Chmod(filepath.Join(dir, file), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(dir, file)); string(got) != want {
			t.Errorf("%s is %q (%v), want %q", file, got, err, want)
		}
	}
	if g.sample() != (usage{}) {
		t.Error("limits are hit before anything ran")
	}
	for file, text := range map[string]string{"memory.events": "low 0\nmax 3\noom 1\noom_kill 1\n", "pids.events": "max 2\n"} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := g.sample(); got != (usage{oomKilled: true, processesHit: true}) {
		t.Errorf("usage %+v", got)
	}
}

// TestSweep removes what a server that is gone has left, and nothing else.
func TestSweep(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	gone := filepath.Join(folder, hostPrefix+"2147483646-x")
	ours := filepath.Join(folder, hostPrefix+"1-x")
	other := filepath.Join(folder, "notes")
	for _, dir := range []string{gone, ours, other} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := NewHost(HostOptions{Folder: folder}); err != nil {
		t.Fatal(err)
	}
	for dir, stays := range map[string]bool{gone: false, ours: true, other: true} {
		if _, err := os.Stat(dir); (err == nil) != stays {
			t.Errorf("%s: %v", dir, err)
		}
	}
}
