// Package internal_test holds the rules that span packages.
package internal_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

// layers is the house from the ground up. A package imports only packages of
// lower layers, and within its layer only what within allows.
var layers = [][]string{
	{"internal/fault", "internal/jsonx", "internal/toolschema", "internal/toolsearch", "internal/i18n", "internal/capability",
		"internal/lifecycle", "internal/netguard", "static", "migrations"},
	{"internal/pg", "db"},
	{"internal/catalog", "internal/workspace", "internal/identity", "internal/secret"},
	{"internal/agent", "internal/registry", "internal/interchange"},
	{"views", "internal/ops"},
	{"internal/web", "internal/api", "internal/outward", "internal/mcpapi", "internal/httpd"},
	{"cmd"},
}

// within lists the imports allowed inside a layer, by the importing room.
var within = map[string][]string{
	"internal/jsonx":      {"internal/fault"},
	"internal/toolschema": {"internal/fault", "internal/jsonx"},
	"internal/capability": {"internal/fault", "internal/jsonx", "internal/toolschema"},
	"internal/netguard":   {"internal/fault"},
	"internal/pg":         {"db"},
	"internal/workspace":  {"internal/catalog", "internal/secret"},
	"internal/agent":      {"internal/registry"},
	"internal/web":        {"internal/httpd"},
	"internal/api":        {"internal/httpd"},
	"internal/outward":    {"internal/httpd"},
	"internal/mcpapi":     {"internal/httpd"},
}

// room returns the layer and the room of an import path of this module, or
// -1 when it is not one of the house's.
func room(pkg string) (int, string) {
	rel, ours := strings.CutPrefix(pkg, "capstore/")
	if !ours {
		return -1, ""
	}
	for level, rooms := range layers {
		for _, name := range rooms {
			if rel == name || strings.HasPrefix(rel, name+"/") {
				return level, name
			}
		}
	}
	return -1, rel
}

func TestImportsPointDown(t *testing.T) {
	t.Parallel()
	for _, pkg := range listPackages(t) {
		level, name := room(pkg.ImportPath)
		if level < 0 {
			if name != "" && name != "internal" {
				t.Errorf("%s stands in no layer: add it to the table", pkg.ImportPath)
			}
			continue
		}
		for _, imported := range pkg.Imports {
			to, other := room(imported)
			allowed := to < level || other == name || slices.Contains(within[name], other)
			if other != "" && !allowed {
				t.Errorf("%s imports %s, which does not point down", pkg.ImportPath, imported)
			}
		}
	}
}

// TestViewsHoldDataOnly keeps services out of the views: a view gets plain
// structs and calls nothing.
func TestViewsHoldDataOnly(t *testing.T) {
	t.Parallel()
	for _, pkg := range listPackages(t) {
		_, name := room(pkg.ImportPath)
		if name != "views" {
			continue
		}
		for _, imported := range pkg.Imports {
			if to, _ := room(imported); to > 0 && !strings.HasPrefix(imported, "capstore/views") {
				t.Errorf("%s imports %s: views get plain structs", pkg.ImportPath, imported)
			}
			if path.Base(pkg.ImportPath) == "ui" && strings.HasPrefix(imported, "capstore/internal/capability") {
				t.Errorf("views/ui imports %s: components know no project types", imported)
			}
		}
	}
}

type goPackage struct {
	ImportPath string
	Imports    []string
}

func listPackages(t *testing.T) []goPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", "capstore/...")
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("go list: %s", exit.Stderr)
		}
		t.Fatal(err)
	}
	var pkgs []goPackage
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return pkgs
		} else if err != nil {
			t.Fatal(err)
		}
		pkgs = append(pkgs, p)
	}
}
