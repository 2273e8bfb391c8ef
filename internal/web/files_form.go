package web

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/interchange"
	"capstore/internal/jsonx"
	"capstore/internal/workspace"
	"capstore/views"
)

// fileList is what lies beside a skill or hook while its form is being
// written. The form carries paths and digests; contents come from the version
// that the edit starts from, and from what was staged. One file may be open: it
// alone has its text in the form.
type fileList struct {
	rows []fileRow
	open int // -1 for none
	// typed is the text in the form of the file that is open; nil where its
	// content cannot be typed.
	typed *string
	// contents holds, by digest, what is known of the rows' contents.
	contents map[string][]byte
	base     map[string]baseFile
	// document is the SKILL.md that the fields of the form were read from; ""
	// for none.
	document string
	notes    []string // on what was uploaded
}

// fileRow is one file of the list as the form carries it.
type fileRow struct {
	Path string `json:"p"`
	// Digest is left out of the form where the content is the base's, so that
	// it stays that when somebody else changes the base meanwhile.
	Digest string `json:"d,omitempty"`
	Size   int    `json:"s,omitempty"`
	Kept   string `json:"k,omitempty"` // its path in the version that the edit starts from
	Run    bool   `json:"x,omitempty"`
}

type baseFile struct {
	capability.File
	digest string
}

// maxFileList bounds what the field may hold: every path at its longest.
const maxFileList = 1 << 20

// filesBase are the files of the version that an edit starts from, by path, and
// the list that begins with them.
func newFileList(files []capability.File) (fileList, error) {
	l := fileList{open: -1, contents: map[string][]byte{}, base: map[string]baseFile{}}
	for _, f := range files {
		content, err := f.Bytes()
		if err != nil {
			return l, err
		}
		digest := l.know(content)
		l.base[f.Path] = baseFile{f, digest}
		l.rows = append(l.rows, fileRow{Path: f.Path, Digest: digest, Size: len(content), Kept: f.Path, Run: f.Executable})
	}
	return l, nil
}

func (l *fileList) know(content []byte) (digest string) {
	digest = workspace.ContentDigest(content)
	l.contents[digest] = content
	return digest
}

// read takes over what the form says of the list, which may be nothing yet.
func (l *fileList) read(form url.Values) error {
	if text := form.Get(views.FilesList); text != "" {
		l.rows = nil
		if err := json.Unmarshal([]byte(text), &l.rows); err != nil || len(text) > maxFileList {
			return fault.New(fault.Malformed, "bad_form", "The form could not be read.").Because(err)
		}
		for i, row := range l.rows {
			if was, kept := l.base[row.Kept]; kept && row.Digest == "" {
				l.rows[i].Digest, l.rows[i].Size = was.digest, len(l.contents[was.digest])
			}
		}
	}
	at, err := strconv.Atoi(form.Get(views.FilesOpen))
	if err != nil || at < 0 || at >= len(l.rows) {
		return nil
	}
	l.open = at
	row := &l.rows[at]
	if form.Has(views.FilesPath) {
		row.Path, row.Run = strings.TrimSpace(form.Get(views.FilesPath)), form.Get(views.FilesRun) != ""
	}
	if form.Has(views.FilesText) {
		text := form.Get(views.FilesText)
		l.typed = &text
	}
	return nil
}

// write puts the list into the form, where the next request finds it.
func (l *fileList) write(form url.Values) {
	form.Set(views.FilesList, l.encoded())
	for _, field := range []string{views.FilesOpen, views.FilesPath, views.FilesRun, views.FilesText} {
		form.Del(field)
	}
	if l.open < 0 {
		return
	}
	form.Set(views.FilesOpen, strconv.Itoa(l.open))
	if l.typed != nil {
		form.Set(views.FilesText, *l.typed)
	}
}

func (l *fileList) encoded() string {
	rows := make([]fileRow, len(l.rows))
	for i, row := range l.rows {
		if was, kept := l.base[row.Kept]; kept && was.digest == row.Digest {
			row.Digest, row.Size = "", 0
		}
		rows[i] = row
	}
	raw, err := json.Marshal(rows)
	if err != nil {
		return "[]" // plain data always encodes
	}
	return string(raw)
}

