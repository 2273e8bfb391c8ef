package interchange_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"capstore/internal/i18n"
)

var (
	noteCode  = regexp.MustCompile(`(?:note\(|newNote\(|Code: |, )"([a-z0-9]+_[a-z0-9_]+|bridge|disabled|fragment|comments)",?\s*(?:Message: )?"[A-Z%]`)
	faultCode = regexp.MustCompile(`fault\.New\(fault\.[A-Za-z]+, "([a-z_]+)"`)
)

// What is said of a server in the preview is said in Korean too.
func TestServersSpeakKorean(t *testing.T) {
	t.Parallel()
	seen := 0
	for _, name := range []string{
		"address", "docker", "dockercatalog", "environment", "exportmcp", "exportserverjson", "headers", "json", "jsonc", "launch", "optional",
		"packages", "placeholder", "registrylist", "restore", "serverjson", "servermake", "servers", "supply", "transport",
	} {
		raw, err := os.ReadFile(filepath.Clean(name + ".go"))
		if err != nil {
			t.Fatal(err)
		}
		faults := faultCode.FindAllStringSubmatch(string(raw), -1)
		notes := noteCode.FindAllStringSubmatch(faultCode.ReplaceAllString(string(raw), ""), -1)
		for prefix, found := range map[string][][]string{"import.note.": notes, "fault.": faults} {
			for _, m := range found {
				seen++
				if !i18n.Korean.Has(prefix + m[1]) {
					t.Errorf("%s.go: no Korean words for %s%s", name, prefix, m[1])
				}
			}
		}
	}
	if seen < 70 {
		t.Errorf("only %d codes were found; the patterns do not fit the source any more", seen)
	}
}
