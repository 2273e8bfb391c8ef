package views

import (
	"strings"
	"testing"

	"capstore/internal/capability"
	"capstore/internal/i18n"
	"capstore/views/ui"
)

func TestDiffOfTheKernelIsDrawn(t *testing.T) {
	t.Parallel()
	before := "a\nb\nc\nd\ne\nf\ng\nrate = 1\nh\n"
	hunks := DiffHunks(capability.Lines(before, strings.Replace(before, "rate = 1", "rate = 2", 1)))
	doc := drawn(t, Page{Locale: i18n.English}, ui.Diff(ui.DiffArgs{Name: "x", Hunks: hunks}))
	for selector, want := range map[string]string{
		".diff-del .diff-text": "rate = 1", ".diff-add .diff-text": "rate = 2",
		".diff-del del": "1", ".diff-add ins": "2", ".diff-fold": "⋯ 4 unchanged lines",
	} {
		if got := strings.TrimSpace(doc.Find(selector).Text()); got != want {
			t.Errorf("%s: got %q, want %q", selector, got, want)
		}
	}
}
