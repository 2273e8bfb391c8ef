package web

import (
	"net/url"

	"capstore/internal/capability"
	"capstore/views"
)

// maxSkillForm bounds the form of a skill in bytes: more than its files may
// have, so that too much is told at its place.
const maxSkillForm = 32 << 20

// takeFiles reads the files of a form that was sent, with what was uploaded
// along, does what the pressed button says of them, and brings the SKILL.md
// into step. The author that it returns knows the files. What cannot be taken is
// a fault, and the list stays.
func (s *Site) takeFiles(c *Ctx, a author, form url.Values) (author, error) {
	l, err := s.fileList(c, a, form)
	if err != nil {
		return a, err
	}
	a.files = l
	op := form.Get("op")
	if err := s.knowFiles(c, l, !views.IsFileOp(op)); err != nil {
		return a, err
	}
	fresh, err := c.changeFiles(l, form, op)
	if err != nil {
		l.write(form)
		return a, err
	}
	l.write(form)
	if err := s.Workspace.StageFiles(c.R.Context(), c.Actor(), fresh); err != nil {
		return a, err
	}
	return a, s.takeDocument(c, a, form)
}

// fileList is the list that the form holds, or else the base's own.
func (s *Site) fileList(c *Ctx, a author, form url.Values) (*fileList, error) {
	l, err := newFileList(besideOf(a.baseSpec()))
	if err != nil {
		return nil, err
	}
	return &l, l.read(form)
}

// besideOf are the files that lie beside a spec; nil for kinds without.
func besideOf(spec capability.Spec) []capability.File {
	switch spec := spec.(type) {
	case *capability.SkillSpec:
		return spec.Files
	case *capability.HookSpec:
		return spec.Files
	}
	return nil
}

// knowFiles reads the contents that were staged: of every row, or only of the
// open one.
func (s *Site) knowFiles(c *Ctx, l *fileList, all bool) error {
	staged, err := s.Workspace.StagedFiles(c.R.Context(), c.Actor(), l.missing(all))
	for digest, content := range staged {
		l.contents[digest] = content
	}
	return err
}

// changeFiles does what the button says and returns the contents that are new.
func (c *Ctx) changeFiles(l *fileList, form url.Values, op string) (fresh [][]byte, err error) {
	if views.IsFileOp(op) {
		if content, changed := l.settle(); changed {
			fresh = append(fresh, content)
		}
	}
	what, at := views.FileOp(op)
	switch what {
	case views.FileNew:
		fresh = append(fresh, []byte{})
		l.rows = append(l.rows, fileRow{Digest: l.know([]byte{})})
		l.show(len(l.rows) - 1)
	case views.FileOpen:
		l.show(at)
	case views.FileRemove:
		l.remove(at)
	case views.FileReplace:
		content, err := c.replacement(l)
		if err != nil {
			return fresh, err
		}
		fresh = append(fresh, content)
	case views.FileUpload:
		if !c.hasUploads() {
			return fresh, atUpload("no_file", "Choose a file first.")
		}
	}
	uploaded, err := c.addUploads(l, form)
	return append(fresh, uploaded...), err
}
