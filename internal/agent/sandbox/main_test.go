package sandbox_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"capstore/internal/agent/sandbox"

	"go.uber.org/goleak"
)

// asServer names, in the environment of this test binary started again, a
// program that it runs as a server would, until it is killed.
const asServer = "SANDBOX_TEST_SERVER"

// TestMain gives the server an environment with secrets of its own, which no
// program may see.
func TestMain(m *testing.M) {
	if mark := os.Getenv(asServer); mark != "" {
		serve(mark)
		return
	}
	os.Setenv("CAPSTORE_SECRET_KEY", "storekey-canary")
	os.Setenv("CAPSTORE_DATABASE_URL", "postgres://storekey-canary@host/db")
	goleak.VerifyTestMain(m)
}

func serve(mark string) {
	d, err := sandbox.NewBubblewrap(sandbox.BubblewrapOptions{})
	if err == nil {
		_, err = d.Run(context.Background(), sandbox.Run{
			Language: sandbox.Bash, Code: "(setsid bash -c 'while :; do sleep 1; done' &) ; while :; do sleep 1; done",
			Env: map[string]string{"MARK": mark}, Timeout: sandbox.MaxTimeout,
		})
	}
	fmt.Fprintln(os.Stderr, err)
}

// TestServerKilled checks that programs end with a server that had no time to
// end them.
func TestServerKilled(t *testing.T) {
	t.Parallel()
	mark := fmt.Sprintf("killed-%d-canary", os.Getpid())
	server := exec.Command(os.Args[0])
	server.Env = append(os.Environ(), asServer+"="+mark)
	server.Stderr = os.Stderr
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	inside := func() (n int) {
		for _, name := range environs("MARK=" + mark) {
			if name == "bash" {
				n++
			}
		}
		return n
	}
	for inside() < 2 { // the program and its daemon
	}
	if err := server.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = server.Wait() // killed
	for inside() > 0 {
	}
}
