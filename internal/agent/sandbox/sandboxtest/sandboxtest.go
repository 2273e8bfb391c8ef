// Package sandboxtest holds the behaviour that every sandbox driver must show:
// the contract of code tools, its errors, and what is left afterwards.
package sandboxtest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"capstore/internal/agent/sandbox"
	"capstore/internal/fault"
)

// Run checks a driver. Small makes one with the limits given.
func Run(t *testing.T, small func(t *testing.T, l sandbox.Limits) sandbox.Driver) {
	d := small(t, sandbox.DefaultLimits())
	t.Run("Contract", func(t *testing.T) { t.Parallel(); contract(t, d) })
	t.Run("Input", func(t *testing.T) { t.Parallel(); input(t, d) })
	t.Run("Failures", func(t *testing.T) { t.Parallel(); failures(t, d) })
	t.Run("Secrets", func(t *testing.T) { t.Parallel(); secrets(t, d) })
	t.Run("Check", func(t *testing.T) { t.Parallel(); check(t, d) })
	t.Run("Cancel", func(t *testing.T) { t.Parallel(); cancel(t, d) })
	t.Run("Refused", func(t *testing.T) { t.Parallel(); refused(t, d) })
	t.Run("Disposed", func(t *testing.T) { t.Parallel(); disposed(t, d) })
	t.Run("Limits", func(t *testing.T) {
		t.Parallel()
		l := sandbox.DefaultLimits()
		l.Memory, l.Processes = 192<<20, 40
		limits(t, small(t, l))
	})
}

// Do runs a program and fails the test when it could not be run at all.
func Do(t *testing.T, d sandbox.Driver, run sandbox.Run) sandbox.Result {
	t.Helper()
	r, err := d.Run(context.Background(), run)
	if err != nil {
		t.Fatalf("Run: %v", err)
	}
	return r
}

// Python runs a program and returns its value.
func Python(t *testing.T, d sandbox.Driver, code string) any {
	t.Helper()
	r := Do(t, d, sandbox.Run{Language: sandbox.Python, Code: code})
	if r.Failure != nil {
		t.Fatalf("failed: %v\nlog: %s\nstderr: %s", r.Failure, r.Log, r.Stderr)
	}
	var v any
	if err := json.Unmarshal(r.Value, &v); err != nil {
		t.Fatalf("value %q: %v", r.Value, err)
	}
	return v
}

func contract(t *testing.T, d sandbox.Driver) {
	tests := []struct {
		name    string
		lang    sandbox.Language
		code    string
		value   string
		log     string
		content string
		isError bool
	}{
		{"python", sandbox.Python, `print("log"); print('{"n": 1e400, "big": 12345678901234567890}')`, `{"n": 1e400, "big": 12345678901234567890}`, "log\n", "", false},
		{"node", sandbox.Node, `console.log("log"); console.log(JSON.stringify({a:[1]}))`, `{"a":[1]}`, "log\n", "", false},
		{"node module", sandbox.Node, `import fs from "node:fs"; console.log(await Promise.resolve(7))`, `7`, "", "7", false},
		{"node require", sandbox.Node, `const fs = require("fs"); console.log(fs.existsSync("/"))`, `true`, "", "true", false},
		{"bash", sandbox.Bash, `echo one; echo '{"ok":true}'; echo done.`, `{"ok":true}`, "one\ndone.\n", "", false},
		{"streams by name", sandbox.Bash, `echo log >/dev/stdout && echo no >/dev/stderr && cat /dev/stdin`, `{}`, "log\n", "", false},
		{"bare text", sandbox.Python, `print('"text"')`, `"text"`, "", "text", false},
		{"tool result", sandbox.Bash, `echo '{"content":[{"type":"text","text":"no"}],"isError":true}'`,
			`{"content":[{"type":"text","text":"no"}],"isError":true}`, "", "no", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := Do(t, d, sandbox.Run{Language: tt.lang, Code: tt.code})
			if r.Failure != nil {
				t.Fatalf("failed: %v; stderr %s", r.Failure, r.Stderr)
			}
			if string(r.Value) != tt.value || r.Log != tt.log || r.IsError != tt.isError {
				t.Errorf("value %s, log %q, isError %v", r.Value, r.Log, r.IsError)
			}
			if len(r.Content) != 1 || !strings.Contains(string(r.Content[0]), tt.content) {
				t.Errorf("content %s", r.Content)
			}
			if r.Driver != d.Name() || r.Isolated != d.Isolated() || r.Duration <= 0 {
				t.Errorf("driver %q, isolated %v, duration %v", r.Driver, r.Isolated, r.Duration)
			}
		})
	}
}

