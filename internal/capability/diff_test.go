package capability_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"capstore/internal/capability"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func told(c capability.Changes) []string {
	out := []string{}
	for _, ch := range c.Changes {
		s := fmt.Sprintf("%s %s", ch.Op, ch.Path)
		if ch.Text == nil {
			s += fmt.Sprintf(" %s→%s", ch.Before, ch.After)
		}
		out = append(out, s)
	}
	return out
}

func TestEqualContentsHaveNoChanges(t *testing.T) {
	t.Parallel()
	for _, kind := range capability.Kinds {
		d := capability.Diff(sample(t, kind), sample(t, kind))
		if d.TypeChanged || len(d.Changes) > 0 {
			t.Errorf("%s: %+v", kind, d)
		}
		if raw, err := json.Marshal(d); err != nil || string(raw) != `{"typeChanged":false,"changes":[]}` {
			t.Errorf("%s: %s %v", kind, raw, err)
		}
	}
}

func TestDiffByPart(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		kind capability.Kind
		set  obj
		want []string
	}{
		"a word added in front": {capability.KindMCP, obj{"provides": []string{"alpha", "search", "create"}}, []string{`added /spec/provides/alpha →"alpha"`}},
		"a word gone":           {capability.KindMCP, obj{"provides": []string{"create"}}, []string{`removed /spec/provides/search "search"→`}},
		"only the order":        {capability.KindMCP, obj{"provides": []string{"create", "search"}}, []string{`changed /spec/provides ["search","create"]→["create","search"]`}},
		"a secret inserted": {capability.KindMCP, obj{"requiredSecrets": []obj{{"name": "NEW", "header": "X-New"}, {"name": "API_TOKEN", "description": "From the console"}, {"name": "ORG", "header": "X-Org2"}}}, []string{
			`changed /spec/requiredSecrets/ORG/header "X-Org"→"X-Org2"`, `added /spec/requiredSecrets/NEW →{"header":"X-New","name":"NEW"}`}},
		"a number respelt":   {capability.KindCode, obj{"parametersSchema": json.RawMessage(`{"type":"object","properties":{"n":{"type":"number","minimum":1}},"required":["n"]}`), "examples": nil}, []string{`removed /spec/examples [{"input":{"n":12345678901234567890},"name":"one","note":"big"}]→`, `changed /spec/parametersSchema/properties/n/minimum 1.0→1`}},
		"a field left out":   {capability.KindCode, obj{"image": nil}, []string{`removed /spec/image "ghcr.io/acme/py:1"→`}},
		"another type of it": {capability.KindDelegation, obj{"env": obj{"LEVEL": obj{"secretRef": "L"}, "TOKEN": obj{"secretRef": "WORKER_TOKEN", "scope": "personal"}}}, []string{`changed /spec/env/LEVEL "debug"→{"secretRef":"L"}`}},
		"a file by its path": {capability.KindSkill, obj{"files": []obj{{"path": "a.bin", "encoding": "base64", "content": "AAE="}}}, []string{
			`removed /spec/files/scripts~1run.py {"content":"pass\n","encoding":"utf-8","executable":true,"mediaType":"text/x-python","path":"scripts/run.py"}→`}},
		"a binary file": {capability.KindSkill, obj{"files": []obj{{"path": "scripts/run.py", "mediaType": "text/x-python", "encoding": "utf-8", "content": "pass\n", "executable": true}, {"path": "a.bin", "encoding": "base64", "content": strings.Repeat("AAAA", 60)}}}, []string{
			`changed /spec/files/a.bin/content "AAE="→"` + strings.Repeat("AAAA", 60) + `"`}},
		"a long text": {capability.KindSkill, obj{"instructions": "# Do\nmore\n"}, []string{"changed /spec/instructions"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := edited(t, tc.kind, nil)
			if name == "a number respelt" { // the helper that edits goes through float64
				base.Spec.(*capability.CodeSpec).ParametersSchema = sample(t, tc.kind).Spec.(*capability.CodeSpec).ParametersSchema
				base.Spec.(*capability.CodeSpec).Examples = sample(t, tc.kind).Spec.(*capability.CodeSpec).Examples
			}
			if diff := cmp.Diff(tc.want, told(capability.Diff(base, edited(t, tc.kind, tc.set)))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDiffAcrossKinds(t *testing.T) {
	t.Parallel()
	base := capability.Content{Name: "a", Description: "x", Spec: &capability.CommandSpec{Template: "t"}}
	next := capability.Content{Name: "b", Description: "x", Spec: &capability.SkillSpec{Instructions: "t"}}
	d := capability.Diff(base, next)
	want := []string{`changed /name "a"→"b"`, `removed /spec/template "t"→`, `changed /spec/type "command"→"skill"`, `added /spec/instructions →"t"`}
	if diff := cmp.Diff(want, told(d)); diff != "" || !d.TypeChanged {
		t.Errorf("typeChanged %v: %s", d.TypeChanged, diff)
	}
	if d := capability.Diff(capability.Content{}, base); d.TypeChanged || len(d.Changes) != 3 {
		t.Errorf("from nothing: %+v", d)
	}
}

// render writes hunks as a patch does, with the marked parts in brackets.
func render(d capability.TextDiff) string {
	var b strings.Builder
	for _, h := range d.Hunks {
		fmt.Fprintf(&b, "@@ -%d,%d +%d,%d @@\n", h.OldStart, h.OldLines, h.NewStart, h.NewLines)
		for _, l := range h.Lines {
			text := l.Text
			for i := len(l.Marks) - 1; i >= 0; i-- {
				m := l.Marks[i]
				text = text[:m.Start] + "[" + text[m.Start:m.End] + "]" + text[m.End:]
			}
			if l.NoBreak {
				text += "⏎"
			}
			b.WriteString(map[capability.LineOp]string{capability.LineSame: " ", capability.LineAdded: "+", capability.LineRemoved: "-"}[l.Op] + text + "\n")
		}
	}
	return b.String()
}

func TestLinesReadAsAPatch(t *testing.T) {
	t.Parallel()
	numbered := func(n int, swap map[int]string) string {
		var b strings.Builder
		for i := 1; i <= n; i++ {
			if s, ok := swap[i]; ok {
				b.WriteString(s)
				continue
			}
			fmt.Fprintf(&b, "line %d\n", i)
		}
		return b.String()
	}
	for name, tc := range map[string]struct{ before, after, want string }{
		"equal":             {"a\nb\n", "a\nb\n", ""},
		"both empty":        {"", "", ""},
		"from nothing":      {"", "a\n", "@@ -1,0 +1,1 @@\n+a\n"},
		"to nothing":        {"a\n", "", "@@ -1,1 +1,0 @@\n-a\n"},
		"a word":            {"the quick brown fox\n", "the quick red fox\n", "@@ -1,1 +1,1 @@\n-the quick [brown] fox\n+the quick [red] fox\n"},
		"한국어":               {"서울 날씨를 본다\n", "부산 날씨를 본다\n", "@@ -1,1 +1,1 @@\n-[서울] 날씨를 본다\n+[부산] 날씨를 본다\n"},
		"nothing in common": {"alpha beta\n", "gamma(delta)\n", "@@ -1,1 +1,1 @@\n-alpha beta\n+gamma(delta)\n"},
		"last break":        {"a\nb", "a\nb\n", "@@ -1,2 +1,2 @@\n a\n-b⏎\n+b\n"},
		"context and two hunks": {numbered(30, nil), numbered(30, map[int]string{5: "", 25: "line 25\nnew\n"}),
			"@@ -2,7 +2,6 @@\n line 2\n line 3\n line 4\n-line 5\n line 6\n line 7\n line 8\n@@ -23,6 +22,7 @@\n line 23\n line 24\n line 25\n+new\n line 26\n line 27\n line 28\n"},
	} {
		got := capability.Lines(tc.before, tc.after)
		if diff := cmp.Diff(tc.want, render(got)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// apply replays a diff on the old text: it must give the new one.
func apply(t interface{ Fatalf(string, ...any) }, before string, d capability.TextDiff) string {
	lines := strings.SplitAfter(before, "\n")
	var b strings.Builder
	at, newLine := 0, 1
	write := func(s string) {
		b.WriteString(s)
		newLine++
	}
	for _, h := range d.Hunks {
		for ; at < h.OldStart-1; at++ {
			write(lines[at])
		}
		if newLine != h.NewStart {
			t.Fatalf("a hunk says it starts at %d of the new text, it does at %d", h.NewStart, newLine)
		}
		for _, l := range h.Lines {
			text := l.Text + "\n"
			if l.NoBreak {
				text = l.Text
			}
			if l.Op != capability.LineAdded {
				if lines[at] != text {
					t.Fatalf("old line %d is %q, the diff says %q", at+1, lines[at], text)
				}
				at++
			}
			if l.Op != capability.LineRemoved {
				write(text)
			}
		}
	}
	b.WriteString(strings.Join(lines[at:], ""))
	return b.String()
}

var genText = rapid.Custom(func(t *rapid.T) string {
	lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c d", "c e", "", "é f", "}"}), 0, 40).Draw(t, "lines")
	return strings.Join(lines, "\n") + rapid.SampledFrom([]string{"", "\n"}).Draw(t, "end")
})

func checkDiff(t interface{ Fatalf(string, ...any) }, before, after string) {
	d := capability.Lines(before, after)
	if d.Replaced {
		return
	}
	if got := apply(t, before, d); got != after {
		t.Fatalf("%q and the diff give %q, not %q", before, got, after)
	}
	if (len(d.Hunks) == 0) != (before == after) {
		t.Fatalf("%d hunks for %q and %q", len(d.Hunks), before, after)
	}
	for _, h := range d.Hunks {
		for _, l := range h.Lines {
			for _, m := range l.Marks {
				if m.Start < 0 || m.Start >= m.End || m.End > len(l.Text) {
					t.Fatalf("mark %v of %q", m, l.Text)
				}
			}
		}
	}
}

func TestADiffLeadsFromOldToNew(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		checkDiff(t, genText.Draw(t, "before"), genText.Draw(t, "after"))
	})
}

func TestManySmallEditsAreAllFound(t *testing.T) {
	t.Parallel()
	var before, after strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&before, "line %d\n", i)
		if i%10 == 5 {
			fmt.Fprintf(&after, "edit %d\n", i)
		} else {
			fmt.Fprintf(&after, "line %d\n", i)
		}
	}
	d := capability.Lines(before.String(), after.String())
	if d.Replaced || d.Added != 300 || d.Removed != 300 || len(d.Hunks) != 300 {
		t.Errorf("replaced %v, +%d -%d in %d hunks", d.Replaced, d.Added, d.Removed, len(d.Hunks))
	}
	checkDiff(t, before.String(), after.String())
}

// What is hard for a diff must stay bounded in work and answer. The work is
// shown by the test ending at all: the exact algorithm takes minutes here.
func TestDiffsOfHugeTextsAreBounded(t *testing.T) {
	t.Parallel()
	short := func(seed, n int) string {
		var b strings.Builder
		x := uint32(seed)
		for b.Len() < n {
			x = x*1664525 + 1013904223
			b.WriteByte("abcdefgh"[x>>29])
			b.WriteByte('\n')
		}
		return b.String()
	}
	line := strings.Repeat("word ", 1<<20/5)
	for name, pair := range map[string][2]string{
		"unrelated short lines": {short(1, 1<<20), short(2, 1<<20)},
		"one long line":         {line, strings.ToUpper(line)},
		"one long line, edited": {line, line[:1000] + "X" + line[1000:]},
		"empty to a mebibyte":   {"", short(3, 1<<20)},
		"interleaved":           {strings.Repeat("a\nb\n", 1<<17), strings.Repeat("b\nb\na\n", 1<<17)},
	} {
		d := capability.Lines(pair[0], pair[1])
		if !d.Replaced || len(d.Hunks) > 0 {
			t.Errorf("%s: replaced %v with %d hunks", name, d.Replaced, len(d.Hunks))
		}
	}
}

func FuzzDiff(f *testing.F) {
	f.Add("a\nb\n", "b\nc")
	f.Add("", "\n")
	f.Add("서울 날씨\r\n", "부산 날씨\n")
	f.Add("\xff\xfe a", "\xff b")
	f.Fuzz(func(t *testing.T, before, after string) {
		checkDiff(t, before, after)
		base := capability.Content{Name: before, Description: after, Spec: &capability.SkillSpec{Instructions: before, Files: []capability.File{{Path: before, Content: after}}}}
		next := capability.Content{Name: after, Description: after, Spec: &capability.SkillSpec{Instructions: after, Files: []capability.File{{Path: after, Content: before}}}}
		d := capability.Diff(base, next)
		if len(d.Changes) == 0 && base.Digest() != next.Digest() {
			t.Fatalf("contents differ without a change")
		}
		capability.Effects(base, next)
	})
}

func FuzzDecodeContent(f *testing.F) {
	for _, spec := range samples {
		f.Add([]byte(`{"name":"n","description":"d","spec":` + spec + `}`))
	}
	f.Add([]byte(`{"spec":{"type":"delegation","env":{"A":null}}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		c, fields := capability.DecodeContent(raw)
		if len(fields) > 0 {
			for _, field := range fields {
				if field.Code == "" || field.Message == "" {
					t.Fatalf("an empty fault: %+v", field)
				}
			}
			return
		}
		c.Validate(capability.Rules{})
		canonical, err := c.Canonical()
		if err != nil {
			t.Fatal(err)
		}
		again, fields := capability.DecodeContent(canonical)
		if len(fields) > 0 || again.Digest() != c.Digest() {
			t.Fatalf("%s\ndoes not survive: %v", canonical, fields)
		}
		if d := capability.Diff(c, again); len(d.Changes) > 0 {
			t.Fatalf("the same content differs: %+v", d)
		}
	})
}
