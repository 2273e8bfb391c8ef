package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"capstore/internal/fault"
)

const lockFile = "capstore.lock"

// holder is who holds a data folder, as the lock file tells.
type holder struct {
	PID  int    `json:"pid"`
	Role string `json:"role"`
}

// hold is the right to a data folder. The kernel takes it back when the
// process ends, however that happens.
type hold struct{ file *os.File }

// acquire takes the folder. While another process has it, taken is asked with
// the holder: an error ends the wait.
func acquire(ctx context.Context, o Options, taken func(holder) error) (*hold, error) {
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		h, other, err := tryHold(o)
		if err != nil || h != nil {
			return h, err
		}
		if err := taken(other); err != nil {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, held(o.Dir, other).Because(ctx.Err())
		case <-tick.C:
		}
	}
}

// tryHold returns the hold, or who has it.
func tryHold(o Options) (*hold, holder, error) {
	path := filepath.Join(o.Dir, lockFile)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, holder{}, folderUnusable(o.Dir, err)
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		defer f.Close()
		return nil, readHolder(path), nil
	}
	if err == nil {
		err = writeHolder(f, holder{PID: os.Getpid(), Role: o.Role})
	}
	if err != nil {
		f.Close()
		return nil, holder{}, fmt.Errorf("lock %s: %w", path, err)
	}
	return &hold{file: f}, holder{}, nil
}

func writeHolder(f *os.File, h holder) error {
	raw, err := json.Marshal(h)
	if err != nil {
		return err
	}
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err = f.WriteAt(raw, 0)
	return err
}

// readHolder returns the zero holder when the file is just being written.
func readHolder(path string) (h holder) {
	raw, err := os.ReadFile(path)
	if err != nil || json.Unmarshal(raw, &h) != nil {
		return holder{}
	}
	return h
}

// release may be called twice. It unlocks before it closes: a child that is
// just being forked holds a copy of the file until it runs its program, and a
// lock ends with its last copy only.
func (h *hold) release() {
	_ = syscall.Flock(int(h.file.Fd()), syscall.LOCK_UN)
	_ = h.file.Close()
}

// makeDataFolder leaves the rights of an existing folder alone: it may be one
// that other things live in. A new one of root's can be passed through, for
// the database's user, but not listed.
func makeDataFolder(dir string) error {
	mode := fs.FileMode(0o700)
	if os.Geteuid() == 0 {
		mode = 0o711
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return folderUnusable(dir, err)
	}
	err := os.Mkdir(dir, mode)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err == nil {
		err = os.Chmod(dir, mode) // whatever the umask took
	}
	if err != nil {
		return folderUnusable(dir, err)
	}
	return nil
}

func folderUnusable(dir string, err error) error {
	f := fault.New(fault.Unavailable, "data_folder_unusable", "The data folder %s cannot be used: %v.", dir, rootCause(err))
	return f.Do("Choose another with --data, or run this as the user whom the folder belongs to.").Because(err)
}

// rootCause leaves the path out of a message that names it already.
func rootCause(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}
