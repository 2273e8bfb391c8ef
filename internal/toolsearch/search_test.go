package toolsearch

import (
	"testing"
)

func TestSearchByName(t *testing.T) {
	t.Parallel()
	x := Build([]Doc{
		{ID: "1", Name: "mcp__splitpot__settle_up", Raw: "settle_up", Server: "splitpot", Description: "Work out who owes whom.", Tags: []string{"household"}},
		{ID: "2", Name: "mcp__splitpot__add_expense", Raw: "add_expense", Server: "splitpot", Description: "Put a bill into the pot."},
		{ID: "3", Name: "mcp__notes__create_note", Raw: "create_note", Server: "notes", Description: "Write something down."},
	})
	for _, q := range []string{"mcp__splitpot__settle_up", "settle_up", "SETTLE", "settle-up", "settleUp", "setle up", "household", "who owes whom"} {
		hits := x.Search(q, 5, nil)
		if len(hits) == 0 || hits[0].Doc != 0 {
			t.Errorf("Search(%q) = %v, want settle_up first", q, hits)
		}
	}
	if hits := x.Search("splitpot", 5, nil); len(hits) != 2 {
		t.Errorf("Search of a connection's title = %v, want its two tools", hits)
	}
	if hits := x.Search("splitpot", 5, func(i int) bool { return i == 1 }); len(hits) != 1 || hits[0].Doc != 1 {
		t.Errorf("Search among the admitted = %v, want add_expense alone", hits)
	}
	if hits := x.Search("", 5, nil); len(hits) != 0 {
		t.Errorf("an empty search = %v, want nothing", hits)
	}
}