func input(t *testing.T, d sandbox.Driver) {
	const code = `
import os, sys, json
at = os.environ["CAPSTORE_INPUT"]
text = open(at).read()
print(json.dumps({"same": text == sys.stdin.read(), "eof": sys.stdin.read() == "", "size": len(text),
  "argv": sys.argv[1:] == [text], "args": len(sys.argv)}))`
	big := `{"x":"` + strings.Repeat("y", 3<<20) + `"}`
	tests := []struct {
		name, in string
		argv     bool
		size     int
	}{
		{"small", `{"x": 1.0}`, true, 10},
		{"none", "", true, 2},
		{"at the limit", `"` + strings.Repeat("a", sandbox.MaxArgument-2) + `"`, true, sandbox.MaxArgument},
		{"over the limit", `"` + strings.Repeat("a", sandbox.MaxArgument-1) + `"`, false, sandbox.MaxArgument + 1},
		{"3 MB", big, false, len(big)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := Do(t, d, sandbox.Run{Language: sandbox.Python, Code: code, Input: []byte(tt.in)})
			var got struct {
				Same, EOF, Argv bool
				Size, Args      int
			}
			if err := json.Unmarshal(r.Value, &got); err != nil {
				t.Fatalf("value %q: %v; stderr %s", r.Value, err, r.Stderr)
			}
			if !got.Same || !got.EOF || got.Size != tt.size || got.Argv != tt.argv {
				t.Errorf("got %+v", got)
			}
		})
	}
	t.Run("many files", func(t *testing.T) {
		t.Parallel()
		r := Do(t, d, sandbox.Run{Language: sandbox.Bash, Code: "cat d*/f* | wc -c", Files: manyFiles()})
		if string(r.Value) != fmt.Sprint(sandbox.MaxFiles) {
			t.Errorf("value %s, failure %v", r.Value, r.Failure)
		}
	})
	t.Run("files", func(t *testing.T) {
		t.Parallel()
		r := Do(t, d, sandbox.Run{
			Language: sandbox.Python,
			Code:     "import helper; print(helper.x + open('data/t.txt').read()); open('out','w').write('ok')",
			Files:    []sandbox.File{{Path: "helper.py", Data: []byte("x = '1'")}, {Path: "data/t.txt", Data: []byte("2")}},
		})
		if string(r.Value) != "12" {
			t.Errorf("value %s, failure %v, stderr %s", r.Value, r.Failure, r.Stderr)
		}
	})
}

// manyFiles is as many as a run may have.
func manyFiles() []sandbox.File {
	files := make([]sandbox.File, sandbox.MaxFiles)
	for i := range files {
		files[i] = sandbox.File{Path: fmt.Sprintf("d%d/f%d", i%7, i), Data: []byte("x")}
	}
	return files
}

