package api_test

import (
	"archive/zip"
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPathsOfSkillFiles sends as JSON the paths that an archive may not hold
// either: nothing relies on a page having looked at them.
func TestPathsOfSkillFiles(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	c := s.as(max)
	publish := func(paths ...string) *answer {
		files := []any{}
		for _, p := range paths {
			files = append(files, map[string]any{"path": p, "content": "x"})
		}
		return c.post(acme+"/capabilities", map[string]any{
			"name": "Tidy", "description": "Tidies.", "spec": map[string]any{"type": "skill", "instructions": "Do.", "files": files},
		})
	}
	for _, paths := range [][]string{
		{"../evil.md"}, {"a/../../evil.md"}, {"/srv/evil"}, {`C:\evil`}, {"C:/evil"}, {`a\..\..\evil`}, {"ok\x00.md"}, {"CON"}, {"refs/con.txt"},
		{strings.Repeat("n", 300)}, {""}, {"."}, {"a//b"}, {"a/."}, {"skill.md"}, {"a\u202egpj.sh"}, {"trailing."},
		{"a.md", "a.md"}, {"a.md", "A.md"}, {"a", "a/b"}, {"e\u0301.md", "\u00e9.md"},
	} {
		p := publish(paths...).refused(http.StatusUnprocessableEntity, "invalid")
		if len(p.Errors) == 0 || !strings.HasPrefix(p.Errors[0].Path, "/spec/files/") {
			t.Errorf("%q: %+v", paths, p.Errors)
		}
	}
	c.get(acme+"/capabilities/tidy").refused(http.StatusNotFound, "not_found")
	publish("refs/a.md", "data/BTC:USD.csv", "<b>.md").want(http.StatusCreated)
}

// TestUploads sends files that cannot be imported: each is told by what it is,
// and none leaves anything behind.
func TestUploads(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	c := s.as(max)
	const document = "---\nname: tidy\ndescription: Tidies.\n---\nDo it.\n"
	for name, tc := range map[string]struct {
		body   string
		status int
		code   string
		says   string
	}{
		"over 64 MiB": {strings.Repeat("x", 64<<20+1), http.StatusRequestEntityTooLarge, "body_too_large", "67108864"},
		"bomb":        {zipped(t, "tidy/SKILL.md", document, "tidy/x", strings.Repeat("\x00", 4<<20)), http.StatusRequestEntityTooLarge, "archive_too_large", "tidy/x"},
		"climbs":      {zipped(t, "tidy/SKILL.md", document, "../evil.md", "x"), http.StatusUnprocessableEntity, "archive_path", "../evil.md"},
		"case twins":  {zipped(t, "tidy/SKILL.md", document, "tidy/a", "x", "tidy/A", "y"), http.StatusUnprocessableEntity, "archive_collision", "tidy/A"},
		"no skill":    {zipped(t, "README.md", "x"), http.StatusUnprocessableEntity, "nothing_to_import", "SKILL.md"},
		"cut off":     {zipped(t, "tidy/SKILL.md", document)[:40], http.StatusUnprocessableEntity, "archive_damaged", ""},
	} {
		t.Run(name, func(t *testing.T) {
			c := *c
			c.t = t
			p := c.plus("Content-Type", "application/zip").post(acme+"/capabilities/import", tc.body).refused(tc.status, tc.code)
			if !strings.Contains(p.Detail, tc.says) {
				t.Errorf("the detail does not say %q: %s", tc.says, p.Detail)
			}
		})
	}
	for name, tc := range map[string]struct{ body, code string }{
		"nothing":      {" \n", "empty_document"},
		"other bytes":  {"\xe9\x00\x97", "not_utf8"},
		"NUL":          {document + "\x00", "nul_byte"},
		"over 1 MiB":   {strings.Repeat("x", 1<<20+1), "document_too_large"},
		"never closed": {"---\nname: tidy\n", "front_matter_unclosed"},
	} {
		got := c.plus("Content-Type", "text/markdown").post(acme+"/capabilities/import", tc.body).want(http.StatusOK).object()
		item := got["items"].([]any)[0].(map[string]any)
		if got["refused"] != 1.0 || got["made"] != 0.0 || item["code"] != tc.code || item["message"] == "" {
			t.Errorf("%s: %v", name, got)
		}
	}
	if got := c.get(acme + "/capabilities?scope=mine").want(http.StatusOK).object()["items"].([]any); len(got) != 0 {
		t.Errorf("left behind: %v", got)
	}
	suite := zipped(t, "x/group/one/SKILL.md", strings.Replace(document, "tidy", "one", 1), "x/group/two/SKILL.md", strings.Replace(document, "tidy", "two", 1),
		"x/group/two/refs/inner/SKILL.md", document, "x/.curated/three/SKILL.md", strings.Replace(document, "tidy", "three", 1), "x/bad/SKILL.md", "---\n")
	got := c.plus("Content-Type", "application/zip").post(acme+"/capabilities/import", suite).want(http.StatusOK).object()
	counts := map[string]any{}
	for _, key := range []string{"found", "made", "refused", "ignored", "unchanged"} {
		counts[key] = got[key]
	}
	if diff := cmp.Diff(map[string]any{"found": 5.0, "made": 3.0, "refused": 1.0, "ignored": 1.0, "unchanged": 0.0}, counts); diff != "" {
		t.Errorf("%s in %v", diff, got)
	}
}

// TestAVersionIsText sends versions as numbers, which YAML and JSON make of
// them: 1.10 would be 1.1.
func TestAVersionIsText(t *testing.T) {
	t.Parallel()
	c := newSite(t).as(max)
	for _, version := range []string{`1.0`, `1`, `1.10`, `true`, `["1.0.0"]`} {
		body := `{"name":"X","description":"Y","version":` + version + `,"spec":{"type":"command","template":"hi"}}`
		p := c.post(acme+"/capabilities", body).refused(http.StatusUnprocessableEntity, "invalid")
		if len(p.Errors) != 1 || p.Errors[0].Path != "/version" || p.Errors[0].Code != "wrong_type" {
			t.Errorf("%s: %+v", version, p.Errors)
		}
	}
}

// zipped packs names and contents, in their order.
func zipped(t *testing.T, pairs ...string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i+1 < len(pairs); i += 2 {
		w, err := z.Create(pairs[i])
		must(t, err)
		_, err = w.Write([]byte(pairs[i+1]))
		must(t, err)
	}
	must(t, z.Close())
	return b.String()
}
