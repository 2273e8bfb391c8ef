package ui

import (
	"math"
	"strconv"
)

// Bar is one column of a chart: Part of its Value is drawn in the colour of
// what went wrong. Title is what it says when pointed at.
type Bar struct {
	Value, Part float64
	Title       string
}

// Span is one column of a chart of ranges, from Low to High; both 0 draws
// nothing.
type Span struct {
	Low, High float64
	Title     string
}

// ChartArgs describes a chart. What it shows stands in a table beside it too,
// for those who cannot see it.
type ChartArgs struct {
	Title string
	// Top, Half and Bottom label the scale, First and Last the ends of the span.
	Top, Half, Bottom string
	First, Last       string
	Label             string // of the picture, for screen readers
	Bars              []Bar
	Spans             []Span
}

const (
	chartHeight = 100.0
	chartStep   = 10.0 // from one column to the next
	chartGap    = 2.0
)

// box is a rectangle of the chart.
type box struct {
	x, y, height float64
	class        string
	title        string
}

func (a ChartArgs) viewBox() string {
	return "0 0 " + decimalText(chartStep*float64(max(len(a.Bars), len(a.Spans), 1))) + " " + decimalText(chartHeight)
}

// Scale is the value at the top of the chart, 0 where all is nothing: a round
// number of which half is round too.
func (a ChartArgs) Scale() float64 {
	highest := 0.0
	for _, b := range a.Bars {
		highest = max(highest, b.Value)
	}
	for _, s := range a.Spans {
		highest = max(highest, s.High)
	}
	if highest <= 0 {
		return 0
	}
	power := math.Pow(10, math.Floor(math.Log10(highest)))
	for _, round := range []float64{1, 2, 4, 6, 8} {
		if round*power >= highest {
			return round * power
		}
	}
	return 10 * power
}

// boxes are the columns as rectangles. What is not nothing is at least a hair
// high, so that it can be seen.
func (a ChartArgs) boxes() []box {
	top := a.Scale()
	if top <= 0 {
		return nil
	}
	scale := func(v float64) float64 { return v / top * chartHeight }
	var out []box
	add := func(i int, from, to float64, class, title string) {
		if to <= from {
			return
		}
		height := max(scale(to)-scale(from), 1)
		out = append(out, box{x: float64(i)*chartStep + chartGap/2, y: min(chartHeight-scale(to), chartHeight-height), height: height, class: class, title: title})
	}
	for i, b := range a.Bars {
		add(i, 0, b.Value-b.Part, "fill-primary", b.Title)
		add(i, b.Value-b.Part, b.Value, "fill-destructive", b.Title)
	}
	for i, s := range a.Spans {
		if s.High <= 0 {
			continue
		}
		add(i, 0, s.Low, "fill-primary", s.Title)
		add(i, s.Low, s.High, "fill-primary/35", s.Title)
	}
	return out
}

func decimalText(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
