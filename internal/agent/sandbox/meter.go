package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// usage says which limits a run has hit.
type usage struct {
	oomKilled    bool // memory
	processesHit bool // processes and threads
}

// meter watches one run.
type meter interface {
	place(attr *syscall.SysProcAttr) error // before the start, where that can be done
	attach(pid int) error                  // after it, before foreign code runs
	sample() usage
	close()
}

// procMeter watches the tree of processes below one by reading /proc, for
// servers that may not make control groups. It is slower than they are: a run
// may go over the limit between two looks, and is then stopped.
type procMeter struct {
	limits Limits
	root   int
	seen   usage
}

// niceness puts programs behind the server itself when the processor is short,
// where no control group gives them one share in all.
const niceness = 5

func (m *procMeter) place(*syscall.SysProcAttr) error { return nil }

func (m *procMeter) attach(pid int) error {
	m.root = pid
	// Only a courtesy: some containers forbid it for a process of another user.
	_ = unix.Setpriority(unix.PRIO_PROCESS, pid, niceness)
	return nil
}

func (m *procMeter) close() {}

func (m *procMeter) sample() usage {
	var kib, threads int64
	for _, pid := range descendants(m.root) {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			continue // it has ended
		}
		kib += statusNumber(text, "RssAnon:") + statusNumber(text, "RssShmem:")
		threads += statusNumber(text, "Threads:")
	}
	m.seen.oomKilled = m.seen.oomKilled || kib<<10 > m.limits.Memory
	// RLIMIT_NPROC stops a tree just at its limit.
	m.seen.processesHit = m.seen.processesHit || threads >= m.limits.Processes
	return m.seen
}

// descendants returns pid and every process below it.
func descendants(pid int) []int {
	all := []int{pid}
	for i := 0; i < len(all); i++ {
		lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", all[i]))
		for _, list := range lists {
			text, _ := os.ReadFile(list)
			for field := range strings.FieldsSeq(string(text)) {
				if child, err := strconv.Atoi(field); err == nil {
					all = append(all, child)
				}
			}
		}
	}
	return all
}

// statusNumber reads one number of /proc/pid/status, 0 when missing.
func statusNumber(status []byte, key string) int64 {
	_, after, ok := bytes.Cut(status, []byte("\n"+key))
	if !ok {
		return 0
	}
	fields := bytes.Fields(after[:min(len(after), 64)])
	if len(fields) == 0 {
		return 0
	}
	n, _ := strconv.ParseInt(string(fields[0]), 10, 64)
	return n
}
