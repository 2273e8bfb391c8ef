package catalog

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
)

func TestCountsAreMadeOnceForAState(t *testing.T) {
	t.Parallel()
	var c countCache
	var made atomic.Int32
	want := Facets{WorksHere: Count{N: 7}}
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			e, known := c.get(t.Context(), "q", "1")
			if !known {
				made.Add(1)
				c.end("q", e, want, true)
			}
			if e.facets.WorksHere != want.WorksHere {
				t.Errorf("got %+v", e.facets)
			}
		})
	}
	wg.Wait()
	if n := made.Load(); n != 1 {
		t.Errorf("counted %d times", n)
	}
	e, known := c.get(t.Context(), "q", "2")
	if known {
		t.Error("what another state held is told")
	}
	// Who counts fails: the one that waits counts instead.
	next := make(chan bool)
	go func() {
		_, known := c.get(t.Context(), "q", "2")
		next <- known
	}()
	c.end("q", e, Facets{}, false)
	if <-next {
		t.Error("a failure is told as a count")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, known := c.get(ended, "q", "2"); known {
		t.Error("who leaves while another counts was told something")
	}
}
