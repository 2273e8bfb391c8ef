package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fault kinds of the generated library, in the order in which they take turns.
const (
	plainSkill = iota
	withScripts
	quotedColon   // front matter that is no YAML and can be mended
	windowsBreaks // CRLF
	byteOrder     // BOM
	oddCase       // skill.md
	korean        // a name that leaves no letters for an id
	nested        // a SKILL.md further down
	twinFiles     // SKILL.md and Skill.md
	withNUL
	notUTF8
	emptyFile
	tooLarge
	neverClosed
	linked
	copied  // the skill before it once more
	renamed // another skill under the name of the one before
	oddName // a name that has to be mended or refused
	kindsOfSkill
)

// library writes n folders of skills into dir, one in ten with a fault that
// people met, and returns how many of them are what.
func library(t testing.TB, dir string, n int) {
	t.Helper()
	put := func(p, text string) {
		t.Helper()
		p = filepath.Join(dir, filepath.FromSlash(p))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for i := range n {
		kind := plainSkill
		if i%10 == 7 {
			kind = 1 + (i/10)%(kindsOfSkill-1)
		}
		at := fmt.Sprintf("group-%03d/skill-%05d", i/100, i)
		writeSkill(t, put, filepath.Join(dir, at), at, kind, i)
	}
}

func skillDocument(name, description string, i int) string {
	return "---\nname: " + name + "\ndescription: " + description + "\nlicense: MIT\n---\n\n# " + name + "\n\n" +
		strings.Repeat(fmt.Sprintf("Step %d of the work: read the input, compare it with the list and write down what differs.\n", i), 12)
}

func writeSkill(t testing.TB, put func(p, text string), dir, at string, kind, i int) {
	t.Helper()
	name := filepath.Base(dir)
	text := skillDocument(name, fmt.Sprintf("Does the task number %d when somebody asks for it.", i), i)
	doc := at + "/SKILL.md"
	switch kind {
	case withScripts:
		put(at+"/scripts/run.py", "#!/usr/bin/env python3\nprint(1)\n")
		put(at+"/data/BTC:USD.csv", "a,b\n")
	case quotedColon:
		text = strings.Replace(text, "Does the task", "Does: the task", 1)
	case windowsBreaks:
		text = strings.ReplaceAll(text, "\n", "\r\n")
	case byteOrder:
		text = "\ufeff" + text
	case oddCase:
		doc = at + "/skill.md"
	case korean:
		text = strings.Replace(text, "name: "+name, fmt.Sprintf("name: 송장 확인 %d", i), 1)
	case nested:
		put(at+"/refs/inner/SKILL.md", skillDocument("inner", "Lies inside.", i))
	case twinFiles:
		put(at+"/Skill.md", text+"\nother\n")
	case withNUL:
		text += "\x00"
	case notUTF8:
		text += "\xe9\x97"
	case emptyFile:
		text = ""
	case tooLarge:
		text += strings.Repeat("x", 4<<20)
	case neverClosed:
		text = "---\nname: " + name + "\ndescription: Never ends.\n"
	case linked:
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("/etc/passwd", filepath.Join(dir, "secrets.txt")); err != nil {
			t.Fatal(err)
		}
	case copied:
		before := fmt.Sprintf("skill-%05d", i-1)
		text = skillDocument(before, fmt.Sprintf("Does the task number %d when somebody asks for it.", i-1), i-1)
	case renamed:
		text = strings.Replace(text, "name: "+name, fmt.Sprintf("name: skill-%05d", i-1), 1)
	case oddName:
		text = strings.Replace(text, "name: "+name, fmt.Sprintf(`name: "  Odd_%d/Name!  "`, i), 1)
	}
	put(doc, text)
}
