package i18n

import (
	"testing"
	"time"
)

func TestMatch(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, setting, header, want string }{
		{"nothing known", "", "", "en"},
		{"setting wins", "ko", "en-GB,en;q=0.9", "ko"},
		{"header", "", "fr-FR, ko-KR;q=0.8, en;q=0.5", "ko"},
		{"unknown language", "", "fr", "en"},
		{"quality", "", "en;q=0.3, ko;q=0.7", "ko"},
		{"header that is none", "", ";;;=,q", "en"},
		{"unknown setting", "xx", "ko", "ko"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got := Match(tc.setting, tc.header).Lang(); got != tc.want {
				t.Errorf("Match(%q, %q) = %s, want %s", tc.setting, tc.header, got, tc.want)
			}
		})
	}
}

func TestTexts(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, got, want string }{
		{"places", English.T("common.copy_named", "name", "<b>{name}"), "Copy <b>{name}"},
		{"Korean", Korean.T("common.copy_named", "name", "digest"), "digest 복사"},
		{"one", English.N("form.summary", 1), "1 thing needs correcting"},
		{"many, grouped", English.N("form.summary", 1200), "1,200 things need correcting"},
		{"a language without plural", Korean.N("form.summary", 1), "고쳐야 할 항목이 1개 있습니다"},
		{"or: no such key", English.Or("fault.no_such", "as it came", nil), "as it came"},
		{"or: place not given", English.Or("common.copy_named", "as it came", nil), "as it came"},
		{"or: given", English.Or("common.copy_named", "", map[string]any{"name": "x"}), "Copy x"},
	} {
		if tc.got != tc.want {
			t.Errorf("%s: got %q, want %q", tc.name, tc.got, tc.want)
		}
	}
}

func TestMissingKeyPanicsUnderTest(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("a missing key went unnoticed")
		}
	}()
	English.T("no.such.key")
}

func TestFormats(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	ago := func(l Locale, d time.Duration) string { return l.Ago(now.Add(-d), now) }
	for _, tc := range []struct{ got, want string }{
		{English.Number(1234567), "1,234,567"},
		{English.Percent(0.257), "25.7%"},
		{English.Bytes(0), "0 B"},
		{English.Bytes(1536), "1.5 KiB"},
		{English.Bytes(64 << 20), "64 MiB"},
		{English.Duration(340 * time.Millisecond), "340 ms"},
		{English.Duration(2500 * time.Millisecond), "2.5 s"},
		{Korean.Duration(3 * time.Minute), "3분"},
		{ago(English, 5*time.Second), "just now"},
		{ago(English, time.Minute), "1 minute ago"},
		{ago(English, 26*time.Hour), "yesterday"},
		{ago(English, -2*time.Hour), "in 2 hours"},
		{ago(English, 40*24*time.Hour), "21 Oct 2026"},
		{ago(Korean, 3*time.Hour), "3시간 전"},
		{ago(Korean, 40*24*time.Hour), "2026년 10월 21일"},
		{English.DateTime(now), "30 Nov 2026, 12:00 UTC"},
	} {
		if tc.got != tc.want {
			t.Errorf("got %q, want %q", tc.got, tc.want)
		}
	}
}
