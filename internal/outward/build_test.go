package outward

import (
	"context"
	"net/http/httptest"
	"runtime"
	"testing"

	"capstore/internal/fault"
)

// A few archives are made at once, some more wait, and the rest are sent away.
func TestBuildingIsBounded(t *testing.T) {
	t.Parallel()
	s := &surface{building: make(chan struct{}, 1), waiting: make(chan struct{}, 2)}
	ask := func(ctx context.Context, run func() error) error {
		return s.build(&call{r: httptest.NewRequestWithContext(ctx, "GET", "/", nil)}, run)
	}
	nothing := func() error { return nil }
	err := ask(t.Context(), func() error {
		gone, leave := context.WithCancel(t.Context())
		waited := make(chan error)
		go func() { waited <- ask(gone, nothing) }()
		defer leave()
		for len(s.waiting) < 2 { // until the other one waits
			runtime.Gosched()
		}
		if err := ask(t.Context(), nothing); !fault.Is(err, fault.Limited) {
			t.Errorf("a third: %v", err)
		}
		leave()
		if err := <-waited; err != context.Canceled {
			t.Errorf("one that left: %v", err)
		}
		return nil
	})
	if err != nil || ask(t.Context(), nothing) != nil {
		t.Error(err)
	}
}
