package catalog

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"capstore/internal/capability"
	"capstore/internal/pg"
)

// skeleton is what is left of a name that one takes in at a glance: look-alike
// letters, case and what stands between the words make no difference.
func skeleton(name string) string {
	return strings.Map(func(r rune) rune {
		if notWordRune(r) {
			return -1
		}
		return r
	}, capability.FoldName(name))
}

func skeletonTerm(skeleton string) string { return "~:" + skeleton }

// orderlessTerm is of the words of a name in any order.
func orderlessTerm(words []string) string {
	words = slices.Clone(words)
	slices.Sort(words)
	return "&:" + strings.Join(slices.Compact(words), " ")
}

// alike adds the terms under which a name that would be confused with this one
// finds it.
func (s termSet) alike(name string) {
	if bare := skeleton(name); bare != "" {
		s.add(skeletonTerm(bare), ofFilter)
	}
	if words := splitWords(name); len(words) > 1 {
		s.add(orderlessTerm(words), ofFilter)
	}
}

// similarShown is how many similar names are worth a warning.
const similarShown = 5

// Similar is a capability whose name may be taken for another.
type Similar struct {
	Source, ID, Name string
	Kind             capability.Kind
	Adopters         int
}

// similarNames finds the lists of the terms, those of the second kind being
// made of a word that is one slip away and the rest of the name around it.
const similarNames = `
WITH term AS MATERIALIZED (
	SELECT unnest($2::text[]) AS term
	UNION
	SELECT k.before || v.word || k.after
	FROM unnest($3::text[], $4::text[], $5::text[]) AS k (key, before, after)
	CROSS JOIN LATERAL (SELECT w.word FROM capability_words w WHERE w.key = k.key LIMIT 40) AS v
)
SELECT DISTINCT c.source, c.id, c.name, c.kind, c.adopters
FROM term CROSS JOIN unnest($1::text[]) AS sh (shelf)
CROSS JOIN LATERAL (
	SELECT l.id FROM capability_lists l WHERE l.shelf = sh.shelf AND l.term = term.term AND l.n > 0 LIMIT 20
) AS li
CROSS JOIN LATERAL (
	SELECT d.capability_pk FROM capability_terms d WHERE d.list = li.id ORDER BY d.rank DESC, d.capability_pk DESC LIMIT 5
) AS d
CROSS JOIN LATERAL (
	SELECT c.source, c.id, c.adopters, v.name, v.kind FROM capabilities c JOIN capability_versions v ON v.pk = c.latest_pk
	WHERE c.pk = d.capability_pk LIMIT 1
) AS c
LIMIT 100`

// Similar lists what the actor may read under a name that is easily taken for
// this one: the same but for case, look-alike letters and what stands between
// the words, the same words in another order, or one slip of the hand away. At
// most five, the closest and then the most adopted first. It is one statement.
func (s *Service) Similar(ctx context.Context, actor capability.Actor, name string) ([]Similar, error) {
	bare, words := skeleton(name), splitWords(name)
	shelves := shelvesOf(actor.Viewer(), ScopeVisible)
	if bare == "" || len(shelves) == 0 {
		return nil, nil
	}
	keys, before, after := slipsOfName(name)
	rows, err := s.db.Query(ctx, similarNames, shelves, []string{skeletonTerm(bare), orderlessTerm(words)}, keys, before, after)
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("similar names: %w", err))
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Similar])
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("similar names: %w", err))
	}
	distance := func(other Similar) int {
		switch b := skeleton(other.Name); {
		case b == bare:
			return 0
		case oneSlip(b, bare):
			return 1
		case orderlessTerm(splitWords(other.Name)) == orderlessTerm(words):
			return 2
		}
		return 3 // the lists were of another name by then
	}
	found = slices.DeleteFunc(found, func(f Similar) bool { return distance(f) > 2 })
	slices.SortFunc(found, func(a, b Similar) int {
		return cmp.Or(cmp.Compare(distance(a), distance(b)), cmp.Compare(b.Adopters, a.Adopters),
			cmp.Compare(a.Source, b.Source), cmp.Compare(a.ID, b.ID))
	})
	return found[:min(len(found), similarShown)], nil
}

// slipsOfName lists what one of the words may be mistyped for, each between the
// beginning and the end of the skeleton's term.
func slipsOfName(name string) (keys, before, after []string) {
	words := splitWords(capability.FoldName(name))
	for i, w := range words[:min(len(words), maxWords)] {
		head, tail := skeletonTerm(strings.Join(words[:i], "")), strings.Join(words[i+1:], "")
		for _, key := range slips(w) {
			keys, before, after = append(keys, key), append(before, head), append(after, tail)
		}
	}
	return keys, before, after
}
