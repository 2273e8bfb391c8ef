package capability_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"capstore/internal/capability"
	"capstore/internal/fault"

	"github.com/Masterminds/semver/v3"
	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func version(t testing.TB, s string) capability.Version {
	t.Helper()
	v, err := capability.ParseVersion(s)
	if err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return v
}

func TestParseVersionRefusesAndCorrects(t *testing.T) {
	t.Parallel()
	for in, suggestion := range map[string]string{
		"v1.2.3":                 "1.2.3",
		"V1.2":                   "1.2.0",
		"1.2":                    "1.2.0",
		"1":                      "1.0.0",
		"1.0":                    "1.0.0",
		" 1.2.3 ":                "1.2.3",
		"01.2.3":                 "1.2.3",
		"1.0.0-01":               "1.0.0-1",
		"1.10.0+build.7":         "1.10.0",
		"1.0.0-rc.1+b":           "1.0.0-rc.1",
		"1.0.0-a..b":             "1.0.0-a.b",
		"1.2.3.4":                "1.2.3-4",
		"1.2.3rc1":               "1.2.3-rc1",
		"":                       "",
		"latest":                 "",
		"^1.2.3":                 "",
		"1.2.3 - 2.0.0":          "",
		"-1.2.3":                 "",
		"１.2.3":                  "",
		"1.2.3\n":                "1.2.3",
		"1.2.3-ü":                "",
		strings.Repeat("9", 200): "",
	} {
		_, err := capability.ParseVersion(in)
		f := fault.From(err)
		if err == nil || f.Kind != fault.Invalid || f.Code != "bad_version" {
			t.Errorf("%q: %v", in, err)
			continue
		}
		if got, _ := f.Detail["suggestion"].(string); got != suggestion {
			t.Errorf("%q: suggestion %q, want %q", in, got, suggestion)
		}
		if suggestion != "" && !strings.Contains(f.Message, suggestion) {
			t.Errorf("%q: the message does not propose %s: %s", in, suggestion, f.Message)
		}
	}
}

func TestVersionsOrderByPrecedence(t *testing.T) {
	t.Parallel()
	want := []string{
		"0.0.0-0", "0.0.0", "0.0.1-seed", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2",
		"1.0.0-beta.11", "1.0.0-rc.1", "1.0.0", "1.9.0", "1.10.0", "2.0.0-alpha.1", "2.0.0-alpha.beta", "2.0.0-alpha-1",
		"2.0.0-rc.1", "2.0.0", "18446744073709551616.0.0", "123456789012345678901234567890.0.0",
	}
	var versions []capability.Version
	for _, s := range want {
		versions = append(versions, version(t, s))
	}
	slices.Reverse(versions)
	slices.SortFunc(versions, capability.Version.Compare)
	var got []string
	for _, v := range versions {
		got = append(got, v.String())
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// genVersion draws versions whose parts are close to each other, so that
// ties and neighbours come up.
var genVersion = rapid.Custom(func(t *rapid.T) string {
	number := rapid.OneOf(rapid.StringMatching(`0|[1-9][0-9]?`), rapid.StringMatching(`[1-9][0-9]{0,18}`))
	id := rapid.OneOf(number, rapid.StringMatching(`[0-9]{0,2}[a-bA-B-][0-9a-b-]{0,2}`))
	s := number.Draw(t, "major") + "." + number.Draw(t, "minor") + "." + number.Draw(t, "patch")
	if pre := rapid.SliceOfN(id, 0, 3).Draw(t, "pre"); len(pre) > 0 {
		s += "-" + strings.Join(pre, ".")
	}
	return s
})

func TestSortKeyOrderIsSemverPrecedence(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := genVersion.Draw(t, "a"), genVersion.Draw(t, "b")
		va, errA := capability.ParseVersion(a)
		vb, errB := capability.ParseVersion(b)
		if errA != nil || errB != nil {
			t.Fatalf("refused: %v %v", errA, errB)
		}
		if va.String() != a {
			t.Fatalf("%s is written %s", a, va)
		}
		want := semver.MustParse(a).Compare(semver.MustParse(b))
		if got := cmp.Compare(va.SortKey(), vb.SortKey()); got != want {
			t.Fatalf("%s against %s: keys say %d, semver %d", a, b, got, want)
		}
		if (va.SortKey() == vb.SortKey()) != (a == b) {
			t.Fatalf("%s and %s share a key", a, b)
		}
	})
}

