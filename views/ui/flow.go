package ui

import "fmt"

// FlowNode is one stop of a flow. Its size is what passes through it.
type FlowNode struct {
	Label string
	Tone  string // class of its fill; the primary colour unless told
}

// FlowLink is so much that goes from the From-th node of the first column to the
// To-th of the second.
type FlowLink struct {
	From, To int
	Value    float64
	Title    string
}

// FlowArgs describes a picture of what flows from a column of nodes into a second
// one, and on to an end. What it shows stands in a table beside it too, for those
// who cannot see it.
type FlowArgs struct {
	Label         string // of the picture, for screen readers
	First, Second []FlowNode
	Links         []FlowLink
	End           string
	// Reaches says which nodes of the second column go on to the end.
	Reaches []bool
}

const (
	flowWidth   = 720.0
	flowFirst   = 200.0 // where the columns' bars begin
	flowSecond  = 430.0
	flowEnd     = 640.0
	flowBar     = 10.0
	flowGap     = 28.0
	flowTop     = 24.0
	flowInner   = 220.0 // height that all that flows takes together
	flowMinimum = 3.0
	flowLabel   = 26 // letters of a label
)

// flowBox is a bar of the picture with its label.
type flowBox struct {
	x, y, height float64
	label, class string
}

// flowBand is one stream from one bar to another.
type flowBand struct{ path, class, title string }

// flowPicture is the picture as it is drawn.
type flowPicture struct {
	height              float64
	first, second, ends []flowBox
	bands               []flowBand
}

func (p flowPicture) viewBox() string {
	return "0 0 " + decimalText(flowWidth) + " " + decimalText(p.height)
}

// picture lays the flow out: each bar is as high as what passes through it.
func (a FlowArgs) picture() flowPicture {
	out, in, total := make([]float64, len(a.First)), make([]float64, len(a.Second)), 0.0
	for _, l := range a.Links {
		out[l.From] += l.Value
		in[l.To] += l.Value
		total += l.Value
	}
	unit := 0.0
	if total > 0 {
		unit = flowInner / total
	}
	p := flowPicture{first: column(a.First, out, flowFirst, unit), second: column(a.Second, in, flowSecond, unit)}
	for _, list := range [][]flowBox{p.first, p.second} {
		if n := len(list); n > 0 {
			p.height = max(p.height, list[n-1].y+list[n-1].height+flowTop)
		}
	}
	left, right := tops(p.first), tops(p.second)
	for _, l := range a.Links {
		h := l.Value * unit
		p.bands = append(p.bands, flowBand{band(flowFirst+flowBar, left[l.From], flowSecond, right[l.To], h), "fill-primary/20", l.Title})
		left[l.From] += h
		right[l.To] += h
	}
	p.toEnd(a, unit, in)
	return p
}

// toEnd draws what reaches the end.
func (p *flowPicture) toEnd(a FlowArgs, unit float64, in []float64) {
	reached := 0.0
	for i, on := range a.Reaches {
		if on {
			reached += in[i]
		}
	}
	if reached == 0 {
		return
	}
	y := (p.height - reached*unit) / 2
	p.ends = []flowBox{{x: flowEnd, y: y, height: max(reached*unit, flowMinimum), label: a.End, class: "fill-primary"}}
	for i, on := range a.Reaches {
		if h := in[i] * unit; on && h > 0 {
			p.bands = append(p.bands, flowBand{band(flowSecond+flowBar, p.second[i].y, flowEnd, y, h), "fill-primary/20", a.Second[i].Label})
			y += h
		}
	}
}

func column(nodes []FlowNode, values []float64, x, unit float64) []flowBox {
	y := flowTop
	var out []flowBox
	for i, n := range nodes {
		class := n.Tone
		if class == "" {
			class = "fill-primary"
		}
		b := flowBox{x: x, y: y, height: max(values[i]*unit, flowMinimum), label: shorten(n.Label, flowLabel), class: class}
		out = append(out, b)
		y += b.height + flowGap
	}
	return out
}

func tops(boxes []flowBox) []float64 {
	out := make([]float64, len(boxes))
	for i, b := range boxes {
		out[i] = b.y
	}
	return out
}

// band is the outline of a stream of one height between two edges.
func band(x0, y0, x1, y1, h float64) string {
	mid := (x0 + x1) / 2
	return fmt.Sprintf("M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1fV%.1fC%.1f %.1f %.1f %.1f %.1f %.1fZ",
		x0, y0, mid, y0, mid, y1, x1, y1, y1+h, mid, y1+h, mid, y0+h, x0, y0+h)
}
