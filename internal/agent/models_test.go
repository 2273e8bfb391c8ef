package agent

import (
	"testing"

	"capstore/internal/agent/model"
	"capstore/internal/workspace"
)

func TestPriceOfARegisteredModel(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name     string
		provider workspace.Provider
		price    workspace.Price
		want     model.Price
		known    bool
	}{
		{"nobody said", workspace.ProviderOpenAI, workspace.Price{}, model.Price{}, false},
		{"free", workspace.ProviderOpenAI, workspace.Price{Input: "0", Output: "0"}, model.Price{}, true},
		{"anthropic's cache", workspace.ProviderAnthropic, workspace.Price{Input: "3", Output: "15"},
			model.Price{Input: 3_000_000, CachedInput: 300_000, CacheWrite: 3_750_000, Output: 15_000_000}, true},
		{"a cache with a price of its own", workspace.ProviderOpenAI, workspace.Price{Input: "1.25", Cached: "0.125", Output: "10"},
			model.Price{Input: 1_250_000, CachedInput: 125_000, CacheWrite: 1_250_000, Output: 10_000_000}, true},
		{"the least there is", workspace.ProviderOpenAI, workspace.Price{Output: "0.000001"}, model.Price{Output: 1}, true},
		{"the most there is", workspace.ProviderOpenAI, workspace.Price{Input: "999999.999999"},
			model.Price{Input: 999_999_999_999, CachedInput: 999_999_999_999, CacheWrite: 999_999_999_999}, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, known := priceOf(workspace.Model{Provider: c.provider, Price: c.price})
			if got != c.want || known != c.known {
				t.Errorf("got %+v %v, want %+v %v", got, known, c.want, c.known)
			}
		})
	}
}
