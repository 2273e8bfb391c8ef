package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// server is a capstore in a process of its own, on the embedded database.
type server struct {
	t      *testing.T
	cmd    *exec.Cmd
	url    string
	folder string
	ended  chan struct{}
	err    error // how it ended, once it has

	mu  sync.Mutex
	log strings.Builder
}

// dataFolder returns a folder that the database's user can reach: t.TempDir is
// closed to others.
func dataFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "capstore-server-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	return dir
}

// freeAddress is one that nobody listens on now.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// process prepares capstore as another process.
func process(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = append(os.Environ(), actVariable+"=1")
	cmd.Dir = "../.." // the npm packages may hold the only PostgreSQL
	return cmd
}

// startServer starts one on the folder and waits until it is ready.
func startServer(t *testing.T, folder string, args ...string) *server {
	t.Helper()
	addr := freeAddress(t)
	s := &server{t: t, folder: folder, url: "http://" + addr, ended: make(chan struct{})}
	s.cmd = process(context.WithoutCancel(t.Context()), append([]string{"serve", "--addr", addr, "--data", folder}, args...)...)
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.cmd.Stderr = s
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.stop() })
	ready := make(chan struct{})
	go s.follow(out, ready)
	select {
	case <-ready:
	case <-s.ended:
		t.Fatalf("the server ended before it was ready: %v\n%s", s.err, s.said())
	}
	return s
}

// follow keeps what it prints, closes ready when it says that it is, and
// notes its end.
func (s *server) follow(out io.Reader, ready chan<- struct{}) {
	for lines := bufio.NewScanner(out); lines.Scan(); {
		fmt.Fprintln(s, lines.Text())
		if strings.HasPrefix(lines.Text(), "capstore is ready") {
			close(ready)
		}
	}
	s.err = s.cmd.Wait()
	close(s.ended)
}

func (s *server) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.Write(p)
}

// said is everything that the server printed.
func (s *server) said() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.String()
}

// kill ends it without a warning, as kill -9 does, and waits until it is gone.
func (s *server) kill() {
	_ = s.cmd.Process.Kill() // gone already is as good
	<-s.ended
}

// stop asks it to end and returns how it did.
func (s *server) stop() error {
	_ = s.cmd.Process.Signal(syscall.SIGTERM) // gone already is as good
	<-s.ended
	return s.err
}

// command runs a command beside it, in another process.
func (s *server) command(args ...string) string {
	s.t.Helper()
	cmd := process(s.t.Context(), append(args, "--data", s.folder)...)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		s.t.Fatalf("capstore %s: %v\n%s", strings.Join(args, " "), err, errs.String())
	}
	return strings.TrimSpace(string(out))
}
