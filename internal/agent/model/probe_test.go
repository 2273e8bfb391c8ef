package model_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"capstore/internal/agent/model"
	"capstore/internal/agent/model/modeltest"
)

func TestProbe(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, p model.Provider) {
		m, server := scripted(t, p, modeltest.Say("ok").Stop("max_tokens"))
		if err := m.Probe(t.Context()); err != nil {
			t.Fatal(err)
		}
		r := server.Requests()[0]
		if r.MaxTokens > 16 || len(r.Tools) != 1 || r.Model != "m-1" {
			t.Errorf("asked %+v", r)
		}
	})
	both(t, func(t *testing.T, p model.Provider) {
		server := modeltest.NewFunc(t, func(modeltest.Request) modeltest.Step { return modeltest.Refuse(404, "no such model") }).Offer("z-9", "M1")
		f := wantCode(t, newModel(t, config(t, p, server.URL)).Probe(t.Context()), "model_not_found")
		if f.Detail["nearest"] != "M1" || !strings.Contains(f.Action, "M1") {
			t.Errorf("advises %q, %v", f.Action, f.Detail)
		}
	})
	both(t, func(t *testing.T, p model.Provider) {
		m, _ := scripted(t, p, modeltest.Refuse(401, "bad key "+key))
		wantCode(t, m.Probe(t.Context()), "model_unauthorized")
	})
}

func TestModels(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, p model.Provider) {
		server := modeltest.New(t).Offer("b", "a", "", "b")
		names, err := newModel(t, config(t, p, server.URL)).Models(t.Context())
		if diff := cmp.Diff([]string{"a", "b"}, names); diff != "" || err != nil {
			t.Error(diff, err)
		}
		c := config(t, p, server.URL+"/nowhere")
		if p == model.OpenAI {
			c.BaseURL = server.URL + "/nowhere/v1"
		}
		_, err = newModel(t, c).Models(t.Context())
		wantCode(t, err, "model_not_found")
	})
}

func embedder(t *testing.T, vector func(string) []float64) (*model.Embedder, *modeltest.Server) {
	t.Helper()
	server := modeltest.New(t).Embed(vector)
	c := config(t, "", server.URL)
	e, err := model.NewEmbedder(c)
	if err != nil {
		t.Fatal(err)
	}
	return e, server
}

// TestEmbed has more texts than go into one request, and vectors in no order.
func TestEmbed(t *testing.T) {
	t.Parallel()
	e, server := embedder(t, func(text string) []float64 { return []float64{float64(len(text)), 0.5} })
	texts := []string{" "}
	for i := range 299 {
		texts = append(texts, strings.Repeat("x", i+1))
	}
	vectors, err := e.Embed(t.Context(), texts)
	if err != nil || len(vectors) != 300 || server.Asked() != 3 {
		t.Fatal(len(vectors), err, server.Asked())
	}
	for i, v := range vectors {
		if want := float32(max(1, i)); v[0] != want || v[1] != 0.5 {
			t.Errorf("vector %d is %v, want %v first", i, v, want)
		}
	}
	if none, err := e.Embed(t.Context(), nil); err != nil || len(none) != 0 || server.Asked() != 3 {
		t.Error("nothing was asked for", none, err)
	}
}

func TestEmbedFailures(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		vector func(string) []float64
		code   string
	}{
		"no such thing": {nil, "model_refused"},
		"one missing":   {func(s string) []float64 { return map[string][]float64{"a": {1}}[s] }, "model_answer_unreadable"},
		"no numbers":    {func(string) []float64 { return []float64{} }, "model_answer_unreadable"},
		"too large":     {func(string) []float64 { return []float64{math.MaxFloat64} }, "model_answer_unreadable"},
		"uneven":        {func(s string) []float64 { return make([]float64, len(s)) }, "model_answer_unreadable"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, _ := embedder(t, c.vector)
			_, err := e.Embed(t.Context(), []string{"a", "bc"})
			wantCode(t, err, c.code)
		})
	}
	if _, err := model.NewEmbedder(config(t, model.Anthropic, "http://127.0.0.1")); err == nil {
		t.Error("Anthropic has no embeddings")
	}
}

func TestPrice(t *testing.T) {
	t.Parallel()
	usage := model.Usage{Input: 1_000_000, CachedInput: 2_000_000, CacheWrite: 400_000, Output: 100_000}
	for name, c := range map[string]struct {
		price model.Price
		usage model.Usage
		want  int64
	}{
		"free":           {model.Price{}, usage, 0},
		"Anthropic":      {model.PriceOf(model.Anthropic, 3_000_000, 15_000_000), usage, 3_000_000 + 600_000 + 1_500_000 + 1_500_000},
		"others":         {model.PriceOf(model.OpenAI, 3_000_000, 15_000_000), usage, 3_000_000 + 6_000_000 + 1_200_000 + 1_500_000},
		"one token":      {model.PriceOf(model.OpenAI, 1, 1), model.Usage{Input: 1}, 1},
		"nothing":        {model.PriceOf(model.OpenAI, 1, 1), model.Usage{}, 0},
		"past all bound": {model.Price{Input: math.MaxInt64}, model.Usage{Input: math.MaxInt64}, math.MaxInt64},
	} {
		if got := c.price.Cost(c.usage); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
	sum := usage.Plus(model.Usage{Input: 1, CachedInput: 2, CacheWrite: 3, Output: 4})
	if got := fmt.Sprint(sum); got != "{1000001 2000002 400003 100004}" {
		t.Error(got)
	}
}
