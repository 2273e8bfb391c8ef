package catalog

// dense is how much longer than a filter's list a word's may be to be walked
// all the same. It is walked in the order of how well the word fits, which a
// filter's list says nothing of; where the filter leaves little of it, few of
// its rows would be met.
const dense = 16

// relevant makes the cells ready for the order of relevance: what a name says
// as a whole is in cells of its own, ahead of what says the words one by one.
// Those overlap the others: what is in both counts where it fits better.
func (f found) relevant(cells []cell, q Query, words []word, groups []group) (out []cell, overlap bool) {
	typed := splitWords(q.Q)
	if len(typed) > 1 {
		whole := []group{{terms: []string{wholeTerm(typed)}}}
		sure := 0
		for _, g := range groups {
			if g.facet != "" {
				whole = append(whole, g)
			} else if len(g.terms) > 1 {
				sure += mistyped
			}
		}
		for _, c := range ofKinds(f.cells(whole), q.Kinds) {
			c.weights[0], c.bonus = len(words), sure
			out = append(out, c.led(c.best()))
		}
	}
	overlap = len(out) > 0
	for _, c := range cells {
		out = append(out, c.led(c.best()))
	}
	return out, overlap
}

// best is the list that a relevance walks: the rarest word, unless a filter is
// much rarer. Without words it is the shortest, whose ranks then count.
func (c cell) best() int {
	word, shortest := -1, 0
	for i, l := range c.lists {
		if c.weights[i] > 0 && (word < 0 || l.size < c.lists[word].size) {
			word = i
		}
		if l.size < c.lists[shortest].size {
			shortest = i
		}
	}
	if word < 0 {
		c.weights[shortest] = 1
		return shortest
	}
	if c.lists[shortest].size*dense < c.lists[word].size {
		return shortest
	}
	return word
}
