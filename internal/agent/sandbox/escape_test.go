package sandbox_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"capstore/internal/agent/sandbox"
	"capstore/internal/agent/sandbox/sandboxtest"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// tried is a program of attempts, each a line of python; what gets through is
// its result.
func tried(attempts ...string) string {
	var b strings.Builder
	b.WriteString("import os, sys, json, socket, signal, subprocess, ctypes\nthrough = []\n")
	for _, a := range attempts {
		fmt.Fprintf(&b, "try:\n    %s\n    through.append(%q)\nexcept Exception: pass\n", a, a)
	}
	b.WriteString("print(json.dumps(through))\n")
	return b.String()
}

func mustHold(t *testing.T, d sandbox.Driver, attempts ...string) {
	t.Helper()
	got := sandboxtest.Python(t, d, tried(attempts...))
	if diff := cmp.Diff([]any{}, got); diff != "" {
		t.Errorf("got through:\n%s", diff)
	}
}

func TestEscapeFiles(t *testing.T) {
	t.Parallel()
	d := bubblewrap(t, sandbox.BubblewrapOptions{})
	dir, err := os.MkdirTemp("", "canary")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	secret := filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, []byte("canary"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	attempts := []string{
		fmt.Sprintf("os.symlink(%q, '/work/link'); open('/work/link').read()", secret),
		fmt.Sprintf("os.link(%q, '/work/hard')", secret),
		fmt.Sprintf("open('/proc/1/root' + %q).read()", secret),
		fmt.Sprintf("open('/proc/1/cwd/..' + %q).read()", secret),
		fmt.Sprintf("open('/work/../../../..' + %q).read()", secret),
		"'root:' in open('/etc/passwd').read() or 1/0",
	}
	for _, p := range []string{secret, "/etc/shadow", "/etc/hostname", "/etc/machine-id", "/proc/kcore"} {
		attempts = append(attempts, fmt.Sprintf("open(%q).read(1)", p))
	}
	for _, p := range []string{"/root", "/home", "/var", "/sys", "/run", "/boot", "/mnt", "/srv", "/opt", dir} {
		attempts = append(attempts, fmt.Sprintf("os.listdir(%q)", p))
	}
	for _, p := range []string{"/x", "/usr/x", "/usr/bin/x", "/etc/x", "/dev/x", "/proc/x", "/input.json", "/bin/x", "/etc/passwd"} {
		attempts = append(attempts, fmt.Sprintf("open(%q, 'w').write('x')", p))
	}
	mustHold(t, d, attempts...)
}

func TestEscapeKernel(t *testing.T) {
	t.Parallel()
	d := bubblewrap(t, sandbox.BubblewrapOptions{})
	attempts := []string{
		"os.setuid(0)", "os.setgid(0)", "os.setgroups([0])", "os.chroot('/tmp')", "os.nice(-10)",
		"os.mknod('/tmp/disk', 0o600 | 0o060000, os.makedev(254, 0))",
		"subprocess.run(['mount', '-t', 'tmpfs', 'x', '/tmp'], check=True, stderr=subprocess.DEVNULL)",
		"subprocess.run(['unshare', '-Ur', 'true'], check=True, stderr=subprocess.DEVNULL)",
		"open('/proc/self/status').read().count('NoNewPrivs:\\t0') or 1/0",
	}
	for _, p := range []string{
		"/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname", "/proc/sys/vm/drop_caches", "/proc/sysrq-trigger",
		"/proc/sys/kernel/randomize_va_space", "/sys/kernel/uevent_helper", "/sys/fs/cgroup/cgroup.procs", "/dev/mem", "/dev/kmsg",
	} {
		attempts = append(attempts, fmt.Sprintf("open(%q, 'wb', buffering=0).write(b'1')", p))
	}
	attempts = append(attempts, "open('/proc/self/oom_score_adj', 'wb', buffering=0).write(b'-1000')")
	mustHold(t, d, attempts...)
}

func TestEscapeSystemCalls(t *testing.T) {
	t.Parallel()
	d := bubblewrap(t, sandbox.BubblewrapOptions{})
	calls := map[string][]any{
		"unshare": {unix.SYS_UNSHARE, unix.CLONE_NEWUSER}, "setns": {unix.SYS_SETNS, 0, 0},
		"mount": {unix.SYS_MOUNT, 0, 0, 0, 0, 0}, "ptrace": {unix.SYS_PTRACE, 0, 0, 0, 0},
		"keyctl": {unix.SYS_KEYCTL, 0, -3, 0}, "add_key": {unix.SYS_ADD_KEY, 0, 0, 0, 0, 0},
		"bpf": {unix.SYS_BPF, 0, 0, 0}, "userfaultfd": {unix.SYS_USERFAULTFD, 0},
		"io_uring_setup": {unix.SYS_IO_URING_SETUP, 1, 0}, "perf_event_open": {unix.SYS_PERF_EVENT_OPEN, 0, 0, -1, -1, 0},
		"clone": {unix.SYS_CLONE, unix.CLONE_NEWUSER | int(unix.SIGCHLD), 0, 0, 0, 0}, "clone3": {unix.SYS_CLONE3, 0, 0},
		"process_vm_readv": {unix.SYS_PROCESS_VM_READV, 1, 0, 0, 0, 0, 0}, "memfd_create": {unix.SYS_MEMFD_CREATE, 0, 0},
		"open_by_handle_at": {unix.SYS_OPEN_BY_HANDLE_AT, 0, 0, 0}, "fsopen": {unix.SYS_FSOPEN, 0, 0},
		"syslog": {unix.SYS_SYSLOG, 3, 0, 0}, "shmget": {unix.SYS_SHMGET, 0, 1 << 30, 0o1600},
		"unknown number": {4000}, "socket netlink": {unix.SYS_SOCKET, unix.AF_NETLINK, unix.SOCK_RAW, 0},
		"socket packet": {unix.SYS_SOCKET, unix.AF_PACKET, unix.SOCK_RAW, 0}, "socket vsock": {unix.SYS_SOCKET, unix.AF_VSOCK, unix.SOCK_STREAM, 0},
	}
	// Every call must be refused by the filter, not merely fail for its odd
	// arguments: EFAULT or EINVAL would mean that the kernel looked at them.
	code := "import ctypes, errno, json\nlibc = ctypes.CDLL(None, use_errno=True)\nout = {}\n"
	for name, args := range calls {
		words := make([]string, len(args))
		for i, a := range args {
			words[i] = fmt.Sprintf("ctypes.c_long(%v)", a)
		}
		code += fmt.Sprintf("r = libc.syscall(%s)\nout[%q] = 'done' if r >= 0 else errno.errorcode[ctypes.get_errno()]\n", strings.Join(words, ", "), name)
	}
	code += "print(json.dumps(out))"
	got, ok := sandboxtest.Python(t, d, code).(map[string]any)
	if !ok || len(got) != len(calls) {
		t.Fatalf("got %v", got)
	}
	for name, e := range got {
		if e != "EPERM" && e != "ENOSYS" && e != "EAFNOSUPPORT" {
			t.Errorf("%s: %v", name, e)
		}
	}
}

func TestEscapeForeignNumbering(t *testing.T) {
	t.Parallel()
	if unix.SYS_READ != 0 {
		return // only x86-64 has other numberings beside its own
	}
	d := bubblewrap(t, sandbox.BubblewrapOptions{})
	// Machine code: getpid by the 32-bit gate (number 20), then by x32.
	const code = `
import ctypes, mmap
def call(code):
    m = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    m.write(bytes.fromhex(code))
    return ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(m)))()
print([call("b814000000cd80c3"), call("b8270000400f05c3")])`
	got := sandboxtest.Python(t, d, code)
	if diff := cmp.Diff([]any{-38.0, -38.0}, got); diff != "" {
		t.Errorf("ENOSYS expected twice:\n%s", diff)
	}
}

func TestEscapeNetwork(t *testing.T) {
	t.Parallel()
	d := bubblewrap(t, sandbox.BubblewrapOptions{})
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tcp.Close() })
	abstract, err := net.Listen("unix", fmt.Sprintf("@capstore-canary-%d", os.Getpid()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { abstract.Close() })
	_, port, _ := net.SplitHostPort(tcp.Addr().String())
	mustHold(t, d,
		fmt.Sprintf("socket.create_connection(('127.0.0.1', %s), 2)", port),
		fmt.Sprintf("s = socket.socket(socket.AF_UNIX); s.connect('\\0capstore-canary-%d')", os.Getpid()),
		"socket.create_connection(('169.254.169.254', 80), 2)",
		"socket.create_connection(('8.8.8.8', 53), 2)",
		"socket.create_connection(('2001:4860:4860::8888', 53), 2)",
		"socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('8.8.8.8', 53))",
		"socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('169.254.169.254', 53))",
		"socket.getaddrinfo('k1.leak.example', 80)",
		"socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)",
		"socket.socket(socket.AF_UNIX).connect('/var/run/docker.sock')",
		"any(n != 'lo' for _, n in socket.if_nameindex()) or 1/0",
		"os.environ.update(http_proxy='http://127.0.0.1:3128'); import urllib.request; urllib.request.urlopen('http://example.com', timeout=2)",
	)
}

