package secret

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"capstore/internal/fault"
)

// readKeyFile reads a file that only its owner may. An error that wraps
// fs.ErrNotExist says that there is none.
func readKeyFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, unreadable(path, err)
	}
	if !info.Mode().IsRegular() {
		return nil, fault.New(fault.Unavailable, "secret_key_unreadable", "The key file %s is not a file.", path).
			Do("Whoever runs this server should put the key file back in its place.")
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return nil, fault.New(fault.Unavailable, "secret_key_exposed",
			"The key file %s is open to other users of this machine (mode %04o).", path, mode).
			Do(fmt.Sprintf("Whoever runs this server should run: chmod 600 '%s'. If others may have read it, rotate the key too.", path))
	}
	text, err := io.ReadAll(io.LimitReader(f, 1<<20))
	if err != nil {
		return nil, unreadable(path, err)
	}
	return text, nil
}

func unreadable(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return fault.New(fault.Unavailable, "secret_key_unreadable", "The key file %s cannot be read.", path).
		Do("Whoever runs this server should let it read that file, and nobody else.").Because(err)
}

// createKeyFile writes the file whole or not at all. Where there is one by now
// it stays as it is, and the error wraps fs.ErrExist.
func createKeyFile(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return unwritable(path, err)
	}
	return writeKeyFile(path, text, os.Link)
}

// replaceKeyFile writes the file in the place of the one that is there; a
// crash leaves one of the two.
func replaceKeyFile(path string, text []byte) error { return writeKeyFile(path, text, os.Rename) }

func writeKeyFile(path string, text []byte, publish func(from, to string) error) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".key-*") // mode 0600
	if err != nil {
		return unwritable(path, err)
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(text)
	err = errors.Join(err, tmp.Sync(), tmp.Close())
	if err == nil {
		err = publish(tmp.Name(), path)
	}
	if err == nil {
		err = syncFolder(filepath.Dir(path))
	}
	return unwritable(path, err)
}

func syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func unwritable(path string, err error) error {
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	return fault.New(fault.Unavailable, "secret_key_unwritable", "The key file %s cannot be written.", path).
		Do("Whoever runs this server should let it write to that folder.").Because(err)
}
