package sandbox_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"capstore/internal/agent/sandbox"
)

// TestBackendKilled ends bubblewrap under a running program: the run fails, is
// not made again without isolation, and the program is gone.
func TestBackendKilled(t *testing.T) {
	t.Parallel()
	mark := fmt.Sprintf("backend-%d-canary", os.Getpid())
	d := bubblewrap(t, sandbox.BubblewrapOptions{})
	type outcome struct {
		res sandbox.Result
		err error
	}
	done := make(chan outcome)
	go func() {
		res, err := d.Run(context.Background(), sandbox.Run{
			Language: sandbox.Bash, Code: "(setsid bash -c 'while :; do sleep 1; done' &) ; while :; do sleep 1; done; echo 1", Env: map[string]string{"MARK": mark},
		})
		done <- outcome{res, err}
	}()
	backend := 0
	for backend == 0 { // until the program is there
		backend = topAncestor(marked(mark))
	}
	if err := syscall.Kill(backend, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	got := <-done
	if got.err == nil && (got.res.Failure == nil || got.res.Value != nil) || got.res.Driver == "host" {
		t.Errorf("result %+v, error %v", got.res, got.err)
	}
	for marked(mark) != 0 { // nothing of it remains
	}
}

// marked returns a process with the mark in its environment, 0 for none.
func marked(mark string) int {
	dirs, _ := os.ReadDir("/proc")
	for _, dir := range dirs {
		if env, err := os.ReadFile("/proc/" + dir.Name() + "/environ"); err == nil && strings.Contains(string(env), "MARK="+mark) {
			pid, _ := strconv.Atoi(dir.Name())
			return pid
		}
	}
	return 0
}

// topAncestor goes up to the process that this test itself started; 0 when the
// process has ended meanwhile.
func topAncestor(pid int) int {
	for pid > 1 {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			return 0
		}
		_, rest, _ := strings.Cut(string(status), "\nPPid:\t")
		line, _, _ := strings.Cut(rest, "\n")
		parent, _ := strconv.Atoi(line)
		if parent == os.Getpid() {
			return pid
		}
		pid = parent
	}
	return 0
}
