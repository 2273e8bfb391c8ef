package ui

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestMarkdownBlocks(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text string
		want []string
	}{
		"nothing":             {"", nil},
		"paragraphs":          {"a\nb\n\nc", []string{"a\nb\n\n", "c"}},
		"an empty line first": {"\n\na", []string{"\n\n", "a"}},
		"a loose list":        {"- a\n\n- b\n\n  more\n\nend", []string{"- a\n\n- b\n\n  more\n\n", "end"}},
		"numbers":             {"1. a\n\n2) b\n\n1.5 is no item", []string{"1. a\n\n2) b\n\n", "1.5 is no item"}},
		"a fence":             {"```go\na\n\nb\n```\n\nend", []string{"```go\na\n\nb\n```\n\n", "end"}},
		"a fence in a fence":  {"````\n```\n\nx\n```\n\ny\n````\n\nz", []string{"````\n```\n\nx\n```\n\ny\n````\n\n", "z"}},
		"other marks":         {"~~~\n```\n\nx\n~~~\n\ny", []string{"~~~\n```\n\nx\n~~~\n\n", "y"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, MarkdownBlocks(tc.text)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// What was sent of a text that grows stays true of the whole.
func TestMarkdownBlocksGrow(t *testing.T) {
	t.Parallel()
	line := rapid.SampledFrom([]string{"", "word", "- item", "2. item", "  indented", "```", "```py", "~~~~", "# head", "> quote", "\t", "| a | b |"})
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOf(line).Draw(t, "lines")
		text := strings.Join(lines, "\n")
		whole := MarkdownBlocks(text)
		if diff := cmp.Diff(text, strings.Join(whole, "")); diff != "" {
			t.Fatalf("joined (-want +got):\n%s", diff)
		}
		part := MarkdownBlocks(strings.Join(lines[:rapid.IntRange(0, len(lines)).Draw(t, "cut")], "\n"))
		for i := range max(len(part)-1, 0) {
			if i >= len(whole) || part[i] != whole[i] {
				t.Fatalf("block %d of the beginning is %q, of the whole %q", i, part[i], whole)
			}
		}
	})
}

func TestLiveMarkdown(t *testing.T) {
	t.Parallel()
	for block, want := range map[string]string{
		"```python\nprint(1)":        `<div class="prose"><pre class="chroma" tabindex="0"><code>print(1)</code></pre></div>`,
		"```python":                  `<div class="prose"><pre class="chroma" tabindex="0"><code></code></pre></div>`,
		"```\n<script>x</script>":    `<div class="prose"><pre class="chroma" tabindex="0"><code>&lt;script&gt;x&lt;/script&gt;</code></pre></div>`,
		"**bold** <b>x</b>":          "<div class=\"prose\"><p><strong>bold</strong> x</p>\n</div>",
		"```python\nprint(1)\n```\n": "<div class=\"prose\"><pre class=\"chroma\" tabindex=\"0\"><code><span class=\"nb\">print</span><span class=\"p\">(</span><span class=\"mi\">1</span><span class=\"p\">)</span>\n</code></pre>\n</div>",
	} {
		var got bytes.Buffer
		if err := LiveMarkdown(block).Render(t.Context(), &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got.String()); diff != "" {
			t.Errorf("%q (-want +got):\n%s", block, diff)
		}
	}
}
