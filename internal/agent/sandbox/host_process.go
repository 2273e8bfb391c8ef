package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// hostProcess is a child with all that it starts: its process group, its
// control group where there is one, and whatever carries its mark.
type hostProcess struct {
	cmd    *exec.Cmd
	files  []*os.File // for the child: closed after the start
	door   *os.File   // a byte written here lets the program begin
	mark   string     // in the environment of everything that it starts
	limits []rlimit
	group  *group
}

// doorkeeper waits for a line on descriptor 3, so that no foreign code runs
// before its limits stand, and then becomes the program.
const doorkeeper = `read -r go <&3 || exit 126; exec 3<&-; exec "$0" "$@"`

func (p *hostProcess) start(stdout, stderr *os.File, m meter) error {
	p.cmd.Stdout, p.cmd.Stderr = stdout, stderr
	if err := m.place(p.cmd.SysProcAttr); err != nil {
		return err
	}
	if err := p.cmd.Start(); err != nil {
		return fmt.Errorf("start a program: %w", err)
	}
	pid := p.cmd.Process.Pid
	if err := errors.Join(m.attach(pid), limitProcess(pid, p.limits, account{})); err != nil {
		return err
	}
	if _, err := p.door.Write([]byte("\n")); err != nil {
		return fmt.Errorf("let a program begin: %w", err)
	}
	return nil
}

func (p *hostProcess) close() {
	for _, f := range append(p.files, p.door) {
		f.Close()
	}
}

// killRounds bounds how often leftovers are looked for: each round may miss a
// process that was being started.
const killRounds = 50

func (p *hostProcess) kill() {
	if p.cmd.Process == nil {
		return
	}
	_ = unix.Kill(-p.cmd.Process.Pid, unix.SIGKILL)
	for range killRounds {
		left := marked(p.mark)
		if p.group != nil {
			left = append(left, p.group.members()...)
		}
		if len(left) == 0 {
			return
		}
		for _, pid := range left {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
	}
}

func (p *hostProcess) wait() int {
	_ = p.cmd.Wait()
	p.kill()
	return exitCode(p.cmd.ProcessState)
}

func (p *hostProcess) failure(string) error { return nil }

// marked returns the live processes whose environment holds the mark.
func marked(mark string) []int {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	var pids []int
	for _, file := range files {
		env, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(env, []byte(mark)) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}
