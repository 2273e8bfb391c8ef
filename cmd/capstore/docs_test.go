package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"
)

// model is the command line as kong built it.
func model(t *testing.T) *kong.Application {
	t.Helper()
	parser, err := newParser(&cli{}, io.Discard, io.Discard, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	return parser.Model
}

// marked returns the part of a page between its two comments.
func marked(t *testing.T, page, name string) string {
	t.Helper()
	_, rest, found := strings.Cut(page, "<!-- "+name+" -->\n")
	part, _, ended := strings.Cut(rest, "<!-- end of "+name+" -->")
	if !found || !ended {
		t.Fatalf("the page has no part for the %s", name)
	}
	return part
}

func TestOperatorsPageListsEverySettingAndCommand(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../docs/operators.md")
	if err != nil {
		t.Fatal(err)
	}
	app := model(t)
	for name, want := range map[string]string{"settings": settingsTable(app), "commands": commandsTable(app)} {
		if diff := cmp.Diff(want, marked(t, string(raw), name)); diff != "" {
			t.Errorf("the %s of docs/operators.md are not the program's; put this there:\n%s\n%s", name, want, diff)
		}
	}
}

func settingsTable(app *kong.Application) string {
	b := &strings.Builder{}
	fmt.Fprint(b, "| flag | variable | default | what |\n| --- | --- | --- | --- |\n")
	for _, f := range app.Flags {
		if f.Name != "help" {
			fmt.Fprintf(b, "| `--%s` | `%s` | %s | %s |\n", f.Name, strings.Join(f.Envs, "`, `"), code(f.Default), f.Help)
		}
	}
	return b.String()
}

func commandsTable(app *kong.Application) string {
	b := &strings.Builder{}
	fmt.Fprint(b, "| command | flags of its own | what |\n| --- | --- | --- |\n")
	for _, leaf := range app.Leaves(true) {
		var flags []string
		for _, f := range leaf.Flags {
			flag := "--" + f.Name
			if !f.IsBool() {
				flag += " " + strings.ToUpper(f.Name)
			}
			if !f.Required {
				flag = "[" + flag + "]"
			}
			flags = append(flags, flag)
		}
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", leaf.FullPath(), code(strings.Join(flags, " ")), leaf.Help)
	}
	return b.String()
}

func code(s string) string {
	if s == "" {
		return ""
	}
	return "`" + s + "`"
}

// TestEveryFlagHasAVariable holds the rule for the commands' own flags too.
func TestEveryFlagHasAVariable(t *testing.T) {
	t.Parallel()
	app := model(t)
	flags := app.Flags
	for _, leaf := range app.Leaves(true) {
		flags = append(flags, leaf.Flags...)
	}
	for _, f := range flags {
		if f.Name != "help" && (len(f.Envs) != 1 || !strings.HasPrefix(f.Envs[0], "CAPSTORE_")) {
			t.Errorf("--%s has the variables %v, want one CAPSTORE_…", f.Name, f.Envs)
		}
	}
}

var (
	required = regexp.MustCompile(`(?m)^\s+(\S+/\S+|\S+\.\S+) v\d\S*`)
	listed   = regexp.MustCompile(`(?m)^\| (@?\S+) \| (\S.*?) \|`)
)

func TestLicencesPageListsWhatIsUsed(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/licences.md")
	if err != nil {
		t.Fatal(err)
	}
	has := map[string]bool{}
	for _, m := range listed.FindAllStringSubmatch(string(page), -1) {
		has[m[1]] = true
	}
	for _, name := range dependencies(t) {
		if !has[name] {
			t.Errorf("docs/licences.md does not name the licence of %s", name)
		}
	}
}

func dependencies(t *testing.T) []string {
	t.Helper()
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range required.FindAllStringSubmatch(string(mod), -1) {
		names = append(names, m[1])
	}
	raw, err := os.ReadFile("../../package.json")
	if err != nil {
		t.Fatal(err)
	}
	var pkg struct{ Dependencies, DevDependencies, OptionalDependencies map[string]string }
	if err := json.Unmarshal(raw, &pkg); err != nil {
		t.Fatal(err)
	}
	for _, group := range []map[string]string{pkg.Dependencies, pkg.DevDependencies, pkg.OptionalDependencies} {
		for name := range group {
			names = append(names, name)
		}
	}
	if len(names) < 20 {
		t.Fatalf("only %d dependencies found: the patterns no longer fit", len(names))
	}
	return names
}