func TestEscapeProcesses(t *testing.T) {
	t.Parallel()
	d := bubblewrap(t, sandbox.BubblewrapOptions{})
	got := sandboxtest.Python(t, d, `
import os, signal, json
for pid in (1, os.getppid()):
    for s in (signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM):
        os.kill(pid, s)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
try: os.kill(-1, signal.SIGTERM)
except ProcessLookupError: pass
print(json.dumps(sorted(int(p) for p in os.listdir("/proc") if p.isdigit())))`)
	if diff := cmp.Diff([]any{1.0, 2.0}, got); diff != "" {
		t.Errorf("processes in sight:\n%s", diff)
	}
}

func TestEscapeDisk(t *testing.T) {
	t.Parallel()
	l := sandbox.DefaultLimits()
	l.Disk, l.FileSize = 8<<20, 4<<20
	d := bubblewrap(t, sandbox.BubblewrapOptions{Limits: l})
	got := sandboxtest.Python(t, d, `
import json, os
def fill(folder):
    total = 0
    try:
        for i in range(64):
            with open(f"{folder}/{i}", "wb", buffering=0) as f:
                for j in range(4): total += f.write(b"x" * (1 << 20))
    except OSError: pass
    return total >> 20
print(json.dumps({d: fill(d) for d in ("/work", "/tmp", "/dev/shm", "/", "/dev", "/etc", "/proc")}))`)
	sizes, ok := got.(map[string]any)
	if !ok {
		t.Fatalf("got %v", got)
	}
	for folder, mib := range sizes {
		if n, _ := mib.(float64); n > 8 {
			t.Errorf("%s took %v MiB", folder, mib)
		}
	}
}