func failures(t *testing.T, d sandbox.Driver) {
	tests := []struct {
		name string
		run  sandbox.Run
		code string
		text string // in log or stderr
	}{
		{"exit after JSON", sandbox.Run{Language: sandbox.Bash, Code: `echo '{"a":1}'; echo why >&2; exit 3`}, sandbox.CodeExitNonzero, "why"},
		{"killed by itself", sandbox.Run{Language: sandbox.Bash, Code: `kill -SEGV $$`}, sandbox.CodeExitNonzero, ""},
		{"exception", sandbox.Run{Language: sandbox.Python, Code: `raise KeyError("lost")`}, sandbox.CodeExitNonzero, "KeyError: 'lost'"},
		{"nothing", sandbox.Run{Language: sandbox.Bash, Code: `true`}, sandbox.CodeNoResult, ""},
		{"NaN", sandbox.Run{Language: sandbox.Python, Code: `print(float("nan"))`}, sandbox.CodeNoResult, "nan"},
		{"on stderr only", sandbox.Run{Language: sandbox.Bash, Code: `echo '{"a":1}' >&2`}, sandbox.CodeNoResult, `{"a":1}`},
		{"sleeps", sandbox.Run{Language: sandbox.Python, Code: "print('so far')\nimport time\ntime.sleep(99)", Timeout: time.Second}, sandbox.CodeTimeout, "so far"},
		{"spins", sandbox.Run{Language: sandbox.Node, Code: "for(;;);", Timeout: time.Second}, sandbox.CodeTimeout, ""},
		{"ignores signals", sandbox.Run{Language: sandbox.Bash, Code: "trap '' TERM INT HUP; while :; do sleep 1; done", Timeout: time.Second}, sandbox.CodeTimeout, ""},
		{"endless output", sandbox.Run{Language: sandbox.Bash, Code: "yes"}, sandbox.CodeOutputTooLarge, "y\ny"},
		{"one long line", sandbox.Run{Language: sandbox.Python, Code: "while True: print('[' + '1,' * 1_000_000, end='')"}, sandbox.CodeOutputTooLarge, ""},
		{"endless stderr", sandbox.Run{Language: sandbox.Bash, Code: "yes no >&2", Timeout: time.Second}, sandbox.CodeTimeout, "no\nno"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := Do(t, d, tt.run)
			if r.Code() != tt.code || !r.IsError {
				t.Fatalf("code %q, isError %v, value %s, stderr %s", r.Code(), r.IsError, r.Value, r.Stderr)
			}
			if r.Value != nil || r.Content != nil {
				t.Errorf("a failure has a value: %s", r.Value)
			}
			if !strings.Contains(r.Log+r.Stderr, tt.text) {
				t.Errorf("log %q and stderr %q lack %q", r.Log, r.Stderr, tt.text)
			}
			if len(r.Log) > sandbox.MaxLog || len(r.Stderr) > sandbox.MaxLog {
				t.Errorf("log %d, stderr %d bytes", len(r.Log), len(r.Stderr))
			}
			if r.Failure.Message == "" || r.Failure.Action == "" {
				t.Errorf("failure %+v does not say what and who", r.Failure)
			}
		})
	}
}

func secrets(t *testing.T, d sandbox.Driver) {
	const canary = "canary-\"7f3a\"-\u00e9"
	r := Do(t, d, sandbox.Run{
		Language: sandbox.Python, Env: map[string]string{"TOKEN": canary},
		Code: `
import os, sys, json, base64
v = os.environ["TOKEN"]
print("logged", v, base64.b64encode(("x" + v).encode()).decode()); print("err", v, file=sys.stderr)
print(json.dumps({"got": len(v), "token": v}))`,
	})
	if r.Failure != nil {
		t.Fatalf("failed: %v; stderr %s", r.Failure, r.Stderr)
	}
	var v struct {
		Got   int
		Token string
	}
	if err := json.Unmarshal(r.Value, &v); err != nil || v.Got != len([]rune(canary)) || v.Token != sandbox.Masked {
		t.Errorf("value %s (%v)", r.Value, err)
	}
	all := r.Log + r.Stderr + string(r.Value) + string(r.Content[0])
	if strings.Contains(all, "7f3a") || !strings.Contains(r.Log, sandbox.Masked) || !strings.Contains(r.Stderr, sandbox.Masked) {
		t.Errorf("not masked: %s", all)
	}
}

