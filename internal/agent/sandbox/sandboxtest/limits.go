package sandboxtest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"capstore/internal/agent/sandbox"
)

// limits checks a driver whose runs may use 192 MiB and 40 processes.
func limits(t *testing.T, d sandbox.Driver) {
	tests := []struct {
		name string
		lang sandbox.Language
		code string
		want string
	}{
		{"memory of python", sandbox.Python, "x = []\nwhile True: x.append(bytearray(1 << 20))", sandbox.CodeOutOfMemory},
		{"memory of node", sandbox.Node, "const x = []; for(;;) x.push(new Array(1e5).fill(x.length))", sandbox.CodeOutOfMemory},
		{"memory of many", sandbox.Python, `
import os, time
for i in range(8):
    if os.fork() == 0:
        x = bytearray(64 << 20)
        for j in range(0, len(x), 4096): x[j] = 1
        time.sleep(60)
time.sleep(60)`, sandbox.CodeOutOfMemory},
	}
	// Without namespaces and groups there is no way to count processes.
	if d.Isolated() || d.Probe(context.Background()).Limits == "cgroup" {
		tests = append(tests, []struct {
			name string
			lang sandbox.Language
			code string
			want string
		}{
			{"fork bomb", sandbox.Python, "import os\nwhile True: os.fork()", sandbox.CodeProcessLimit},
			{"quiet fork bomb", sandbox.Bash, "f() { f | f & }; f; wait; sleep 60", sandbox.CodeProcessLimit},
			{"chain", sandbox.Python, "import subprocess, sys\nsys.exit(subprocess.call([sys.executable, __file__]))", sandbox.CodeProcessLimit},
			{"node spawning", sandbox.Node, "const {spawn} = require('child_process'); (function f() { spawn('sleep', ['99']).on('error', () => {}); setImmediate(f) })()", sandbox.CodeProcessLimit},
			{"threads", sandbox.Python, "import threading, time\nfor i in range(10000): threading.Thread(target=time.sleep, args=(60,)).start()", sandbox.CodeProcessLimit},
		}...)
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := Do(t, d, sandbox.Run{Language: tt.lang, Code: tt.code, Timeout: 30 * time.Second})
			if r.Code() != tt.want {
				t.Errorf("code %q, exit %d, stderr %s", r.Code(), r.ExitCode, last(r.Stderr, 400))
			}
		})
	}
	t.Run("open files", func(t *testing.T) {
		v := Python(t, d, `
import os
n = 0
try:
    while n < 100000:
        os.open("/dev/null", os.O_RDONLY); n += 1
except OSError: pass
print(n)`)
		if n, ok := v.(float64); !ok || n > 256 {
			t.Errorf("opened %v files", v)
		}
	})
	t.Run("file size", func(t *testing.T) {
		v := Python(t, d, `
try:
    with open("big", "wb") as f:
        for i in range(1000): f.write(b"x" * (1 << 20))
    print('"written"')
except OSError as e: print('"refused"')`)
		if v != "refused" {
			t.Errorf("a file of 1000 MiB: %v", v)
		}
	})
}

// disposed checks that daemons end with the run that started them.
func disposed(t *testing.T, d sandbox.Driver) {
	for _, end := range []string{"echo 1", "exit 3", "sleep 60"} {
		mark := fmt.Sprintf("canary%d%d", os.Getpid(), time.Now().UnixNano())
		code := fmt.Sprintf("setsid bash -c '(while :; do sleep 0.01; done) & while :; do sleep 0.01; done' %s >/dev/null 2>&1 &\n"+
			"(exec -a %s sleep 600 &)\n%s", mark, mark, end)
		Do(t, d, sandbox.Run{Language: sandbox.Bash, Code: code, Timeout: time.Second})
		if left := running(mark); len(left) > 0 {
			t.Errorf("after %q these still run: %v", end, left)
		}
	}
}

// running returns the processes of this machine whose command line has the
// mark.
func running(mark string) []string {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	var found []string
	for _, file := range files {
		if line, err := os.ReadFile(file); err == nil && bytes.Contains(line, []byte(mark)) {
			found = append(found, string(bytes.ReplaceAll(line, []byte{0}, []byte(" "))))
		}
	}
	return found
}

func last(s string, n int) string {
	s = strings.TrimSpace(s)
	return s[max(0, len(s)-n):]
}