func TestEscapeLeftovers(t *testing.T) {
	t.Parallel()
	d := bubblewrap(t, sandbox.BubblewrapOptions{})
	const code = `
import os, json
seen = [p for p in ("/work/left", "/tmp/left", "/dev/shm/left") if os.path.exists(p)]
for p in ("/work/left", "/tmp/left", "/dev/shm/left"): open(p, "w").write("x")
print(json.dumps(seen))`
	for range 2 {
		if diff := cmp.Diff([]any{}, sandboxtest.Python(t, d, code)); diff != "" {
			t.Errorf("left from the call before:\n%s", diff)
		}
	}
}

// TestEscapeNeighbour runs bombs beside a healthy program.
func TestEscapeNeighbour(t *testing.T) {
	t.Parallel()
	d := bubblewrap(t, sandbox.BubblewrapOptions{})
	ctx, stop := context.WithCancel(context.Background())
	bombs := make(chan error, 2)
	for _, code := range []string{"import os\nwhile True:\n  try: os.fork()\n  except OSError: pass", "x=[]\nwhile True: x.append(bytearray(1<<20))"} {
		go func() {
			_, err := d.Run(ctx, sandbox.Run{Language: sandbox.Python, Code: code})
			bombs <- err
		}()
	}
	for range 3 {
		if got := sandboxtest.Python(t, d, "import subprocess; print(subprocess.check_output(['echo', '1']).decode())"); got != 1.0 {
			t.Errorf("got %v", got)
		}
	}
	stop()
	<-bombs
	<-bombs
}

