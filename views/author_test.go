package views

import (
	"net/url"
	"testing"
)

func TestAuthorPaths(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ got, want string }{
		{ManagePartPath("acme", "acme", "fx", PartReach), "/acme/store/acme/fx/manage/reach"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s, want %s", tt.got, tt.want)
		}
	}
}

func TestRowsCountsWhatTheFormHolds(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		want int
	}{
		{"spec.files.0.path", 1}, {"spec.files.4.path", 5}, {"spec.files.-1.path", 0}, {"spec.files.x.path", 0}, {"spec.files", 0},
		{"spec.filesystem.3.path", 0}, {"spec.files.999999999.path", 0},
	} {
		if got := (Form{Values: url.Values{tt.name: {""}}}).Rows("spec.files"); got != tt.want {
			t.Errorf("%s: %d rows, want %d", tt.name, got, tt.want)
		}
	}
}

func TestRemovedFromReadsOnlyWhatTheFormSends(t *testing.T) {
	t.Parallel()
	for op, want := range map[string]struct {
		list string
		row  int
		ok   bool
	}{
		"remove:spec.files.2": {"spec.files", 2, true}, "remove:spec.files.-2": {}, "remove:spec.files.x": {}, "remove:x": {}, "add:spec.files": {}, "": {},
	} {
		list, row, ok := RemovedFrom(op)
		if ok != want.ok || ok && (list != want.list || row != want.row) {
			t.Errorf("%q: %q, %d, %v", op, list, row, ok)
		}
	}
}
