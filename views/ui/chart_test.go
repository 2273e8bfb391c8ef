package ui

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestChartStaysInItsBox is a law over any figures: nothing is drawn outside,
// and what is not nothing can be seen.
func TestChartStaysInItsBox(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		value := rapid.Float64Range(0, 1e12)
		a := ChartArgs{}
		wanted := 0
		for range rapid.IntRange(0, 90).Draw(rt, "columns") {
			total := value.Draw(rt, "value")
			part := total * rapid.Float64Range(0, 1).Draw(rt, "share")
			if rapid.Bool().Draw(rt, "span") {
				a.Spans = append(a.Spans, Span{Low: part, High: total})
			} else {
				a.Bars = append(a.Bars, Bar{Value: total, Part: part})
			}
			if total > 0 {
				wanted++
			}
		}
		boxes := a.boxes()
		if len(boxes) < wanted {
			rt.Fatalf("%d boxes for %d columns", len(boxes), wanted)
		}
		if top := a.Scale(); wanted > 0 && (top <= 0 || top > 1.5e12*10) {
			rt.Fatalf("the scale ends at %v", top)
		}
		right := chartStep * float64(max(len(a.Bars), len(a.Spans)))
		for _, b := range boxes {
			const slack = 1e-6
			if b.x < 0 || b.x+chartStep-chartGap > right || b.y < -slack || b.y+b.height > chartHeight+slack || b.height < 1 {
				rt.Fatalf("%+v is outside or too thin", b)
			}
		}
	})
}

func TestChartIsNamedAndEscaped(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	args := ChartArgs{Title: "Turns", Label: `Turns "by" day`, Bars: []Bar{{Value: 3, Part: 1, Title: "<b>3</b>"}, {}}}
	if err := Chart(args).Render(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	html := out.String()
	for _, want := range []string{`role="img"`, `aria-label="Turns &#34;by&#34; day"`, "&lt;b&gt;3&lt;/b&gt;", "fill-destructive", `viewBox="0 0 20 100"`} {
		if !strings.Contains(html, want) {
			t.Errorf("no %s in %s", want, html)
		}
	}
	if strings.Contains(html, "style=") || strings.Count(html, "<rect") != 2 {
		t.Errorf("got %s", html)
	}
}
