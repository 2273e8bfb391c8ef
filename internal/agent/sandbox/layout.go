package sandbox

import (
	"os"
	"path"
	"strconv"
)

// Where a program finds things inside a sandbox.
const (
	workFolder = "/work"       // its working folder, writable, with the code
	inputFile  = "/input.json" // read-only
)

// layout collects the open files that bwrap is given, by descriptor.
type layout struct {
	files []*os.File
	next  int // descriptor of the next file in the child
}

// pass hands a file to the child and returns its descriptor there.
func (l *layout) pass(f *os.File) string {
	l.files = append(l.files, f)
	l.next++
	return strconv.Itoa(l.next - 1)
}

// data hands over content.
func (l *layout) data(content []byte) (string, error) {
	f, err := memfile(content)
	if err != nil {
		return "", err
	}
	return l.pass(f), nil
}

// owned returns the files to close after the start: all but keep.
func (l *layout) owned(keep *os.File) []*os.File {
	var out []*os.File
	for _, f := range l.files {
		if f != keep {
			out = append(out, f)
		}
	}
	return out
}

// options returns bwrap's options. The first two descriptors of l are the
// pipes for the first process's number and for the door.
func (b *Bubblewrap) options(l *layout, j job) ([]string, error) {
	o := []string{
		"--info-fd", "3", "--block-fd", "4",
		"--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL",
		"--uid", strconv.Itoa(sandboxID), "--gid", strconv.Itoa(sandboxID), "--hostname", "sandbox",
	}
	filter, err := l.data(b.filter)
	if err != nil {
		return nil, err
	}
	o = append(o, "--seccomp", filter, "--clearenv")
	o = append(o, setenv(j.env)...)
	o = append(o, system(j.argv[0])...)
	for _, f := range []File{
		{"/etc/passwd", []byte("tool:x:65533:65533::/work:/bin/sh\n")},
		{"/etc/group", []byte("tool:x:65533:\n")},
		{"/etc/hosts", []byte("127.0.0.1 localhost\n::1 localhost\n")},
		{inputFile, j.input},
	} {
		if o, err = l.file(o, f.Path, f.Data); err != nil {
			return nil, err
		}
	}
	disk := strconv.FormatInt(b.limits.Disk, 10)
	o = append(o, "--size", disk, "--tmpfs", "/tmp", "--size", disk, "--tmpfs", workFolder)
	for _, f := range j.files {
		if o, err = l.file(o, path.Join(workFolder, f.Path), f.Data); err != nil {
			return nil, err
		}
	}
	return append(o, "--remount-ro", "/", "--chdir", workFolder), nil
}

// file adds a file that everyone may read.
func (l *layout) file(o []string, at string, content []byte) ([]string, error) {
	fd, err := l.data(content)
	if err != nil {
		return nil, err
	}
	return append(o, "--perms", "0644", "--file", fd, at), nil
}

func setenv(env []string) []string {
	var o []string
	for _, pair := range env {
		for i := range len(pair) {
			if pair[i] == '=' {
				o = append(o, "--setenv", pair[:i], pair[i+1:])
				break
			}
		}
	}
	return o
}

// system binds what an interpreter needs of the host, read-only: /usr with the
// links into it, the few parts of /etc that are not about this host, and
// devices that hold nothing. bwrap's own --dev adds terminals and five mounts,
// of which each call would pay the price.
func system(interpreter string) []string {
	o := []string{"--ro-bind", "/usr", "/usr", "--proc", "/proc"}
	for _, device := range []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"} {
		o = append(o, "--dev-bind", device, device)
	}
	o = append(o, "--symlink", "/proc/self/fd", "/dev/fd", "--symlink", "/proc/self/fd/0", "/dev/stdin",
		"--symlink", "/proc/self/fd/1", "/dev/stdout", "--symlink", "/proc/self/fd/2", "/dev/stderr",
		"--symlink", "/tmp", "/dev/shm")
	for _, dir := range []string{"/bin", "/sbin", "/lib", "/lib32", "/lib64"} {
		if target, err := os.Readlink(dir); err == nil {
			o = append(o, "--symlink", target, dir)
		} else if _, err := os.Stat(dir); err == nil {
			o = append(o, "--ro-bind", dir, dir)
		}
	}
	for _, part := range []string{"/etc/ld.so.cache", "/etc/alternatives"} {
		if _, err := os.Stat(part); err == nil {
			o = append(o, "--ro-bind", part, part)
		}
	}
	if dir := prefix(interpreter); dir != "" {
		o = append(o, "--ro-bind", dir, dir)
	}
	return o
}
