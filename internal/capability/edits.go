package capability

import "slices"

// Bounds on the work of one comparison. Sequences of which much is alike are
// compared exactly; past the bounds what lies between two places that are
// known to be the same is one edit.
const (
	maxEditDepth   = 128     // differences that one round looks for
	maxSplits      = 24      // boxes within boxes
	stepsAtLeast   = 1 << 19 // comparisons of two elements, over all rounds
	stepsByElement = 32      // that many more for each element
)

// Work is what a comparison cost.
type Work struct {
	Bytes int // read of the texts
	Steps int // elements compared
}

// edit replaces old[oldStart:oldEnd] by new[newStart:newEnd].
type edit struct{ oldStart, oldEnd, newStart, newEnd int }

// box is a part of both sequences whose surroundings are settled.
type box struct{ oldStart, oldEnd, newStart, newEnd int }

// reach is how far into the old side a number of differences lead, by
// diagonal; -1 for nowhere.
type reach [2*maxEditDepth + 3]int32

// comparer looks for what two sequences of numbers have in common. It can be
// used for one pair after the other.
type comparer struct {
	old, new []int32
	edits    []edit
	steps    int
	limit    int
	history  [maxEditDepth + 1]reach // of the round under way, by differences
}

// editsOf returns what leads from old to new, in order, none adjacent to the
// next. It stops looking at the limit of steps, whatever the sequences are.
func (c *comparer) editsOf(old, new []int32, limit int) []edit {
	c.old, c.new, c.edits, c.steps, c.limit = old, new, nil, 0, limit
	c.compare(box{0, len(old), 0, len(new)}, 0)
	return c.edits
}

func (c *comparer) spent() bool { return c.steps >= c.limit }

// compare settles a box: by its differences where they are few, else by what
// stands in both sides once, as people see a text.
func (c *comparer) compare(b box, depth int) {
	b = c.trim(b)
	if b.oldStart == b.oldEnd || b.newStart == b.newEnd || c.spent() {
		c.replace(b)
		return
	}
	common, left := c.round(b)
	if left == (box{}) {
		c.settle(b, common)
		return
	}
	anchors := c.anchors(b, depth)
	if len(anchors) == 0 {
		c.onward(b, common, left)
		return
	}
	for _, at := range append(anchors, [2]int{b.oldEnd, b.newEnd}) {
		c.compare(box{b.oldStart, at[0], b.newStart, at[1]}, depth+1)
		b.oldStart, b.newStart = at[0], at[1]
	}
}

// onward goes on from where a round stopped half-way, so that the work grows
// with the box and not with its square.
func (c *comparer) onward(b box, common [][2]int, left box) {
	for left != (box{}) {
		c.settle(box{b.oldStart, left.oldStart, b.newStart, left.newStart}, common)
		b = c.trim(left)
		if b.oldStart == b.oldEnd || b.newStart == b.newEnd || c.spent() {
			c.replace(b)
			return
		}
		common, left = c.round(b)
	}
	c.settle(b, common)
}

// settle replaces what stands between the pairs that are equal.
func (c *comparer) settle(b box, common [][2]int) {
	for _, at := range common {
		c.replace(box{b.oldStart, at[0], b.newStart, at[1]})
		b.oldStart, b.newStart = at[0]+1, at[1]+1
	}
	c.replace(b)
}

// replace settles a box as one edit, joined to the one that ends where it
// begins.
func (c *comparer) replace(b box) {
	if b.oldStart == b.oldEnd && b.newStart == b.newEnd {
		return
	}
	if n := len(c.edits); n > 0 && c.edits[n-1].oldEnd == b.oldStart && c.edits[n-1].newEnd == b.newStart {
		c.edits[n-1].oldEnd, c.edits[n-1].newEnd = b.oldEnd, b.newEnd
		return
	}
	c.edits = append(c.edits, edit(b))
}

func (c *comparer) trim(b box) box {
	for b.oldStart < b.oldEnd && b.newStart < b.newEnd && c.old[b.oldStart] == c.new[b.newStart] {
		b.oldStart, b.newStart = b.oldStart+1, b.newStart+1
		c.steps++
	}
	for b.oldStart < b.oldEnd && b.newStart < b.newEnd && c.old[b.oldEnd-1] == c.new[b.newEnd-1] {
		b.oldEnd, b.newEnd = b.oldEnd-1, b.newEnd-1
		c.steps++
	}
	c.steps++
	return b
}

