package app_test

import (
	"context"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"capstore/cmd/capstore/app"
	"capstore/internal/pg/pgtest"
)

// block is one fenced block of a page that runs, with what it has to print;
// "" leaves that open.
type block struct{ script, want string }

// blocksOf returns the page's bash blocks. A text block says what the block
// before it prints.
func blocksOf(page string) []block {
	var out []block
	for i, part := range strings.Split("\n"+page, "\n```") {
		language, body, _ := strings.Cut(part, "\n")
		switch {
		case i%2 == 0:
		case language == "bash":
			out = append(out, block{script: body})
		case language == "text" && len(out) > 0:
			out[len(out)-1].want = body
		}
	}
	return out
}

// TestJSONPageRuns runs docs/api.md block by block, with the real command and
// a real server in demo mode.
func TestJSONPageRuns(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"bash", "python3"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Fatalf("docs/api.md needs %s: apt-get install %s", program, program)
		}
	}
	page, err := os.ReadFile("../../../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := blocksOf(string(page))
	if len(blocks) < 10 {
		t.Fatalf("only %d blocks", len(blocks))
	}
	url, data := pgtest.URL(t), t.TempDir()
	address := serveDemo(t, app.Config{Addr: "127.0.0.1:0", DatabaseURL: url, Data: data})
	bin := buildCommand(t)
	provideCurl(t, bin)

	const end = "\x1e\n"
	var script strings.Builder
	script.WriteString("set -euo pipefail\n")
	for _, b := range blocks {
		script.WriteString(b.script + "\nprintf '\\x1e\\n'\n")
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-c", script.String())
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "CAPSTORE=http://"+address,
		"CAPSTORE_DATABASE_URL="+url, "CAPSTORE_DATA="+data)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	printed := strings.Split(string(out), end)
	if err != nil {
		t.Errorf("%v in block %d:\n%s%s", err, len(printed), stderr.String(), out)
	}
	for i, b := range blocks[:min(len(blocks), len(printed)-1)] {
		if diff := cmp.Diff(strings.TrimSpace(b.want), strings.TrimSpace(printed[i])); b.want != "" && diff != "" {
			t.Errorf("block %d prints otherwise (-page +program):\n%s\n%s", i+1, diff, b.script)
		}
	}
}

// serveDemo runs a server in demo mode until the test ends and returns its address.
func serveDemo(t *testing.T, cfg app.Config) string {
	t.Helper()
	a, err := app.Open(t.Context(), cfg, app.Options{Demo: true}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	address, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- a.Serve(ctx, func(at net.Addr) { address <- at.String() }) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		a.Close()
	})
	select {
	case at := <-address:
		return at
	case err := <-ended:
		ended <- nil
		t.Fatal(err)
	}
	return ""
}

// buildCommand builds the command and returns the folder that it lies in.
func buildCommand(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(dir, "capstore"), "capstore/cmd/capstore")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return dir
}
