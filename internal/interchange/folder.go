package interchange

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/fault"

	"golang.org/x/text/unicode/norm"
)

// Limits of a folder: a folder may be a library of skills, so that they are
// wider than those of an archive, and a single file is read when it is needed.
const (
	maxFolderEntries = 200_000
	maxFolderDepth   = 24
)

// readFolder lists a folder. Links are not followed: they are noted and left
// out, and so is what has no name that an export could carry.
func readFolder(fsys fs.FS) (*tree, error) {
	t := &tree{}
	seen := 0
	err := fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			if p == "." {
				return err
			}
			t.note(p, "unreadable", "This cannot be opened and is left out.")
			return skip(d)
		}
		if seen++; seen > maxFolderEntries {
			return fault.New(fault.TooLarge, "folder_too_large", "The folder has more than %d files.", maxFolderEntries).
				Do("Import a folder further down.")
		}
		if p == "." {
			return nil
		}
		return t.walk(fsys, p, d)
	})
	if err != nil {
		if _, ok := errors.AsType[*fault.Fault](err); ok {
			return nil, err
		}
		return nil, fault.New(fault.Invalid, "folder_unreadable", "The folder cannot be read.").Because(err)
	}
	t.sort()
	return t, nil
}

func skip(d fs.DirEntry) error {
	if d != nil && d.IsDir() {
		return fs.SkipDir
	}
	return nil
}

func (t *tree) walk(fsys fs.FS, p string, d fs.DirEntry) error {
	name := norm.NFC.String(p)
	if d.IsDir() {
		if junk(p) || strings.Count(p, "/") >= maxFolderDepth {
			t.note(name, "not_searched", "This folder is not searched.")
			return fs.SkipDir
		}
		return nil
	}
	switch code, message := capability.PathFault(name); {
	case d.Type()&fs.ModeSymlink != 0:
		t.note(name, "link", "This is a link; links are not followed.")
	case !d.Type().IsRegular():
		t.note(name, "special", "This is not a regular file and is left out.")
	case junk(name):
		t.leaveOut(name)
	case code != "":
		t.note(strings.ToValidUTF8(name, "�"), "bad_path", "This is left out. "+message)
	default:
		return t.take(fsys, p, name, d)
	}
	return nil
}

func (t *tree) take(fsys fs.FS, p, name string, d fs.DirEntry) error {
	info, err := d.Info()
	if err != nil {
		t.note(name, "unreadable", "This cannot be opened and is left out.")
		return nil
	}
	t.portable(name)
	t.files = append(t.files, TreeFile{
		Path: name, Size: info.Size(), Executable: info.Mode()&0o111 != 0,
		read: func() ([]byte, error) { return readBounded(fsys, p, largest(name)) },
	})
	return nil
}

// largest is how many bytes of a file anything reads.
func largest(name string) int64 {
	if isExportFile(name) {
		return MaxArchive
	}
	return capability.MaxFilesTotal
}

// readBounded reads a file that may have grown since it was listed.
func readBounded(fsys fs.FS, p string, limit int64) ([]byte, error) {
	f, err := fsys.Open(p)
	if err != nil {
		return nil, fmt.Errorf("open: %w", err)
	}
	defer func() { _ = f.Close() }() // nothing was written
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	return data, nil
}
