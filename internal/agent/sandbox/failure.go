package sandbox

import (
	"fmt"
	"regexp"
	"time"

	"capstore/internal/fault"
)

// What can go wrong with a program, in Result.Failure.
const (
	CodeTimeout        = "timeout"
	CodeExitNonzero    = "exit_nonzero"
	CodeNoResult       = "no_result"
	CodeOutputTooLarge = "output_too_large"
	CodeOutOfMemory    = "out_of_memory"
	CodeProcessLimit   = "process_limit"
)

// Why a program is not run at all: the code of a *fault.Fault.
const (
	CodeUnavailable       = "sandbox_unavailable"
	CodeForeign           = "foreign_code_needs_isolation"
	CodeEgressUnsupported = "egress_unsupported"
	CodeSyntax            = "syntax_error"
	CodeInvalidRun        = "invalid_run"
)

const authorFixes = "Whoever wrote this tool can correct it; its log shows what happened."

func failTimeout(after time.Duration) *fault.Fault {
	return fault.New(fault.Limited, CodeTimeout, "The program did not end within %s and was stopped.", after).
		Do("Give it less to do, or let its author raise the time limit (300 seconds at most).")
}

func failOutput() *fault.Fault {
	return fault.New(fault.Limited, CodeOutputTooLarge,
		"The program wrote more than %d KiB on standard output and was stopped.", MaxOutput>>10).
		Do("Let it print only its result; " + authorFixes)
}

func failMemory(l Limits) *fault.Fault {
	return fault.New(fault.Limited, CodeOutOfMemory,
		"The program needed more than the %d MiB of memory that it may use.", l.Memory>>20).Do(authorFixes)
}

func failProcesses(l Limits) *fault.Fault {
	return fault.New(fault.Limited, CodeProcessLimit,
		"The program started more than the %d processes and threads that it may use.", l.Processes).Do(authorFixes)
}

func failExit(code int) *fault.Fault {
	what := fmt.Sprintf("exit code %d", code)
	if code > 128 && code < 128+65 {
		what = fmt.Sprintf("signal %d", code-128)
	}
	return fault.New(fault.Invalid, CodeExitNonzero, "The program ended with %s.", what).
		Do(authorFixes).With("exitCode", code)
}

func failNoResult() *fault.Fault {
	return fault.New(fault.Invalid, CodeNoResult,
		"The program ended well but printed no JSON: the result is the last object or array that begins at a line start, or a single value on the last line.").
		Do(authorFixes)
}

func unavailable(reason, action string) *fault.Fault {
	return fault.New(fault.Unavailable, CodeUnavailable, "Code cannot run on this server: %s.", reason).Do(action)
}

// An interpreter that meets a limit through a failing call says so in words
// of its own and exits; these are the words of python, node and bash.
var (
	memoryWords  = regexp.MustCompile(`(?m)^MemoryError|heap out of memory|Cannot allocate memory|Array buffer allocation failed|allocat\w+ memory|OOM error`)
	processWords = regexp.MustCompile(`(?m)^BlockingIOError: \[Errno 11\]|can't start new thread|spawn\w* \S+ EAGAIN|fork: .*Resource temporarily unavailable|ERR_WORKER_INIT_FAILED|pthread_create`)
)

// classify names the failure of a program that ended by itself with a code
// other than 0, from what the meter saw and then from what it said.
func classify(code int, use usage, stderr string, l Limits) *fault.Fault {
	switch {
	case use.oomKilled:
		return failMemory(l)
	case use.processesHit:
		return failProcesses(l)
	case memoryWords.MatchString(stderr):
		return failMemory(l)
	case processWords.MatchString(stderr):
		return failProcesses(l)
	}
	return failExit(code)
}
