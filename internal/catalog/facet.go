package catalog

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"capstore/internal/capability"
)

// facet is a kind of filter, spelled as its terms begin.
type facet string

const (
	facetKind    facet = "k"
	facetTag     facet = "t"
	facetReach   facet = "r"
	facetDomain  facet = "d"
	facetSource  facet = "s"
	facetRuntime facet = "x"
	facetScope   facet = "-" // what a page is about, which no filter takes away
)

// offered is how many values of each facet are counted: the most frequent ones.
const offered = 8

// FacetCount is how many there would be with a value of a filter.
type FacetCount struct {
	Value string // as the query spells it, or as the index does: tags are folded
	Count
}

// Facets says of each filter how many have a value of it, the other filters
// being as they are. Of kinds, reaches and sources any chosen one does, so they
// are counted as if none were chosen; tags and domains narrow what was found.
// Tags, Domains and Sources are the most frequent ones, most first, after those
// of the query. Values that nothing has are left out, but for the query's.
type Facets struct {
	Kinds, Reaches, Tags, Domains, Sources []FacetCount
	// WorksHere is how many this server can run.
	WorksHere Count
}

// facetSet is a set of matches over which facets are counted: those of the
// query, or those without its own filter of a facet.
type facetSet struct {
	cells  []cell
	facets []facet
}

// facetPlan is what a page counts.
type facetPlan struct {
	sets  []facetSet
	shape shape
	all   bool // the matches are whole shelves: lists know their sizes
	// askedTerms are what the query's filters name, each in a set of
	// askedSets: they are counted however rare they are.
	askedTerms []string
	askedSets  []int32
}

// facetPlan lists the sets of the query: one for all facets whose filter is
// off or narrows, and one for each other.
func (f found) facetPlan(q Query, groups []group) *facetPlan {
	p := &facetPlan{all: len(groups) == 0}
	rest := []facet{facetTag, facetDomain}
	for _, w := range []struct {
		facet facet
		on    bool
	}{{facetKind, len(q.Kinds) > 0}, {facetReach, len(q.Reach) > 0}, {facetSource, len(q.Sources) > 0}, {facetRuntime, q.WorksHere}} {
		if !w.on {
			rest = append(rest, w.facet)
			continue
		}
		cells := f.cells(slices.DeleteFunc(slices.Clone(groups), func(g group) bool { return g.facet == w.facet }))
		if w.facet != facetKind {
			cells = ofKinds(cells, q.Kinds)
		}
		p.add(facetSet{cells, []facet{w.facet}}, groups)
	}
	p.add(facetSet{ofKinds(f.cells(groups), q.Kinds), rest}, groups)
	return p
}

func (p *facetPlan) add(set facetSet, groups []group) {
	if len(set.cells) == 0 {
		return
	}
	for _, g := range groups {
		if slices.Contains(set.facets, g.facet) {
			for _, term := range g.terms {
				p.askedTerms, p.askedSets = append(p.askedTerms, term), append(p.askedSets, int32(len(p.sets)))
			}
		}
	}
	for i, c := range set.cells {
		set.cells[i] = c.shortest()
	}
	sh := shapeOf(set.cells)
	p.shape = shape{max(p.shape.lists, sh.lists), max(p.shape.without, sh.without)}
	p.sets = append(p.sets, set)
}

// looked is how many matches are read one by one. What of a set fits is counted
// exactly and at once; of a larger one they show which values are frequent. Read
// this way ten thousand cost less than meeting twenty lists with them. Where
// lists know their sizes, a sample is enough.
const (
	looked  = 12_000
	sampled = 1000
)

// budgets shares rows out among the cells of a set: what of it fits is seen
// whole.
func (set facetSet) budgets(rows int) []int {
	order := make([]int, len(set.cells))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(set.cells[a].lists[0].size, set.cells[b].lists[0].size) })
	out, left := make([]int, len(set.cells)), rows
	for i, c := range order {
		out[c] = max(1, min(set.cells[c].lists[0].size, left/(len(order)-i)))
		left -= out[c]
	}
	return out
}

// sets32 and names list the facets of each set, by the number of the set.
func (p *facetPlan) sets32() (out []int32) {
	for i, set := range p.sets {
		for range set.facets {
			out = append(out, int32(i))
		}
	}
	return out
}

func (p *facetPlan) names() (out []string) {
	for _, set := range p.sets {
		for _, f := range set.facets {
			out = append(out, string(f))
		}
	}
	return out
}

// termCount is a term with how many matches it has.
type termCount struct {
	term string
	n    int
}

func decodeCounts(raw json.RawMessage) ([]termCount, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	var rows [][2]json.RawMessage
	if err := json.Unmarshal(raw, &rows); err != nil {
		return nil, fmt.Errorf("decode counts: %w", err)
	}
	out := make([]termCount, len(rows))
	for i, r := range rows {
		if err := json.Unmarshal(r[0], &out[i].term); err != nil {
			return nil, fmt.Errorf("decode counts: %w", err)
		}
		if string(r[1]) != "null" {
			if err := json.Unmarshal(r[1], &out[i].n); err != nil {
				return nil, fmt.Errorf("decode counts: %w", err)
			}
		}
	}
	return out, nil
}

func counted(n int) Count { return Count{}.plus(Count{N: n}) }

// facetsOf sorts the counts by filter.
func facetsOf(raw json.RawMessage, q Query, works []Runtime) (Facets, error) {
	counts, err := decodeCounts(raw)
	if err != nil {
		return Facets{}, err
	}
	values := map[facet]map[string]Count{}
	for _, c := range counts {
		f, value := facet(c.term[:1]), c.term[2:]
		if values[f] == nil {
			values[f] = map[string]Count{}
		}
		values[f][value] = counted(c.n)
	}
	out := Facets{
		Kinds:   inOrder(capability.Kinds, values[facetKind], q.Kinds),
		Reaches: inOrder(capability.Reaches, values[facetReach], q.Reach),
		Tags:    byCount(values[facetTag], q.Tags, func(tag string) string { return tagTerm(tag)[2:] }),
		Domains: byCount(values[facetDomain], q.Domains, strings.ToLower),
		Sources: byCount(values[facetSource], q.Sources, func(s string) string { return s }),
	}
	for _, r := range works {
		out.WorksHere = out.WorksHere.plus(values[facetRuntime][string(r)])
	}
	return out, nil
}

// inOrder keeps the order of all, and leaves out what nothing has.
func inOrder[T ~string](all []T, counts map[string]Count, chosen []T) []FacetCount {
	out := []FacetCount{}
	for _, v := range all {
		if c := counts[string(v)]; c.N > 0 || slices.Contains(chosen, v) {
			out = append(out, FacetCount{string(v), c})
		}
	}
	return out
}

// byCount puts the chosen values first, as they were spelled, and the others by
// how many have them.
func byCount(counts map[string]Count, chosen []string, fold func(string) string) []FacetCount {
	out, seen := []FacetCount{}, map[string]bool{}
	for _, v := range chosen {
		if f := fold(v); !seen[f] {
			seen[f] = true
			out = append(out, FacetCount{v, counts[f]})
		}
	}
	head := len(out)
	for v, c := range counts {
		if !seen[v] {
			out = append(out, FacetCount{v, c})
		}
	}
	slices.SortFunc(out[head:], func(a, b FacetCount) int { return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.Value, b.Value)) })
	return out
}
