package cluster

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"capstore/internal/pg"
)

// childVariable makes this test program act as a server on the folder it
// names, so that a test can kill one.
const childVariable = "CAPSTORE_TEST_CHILD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childVariable); dir != "" {
		if err := serve(context.Background(), dir); err != nil {
			fmt.Println("failed", err)
			os.Exit(1)
		}
	}
	goleak.VerifyTestMain(m)
}

// serve starts the cluster and writes rows for ever; each number is printed
// once its row is committed.
func serve(ctx context.Context, dir string) error {
	c, err := Start(ctx, Options{Dir: dir})
	if err != nil {
		return err
	}
	db, err := pg.Open(ctx, pg.Config{URL: c.URL()})
	if err != nil {
		return err
	}
	if _, err := db.Exec(ctx, `create table if not exists acknowledged (n bigint generated always as identity)`); err != nil {
		return err
	}
	for {
		var n int
		if err := db.QueryRow(ctx, `insert into acknowledged default values returning n`).Scan(&n); err != nil {
			return err
		}
		fmt.Println(n)
	}
}

// child is a server in a process of its own.
type child struct {
	cmd   *exec.Cmd
	lines *bufio.Scanner
}

func startChild(t *testing.T, dir string) *child {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), childVariable+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := &child{cmd: cmd, lines: bufio.NewScanner(out)}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // most tests have done so
		_ = cmd.Wait()
	})
	return c
}

// acknowledged reads until the child has confirmed n rows.
func (c *child) acknowledged(t *testing.T, n int) (last string) {
	t.Helper()
	for range n {
		if !c.lines.Scan() {
			t.Fatal("the child ended")
		}
		if last = c.lines.Text(); strings.HasPrefix(last, "failed") {
			t.Fatal(last)
		}
	}
	return last
}

// kill ends the child as a crash would and returns the last confirmed row.
func (c *child) kill(t *testing.T) (last string) {
	t.Helper()
	if err := c.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for c.lines.Scan() {
		last = c.lines.Text()
	}
	_ = c.cmd.Wait() // "signal: killed" is what was asked for
	return last
}
