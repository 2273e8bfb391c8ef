package interchange

import (
	"bytes"
	"encoding/binary"
	"io"
)

// Signatures and sizes of the records at the end of a zip.
const (
	endSize       = 22
	maxComment    = 1<<16 - 1
	headerSize    = 46
	endSignature  = "PK\x05\x06"
	zip64Locator  = "PK\x06\x07"
	headerMark    = "PK\x01\x02"
	locatorLength = 20
)

// checkDirectory counts the entries before the library reads them: it would
// make an object of each one first. The directory must lie where the end
// record says, and be as long.
func checkDirectory(r io.ReaderAt, size int64) error {
	damaged := func() error {
		return archiveFault("archive_damaged", "", "The file is not a zip archive, or is damaged.")
	}
	end, at, err := findEnd(r, size)
	if err != nil || end == nil {
		return damaged()
	}
	count := binary.LittleEndian.Uint16(end[10:])
	length, offset := int64(binary.LittleEndian.Uint32(end[12:])), int64(binary.LittleEndian.Uint32(end[16:]))
	if hasZip64(r, at) || count == 0xffff || length == 0xffffffff || offset == 0xffffffff {
		return archiveFault("archive_too_large", "", "The archive is of the kind for more than 4 GiB or 65,535 entries.")
	}
	if count > maxEntries {
		return tooMany()
	}
	if offset+length != at {
		return damaged()
	}
	found, err := countHeaders(io.NewSectionReader(r, offset, length), length)
	if err != nil {
		return damaged()
	}
	if found > maxEntries {
		return tooMany()
	}
	if found != int(count) {
		return damaged()
	}
	return nil
}

func tooMany() error {
	return archiveFault("archive_too_large", "", "The archive has more than %d entries.", maxEntries)
}

// findEnd returns the last end record and where it begins.
func findEnd(r io.ReaderAt, size int64) ([]byte, int64, error) {
	n := min(size, endSize+maxComment)
	tail := make([]byte, n)
	if _, err := r.ReadAt(tail, size-n); err != nil && err != io.EOF {
		return nil, 0, err
	}
	for i := len(tail) - endSize; i >= 0; i-- {
		if string(tail[i:i+4]) != endSignature {
			continue
		}
		comment := int(binary.LittleEndian.Uint16(tail[i+20:]))
		if i+endSize+comment == len(tail) {
			return tail[i : i+endSize], size - n + int64(i), nil
		}
	}
	return nil, 0, nil
}

func hasZip64(r io.ReaderAt, end int64) bool {
	if end < locatorLength {
		return false
	}
	mark := make([]byte, 4)
	_, err := r.ReadAt(mark, end-locatorLength)
	return err == nil && string(mark) == zip64Locator
}

// countHeaders walks the directory and stops one entry above the limit.
func countHeaders(r io.Reader, length int64) (int, error) {
	var header [headerSize]byte
	n := 0
	for length > 0 && n <= maxEntries {
		if _, err := io.ReadFull(r, header[:]); err != nil {
			return n, err
		}
		if !bytes.HasPrefix(header[:], []byte(headerMark)) {
			return n, io.ErrUnexpectedEOF
		}
		rest := int64(binary.LittleEndian.Uint16(header[28:])) + int64(binary.LittleEndian.Uint16(header[30:])) + int64(binary.LittleEndian.Uint16(header[32:]))
		if _, err := io.CopyN(io.Discard, r, rest); err != nil {
			return n, err
		}
		length -= headerSize + rest
		n++
	}
	return n, nil
}
