package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// page is one address, or one for each request, under a name.
type page struct {
	name  string
	path  func(i int) string
	bytes int // 0 is all of it
}

func at(name, path string) page { return page{name: name, path: func(int) string { return path }} }

// figures are what loading a page gave.
type figures struct {
	Page      string  `json:"page"`
	Bytes     int     `json:"bytes"`
	Requests  int     `json:"requests"`
	PerSecond float64 `json:"perSecond"`
	P50       float64 `json:"p50ms"`
	P99       float64 `json:"p99ms"`
	// OfStatic is the rate beside that of the static file, and Spread p99
	// beside p50.
	OfStatic float64 `json:"rateOfStatic"`
	Spread   float64 `json:"p99OfP50"`
}

// client loads pages of one server.
type client struct {
	http    *http.Client
	base    string
	clients int
}

// get reads a page, or its first bytes, and returns their number.
func (c *client) get(ctx context.Context, path string, bytes int) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+path, nil)
	if err != nil {
		return 0, err
	}
	if bytes > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=0-%d", bytes-1))
	}
	res, err := c.http.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	n, err := io.Copy(io.Discard, res.Body)
	if err == nil && res.StatusCode != http.StatusOK && (bytes == 0 || res.StatusCode != http.StatusPartialContent) {
		err = fmt.Errorf("%s: %s", path, res.Status)
	}
	return int(n), err
}

// load asks for the page from all clients for the time, after a tenth of it to
// warm up.
func (c *client) load(ctx context.Context, p page, d time.Duration) (figures, error) {
	var next atomic.Int64
	if _, _, err := c.run(ctx, p, &next, d/10); err != nil {
		return figures{}, err
	}
	start := time.Now()
	took, size, err := c.run(ctx, p, &next, d)
	if err != nil {
		return figures{}, err
	}
	elapsed := time.Since(start).Seconds()
	slices.Sort(took)
	f := figures{
		Page: p.name, Bytes: size, Requests: len(took), PerSecond: float64(len(took)) / elapsed,
		P50: milliseconds(took[len(took)/2]), P99: milliseconds(took[len(took)*99/100]),
	}
	f.Spread = f.P99 / f.P50
	return f, nil
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// run returns how long each request took, and the size of the last answer.
func (c *client) run(ctx context.Context, p page, next *atomic.Int64, d time.Duration) ([]time.Duration, int, error) {
	end := time.Now().Add(d)
	all, sizes, errs := make([][]time.Duration, c.clients), make([]int, c.clients), make([]error, c.clients)
	var wg sync.WaitGroup
	for i := range c.clients {
		wg.Go(func() {
			for first := true; first || time.Now().Before(end); first = false {
				start := time.Now()
				n, err := c.get(ctx, p.path(int(next.Add(1))), p.bytes)
				if err != nil {
					errs[i] = err
					return
				}
				all[i], sizes[i] = append(all[i], time.Since(start)), n
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, 0, fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return slices.Concat(all...), sizes[0], nil
}