// anchors are places of elements that stand once in either side of the box,
// the longest run of them that keeps its order. The ends of the box are none.
func (c *comparer) anchors(b box, depth int) [][2]int {
	if depth >= maxSplits || c.spent() {
		return nil
	}
	type place struct{ old, new, times int }
	places := make(map[int32]place, b.newEnd-b.newStart)
	for i := b.newStart; i < b.newEnd; i++ {
		p := places[c.new[i]]
		places[c.new[i]] = place{old: -1, new: i, times: p.times + 1}
	}
	seen := make(map[int32]int, b.oldEnd-b.oldStart)
	for i := b.oldStart; i < b.oldEnd; i++ {
		seen[c.old[i]]++
	}
	c.steps += b.oldEnd - b.oldStart + b.newEnd - b.newStart
	var once [][2]int
	for i := b.oldStart; i < b.oldEnd; i++ {
		if p := places[c.old[i]]; p.times == 1 && seen[c.old[i]] == 1 {
			once = append(once, [2]int{i, p.new})
		}
	}
	return ascending(once)
}

// ascending is the longest part of the places, which are in the order of the
// old side, that is in the order of the new side too.
func ascending(places [][2]int) [][2]int {
	var tails []int // the last place of the best run of each length
	before := make([]int, len(places))
	for i, p := range places {
		n, _ := slices.BinarySearchFunc(tails, p[1], func(at, want int) int { return places[at][1] - want })
		before[i] = -1
		if n > 0 {
			before[i] = tails[n-1]
		}
		if n == len(tails) {
			tails = append(tails, i)
		} else {
			tails[n] = i
		}
	}
	out := make([][2]int, len(tails))
	if len(tails) == 0 {
		return out
	}
	for i, n := tails[len(tails)-1], len(tails)-1; i >= 0; i, n = before[i], n-1 {
		out[n] = places[i]
	}
	return out
}

// round looks for the shortest way through the box, with ever more differences
// allowed. It returns the pairs that are equal on the way and, where it gave
// up, the box that is left from where it came furthest.
func (c *comparer) round(b box) (common [][2]int, left box) {
	rows, columns := b.oldEnd-b.oldStart, b.newEnd-b.newStart
	depth := 0
	for ; ; depth++ {
		if k, through := c.differences(b, depth); through {
			return c.wayTo(b, depth, k), box{}
		}
		if depth == maxEditDepth || c.spent() {
			break
		}
	}
	best, far := 0, -1
	for k := -depth; k <= depth; k += 2 {
		if x := c.at(depth, k); x >= 0 && x <= rows && x-k <= columns && 2*x-k > far {
			best, far = k, 2*x-k
		}
	}
	x := c.at(depth, best)
	return c.wayTo(b, depth, best), box{b.oldStart + x, b.oldEnd, b.newStart + x - best, b.newEnd}
}

func (c *comparer) at(d, k int) int { return int(c.history[d][k+maxEditDepth+1]) }

// differences fills in how far d of them lead. It reports the diagonal on
// which they lead through the whole box.
func (c *comparer) differences(b box, d int) (k int, through bool) {
	rows, columns := b.oldEnd-b.oldStart, b.newEnd-b.newStart
	row := &c.history[d]
	for i := range row {
		row[i] = -1
	}
	for k := -d; k <= d; k += 2 {
		x, _ := c.step(b, d, k)
		for x >= 0 && x < rows && x-k < columns && c.old[b.oldStart+x] == c.new[b.newStart+x-k] && !c.spent() {
			x++
			c.steps++
		}
		c.steps++
		row[k+maxEditDepth+1] = int32(x)
		if x == rows && x-k == columns {
			return k, true
		}
	}
	return 0, false
}

// step is where d differences lead on diagonal k before anything equal
// follows, and on which diagonal they came; -1 where they lead out of the box.
func (c *comparer) step(b box, d, k int) (x, from int) {
	if d == 0 {
		return 0, 0
	}
	removing, adding := c.at(d-1, k-1), c.at(d-1, k+1)
	if removing >= 0 {
		removing++
	}
	if removing > b.oldEnd-b.oldStart {
		removing = -1
	}
	if adding-k > b.newEnd-b.newStart {
		adding = -1
	}
	if adding >= removing {
		return adding, k + 1
	}
	return removing, k - 1
}

// wayTo goes back from where d differences led on diagonal k, and collects the
// equal pairs in order.
func (c *comparer) wayTo(b box, d, k int) [][2]int {
	var out [][2]int
	for ; d >= 0; d-- {
		start, from := c.step(b, d, k)
		for x := c.at(d, k) - 1; x >= start; x-- {
			out = append(out, [2]int{b.oldStart + x, b.newStart + x - k})
		}
		k = from
	}
	slices.Reverse(out)
	return out
}
