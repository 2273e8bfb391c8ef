package ui

import (
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/google/go-cmp/cmp"
)

func prose(t *testing.T, a MarkdownArgs) *goquery.Document {
	t.Helper()
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(renderMarkdown(a)))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestMarkdownRunsNothing(t *testing.T) {
	t.Parallel()
	for _, hostile := range []string{
		`<img src=x onerror=alert(1)>`,
		`"><svg/onload=1>`,
		`</script><script>alert(1)</script>`,
		`[x](javascript:alert(1))`,
		`[x](JaVaScRiPt&colon;alert(1))`,
		`[x](data:text/html,<script>1</script>)`,
		`![x](javascript:alert(1))`,
		`<javascript:alert(1)>`,
		"```\"><script>alert(1)</script>\nx\n```",
		"<style>*{display:none}</style>",
		"# x {onclick=alert(1) style=color:red}",
		"[x](https://example.com \"a\\\" onmouseover=alert(1)\")",
		"<iframe src=//x></iframe>",
		"![a\" onerror=\"alert(1)](/x)",
		"| a |\n|---|\n| <b onclick=1> |",
		"<form action=//x><input name=q>",
	} {
		doc := prose(t, MarkdownArgs{Text: hostile, Resolve: func(string) string { return "" }})
		doc.Find("*").Each(func(_ int, s *goquery.Selection) {
			switch name := goquery.NodeName(s); name {
			case "script", "svg", "style", "iframe", "form", "object":
				t.Errorf("%q: element %s", hostile, name)
			}
			for _, attr := range s.Nodes[0].Attr {
				if strings.HasPrefix(attr.Key, "on") || attr.Key == "style" || attr.Key == "id" || attr.Key == "name" {
					t.Errorf("%q: attribute %s=%q", hostile, attr.Key, attr.Val)
				}
				if strings.Contains(strings.ToLower(attr.Val), "javascript:") && attr.Key == "href" || strings.HasPrefix(attr.Val, "data:") {
					t.Errorf("%q: address %q", hostile, attr.Val)
				}
			}
		})
	}
}

func TestMarkdownLinksAndImages(t *testing.T) {
	t.Parallel()
	files := func(ref string) string {
		if ref == "assets/logo.png" {
			return "/acme/files/logo.png"
		}
		return ""
	}
	for _, tc := range []struct{ name, text, want string }{
		{"outside link", `[a](https://example.com/b?c=d)`, `<a href="https://example.com/b?c=d" rel="nofollow noopener">a</a>`},
		{"bare address", `https://example.com`, `<a href="https://example.com" rel="nofollow noopener">https://example.com</a>`},
		{"a file of this text", `[a](assets/logo.png)`, `<a href="/acme/files/logo.png" rel="nofollow noopener">a</a>`},
		{"a file that is not there", `[a *b*](other.md)`, `a <em>b</em>`},
		{"a path of this site is no address that a text may give", `[a](/logout)`, `a`},
		{"nor is another host without a scheme", `[a](//example.com/x)`, `a`},
		{"own image", `![logo](assets/logo.png)`, `<img src="/acme/files/logo.png" alt="logo" loading="lazy">`},
		{"outside image", `![a "b"](https://example.com/p.png)`, `<a class="remote-image" rel="nofollow noopener" href="https://example.com/p.png">a &#34;b&#34; (example.com)</a>`},
		{"outside image in a link", `[![ci](https://ci.example/x.svg)](https://example.com)`, `<a href="https://example.com" rel="nofollow noopener">ci</a>`},
		{"code span", "`a<b`", `<code>a&lt;b</code>`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got := strings.TrimSpace(renderMarkdown(MarkdownArgs{Text: tc.text, Resolve: files}))
			if diff := cmp.Diff("<p>"+tc.want+"</p>", got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestMarkdownStructure(t *testing.T) {
	t.Parallel()
	doc := prose(t, MarkdownArgs{Text: "# One\n\n###### Six\n\n- [x] done\n- [ ] open\n\n| n |\n|--:|\n| 1 |\n\n~~gone~~\n\n```python\nprint('hi')  # note\n```\n"})
	for selector, want := range map[string]string{
		"h2": "One", "h6": "Six", "del": "gone", "td[align=right]": "1",
		"pre.chroma[tabindex='0'] .c1": "# note",
	} {
		if got := doc.Find(selector).Text(); got != want {
			t.Errorf("%s: got %q, want %q", selector, got, want)
		}
	}
	if n := doc.Find("h1").Length(); n != 0 {
		t.Errorf("%d h1, want none: the page has its own", n)
	}
	if got, want := doc.Find("li .task-box").Text(), "☑☐"; got != want {
		t.Errorf("task boxes %q, want %q", got, want)
	}
}

// Texts made to take long, or to hide or reorder what is read.
func TestMarkdownOfBadText(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"quotes":     strings.Repeat(">", 100_000) + "x",
		"brackets":   strings.Repeat("[", 100_000) + "x",
		"closed":     strings.Repeat("[a](", 40_000) + "x",
		"emphasis":   strings.Repeat("*a_ ", 40_000) + "x",
		"lists":      strings.Repeat("- ", 20_000) + "x",
		"ticks":      strings.Repeat("`a", 60_000) + "x",
		"long":       strings.Repeat("x ", 300<<10),
		"tables":     strings.Repeat("|a", 20_000) + "\n" + strings.Repeat("|-", 20_000) + "\nx",
		"not UTF-8":  "\xff\xfe x",
		"references": strings.Repeat("[a]: b\n", 20_000) + "x",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := renderMarkdown(MarkdownArgs{Text: text}); !strings.Contains(got, "x") {
				t.Errorf("lost its text: %.80q", got)
			}
		})
	}
	got := renderMarkdown(MarkdownArgs{Text: "pay \u202Eeno\u202C \x1b]8;;x\u200b 👩\u200d💻"})
	if want := "<p>pay �eno� �]8;;x� 👩\u200d💻</p>\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func FuzzMarkdown(f *testing.F) {
	f.Add("# a\n\n[b](c) ![d](e)\n\n```go\nf\n```")
	f.Add("| a | b |\n|---|:-:|\n| <b> | \u202e |")
	f.Fuzz(func(t *testing.T, text string) {
		doc := prose(t, MarkdownArgs{Text: text})
		if n := doc.Find("script, style, iframe, object, embed, form, svg, [onclick], [onerror], [style]").Length(); n != 0 {
			t.Errorf("%q renders %d dangerous elements", text, n)
		}
	})
}
