package capability

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"maps"

	"capstore/internal/jsonx"
)

// filesPath is where a skill or a hook has its files.
const filesPath = specPath + "/files"

// Blob is a file's content by its size and digest.
type Blob struct {
	Size   int    `json:"size"` // bytes
	SHA256 string `json:"sha256"`
}

// BinaryChange is how a file changed that is not compared by lines; nil on the
// side where it is not.
type BinaryChange struct {
	Before *Blob `json:"before,omitempty"`
	After  *Blob `json:"after,omitempty"`
}

func listOf(v any) []any {
	list, _ := v.([]any)
	return list
}

// treeFile is a file as a value of jsonx.Parse.
type treeFile map[string]any

func fileOf(v any) treeFile {
	file, _ := v.(map[string]any)
	return file
}

func (f treeFile) text(key string) string {
	s, _ := f[key].(string)
	return s
}

func (f treeFile) binary() bool { return f.text("encoding") == EncodingBase64 }

// blob is nil for no file. What is no base64 counts as it is written.
func (f treeFile) blob() *Blob {
	if f == nil {
		return nil
	}
	content := []byte(f.text("content"))
	if f.binary() {
		if raw, err := base64.StdEncoding.DecodeString(f.text("content")); err == nil {
			content = raw
		}
	}
	sum := sha256.Sum256(content)
	return &Blob{Size: len(content), SHA256: hex.EncodeToString(sum[:])}
}

// about is the file without its content.
func (f treeFile) about() map[string]any {
	out := maps.Clone(f)
	delete(out, "content")
	return out
}

// files compares two sets of files: those in both member by member, those in
// one by their lines or, where they have none, their size and digest. One that
// went while another came with its content was renamed.
func (d *differ) files(before, after namedList) {
	from := renames(before, after)
	gone := map[string]bool{}
	for _, old := range from {
		gone[old] = true
	}
	for _, name := range union(before.names, after.names) {
		was, is := fileOf(before.values[name]), fileOf(after.values[name])
		path := jsonx.Pointer(filesPath, name)
		switch {
		case was != nil && is != nil:
			d.file(path, was, is)
		case is == nil && gone[name]:
		case is == nil:
			d.wholeFile(Change{Path: path, Op: OpRemoved, Before: encoded(was.about())}, was, nil)
		case from[name] != "":
			old := fileOf(before.values[from[name]])
			d.append(Change{Path: path, Op: OpChanged, Before: encoded(old.about()), After: encoded(is.about()), RenamedFrom: from[name]})
		default:
			d.wholeFile(Change{Path: path, Op: OpAdded, After: encoded(is.about())}, nil, is)
		}
	}
}

// renames finds the old name of every new file whose content stood in one that
// went. An empty file says nothing of where it came from.
func renames(before, after namedList) map[string]string {
	content := func(f treeFile) string { return shortDigest(64, f.text("encoding"), f.text("content")) }
	went := map[string][]string{}
	for _, name := range before.names {
		if file := fileOf(before.values[name]); after.values[name] == nil && file.text("content") != "" {
			went[content(file)] = append(went[content(file)], name)
		}
	}
	out := map[string]string{}
	for _, name := range after.names {
		file := fileOf(after.values[name])
		if before.values[name] != nil || file.text("content") == "" {
			continue
		}
		if old := went[content(file)]; len(old) > 0 {
			out[name], went[content(file)] = old[0], old[1:]
		}
	}
	return out
}

func (d *differ) wholeFile(c Change, was, is treeFile) {
	if was.binary() || is.binary() {
		c.Binary = &BinaryChange{Before: was.blob(), After: is.blob()}
	} else {
		c.Text = d.lines(c.Path, was.text("content"), is.text("content"))
	}
	d.append(c)
}

// file compares two files of one path, the content last.
func (d *differ) file(path string, was, is treeFile) {
	d.objects(path, was.about(), is.about())
	if was.text("content") == is.text("content") && was.binary() == is.binary() {
		return
	}
	path = jsonx.Pointer(path, "content")
	if was.binary() || is.binary() {
		d.append(Change{Path: path, Op: OpChanged, Binary: &BinaryChange{Before: was.blob(), After: is.blob()}})
		return
	}
	d.append(Change{
		Path: path, Op: OpChanged, Before: encoded(was.text("content")), After: encoded(is.text("content")),
		Text: d.lines(path, was.text("content"), is.text("content")),
	})
}
