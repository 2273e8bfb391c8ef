package ui

import (
	"math"
	"strings"
	"testing"
)

// TestFlow holds the picture to its figures: bars as high as what passes
// through, none upon another, and only what reaches the end flowing there.
func TestFlow(t *testing.T) {
	t.Parallel()
	a := FlowArgs{
		First: []FlowNode{{Label: "acme"}, {Label: "globex, whose name is far too long for a picture"}}, Second: []FlowNode{{Label: "loaded"}, {Label: "withheld"}},
		Links: []FlowLink{{From: 0, To: 0, Value: 6}, {From: 1, To: 0, Value: 1}, {From: 1, To: 1, Value: 3}}, End: "model", Reaches: []bool{true, false},
	}
	p := a.picture()
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 0.01 {
			t.Errorf("%s is %.2f, want %.2f", what, got, want)
		}
	}
	near("acme", p.first[0].height, flowInner*0.6)
	near("globex", p.first[1].height, flowInner*0.4)
	near("loaded", p.second[0].height, flowInner*0.7)
	near("the model", p.ends[0].height, flowInner*0.7)
	if p.first[1].y < p.first[0].y+p.first[0].height {
		t.Error("one bar lies upon another")
	}
	if len(p.bands) != 4 {
		t.Errorf("%d bands", len(p.bands))
	}
	if !strings.HasSuffix(p.first[1].label, "…") {
		t.Errorf("the label is %q", p.first[1].label)
	}
	for _, b := range append(append(p.first, p.second...), p.ends...) {
		if b.y < 0 || b.y+b.height > p.height {
			t.Errorf("%s leaves the picture", b.label)
		}
	}
}

func TestFlowOfNothing(t *testing.T) {
	t.Parallel()
	if p := (FlowArgs{}).picture(); len(p.ends) != 0 || len(p.bands) != 0 {
		t.Errorf("%+v", p)
	}
}