func TestBumpIsTheSmallestStepUp(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ from, bump, want string }{
		{"1.2.3", "", "1.2.4"}, {"1.2.3", "patch", "1.2.4"}, {"1.2.3", "minor", "1.3.0"}, {"1.2.3", "major", "2.0.0"},
		{"1.2.3-rc.1", "patch", "1.2.3"}, {"1.2.3-rc.1", "minor", "1.3.0"}, {"1.3.0-rc.1", "minor", "1.3.0"},
		{"2.0.0-rc.1", "major", "2.0.0"}, {"2.1.0-rc.1", "major", "3.0.0"},
		{"0.0.9", "patch", "0.0.10"}, {"0.99.0", "minor", "0.100.0"},
		{"99999999999999999999.0.0", "major", "100000000000000000000.0.0"},
	} {
		got, err := capability.Bump(version(t, tc.from), tc.bump)
		if err != nil || got.String() != tc.want {
			t.Errorf("%s %s = %v (%v), want %s", tc.from, tc.bump, got, err, tc.want)
		}
	}
	if _, err := capability.Bump(version(t, "1.0.0"), "huge"); !fault.Is(err, fault.Invalid) {
		t.Errorf("an unknown bump: %v", err)
	}
	rapid.Check(t, func(t *rapid.T) {
		v, err := capability.ParseVersion(genVersion.Draw(t, "v"))
		if err != nil {
			t.Fatal(err)
		}
		next, err := capability.Bump(v, rapid.SampledFrom([]string{"patch", "minor", "major"}).Draw(t, "bump"))
		if err != nil || next.Compare(v) <= 0 || next.IsPre() {
			t.Fatalf("%s bumped to %s: %v", v, next, err)
		}
	})
}

func TestLatestPrefersReleases(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		want string
		of   []string
	}{
		{"1.10.0", []string{"1.10.0", "1.9.0", "2.0.0-rc.1", "2.0.0-alpha.1"}},
		{"2.0.0-rc.1", []string{"2.0.0-alpha.1", "2.0.0-rc.1", "1.0.0-z"}},
		{"1.0.0", []string{"1.0.0"}},
	} {
		var versions []capability.Version
		for _, s := range tc.of {
			versions = append(versions, version(t, s))
		}
		if got, ok := capability.Latest(versions); !ok || got.String() != tc.want {
			t.Errorf("latest of %v = %v %v", tc.of, got, ok)
		}
	}
	if _, ok := capability.Latest(nil); ok {
		t.Error("nothing has a latest")
	}
}

func TestNextVersion(t *testing.T) {
	t.Parallel()
	newest := version(t, "1.4.0")
	for _, tc := range []struct {
		newest         *capability.Version
		explicit, bump string
		want, code     string
	}{
		{nil, "", "", "1.0.0", ""},
		{nil, "", "major", "1.0.0", ""},
		{nil, "0.1.0-a", "", "0.1.0-a", ""},
		{&newest, "", "", "1.4.1", ""},
		{&newest, "", "minor", "1.5.0", ""},
		{&newest, "1.4.1-rc.1", "", "1.4.1-rc.1", ""},
		{&newest, "1.4.0", "", "", "version_not_newer"},
		{&newest, "1.4.0-rc.1", "", "", "version_not_newer"},
		{&newest, "v2", "", "", "bad_version"},
		{&newest, "2.0.0", "major", "", "invalid"},
		{nil, "", "big", "", "invalid"},
	} {
		got, err := capability.NextVersion(tc.newest, tc.explicit, tc.bump)
		if tc.code != "" {
			if !fault.HasCode(err, tc.code) || len(fault.From(err).Fields) == 0 {
				t.Errorf("%+v: %v", tc, err)
			}
			continue
		}
		if err != nil || got.String() != tc.want {
			t.Errorf("%+v = %v, %v", tc, got, err)
		}
	}
}

func FuzzParseVersion(f *testing.F) {
	for _, s := range []string{"1.2.3", "1.0.0-alpha.1", "v1", "1.0.0-01", "1.0.0+b", "", "9.9.9-\x00", "1.2.3-é"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, err := capability.ParseVersion(s)
		if err != nil {
			if near, _ := fault.From(err).Detail["suggestion"].(string); near != "" {
				if _, err := capability.ParseVersion(near); err != nil {
					t.Fatalf("%q: the suggestion %q is refused too", s, near)
				}
			}
			return
		}
		if v.String() != s || strings.ContainsAny(s, "+ \n") {
			t.Fatalf("%q was read as %s", s, v)
		}
		if parsed, err := semver.StrictNewVersion(s); err == nil && parsed.Original() != s {
			t.Fatalf("%q is %s to the library", s, parsed)
		}
	})
}