// TestEscapeSecrets looks for canaries from inside and from outside.
func TestEscapeSecrets(t *testing.T) {
	t.Parallel()
	var inherited [2]int // as a server may be handed files by what started it
	if err := unix.Pipe2(inherited[:], 0); err != nil {
		t.Fatal(err)
	}
	d := bubblewrap(t, sandbox.BubblewrapOptions{})
	const inside = `
import os, json, glob
out = {"env": os.environ.get("BOUND", "")[:6], "fds": [], "found": []}
for fd in os.listdir("/proc/self/fd"):
    try: out["fds"].append(os.readlink("/proc/self/fd/" + fd).split(":")[0])
    except OSError: pass
for f in glob.glob("/proc/[0-9]*/environ") + glob.glob("/proc/[0-9]*/cmdline") + glob.glob("/proc/[0-9]*/task/*/environ"):
    try: text = open(f, "rb").read()
    except OSError: continue
    if b"storekey" in text or (b"bound" + b"-canary" in text and f.split("/")[2] != str(os.getpid())): out["found"].append(f)
out["fds"].sort()
out["init"] = sorted(os.readlink("/proc/1/fd/" + f).split(":")[0] for f in os.listdir("/proc/1/fd"))
print(json.dumps(out))`
	r := sandboxtest.Do(t, d, sandbox.Run{Language: sandbox.Python, Code: inside, Env: map[string]string{"BOUND": "bound-canary"}})
	want := `{"env": "bound-", "fds": ["/memfd", "pipe", "pipe"], "found": [], "init": ["/memfd", "anon_inode", "pipe", "pipe"]}`
	if string(r.Value) != want {
		t.Errorf("inside: %s\nwant    %s", r.Value, want)
	}

	canary := fmt.Sprintf("outside-canary-%d", os.Getpid())
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error)
	go func() {
		_, err := d.Run(ctx, sandbox.Run{Language: sandbox.Bash, Code: "while :; do sleep 1; done", Env: map[string]string{"BOUND": canary}})
		done <- err
	}()
	var holders []string
	for holders == nil { // until the program is there
		holders = environs(canary)
	}
	for _, name := range holders {
		if name != "bash" && name != "sleep" {
			t.Errorf("the secret is in the environment of %s", name)
		}
	}
	stop()
	if err := <-done; err == nil {
		t.Error("a cancelled run gave a result")
	}
	if left := environs(canary); left != nil {
		t.Errorf("still running: %v", left)
	}
}

// environs names the processes of this machine that have text in their
// environment or, with an exclamation mark, in their command line.
func environs(text string) []string {
	var names []string
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		name, _ := os.ReadFile(dir + "/comm")
		if env, _ := os.ReadFile(dir + "/environ"); strings.Contains(string(env), text) {
			names = append(names, strings.TrimSpace(string(name)))
		}
		if line, _ := os.ReadFile(dir + "/cmdline"); strings.Contains(string(line), text) {
			names = append(names, "!"+strings.TrimSpace(string(name)))
		}
	}
	return names
}
