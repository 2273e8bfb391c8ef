package cluster

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestThrowawayEndsWhenTold(t *testing.T) {
	t.Parallel()
	c, err := StartThrowaway(t.Context(), roots...)
	if err != nil {
		t.Fatal(err)
	}
	f, err := readPIDFile(filepath.Join(c.sockets, "data"))
	if err != nil {
		t.Fatal(err)
	}
	c.Stop()
	gone(t, f.pid)
	if _, err := os.Stat(c.sockets); !os.IsNotExist(err) {
		t.Errorf("its folder is left: %v", err)
	}
}

func TestThrowawayOfAUserWithoutAName(t *testing.T) {
	t.Parallel()
	as, dir := nameless(), emptyDir(t)
	c, err := startThrowaway(t.Context(), installed(t, as), as, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Stop()
	if st, err := os.Stat(dir); err != nil || st.Mode().Perm() != 0o700 {
		t.Errorf("others can enter its folder: %v, %v", st.Mode(), err)
	}
}

func TestThrowawayEndsWithAKilledProcess(t *testing.T) {
	t.Parallel()
	owner := startChild(t, throwaway)
	dir := owner.acknowledged(t, 1)
	f, err := readPIDFile(filepath.Join(dir, "data"))
	if err != nil {
		t.Fatal(err)
	}
	owner.kill(t)
	gone(t, f.pid)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for { // the folder goes after the process
		if _, err := os.Stat(dir); os.IsNotExist(err) {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s is left", dir)
		case <-time.After(poll):
		}
	}
}
