package interchange_test

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"hash/crc32"
	"testing"
)

// entry is one entry of an archive written byte by byte: whatever the format
// can say, and what it must not.
type entry struct {
	name    string
	data    string
	raw     []byte // packed bytes, when they are not to be made from data
	method  uint16 // 0 stored, 8 deflated
	flags   uint16
	creator uint16 // 3 = Unix
	mode    uint32 // Unix mode, file type included
	size    uint32 // declared unpacked size, 0 = the true one
	crc     uint32 // 0 = the true one
	local   string // name in the local header, "" = name
	stamp   uint32 // time and date
}

type archive struct {
	entries []entry
	count   uint16 // declared, 0 = the true one
	comment string
	zip64   bool
}

func (a archive) bytes(t testing.TB) []byte {
	t.Helper()
	var out, dir bytes.Buffer
	le := binary.LittleEndian
	for _, e := range a.entries {
		packed := e.raw
		if packed == nil {
			packed = []byte(e.data)
			if e.method == 8 {
				packed = deflate(t, e.data)
			}
		}
		size, crc := e.size, e.crc
		if size == 0 {
			size = uint32(len(e.data))
		}
		if crc == 0 {
			crc = crc32.ChecksumIEEE([]byte(e.data))
		}
		at := uint32(out.Len())
		common := le.AppendUint16(nil, 20)
		common = le.AppendUint16(common, e.flags)
		common = le.AppendUint16(common, e.method)
		common = le.AppendUint32(common, e.stamp)
		common = le.AppendUint32(common, crc)
		common = le.AppendUint32(common, uint32(len(packed)))
		common = le.AppendUint32(common, size)
		local := e.local
		if local == "" {
			local = e.name
		}
		out.WriteString("PK\x03\x04")
		out.Write(common)
		out.Write(le.AppendUint16(nil, uint16(len(local))))
		out.Write(le.AppendUint16(nil, 0))
		out.WriteString(local)
		out.Write(packed)

		dir.WriteString("PK\x01\x02")
		dir.Write(le.AppendUint16(nil, e.creator<<8|20))
		dir.Write(common)
		dir.Write(le.AppendUint16(nil, uint16(len(e.name))))
		dir.Write(make([]byte, 8)) // extra, comment, disk, internal attributes
		dir.Write(le.AppendUint32(nil, e.mode<<16))
		dir.Write(le.AppendUint32(nil, at))
		dir.WriteString(e.name)
	}
	offset := uint32(out.Len())
	count := a.count
	if count == 0 {
		count = uint16(len(a.entries))
	}
	out.Write(dir.Bytes())
	if a.zip64 {
		out.WriteString("PK\x06\x07")
		out.Write(make([]byte, 16))
	}
	out.WriteString("PK\x05\x06")
	out.Write(make([]byte, 4))
	out.Write(le.AppendUint16(nil, count))
	out.Write(le.AppendUint16(nil, count))
	out.Write(le.AppendUint32(nil, uint32(dir.Len())))
	out.Write(le.AppendUint32(nil, offset))
	out.Write(le.AppendUint16(nil, uint16(len(a.comment))))
	out.WriteString(a.comment)
	return out.Bytes()
}

func deflate(t testing.TB, data string) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(data)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
