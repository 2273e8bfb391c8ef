package web

import (
	"net/http"
	"strconv"
	"strings"

	"capstore/internal/fault"
	"capstore/views"
)

// write does what the pressed button says: publish, keep as a draft, go to
// another step, or show the form again with a row more or less, checked or
// tried. Whatever it is, nothing that was typed is lost by it.
func (s *Site) write(c *Ctx, a author) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	plainBreaks(form)
	v, op := views.Author{Form: views.Form{Values: form}, Typed: true}, form.Get("op")
	if a, err = s.takeFiles(c, a, form); err != nil {
		return s.showAuthor(c, http.StatusUnprocessableEntity, a, withFaults(c, v, err))
	}
	if c.Htmx() && !views.IsFileOp(op) {
		return s.writeFragment(c, a, v, op)
	}
	if list := views.AddedTo(op); list != "" {
		addRow(form, list)
		return s.showAuthor(c, http.StatusOK, a, v)
	}
	if list, row, ok := views.RemovedFrom(op); ok {
		removeRow(form, list, row)
		return s.showAuthor(c, http.StatusOK, a, v)
	}
	compactRows(form)
	return s.writeWhole(c, a, v, op)
}

// writeWhole does what concerns the form as a whole.
func (s *Site) writeWhole(c *Ctx, a author, v views.Author, op string) error {
	what, detail, _ := strings.Cut(op, ":")
	switch what {
	case views.OpPublish:
		return s.publishDraft(c, a, v)
	case views.OpSave:
		return s.saveDraft(c, a, v, detail)
	case views.OpStep:
		return s.goToStep(c, a, v, detail)
	case views.OpCheck:
		return s.checkDraft(c, a, v)
	case views.OpTry:
		return s.tryDraft(c, a, v, detail)
	case views.OpTake:
		return s.takeTools(c, a, v)
	case views.OpSchema:
		if err := switchSchema(v.Form.Values, detail); err != nil {
			return s.showAuthor(c, http.StatusUnprocessableEntity, a, withFaults(c, v, err))
		}
	}
	return s.showAuthor(c, http.StatusOK, a, v)
}

// writeFragment answers what the page asks for by itself: what the form lacks
// while it is filled in, a preview, and a try that is watched.
func (s *Site) writeFragment(c *Ctx, a author, v views.Author, op string) error {
	compactRows(v.Form.Values)
	what, detail, _ := strings.Cut(op, ":")
	switch what {
	case views.OpPreview:
		return c.Render(http.StatusOK, views.AuthorPreview(c.aboutAuthor(a, v)))
	case views.OpTry:
		return s.watchDraft(c, a, v, detail)
	}
	return s.liveDraft(c, a, v)
}

// goToStep keeps the form and shows another step of it. What was written is
// checked on the way from writing; every other way is free.
func (s *Site) goToStep(c *Ctx, a author, v views.Author, step string) error {
	if step == views.StepKind {
		return s.leaveForKinds(c, a, v)
	}
	from := v.Form.Value("step", views.StepWrite)
	v.Form.Values.Set("step", step)
	var err error
	if v.Draft, err = s.autosave(c, a, v.Form.Values); err != nil {
		return err
	}
	v.Typed = v.Draft == nil || v.Draft.SavedAt.IsZero()
	if step == views.StepCheck || step == views.StepPublish && from == views.StepWrite {
		return s.checkDraft(c, a, v)
	}
	return s.showAuthor(c, http.StatusOK, a, v)
}

// checkDraft says what is wrong with the form without publishing it.
func (s *Site) checkDraft(c *Ctx, a author, v views.Author) error {
	if err := s.draftFaults(c, a, v.Form.Values); err != nil {
		if !mendable(fault.From(err)) {
			return err
		}
		v.Form.Values.Set("step", views.StepWrite)
		return s.showAuthor(c, http.StatusUnprocessableEntity, a, withFaults(c, v, err))
	}
	v.Outcome = &views.AuthorOutcome{Checked: true}
	return s.showAuthor(c, http.StatusOK, a, v)
}

// liveDraft says what the form lacks while somebody fills it in, and keeps what
// stands in it.
func (s *Site) liveDraft(c *Ctx, a author, v views.Author) error {
	if err := s.draftFaults(c, a, v.Form.Values); err == nil {
		v.Outcome = &views.AuthorOutcome{Checked: true}
	} else if !mendable(fault.From(err)) {
		return err
	} else {
		v.Missing = c.showDraft(v.Form.Values, err).Summary
	}
	var err error
	if v.Draft, err = s.autosave(c, a, v.Form.Values); err != nil {
		return err
	}
	return c.Render(http.StatusOK, views.AuthorLive(c.aboutAuthor(a, v)))
}

// numberOf reads the number of a row, -1 for what is none.
func numberOf(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return -1
	}
	return n
}