func check(t *testing.T, d sandbox.Driver) {
	tests := []struct {
		name string
		lang sandbox.Language
		code string
		want string // "" parses
	}{
		{"python", sandbox.Python, "import os\nopen('/tmp/never','w')\nraise SystemExit(9)", ""},
		{"python wrong", sandbox.Python, "x = 1\ny = = 2", "Line 2: SyntaxError: invalid syntax"},
		{"python indent", sandbox.Python, "def f():\nreturn 1", "Line 2: IndentationError"},
		{"node", sandbox.Node, "process.exit(9)", ""},
		{"node module", sandbox.Node, "import fs from 'node:fs'\nawait fs.promises.stat('/')", ""},
		{"node wrong", sandbox.Node, "let a = 1;\nlet b = ;", "Line 2: SyntaxError: Unexpected token"},
		{"bash", sandbox.Bash, "exit 9", ""},
		{"bash wrong", sandbox.Bash, "echo\nif then", "Line 2: syntax error near unexpected token `then'"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := d.Check(context.Background(), tt.lang, tt.code)
			if tt.want == "" {
				if err != nil {
					t.Fatalf("Check: %v", err)
				}
				return
			}
			f := fault.From(err)
			if f.Kind != fault.Invalid || len(f.Fields) != 1 {
				t.Fatalf("Check: %v", err)
			}
			if got := f.Fields[0]; got.Path != "/code" || got.Code != sandbox.CodeSyntax || !strings.Contains(got.Message, tt.want) {
				t.Errorf("field %+v", got)
			}
		})
	}
}

func cancel(t *testing.T, d sandbox.Driver) {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, err := d.Run(ctx, sandbox.Run{Language: sandbox.Bash, Code: "echo 1"}); err == nil {
		t.Error("a cancelled run ran")
	}
	ctx, stop = context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer stop()
	_, err := d.Run(ctx, sandbox.Run{Language: sandbox.Bash, Code: "sleep 600 & sleep 600", Timeout: sandbox.MaxTimeout})
	if err == nil || ctx.Err() == nil {
		t.Errorf("error %v, context %v", err, ctx.Err())
	}
}

func refused(t *testing.T, d sandbox.Driver) {
	ok := sandbox.Run{Language: sandbox.Bash, Code: "echo 1"}
	tests := []struct {
		name string
		edit func(*sandbox.Run)
		code string
		path string
	}{
		{"language", func(r *sandbox.Run) { r.Language = "perl" }, string(fault.Invalid), "/language"},
		{"time limit", func(r *sandbox.Run) { r.Timeout = time.Hour }, string(fault.Invalid), "/timeout"},
		{"input", func(r *sandbox.Run) { r.Input = []byte("{") }, string(fault.Invalid), "/input"},
		{"variable", func(r *sandbox.Run) { r.Env = map[string]string{"A=B": "c"} }, string(fault.Invalid), "/env/A=B"},
		{"path out", func(r *sandbox.Run) { r.Files = []sandbox.File{{Path: "../x"}} }, string(fault.Invalid), "/files/0/path"},
		{"absolute path", func(r *sandbox.Run) { r.Files = []sandbox.File{{Path: "/etc/passwd"}} }, string(fault.Invalid), "/files/0/path"},
		{"the code's own path", func(r *sandbox.Run) { r.Files = []sandbox.File{{Path: "main.sh"}} }, string(fault.Invalid), "/files/0/path"},
		{"large secrets", func(r *sandbox.Run) { r.Env = map[string]string{"A": strings.Repeat("x", sandbox.MaxEnvironment)} }, string(fault.Invalid), "/env"},
		{"large files", func(r *sandbox.Run) { r.Files = []sandbox.File{{Path: "x", Data: make([]byte, sandbox.MaxFileBytes)}} }, string(fault.Invalid), "/files"},
		{"many files", func(r *sandbox.Run) { r.Files = make([]sandbox.File, sandbox.MaxFiles+1) }, string(fault.Invalid), "/files"},
		{"two files at one path", func(r *sandbox.Run) { r.Files = []sandbox.File{{Path: "x"}, {Path: "x"}} }, string(fault.Invalid), "/files/1/path"},
		{"egress", func(r *sandbox.Run) { r.Egress = []string{"api.example"} }, sandbox.CodeEgressUnsupported, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			run := ok
			tt.edit(&run)
			_, err := d.Run(context.Background(), run)
			f := fault.From(err)
			if err == nil || f.Code != tt.code {
				t.Fatalf("error %v", err)
			}
			if tt.path != "" && (len(f.Fields) == 0 || f.Fields[0].Path != tt.path) {
				t.Errorf("fields %+v", f.Fields)
			}
		})
	}
}
