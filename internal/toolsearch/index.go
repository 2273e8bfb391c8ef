package toolsearch

import (
	"math"
	"slices"
	"sync"
)

// Index finds among the tools that it was built of. It never changes, and any
// number of searches may use it at once.
type Index struct {
	tools    []*analysis
	build    sync.Once
	slots    map[term]int32 // into starts
	starts   []int32        // where each term's postings begin; one more than terms
	postings []posting
	spelt    map[string][]int32 // tools by squashed name
	words    spelling
	scratch  sync.Pool // *scratch
}

// posting says how much one tool is about a term.
type posting struct {
	doc    int32
	weight float32
}

// Build makes an index of docs, in their order. A tool that another living
// index holds with the same content is not analysed again, and what only a
// search needs is made by the first.
func Build(docs []Doc) *Index {
	x := &Index{tools: make([]*analysis, len(docs))}
	memo := stems{}
	for i := range docs {
		x.tools[i] = analysed(docs[i], memo)
	}
	x.scratch.New = func() any { return newScratch(len(docs)) }
	return x
}

// invert makes the lists of tools by term, and by name.
func (x *Index) invert() {
	total := 0
	for _, a := range x.tools {
		total += len(a.terms)
	}
	x.slots = make(map[term]int32, 1024+total/32)
	slots := make([]int32, 0, total) // of each term of each tool, as they come
	var counts []int32
	for _, a := range x.tools {
		for _, t := range a.terms {
			slot, ok := x.slots[t.term]
			if !ok {
				slot = int32(len(counts))
				x.slots[t.term] = slot
				counts = append(counts, 0)
			}
			counts[slot]++
			slots = append(slots, slot)
		}
	}
	x.fill(counts, slots)
	x.spell()
	x.words = newSpelling(x.tools)
}

// fill puts the tools into the lists that slots name.
func (x *Index) fill(counts, slots []int32) {
	x.starts = make([]int32, len(counts)+1)
	for i, n := range counts {
		x.starts[i+1] = x.starts[i] + n
	}
	next := slices.Clone(x.starts)
	x.postings = make([]posting, len(slots))
	at := 0
	for i, a := range x.tools {
		for _, t := range a.terms {
			slot := slots[at]
			x.postings[next[slot]] = posting{int32(i), t.weight}
			next[slot]++
			at++
		}
	}
}

// spell lists the tools by their whole names.
func (x *Index) spell() {
	x.spelt = make(map[string][]int32, 3*len(x.tools))
	for i, a := range x.tools {
		for k, name := range a.spelt {
			if name != "" && !slices.Contains(a.spelt[:k], name) {
				x.spelt[name] = append(x.spelt[name], int32(i))
			}
		}
	}
}

// with lists the tools that are about t.
func (x *Index) with(t term) []posting {
	slot, ok := x.slots[t]
	if !ok {
		return nil
	}
	return x.postings[x.starts[slot]:x.starts[slot+1]]
}

// rarity is how much a term tells that n tools hold.
func (x *Index) rarity(n int) float32 {
	all := float64(len(x.tools))
	return float32(min(maxRarity, math.Log(1+(all-float64(n)+0.5)/(float64(n)+0.5))))
}

// maxRarity bounds what one word can tell: a word that a single tool happens
// to use is not worth two that many do.
const maxRarity = 6
