package catalog

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"capstore/internal/capability"
)

// list is one list of the index with its size.
type list struct {
	id   int64
	size int
}

// cell is one combination of a shelf, a kind and one term of each group: what
// lies in all of its lists belongs to the result, and to no other cell. The
// shortest list comes first; it is walked, and the others are asked.
type cell struct {
	kind  capability.Kind
	lists []list
}

// lookup is the statement that finds the lists. The planner sees neither term
// nor shelf, and the LIMIT (there are fewer kinds) keeps it from joining whole
// tables.
const lookup = `
SELECT sh.shelf, te.term, li.kind, li.id, li.n
FROM unnest($1::text[]) AS sh (shelf) CROSS JOIN unnest($2::text[]) AS te (term)
CROSS JOIN LATERAL (
	SELECT l.kind, l.id, l.n FROM capability_lists l WHERE l.shelf = sh.shelf AND l.term = te.term AND l.n > 0 LIMIT 20
) AS li`

// cells finds where the groups meet on the shelves. None when they do nowhere.
func (s *Service) cells(ctx context.Context, shelves []string, groups [][]string) ([]cell, error) {
	if len(groups) == 0 {
		groups = [][]string{{everything}}
	}
	rows, err := s.db.Query(ctx, lookup, shelves, slices.Concat(groups...))
	if err != nil {
		return nil, fmt.Errorf("look up lists: %w", err)
	}
	found := map[listKey]list{}
	var k listKey
	var l list
	_, err = pgx.ForEachRow(rows, []any{&k.shelf, &k.term, &k.kind, &l.id, &l.size}, func() error {
		found[k] = l
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look up lists: %w", err)
	}
	var out []cell
	for _, shelf := range shelves {
		for _, kind := range capability.Kinds {
			out = append(out, combine(found, shelf, kind, groups)...)
		}
	}
	return out, nil
}

// combine multiplies the groups out within one shelf and kind.
func combine(found map[listKey]list, shelf string, kind capability.Kind, groups [][]string) []cell {
	cells := []cell{{kind: kind}}
	for _, group := range groups {
		var next []cell
		for _, c := range cells {
			for _, term := range group {
				if l, ok := found[listKey{shelf, term, string(kind)}]; ok {
					next = append(next, cell{kind: kind, lists: append(slices.Clone(c.lists), l)})
				}
			}
		}
		cells = next
	}
	for _, c := range cells {
		slices.SortFunc(c.lists, func(a, b list) int { return cmp.Or(cmp.Compare(a.size, b.size), cmp.Compare(a.id, b.id)) })
	}
	return cells
}

// ofKinds keeps the cells of the kinds; all of them when there are none.
func ofKinds(cells []cell, kinds []capability.Kind) []cell {
	if len(kinds) == 0 {
		return cells
	}
	return slices.DeleteFunc(slices.Clone(cells), func(c cell) bool { return !slices.Contains(kinds, c.kind) })
}
