// Package sandbox runs code tools and hooks: other people's programs, once per
// call, in a place of their own that is gone afterwards. What a program does
// wrong is a value in its Result; a Go error means that it was not run at all,
// or that the caller gave up waiting.
package sandbox

import (
	"context"
	"encoding/json"
	"time"

	"capstore/internal/fault"
)

// Language names an interpreter.
type Language string

// The languages that a code tool or a hook may be written in.
const (
	Python Language = "python"
	Node   Language = "node"
	Bash   Language = "bash"
)

// Languages lists every language, in the order in which people read them.
func Languages() []Language { return []Language{Python, Node, Bash} }

// File lies beside the code in its working folder. Path is relative, with
// forward slashes and without "..".
type File struct {
	Path string
	Data []byte
}

// Run is one program and everything that it may see.
type Run struct {
	Language Language
	Code     string
	Files    []File
	Input    []byte            // exact JSON; empty means an empty object
	Env      map[string]string // bound secrets by variable, masked in the result
	Timeout  time.Duration     // 0 means DefaultTimeout; at most MaxTimeout
	Foreign  bool              // written in another workspace: needs isolation
	Egress   []string          // approved hosts
	Live     *Live             // sees what it prints while it runs; nil for nobody
}

// Result is what became of a run. Every text in it is masked.
type Result struct {
	// Value is the JSON that the program printed as its result, byte for byte;
	// nil when there is none.
	Value json.RawMessage
	// Content holds MCP content blocks: the program's own when it printed a
	// tool result, else Value as one text block. Empty on failure.
	Content []json.RawMessage
	// IsError is set when the program said so and on every failure.
	IsError bool
	// Failure says why there is no result, with one of the Code constants; nil
	// when the program answered, even when it answered with an error.
	Failure *fault.Fault
	// Log is what standard output held besides the result, the end of it when
	// it is long; Stderr is the end of standard error.
	Log, Stderr string
	ExitCode    int // 128 plus the signal when one ended it
	Duration    time.Duration
	Driver      string // name of the driver that ran it
	Isolated    bool   // whether that driver isolates
}

// Code returns the stable code of the failure, "" when there is none.
func (r Result) Code() string {
	if r.Failure == nil {
		return ""
	}
	return r.Failure.Code
}

// Driver is one way of running programs.
type Driver interface {
	// Name is stable and shown to people.
	Name() string
	// Isolated reports whether code of another workspace may run here.
	Isolated() bool
	// Probe runs a trivial program in each language and says what works.
	Probe(ctx context.Context) Status
	// Run runs the program and disposes of everything that it started. The
	// error is a *fault.Fault when the run cannot be started, and the
	// context's error when that ends first.
	Run(ctx context.Context, run Run) (Result, error)
	// Check parses the code and never runs it. A program that does not parse is
	// a fault of kind Invalid with the field "/code".
	Check(ctx context.Context, language Language, code string) error
}

// Status says whether a driver works here and, where it does not, why.
type Status struct {
	Driver    string
	Isolated  bool
	Ready     bool                // at least one language runs
	Reason    string              // why not, when not Ready
	Action    string              // what the operator can do about it
	Languages map[Language]string // "" for what runs, else the reason
	Limits    string              // how limits are enforced: "cgroup" or "rlimit"
}

// Runs reports whether the language runs here.
func (s Status) Runs(l Language) bool {
	reason, known := s.Languages[l]
	return s.Ready && known && reason == ""
}

// complete reports whether every language runs.
func (s Status) complete() bool {
	for _, l := range Languages() {
		if !s.Runs(l) {
			return false
		}
	}
	return true
}