// content is a file's content as it stands, that of the open one with what was
// typed; false where it is not known.
func (l *fileList) content(at int) ([]byte, bool) {
	before, known := l.contents[l.rows[at].Digest]
	if at != l.open || l.typed == nil {
		return before, known
	}
	return []byte(asBefore(string(before), *l.typed)), true
}

// settle makes what was typed the content of the file that is open, and returns
// it where that is a new one.
func (l *fileList) settle() (changed []byte, is bool) {
	if l.open < 0 || l.typed == nil {
		return nil, false
	}
	row := &l.rows[l.open]
	content, _ := l.content(l.open)
	digest := l.know(content)
	if digest == row.Digest {
		return nil, false
	}
	row.Digest, row.Size = digest, len(content)
	return content, true
}

// asBefore is a typed text with the line ends that the text had before, all of
// which a browser sends alike. A text that differs in nothing else is the one
// before.
func asBefore(before, typed string) string {
	if strings.TrimPrefix(plainEnds.Replace(before), "\n") == strings.TrimPrefix(plainEnds.Replace(typed), "\n") {
		return before // the parser of a page drops a line break at the head
	}
	if crlf := strings.Count(before, "\r\n"); crlf > 0 && crlf == strings.Count(before, "\n") {
		return strings.ReplaceAll(typed, "\n", "\r\n")
	}
	return typed
}

var plainEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// missing are the digests of whose contents nothing is known: of all rows, or
// only of the one that is open.
func (l *fileList) missing(all bool) []string {
	var out []string
	for i, row := range l.rows {
		if _, known := l.contents[row.Digest]; !known && (all || i == l.open) && !slices.Contains(out, row.Digest) {
			out = append(out, row.Digest)
		}
	}
	return out
}

// files are the files as they would be published. A content that is no longer
// kept is a fault at its file.
func (l *fileList) files(r *reading) []capability.File {
	var out []capability.File
	for i, row := range l.rows {
		content, known := l.content(i)
		at := jsonx.Pointer("/spec/files", strconv.Itoa(i))
		switch {
		case !known:
			r.add(at+"/path", "content_gone", "Its content is no longer there. Upload it again, or take the file out.")
		case i == l.open && l.typed != nil && !isText(content):
			r.add(at+"/content", "not_text", "This is no text in UTF-8. Upload the file instead of typing it.")
		}
		out = append(out, l.file(row, content))
	}
	return out
}

// file is a row with its content. One that is the base's to the byte is its
// very file, since others may have spelt its media type in their own way.
func (l *fileList) file(row fileRow, content []byte) capability.File {
	f := interchange.FileOf(row.Path, content, row.Run)
	was, kept := l.base[row.Kept]
	if !kept {
		return f
	}
	if was.digest == workspace.ContentDigest(content) {
		f.Content, f.Encoding = was.Content, was.Encoding
	}
	if row.Path == row.Kept {
		f.MediaType = was.MediaType
	}
	return f
}

// add puts a file in, in place of one of that path, and returns where.
func (l *fileList) add(path string, content []byte, run bool) int {
	digest := l.know(content)
	at := slices.IndexFunc(l.rows, func(r fileRow) bool { return r.Path == path })
	if at < 0 {
		l.rows = append(l.rows, fileRow{Path: path, Run: run})
		at = len(l.rows) - 1
	}
	l.rows[at].Digest, l.rows[at].Size = digest, len(content)
	if at == l.open {
		l.typed = nil
	}
	return at
}

// show opens a file, or with -1 none.
func (l *fileList) show(at int) {
	if at >= len(l.rows) {
		at = -1
	}
	if at != l.open {
		l.open, l.typed = at, nil
	}
}

// remove takes a file out. The one after it moves up.
func (l *fileList) remove(at int) {
	if at < 0 || at >= len(l.rows) {
		return
	}
	open := l.open
	l.rows = slices.Delete(l.rows, at, at+1)
	switch {
	case open == at:
		l.open, l.typed = -1, nil
	case open > at:
		l.open--
	}
}
