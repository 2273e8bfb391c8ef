package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// head keeps the first limit bytes of a stream and calls full once when there
// are more. The writer is never held up.
type head struct {
	limit int
	full  func()

	mu   sync.Mutex
	buf  []byte
	over bool
}

func (h *head) Write(p []byte) (int, error) {
	h.mu.Lock()
	room := h.limit - len(h.buf)
	h.buf = append(h.buf, p[:min(room, len(p))]...)
	spilt := len(p) > room && !h.over
	h.over = h.over || spilt
	h.mu.Unlock()
	if spilt {
		h.full()
	}
	return len(p), nil
}

// tail keeps the last limit bytes of a stream.
type tail struct {
	limit int

	mu  sync.Mutex
	buf []byte
	cut bool
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if len(t.buf) > 2*t.limit {
		t.buf = append(t.buf[:0], t.buf[len(t.buf)-t.limit:]...)
		t.cut = true
	}
	return len(p), nil
}

// text returns what was kept and whether something before it was dropped.
func (t *tail) text() (string, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return lastBytes(string(t.buf), t.limit, t.cut)
}

// lastBytes returns the last n bytes of s and whether they are not all of it.
func lastBytes(s string, n int, cut bool) (string, bool) {
	if len(s) > n {
		return s[len(s)-n:], true
	}
	return s, cut
}

// drain copies a pipe into w until every writer has closed it.
type drain struct {
	write *os.File // for the child; close after the start
	done  chan struct{}
}

func newDrain(w io.Writer) (*drain, error) {
	r, wr, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	d := &drain{write: wr, done: make(chan struct{})}
	go func() {
		defer close(d.done)
		defer r.Close()
		_, _ = io.Copy(w, r) // a broken pipe is the end of the stream
	}()
	return d, nil
}

// memfile returns an open file that lives in memory alone, at its beginning.
func memfile(data []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate("run", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("make a file in memory: %w", err)
	}
	f := os.NewFile(uintptr(fd), "run")
	if _, err := f.WriteAt(data, 0); err != nil {
		f.Close()
		return nil, fmt.Errorf("fill a file in memory: %w", err)
	}
	return f, nil
}

// keepFiles makes files that this process was started with its own: Go closes
// what it opens itself in every child, but not what it inherited.
func keepFiles() error {
	if err := unix.CloseRange(3, ^uint(0)>>32, unix.CLOSE_RANGE_CLOEXEC); err != nil && !errors.Is(err, unix.ENOSYS) {
		return fmt.Errorf("keep open files from programs: %w", err)
	}
	return nil
}
