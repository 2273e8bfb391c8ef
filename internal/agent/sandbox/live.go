package sandbox

import (
	"io"
	"strings"
)

// Live is what a program has printed so far, for somebody who watches it run.
// Make one with NewLive and hand it to a Run; read it at any time.
type Live struct {
	stdout, stderr tail
	mask           *Mask
}

// NewLive returns an empty log that masks the secret values.
func NewLive(secrets []string) *Live {
	return &Live{stdout: tail{limit: MaxLog}, stderr: tail{limit: MaxLog}, mask: NewMask(secrets)}
}

// Text returns the end of standard output and of standard error, masked. What
// may be the beginning of a secret waits until more of it is there.
func (l *Live) Text() (stdout, stderr string) { return l.read(&l.stdout), l.read(&l.stderr) }

func (l *Live) read(t *tail) string {
	text, cut := t.text()
	if cut {
		text = l.mask.Tail(text)
	} else {
		text = l.mask.Text(text)
	}
	return strings.ToValidUTF8(text[:len(text)-l.mask.begun(text)], "\uFFFD")
}

// begun is how many bytes at the end of s may be the beginning of a secret.
func (m *Mask) begun(s string) int {
	longest := 0
	for _, form := range m.forms {
		for n := min(len(form)-1, len(s)); n > longest; n-- {
			if strings.HasSuffix(s, form[:n]) {
				longest = n
			}
		}
	}
	return longest
}

func (l *Live) out() io.Writer { return &l.stdout }
func (l *Live) err() io.Writer { return &l.stderr }

// watched writes to w and to that stream of the log, where somebody watches.
func (j job) watched(w io.Writer, stream func(*Live) io.Writer) io.Writer {
	if j.live == nil {
		return w
	}
	return io.MultiWriter(w, stream(j.live))
}
