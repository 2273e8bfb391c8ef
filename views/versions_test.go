package views

import "testing"

func TestPartsOfADiffAreReadAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	for _, part := range []DiffPart{
		{Path: "/spec/code"}, {Path: "/spec/code", From: 2000}, {Path: "/spec/files/a@2-3", First: 1, Last: 40},
	} {
		if got, ok := ParseDiffPart(part.String()); !ok || got != part {
			t.Errorf("%s is read as %+v", part, got)
		}
	}
	for _, text := range []string{"", "/spec/code", "spec@1", "/spec/code@-1", "/spec/code@1-", "/spec/code@1-0", "/a@99999999999"} {
		if got, ok := ParseDiffPart(text); ok {
			t.Errorf("%q is read as %+v", text, got)
		}
	}
}
