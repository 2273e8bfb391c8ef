package capability_test

import (
	"fmt"
	"strings"
	"testing"

	"capstore/internal/capability"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestIDFromName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Weather":                 "weather",
		"Weather Lookup (v2)":     "weather-lookup-v2",
		"  --Web__Search--  ":     "web-search",
		"Café Crème":              "cafe-creme",
		"Don't panic":             "dont-panic",
		"ＦＵＬＬ ｗｉｄｔｈ":              "full-width",
		strings.Repeat("ab ", 40): strings.TrimRight(strings.Repeat("ab-", 21), "-"),
	} {
		if got := capability.IDFromName(name); got != want {
			t.Errorf("%q = %q, want %q", name, got, want)
		}
	}
	// Where letters are lost, different names must still differ.
	lossy := []string{"서울 날씨", "부산 날씨", "날씨 API", "지도 API", "工具", "🙂", "", "!!!", "日本 tool"}
	seen := map[string]string{}
	for _, name := range lossy {
		id := capability.IDFromName(name)
		if other, taken := seen[id]; taken && name != "!!!" && other != "!!!" {
			t.Errorf("%q and %q are both %s", name, other, id)
		}
		seen[id] = name
	}
}

func checkID(t interface{ Fatalf(string, ...any) }, name string) {
	id := capability.IDFromName(name)
	if !capability.ValidID(id) {
		t.Fatalf("%q makes the id %q, which is none", name, id)
	}
	if again := capability.IDFromName(name); again != id {
		t.Fatalf("%q made %q, then %q", name, id, again)
	}
	if kept := capability.IDFromName(id); kept != id {
		t.Fatalf("the id %q makes another id %q", id, kept)
	}
}

func FuzzIDFromName(f *testing.F) {
	for _, s := range []string{"Weather", "서울 날씨", "", "İ", "ß", "a\x00b", "\xff", strings.Repeat("é", 100)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) { checkID(t, name) })
}

func TestIDFromNameIsAlwaysAnID(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) { checkID(t, rapid.String().Draw(t, "name")) })
}

func TestValidSlug(t *testing.T) {
	t.Parallel()
	for slug, want := range map[string]string{
		"acme": "", "a1": "", "a-": "", "0day": "", strings.Repeat("a", 39): "",
		"": "required", "a": "bad_slug", strings.Repeat("a", 40): "bad_slug", "-a": "bad_slug", "Acme": "bad_slug", "a_b": "bad_slug",
		"a/b": "bad_slug", "ä1": "bad_slug", "a b": "bad_slug", "acme\n": "bad_slug",
		"api": "reserved", "mcp": "reserved", "login": "reserved", "_capstore": "reserved", "static": "reserved", "healthz": "reserved",
		"LOGIN": "reserved", "setup": "reserved", "invite": "reserved", "account": "reserved", "readyz": "reserved", "metrics": "reserved",
		"logout": "reserved", "new": "reserved", "me": "reserved", "mine": "reserved",
	} {
		got := ""
		if fields := capability.ValidSlug(slug); len(fields) > 0 {
			got = fields[0].Code
			if fields[0].Path != "/slug" || fields[0].Message == "" {
				t.Errorf("%q: %+v", slug, fields[0])
			}
		}
		if got != want {
			t.Errorf("%q: %q, want %q", slug, got, want)
		}
	}
}

func TestNormalizeTags(t *testing.T) {
	t.Parallel()
	many := make([]string, 21)
	for i := range many {
		many[i] = fmt.Sprint("t", i)
	}
	for name, tc := range map[string]struct {
		in, want []string
		marks    []string
	}{
		"none":         {nil, []string{}, []string{}},
		"trimmed":      {[]string{"  Web ", "", "web", "WEB", "날씨"}, []string{"Web", "날씨"}, []string{}},
		"forms of é":   {[]string{"caf\u00e9", "cafe\u0301"}, []string{"caf\u00e9"}, []string{}},
		"too many":     {many, many, []string{"/tags too_many"}},
		"repeats fit":  {append(many[:20:20], "T1", "t2 "), many[:20], []string{}},
		"sixty":        {[]string{strings.Repeat("é", 60)}, []string{strings.Repeat("é", 60)}, []string{}},
		"too long":     {[]string{"ok", strings.Repeat("x", 61)}, []string{"ok", strings.Repeat("x", 61)}, []string{"/tags/1 too_long"}},
		"not plain":    {[]string{"a\u202eb"}, []string{"a\u202eb"}, []string{"/tags/0 not_plain_text"}},
		"not readable": {[]string{"\xff"}, []string{"\xff"}, []string{"/tags/0 invalid_utf8"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, fields := capability.NormalizeTags(tc.in)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tc.marks, marks(fields)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFoldName(t *testing.T) {
	t.Parallel()
	same := [][]string{
		{"web_search", "Web Search", "WEB.SEARCH", "web  search", "web/search", "_web_search_", "ｗｅｂ search", "wеb_sеarch", "web\u200b_search"},
		{"paypal", "pаypal", "PAYPAL", "ΡΑΥΡΑL"},
		{"straße", "STRASSE"},
		{"café", "cafe\u0301"},
		{"날씨", "날씨"},
	}
	for _, group := range same {
		for _, name := range group[1:] {
			if a, b := capability.FoldName(group[0]), capability.FoldName(name); a != b {
				t.Errorf("%q and %q are told apart: %q, %q", group[0], name, a, b)
			}
		}
	}
	for _, pair := range [][2]string{
		{"v1", "vl"}, {"web_search", "web-search"}, {"날씨", "지도"}, {"!!!", "???"}, {"search", "search2"}, {"rn", "m"},
	} {
		if capability.FoldName(pair[0]) == capability.FoldName(pair[1]) {
			t.Errorf("%q and %q are taken for one", pair[0], pair[1])
		}
	}
}

func TestFoldNameIgnoresCaseAndKeepsSomething(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.String().Draw(t, "name")
		folded := capability.FoldName(name)
		if (folded == "") != (name == "") {
			t.Fatalf("%q folds to %q", name, folded)
		}
		if upper := capability.FoldName(strings.ToUpper(name)); isASCII(name) && upper != folded {
			t.Fatalf("case counts: %q, %q", folded, upper)
		}
	})
}

// The short way for ASCII must give what the long way does: full-width letters
// take the long one and are compatible forms of the others.
func TestBothWaysOfFoldingAgree(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[ -~]{0,12}`).Draw(t, "name")
		wide := strings.Map(func(r rune) rune {
			if r == ' ' {
				return '\u3000'
			}
			return r + 0xFEE0
		}, name)
		if short, long := capability.FoldName(name), capability.FoldName(wide); short != long {
			t.Fatalf("%q folds to %q, %q to %q", name, short, wide, long)
		}
	})
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r > 126 }) < 0
}

func TestPlainText(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"  two\r\n\tlines  ":  "two lines",
		"a\u202eb\x00c\u200b": "abc",
		"\xffx":               "�x",
		"\U0001F469\u200d\U0001F467 \u0645\u06cc\u200c\u062e": "\U0001F469\u200d\U0001F467 \u0645\u06cc\u200c\u062e",
	} {
		if got := capability.PlainText(in); got != want {
			t.Errorf("%q = %q, want %q", in, got, want)
		}
	}
}
