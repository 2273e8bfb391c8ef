package toolsearch

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// senses is an embedding model that knows a few meanings and no other words.
type senses struct {
	meanings [][]string // words of one meaning, a dimension each
	asked    []string
	fails    error
}

func (s *senses) Embed(_ context.Context, texts []string) ([][]float32, error) {
	if s.fails != nil {
		return nil, s.fails
	}
	var out [][]float32
	for _, text := range texts {
		s.asked = append(s.asked, text)
		v := make([]float32, len(s.meanings))
		for _, w := range strings.Fields(strings.ToLower(text)) {
			for i, meaning := range s.meanings {
				if slices.Contains(meaning, strings.Trim(w, ".,?")) {
					v[i]++
				}
			}
		}
		out = append(out, v)
	}
	return out, nil
}

func pottery() *senses {
	return &senses{meanings: [][]string{{"settle", "evens", "quits"}, {"expense", "splurge"}, {"note", "parchment"}}}
}

func TestSemanticSearch(t *testing.T) {
	t.Parallel()
	docs := household()
	s, err := NewSemantic(t.Context(), Build(docs), pottery(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ query, want string }{
		{"splurge", "mcp__splitpot__add_expense"}, // which only the model knows
		{"household", "mcp__splitpot__settle_up"}, // which only the words know
		{"settle_up", "mcp__splitpot__settle_up"},
		{"create_note", "mcp__notes__create_note"},
	} {
		hits, err := s.Search(t.Context(), test.query, 2, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := names(docs, hits); len(got) == 0 || got[0] != test.want {
			t.Errorf("Search(%q) = %v, want %s first", test.query, got, test.want)
		}
	}
	if hits, err := s.Search(t.Context(), "", 2, nil); len(hits) > 0 || err != nil {
		t.Errorf("an empty search = %v, %v, want nothing", hits, err)
	}
}

func TestSemanticAdmits(t *testing.T) {
	t.Parallel()
	docs := household()
	s, err := NewSemantic(t.Context(), Build(docs), pottery(), nil)
	if err != nil {
		t.Fatal(err)
	}
	hits, err := s.Search(t.Context(), "splurge on a parchment", 5, func(i int) bool { return i == 2 })
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"mcp__notes__create_note"}, names(docs, hits)); diff != "" {
		t.Errorf("among the admitted (-want +got):\n%s", diff)
	}
}

func TestSemanticEmbedsOnce(t *testing.T) {
	t.Parallel()
	docs, model := household(), pottery()
	before := Build(docs)
	s, err := NewSemantic(t.Context(), before, model, nil)
	if err != nil {
		t.Fatal(err)
	}
	model.asked = nil
	docs[1].Description = "Put a splurge into the pot."
	if _, err := NewSemantic(t.Context(), Build(docs), model, s); err != nil {
		t.Fatal(err)
	}
	if len(model.asked) != 1 || !strings.Contains(model.asked[0], "splurge") {
		t.Errorf("after one change the model is asked for %q", model.asked)
	}
}

// TestSemanticFails holds that a model that is down takes nothing away.
func TestSemanticFails(t *testing.T) {
	t.Parallel()
	docs, model := household(), pottery()
	x := Build(docs)
	s, err := NewSemantic(t.Context(), x, model, nil)
	if err != nil {
		t.Fatal(err)
	}
	model.fails = errors.New("down")
	hits, err := s.Search(t.Context(), "settle", 2, nil)
	if !errors.Is(err, model.fails) {
		t.Errorf("the error is %v, want the model's", err)
	}
	if diff := cmp.Diff(x.Search("settle", 2, nil), hits); diff != "" {
		t.Errorf("without the model (-want +got):\n%s", diff)
	}
	if _, err := NewSemantic(t.Context(), x, model, nil); !errors.Is(err, model.fails) {
		t.Errorf("NewSemantic = %v, want the model's error", err)
	}
}
