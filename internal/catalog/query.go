package catalog

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/fault"
)

// Sort is the order of a list.
type Sort string

const (
	// SortCreated is the order of (created, id), oldest first. It never moves.
	SortCreated Sort = "created"
	// SortNewest is SortCreated the other way round.
	SortNewest Sort = "newest"
	// SortAdopted is by adopting workspaces, most first.
	SortAdopted Sort = "adopted"
	// SortRelevance is by how well the words fit and, without words, by what
	// most readers look for: first-party, then popular, then new.
	SortRelevance Sort = "relevance"
)

const (
	// MaxLimit is the most rows of one page.
	MaxLimit     = 200
	defaultLimit = 30
	maxFilters   = 20
	maxQuery     = 500
	// countCap is up to where counts are exact.
	countCap = 1000
	// candidates is about how many matches a relevance of several words ranks.
	candidates = 500
)

// Query asks for a page of the store. The zero Query is the first page of
// everything visible in SortCreated.
type Query struct {
	Q       string            // words, all of which must be found
	Kinds   []capability.Kind // any of
	Tags    []string          // all of
	Reach   []capability.Reach
	Sources []string // any of
	Domains []string // all of
	// WorksHere leaves out what this server cannot run: what comes as an image
	// where there are no containers, and code in languages that it does not
	// isolate. What one may read one may adopt, copy or switch on.
	WorksHere bool
	Scope     Scope // "" is ScopeVisible
	Sort      Sort  // "" is SortCreated
	Limit     int   // 0 is 30
	Cursor    string
	// Counts asks for totals and filters beside the rows, which lists of
	// programs do not need.
	Counts bool

	works []Runtime // that this server has, when WorksHere
}

// check returns the query with defaults filled in, or every fault of it.
func (q Query) check() (Query, error) {
	var out []fault.Field
	bad := func(path, code, format string, args ...any) {
		out = append(out, fault.Field{Path: path, Code: code, Message: fmt.Sprintf(format, args...)})
	}
	if q.Scope == "" {
		q.Scope = ScopeVisible
	}
	if q.Sort == "" {
		q.Sort = SortCreated
	}
	if q.Limit == 0 {
		q.Limit = defaultLimit
	}
	if !slices.Contains([]Scope{ScopeVisible, ScopeStore, ScopeMine}, q.Scope) {
		bad("/scope", "not_allowed", "The scope is visible, store or mine.")
	}
	if !slices.Contains([]Sort{SortCreated, SortNewest, SortAdopted, SortRelevance}, q.Sort) {
		bad("/sort", "not_allowed", "The sort is relevance, newest, adopted or created.")
	}
	if q.Limit < 1 || q.Limit > MaxLimit {
		bad("/limit", "out_of_range", "The limit is 1 to %d.", MaxLimit)
	}
	if len(q.Q) > maxQuery {
		bad("/q", "too_long", "A search has at most %d bytes.", maxQuery)
	}
	for _, k := range q.Kinds {
		if !k.Known() {
			bad("/kind", "unknown_kind", "There is no such kind.")
		}
	}
	for _, r := range q.Reach {
		if !slices.Contains(capability.Reaches, r) {
			bad("/reach", "not_allowed", "The reach is private, workspace, subset or public.")
		}
	}
	if max(len(q.Kinds), len(q.Tags), len(q.Reach), len(q.Sources), len(q.Domains)) > maxFilters {
		bad("", "too_many", "At most %d values of one filter are allowed.", maxFilters)
	}
	return q, fault.Fields(out)
}

// fingerprint names the query apart from its place, so that a cursor of one is
// refused by another.
func (q Query) fingerprint(v capability.Viewer) string {
	q.Cursor, q.Counts, q.Limit = "", false, 0
	body, err := json.Marshal(struct {
		Query
		V capability.Viewer
	}{q, v})
	if err != nil {
		panic(fmt.Sprintf("catalog: a query of strings does not encode: %v", err))
	}
	return string(body)
}

// group is terms of which a capability has at least one.
type group struct {
	facet facet // "" for a word
	terms []string
}

// groups lists what must be found of each capability: one term of each group.
// ok is false when the words are none, and so nothing can match.
func (q Query) groups(v capability.Viewer, words []word) []group {
	var out []group
	for _, w := range words {
		out = append(out, group{terms: w.terms()})
	}
	for _, t := range q.Tags {
		out = append(out, group{facetTag, []string{tagTerm(t)}})
	}
	for _, d := range q.Domains {
		out = append(out, group{facetDomain, []string{domainTerm(strings.ToLower(d))}})
	}
	out = appendGroup(out, facetSource, q.Sources, sourceTerm)
	out = appendGroup(out, facetReach, q.Reach, reachTerm)
	out = appendGroup(out, facetRuntime, q.works, runtimeTerm)
	if q.Scope == ScopeMine {
		out = append(out, group{facetScope, []string{sourceTerm(v.Workspace)}})
	}
	return out
}

func appendGroup[T ~string](groups []group, f facet, values []T, term func(T) string) []group {
	if len(values) == 0 {
		return groups
	}
	g := group{facet: f}
	for _, v := range values {
		if t := term(v); !slices.Contains(g.terms, t) {
			g.terms = append(g.terms, t)
		}
	}
	return append(groups, g)
}
