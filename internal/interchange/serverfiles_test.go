package interchange_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"capstore/internal/capability"
	"capstore/internal/interchange"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write testdata/servers/read.txt anew")

// Files as people have them are read as they always were: what each server
// became, what has to be given for it, and what was remarked.
func TestFilesOfPeople(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("testdata/servers/*")
	if err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "servers", "read.txt")
	var b strings.Builder
	for _, name := range names {
		if name == golden {
			continue
		}
		raw, err := os.ReadFile(filepath.Clean(name))
		if err != nil {
			t.Fatal(err)
		}
		i, err := interchange.FromUpload(raw, filepath.Base(name), interchange.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range i.Items() {
			summary(&b, item)
		}
	}
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(b.String(), "\n")); diff != "" {
		t.Errorf("read otherwise than %s (-then +now); if that is meant, run with -update:\n%s", golden, diff)
	}
}

func summary(b *strings.Builder, item interchange.Item) {
	fmt.Fprintf(b, "%s\n  %s %s %s", item.Path, item.Status, item.Format, item.As.Version)
	if item.Fault != nil {
		fmt.Fprintf(b, "%s: %s %v", item.Fault.Code, item.Fault.Message, item.Wants)
		for _, f := range item.Fault.Fields {
			fmt.Fprintf(b, "\n  %s %s: %s", f.Path, f.Code, f.Message)
		}
	}
	fmt.Fprintln(b)
	if spec, ok := item.Content.Spec.(*capability.MCPSpec); ok {
		fmt.Fprintf(b, "  %s: %s\n  %s%s %q\n", item.Content.Name, item.Content.Description, spec.URL, spec.Image, spec.Args)
		for _, s := range spec.RequiredSecrets {
			fmt.Fprintf(b, "  secret %s header=%q scheme=%q env=%q %s\n", s.Name, s.Header, s.Scheme, s.Env, s.Description)
		}
		for _, s := range spec.Settings {
			fmt.Fprintf(b, "  setting %s default=%q required=%t %s\n", s.Name, s.Default, s.Required, s.Description)
		}
	}
	for _, s := range item.Secrets {
		fmt.Fprintf(b, "  found the value of %s, %d bytes\n", s.Name, len(s.Value))
	}
	for _, n := range item.Notes {
		fmt.Fprintf(b, "  - %s %s: %s\n", strings.TrimPrefix(n.Path, item.Path), n.Code, n.Message)
	}
}
