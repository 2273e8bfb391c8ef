package interchange

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"

	"capstore/internal/capability"
	"capstore/internal/fault"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/unicode/norm"
)

// Limits of an archive. They hold while it is read: nothing that it says of
// itself is believed.
const (
	MaxArchive  = 64 << 20 // bytes of the archive itself
	maxEntries  = 2000
	maxUnpacked = 50 << 20
	maxRatio    = 200
	// ratioFrom is where the ratio begins to count: a small file of blanks is
	// no bomb.
	ratioFrom = 128 << 10
)

// archiveFault refuses the whole archive, for an entry where there is one.
func archiveFault(code, entry, format string, args ...any) *fault.Fault {
	kind := fault.Invalid
	if code == "archive_too_large" {
		kind = fault.TooLarge
	}
	message := fmt.Sprintf(format, args...)
	if entry != "" {
		message = fmt.Sprintf("The entry %q %s", clip(entry, 120), message)
	}
	return fault.New(kind, code, "%s Nothing was imported.", message).
		Do("Pack the folder again without it, then import that.").With("entry", entry)
}

// readArchive lists a zip and unpacks it into memory. Any entry that breaks a
// rule refuses the whole.
func readArchive(r io.ReaderAt, size int64) (*tree, error) {
	if size > MaxArchive {
		return nil, archiveFault("archive_too_large", "", "The archive is larger than %d MiB.", MaxArchive>>20)
	}
	if err := checkDirectory(r, size); err != nil {
		return nil, err
	}
	z, err := zip.NewReader(r, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, archiveFault("archive_damaged", "", "The archive cannot be read.").Because(err)
	}
	a := &unpacker{tree: &tree{}, paths: capability.NewPathTree(), left: maxUnpacked}
	if err := a.declared(z.File); err != nil {
		return nil, err
	}
	for _, f := range z.File {
		if err := a.entry(f); err != nil {
			return nil, err
		}
	}
	a.tree.sort()
	return a.tree, nil
}

type unpacker struct {
	tree  *tree
	paths capability.PathTree
	left  int64 // bytes that may still be unpacked
}

// declared refuses early, and cheaply, what an archive itself says is too
// large. What it says wrongly is found while unpacking.
func (a *unpacker) declared(files []*zip.File) error {
	var total uint64
	for _, f := range files {
		if total += f.UncompressedSize64; f.UncompressedSize64 > maxUnpacked || total > maxUnpacked {
			return tooMuch(entryName(f))
		}
	}
	return nil
}

func tooMuch(entry string) error {
	return archiveFault("archive_too_large", entry, "brings the unpacked size above %d MiB.", maxUnpacked>>20)
}

func (a *unpacker) entry(f *zip.File) error {
	name := entryName(f)
	dir := strings.HasSuffix(name, "/")
	p := strings.TrimSuffix(name, "/")
	if err := checkEntry(f, p, dir); err != nil {
		return err
	}
	if dir {
		return nil
	}
	if other := a.paths.Add(p); other != "" {
		return archiveFault("archive_collision", p, "cannot lie beside %q: some systems take them for one.", clip(other, 120))
	}
	if junk(p) {
		a.tree.leaveOut(p)
		return nil
	}
	data, err := a.unpack(f, p)
	if err != nil {
		return err
	}
	if name != f.Name {
		a.tree.note(p, "name_decoded", "The file name was not written in UTF-8 composed form and has been decoded.")
	}
	a.tree.portable(p)
	a.tree.files = append(a.tree.files, TreeFile{
		Path: p, Size: int64(len(data)), Executable: f.Mode()&0o111 != 0,
		read: func() ([]byte, error) { return data, nil },
	})
	return nil
}

// entryName decodes a name: UTF-8 if it is valid, whatever the flag says, else
// code page 437, composed to the form that most systems write.
func entryName(f *zip.File) string {
	name := f.Name
	if !utf8.ValidString(name) {
		if s, err := charmap.CodePage437.NewDecoder().String(name); err == nil {
			name = s
		}
	}
	return norm.NFC.String(name)
}

const flagEncrypted = 0x1

func checkEntry(f *zip.File, p string, dir bool) error {
	if code, message := capability.PathFault(p); code != "" {
		return archiveFault("archive_path", p, "has a path that is not allowed. %s", message)
	}
	switch mode := f.Mode(); {
	case f.Flags&flagEncrypted != 0:
		return archiveFault("archive_encrypted", p, "is encrypted.")
	case mode&fs.ModeSymlink != 0:
		return archiveFault("archive_link", p, "is a link.")
	case mode&(fs.ModeType&^fs.ModeDir) != 0:
		return archiveFault("archive_device", p, "is a device or another special file.")
	case mode.IsDir() != dir:
		return archiveFault("archive_damaged", p, "says at once that it is a folder and that it is a file.")
	case f.Method != zip.Store && f.Method != zip.Deflate:
		return archiveFault("archive_method", p, "is packed by the method %d; only stored and deflated entries are read.", f.Method)
	}
	switch strings.ToLower(path.Ext(p)) {
	case ".zip", ".skill":
		if !junk(p) && !dir {
			return archiveFault("archive_nested", p, "is an archive within the archive.")
		}
	}
	return nil
}

// unpack reads one entry, and stops at the first byte beyond a limit.
func (a *unpacker) unpack(f *zip.File, p string) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, archiveFault("archive_damaged", p, "cannot be read.").Because(err)
	}
	defer func() { _ = r.Close() }() // reading has told of every error by then
	limit := int64(f.UncompressedSize64)
	byRatio := max(ratioFrom, int64(f.CompressedSize64)*maxRatio)
	var b bytes.Buffer
	n, err := io.Copy(&b, io.LimitReader(r, min(limit, byRatio, a.left)+1))
	switch {
	case n > a.left:
		return nil, tooMuch(p)
	case n > byRatio:
		return nil, archiveFault("archive_too_large", p, "grows more than %d-fold when it is unpacked.", maxRatio)
	case n > limit:
		return nil, archiveFault("archive_damaged", p, "is longer than it says.")
	case err != nil:
		return nil, archiveFault("archive_damaged", p, "is damaged.").Because(err)
	}
	a.left -= n
	return b.Bytes(), nil
}
