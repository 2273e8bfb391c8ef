package sandbox

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"capstore/internal/fault"
)

// folder returns a folder that every user may enter, as root starts bwrap as
// another one.
func folder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for up := dir; up != os.TempDir() && up != "/"; up = filepath.Dir(up) {
		if err := os.Chmod(up, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// script writes an executable that stands for bwrap.
func script(t *testing.T, body string) string {
	t.Helper()
	file := filepath.Join(folder(t), "bwrap")
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+body+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return file
}

func testRunner(t *testing.T, command string, allowHost bool) *Runner {
	t.Helper()
	isolated, err := NewBubblewrap(BubblewrapOptions{Command: command})
	if err != nil {
		t.Fatal(err)
	}
	if !allowHost {
		return newRunner(0, isolated, nil)
	}
	host, err := NewHost(HostOptions{Folder: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return newRunner(0, isolated, host)
}

func TestRunnerFailsClosed(t *testing.T) {
	t.Parallel()
	const missing = "/nonexistent/bwrap"
	refuses := script(t, "echo 'bwrap: No permissions to create new namespace' >&2; exit 1")
	tests := []struct {
		name      string
		command   string
		allowHost bool
		foreign   bool
		code      string // "" runs
		driver    string
		reason    string
	}{
		{"isolated", "bwrap", false, true, "", "bubblewrap", ""},
		{"isolated comes first", "bwrap", true, false, "", "bubblewrap", ""},
		{"missing", missing, false, false, CodeUnavailable, "", "bubblewrap (bwrap) is not installed"},
		{"missing, own code on the host", missing, true, false, "", "host", ""},
		{"missing, foreign code", missing, true, true, CodeForeign, "", ""},
		{"no user namespaces", refuses, false, false, CodeUnavailable, "", "No permissions to create new namespace"},
		{"no user namespaces, foreign code", refuses, true, true, CodeForeign, "", ""},
		{"crashes", script(t, "kill -9 $$"), false, false, CodeUnavailable, "", "could not make a sandbox"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := testRunner(t, tt.command, tt.allowHost)
			res, err := r.Run(context.Background(), Run{Language: Bash, Code: "echo 1", Foreign: tt.foreign})
			if tt.code == "" {
				if err != nil || string(res.Value) != "1" || res.Driver != tt.driver {
					t.Fatalf("driver %q, value %s, error %v", res.Driver, res.Value, err)
				}
				return
			}
			f := fault.From(err)
			if f.Code != tt.code || f.Action == "" {
				t.Fatalf("error %v, action %q", err, f.Action)
			}
			if tt.reason != "" && !strings.Contains(f.Message, tt.reason) {
				t.Errorf("message %q", f.Message)
			}
			status := r.Status(context.Background(), false)[0]
			if status.Ready || status.Reason == "" || status.Action == "" {
				t.Errorf("status %+v", status)
			}
		})
	}
}

// TestRunnerNotices that the backend goes and comes back.
func TestRunnerNotices(t *testing.T) {
	t.Parallel()
	bwrap, err := exec.LookPath("bwrap")
	if err != nil {
		t.Fatal(err)
	}
	command := filepath.Join(folder(t), "bwrap")
	link := func() {
		if err := os.Symlink(bwrap, command); err != nil {
			t.Fatal(err)
		}
	}
	link()
	r := testRunner(t, command, false)
	run := Run{Language: Bash, Code: "echo 1"}
	if _, err := r.Run(context.Background(), run); err != nil {
		t.Fatalf("Run: %v", err)
	}
	if err := os.Remove(command); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := r.Run(context.Background(), run); !fault.HasCode(err, CodeUnavailable) {
			t.Fatalf("without bwrap: %v", err)
		}
	}
	link()
	if s := r.Status(context.Background(), true)[0]; !s.Ready {
		t.Fatalf("status %+v", s)
	}
	if _, err := r.Run(context.Background(), run); err != nil {
		t.Fatalf("Run: %v", err)
	}
}

func TestRunnerQueue(t *testing.T) {
	t.Parallel()
	r := testRunner(t, "bwrap", false)
	if !r.Status(context.Background(), false)[0].Ready {
		t.Fatal("bubblewrap does not run here")
	}
	for range cap(r.slots) {
		r.slots <- struct{}{}
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error)
	go func() {
		_, err := r.Run(ctx, Run{Language: Bash, Code: "echo 1"})
		done <- err
	}()
	stop()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("a queued run: %v", err)
	}
	r.release()
	if _, err := r.Run(context.Background(), Run{Language: Bash, Code: "echo 1"}); err != nil {
		t.Errorf("with a free slot: %v", err)
	}
}

func TestRunnerCheck(t *testing.T) {
	t.Parallel()
	r := testRunner(t, "bwrap", false)
	if err := r.Check(context.Background(), Python, "x = 1"); err != nil {
		t.Errorf("Check: %v", err)
	}
	if err := r.Check(context.Background(), Python, "x ="); !fault.Is(err, fault.Invalid) {
		t.Errorf("Check: %v", err)
	}
	if err := r.Check(context.Background(), "perl", "1"); !fault.Is(err, fault.Invalid) {
		t.Errorf("Check: %v", err)
	}
}
