package sandbox

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"syscall"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// denied are system calls that no tool needs and that have been ways out of
// sandboxes: other namespaces and mounts, other processes' memory, kernel
// keys, modules, tracing and asynchronous input and output that no filter
// sees. Names that this processor does not have are left out.
var denied = []string{
	// namespaces, mounts, the root
	"unshare", "setns", "mount", "umount2", "pivot_root", "chroot", "open_tree", "move_mount",
	"fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr", "open_by_handle_at", "name_to_handle_at",
	"statmount", "listmount", "quotactl", "quotactl_fd", "swapon", "swapoff",
	// other processes
	"ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "pidfd_getfd", "kcmp", "move_pages", "migrate_pages",
	// the kernel
	"bpf", "perf_event_open", "userfaultfd", "init_module", "finit_module", "delete_module", "kexec_load",
	"kexec_file_load", "reboot", "syslog", "acct", "fanotify_init", "lookup_dcookie", "nfsservctl",
	"iopl", "ioperm", "modify_ldt", "vm86", "vm86old", "uselib", "ustat", "sysfs", "_sysctl", "get_kernel_syms", "query_module", "create_module",
	"add_key", "request_key", "keyctl", "io_setup", "io_submit", "io_cancel", "io_destroy", "io_getevents", "io_pgetevents",
	// the machine's clock and name
	"settimeofday", "clock_settime", "clock_adjtime", "adjtimex", "stime", "sethostname", "setdomainname",
	"vmsplice", "personality", "vhangup", "set_mempolicy_home_node",
}

// absent are calls for which libraries have a fallback, taken when the call
// does not exist: io_uring; clone3, whose flags no filter can read; and memory
// that no limit on a process counts.
var absent = []string{
	"io_uring_setup", "io_uring_enter", "io_uring_register", "clone3",
	"shmget", "shmat", "shmctl", "msgget", "semget", "mq_open", "memfd_create", "memfd_secret",
}

const newNamespace = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET |
	unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP

// seccompFilter assembles the program for bwrap: what is not named is allowed
// as far as it is known today, and a call that is newer than our table, or of
// another processor's numbering, does not exist.
func seccompFilter() ([]byte, error) {
	info, err := arch.GetInfo("")
	if err != nil {
		return nil, fmt.Errorf("seccomp: %w", err)
	}
	policy := seccomp.Policy{DefaultAction: seccomp.ActionAllow, Syscalls: groups(info)}
	body, err := policy.Assemble()
	if err != nil {
		return nil, fmt.Errorf("seccomp: %w", err)
	}
	raw, err := bpf.Assemble(append(guard(info), body...))
	if err != nil {
		return nil, fmt.Errorf("seccomp: %w", err)
	}
	var out bytes.Buffer
	for _, i := range raw { // struct sock_filter
		_ = binary.Write(&out, binary.NativeEndian, i) // a buffer takes all
	}
	return out.Bytes(), nil
}

func groups(info *arch.Info) []seccomp.SyscallGroup {
	isNot := func(arg uint32, value uint64) seccomp.Condition {
		return seccomp.Condition{Argument: arg, Operation: seccomp.NotEqual, Value: value}
	}
	return []seccomp.SyscallGroup{
		{Names: known(info, absent), Action: withErrno(unix.ENOSYS)},
		{
			Names: known(info, denied), Action: seccomp.ActionErrno,
			NamesWithCondtions: []seccomp.NameWithConditions{{Name: "clone", Conditions: seccomp.ArgumentConditions{
				{Argument: 0, Operation: seccomp.BitsSet, Value: newNamespace},
			}}},
		},
		{ // netlink, packet, vsock and the rest reach deep into the kernel
			Action: withErrno(unix.EAFNOSUPPORT),
			NamesWithCondtions: []seccomp.NameWithConditions{{Name: "socket", Conditions: seccomp.ArgumentConditions{
				isNot(0, unix.AF_UNIX), isNot(0, unix.AF_INET), isNot(0, unix.AF_INET6),
			}}},
		},
	}
}

func withErrno(e syscall.Errno) seccomp.Action { return seccomp.ActionErrno | seccomp.Action(e) }

func known(info *arch.Info, names []string) []string {
	var out []string
	for _, name := range names {
		if _, ok := info.SyscallNames[name]; ok {
			out = append(out, name)
		}
	}
	return out
}

// guard stands before the library's program, which lets calls of a foreign
// architecture and numbers that it does not know fall through to its default.
func guard(info *arch.Info) []bpf.Instruction {
	newest := 0
	for number := range info.SyscallNumbers {
		newest = max(newest, number)
	}
	missing := bpf.RetConstant{Val: uint32(withErrno(unix.ENOSYS))}
	return []bpf.Instruction{
		bpf.LoadAbsolute{Off: 4, Size: 4}, // the architecture
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(info.ID), SkipTrue: 1},
		missing,
		bpf.LoadAbsolute{Off: 0, Size: 4}, // the number
		bpf.JumpIf{Cond: bpf.JumpLessOrEqual, Val: uint32(newest), SkipTrue: 1},
		missing,
	}
}
