package cluster

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"capstore/internal/pg"
)

// childVariable makes this test program act as a server on the folder it
// names, so that a test can kill one; throwaway makes it own a throw-away
// cluster instead.
const (
	childVariable = "CAPSTORE_TEST_CHILD"
	throwaway     = "throwaway"
)

// roots is the top of the module, whose npm packages hold a PostgreSQL: where
// the system has none, the tests run on that.
var roots = []string{"../../.."}

func TestMain(m *testing.M) {
	if dir := os.Getenv(childVariable); dir != "" {
		act := serve
		if dir == throwaway {
			act = keepThrowaway
		}
		fmt.Println("failed", act(context.Background(), dir)) // neither returns otherwise
		os.Exit(1)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		_ = os.RemoveAll(prototypeDir) // "" when no test asked for it
		os.Exit(code)
	}))
}

// prototype is a data folder that was made once and never served: tests that
// are about something else copy it, as making one takes a second of processor.
var prototype = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp(scratch(), "capstore-cluster-")
	if err != nil {
		return "", err
	}
	prototypeDir = dir
	if err := os.Chmod(dir, 0o711); err != nil {
		return "", err
	}
	s := site{as: databaseAccount(), data: filepath.Join(dir, dataFolder)}
	if s.in, err = pick(Installations(roots...), 0); err != nil {
		return "", err
	}
	if s.in, err = s.in.within(s.as); err != nil {
		return "", err
	}
	return dir, s.make(context.Background())
})

// prototypeDir is for TestMain to remove.
var prototypeDir string

// emptyDir returns a folder that the database's user can reach: t.TempDir is
// closed to others.
func emptyDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp(scratch(), "capstore-cluster-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	return dir
}

// dataDir is emptyDir with a cluster in it.
func dataDir(t *testing.T) string {
	t.Helper()
	dir := emptyDir(t)
	fill(t, dir)
	return dir
}

// fill copies the prototype into dir.
func fill(t *testing.T, dir string) {
	t.Helper()
	from, err := prototype()
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("cp", "-a", filepath.Join(from, dataFolder), dir).CombinedOutput(); err != nil {
		t.Fatalf("copy the prototype: %v: %s", err, out)
	}
}

// serve starts the cluster and writes rows for ever; each number is printed
// once its row is committed.
func serve(ctx context.Context, dir string) error {
	c, err := Start(ctx, Options{Dir: dir, Roots: roots})
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

// keepThrowaway starts a throw-away cluster, prints its folder and stays.
func keepThrowaway(ctx context.Context, _ string) error {
	c, err := StartThrowaway(ctx, roots...)
	if err != nil {
		return err
	}
	fmt.Println(c.sockets)
	select {}
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
