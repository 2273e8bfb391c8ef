package sandbox

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"capstore/internal/fault"
)

// recheckAfter is how long a driver that lacks something is left alone before the
// next run asks again: an operator may have installed what was missing.
const recheckAfter = 30 * time.Second

// Runner chooses the driver for each run and bounds how many run at once. It
// fails closed: without an isolating driver nothing runs, except the
// workspace's own code where the operator has allowed the host driver.
type Runner struct {
	isolated Driver
	host     Driver // nil when not allowed
	slots    chan struct{}

	mu     sync.Mutex
	known  map[Driver]Status
	asked  map[Driver]time.Time
	probes sync.Mutex // one probe at a time
}

// Options choose what a Runner runs with.
type Options struct {
	// AllowHost lets own-workspace code run without isolation where there is
	// none: CAPSTORE_SANDBOX_ALLOW_HOST.
	AllowHost   bool
	Folder      string // for the host driver's temporary files
	Limits      Limits // zero means DefaultLimits
	Concurrency int    // runs at once; 0 means two per processor
}

// NewRunner returns a runner over bubblewrap and, where allowed, the host.
func NewRunner(o Options) (*Runner, error) {
	isolated, err := NewBubblewrap(BubblewrapOptions{Limits: o.Limits})
	if err != nil {
		return nil, err
	}
	if !o.AllowHost {
		return newRunner(o.Concurrency, isolated, nil), nil
	}
	host, err := NewHost(HostOptions{Folder: o.Folder, Limits: o.Limits})
	if err != nil {
		return nil, err
	}
	return newRunner(o.Concurrency, isolated, host), nil
}

func newRunner(concurrency int, isolated, host Driver) *Runner {
	if concurrency <= 0 {
		concurrency = 2 * runtime.NumCPU()
	}
	return &Runner{
		isolated: isolated, host: host, slots: make(chan struct{}, concurrency),
		known: map[Driver]Status{}, asked: map[Driver]time.Time{},
	}
}

// Run runs the program when a slot is free. The error is a *fault.Fault when
// it cannot run here, and the context's when that ends first.
func (r *Runner) Run(ctx context.Context, run Run) (Result, error) {
	if err := run.validate(); err != nil {
		return Result{}, err
	}
	d, err := r.choose(ctx, run.Language, run.Foreign)
	if err != nil {
		return Result{}, err
	}
	if err := r.acquire(ctx); err != nil {
		return Result{}, err
	}
	defer r.release()
	res, err := d.Run(ctx, run)
	if fault.HasCode(err, CodeUnavailable) {
		r.forget(d)
	}
	return res, err
}

// Check parses the code under the driver that would run it. See Driver.
func (r *Runner) Check(ctx context.Context, language Language, code string) error {
	d, err := r.choose(ctx, language, false)
	if err != nil {
		return err
	}
	if err := r.acquire(ctx); err != nil {
		return err
	}
	defer r.release()
	return d.Check(ctx, language, code)
}

// Status says what each driver can do, the preferred first. Fresh asks again
// instead of answering from memory.
func (r *Runner) Status(ctx context.Context, fresh bool) []Status {
	all := []Status{r.status(ctx, r.isolated, fresh)}
	if r.host != nil {
		all = append(all, r.status(ctx, r.host, fresh))
	}
	return all
}

// Available returns nil when own code in the language, or foreign code, can
// run here, else the fault that a run would get.
func (r *Runner) Available(ctx context.Context, language Language, foreign bool) error {
	_, err := r.choose(ctx, language, foreign)
	return err
}

func (r *Runner) choose(ctx context.Context, l Language, foreign bool) (Driver, error) {
	if _, ok := interpreters[l]; !ok {
		return nil, Run{Language: l}.validate()
	}
	s := r.status(ctx, r.isolated, false)
	if s.Runs(l) {
		return r.isolated, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	why := s.Languages[l]
	if why == "" {
		why = s.Reason
	}
	if r.host == nil {
		return nil, &fault.Fault{
			Kind: fault.Unavailable, Code: CodeUnavailable, Message: why,
			Action: fmt.Sprintf("Whoever runs this server installs what is missing: bubblewrap 0.8 or newer, user namespaces, and %s for all users.", interpreters[l].install),
		}
	}
	if foreign {
		return nil, foreignRefused(why)
	}
	return r.host, nil
}

func foreignRefused(why string) error {
	f := fault.New(fault.Unavailable, CodeForeign,
		"Code from another workspace only runs in an isolating sandbox, and this server has none.").Do(installBubblewrap)
	if why != "" {
		f.With("reason", why)
	}
	return f
}

func (r *Runner) status(ctx context.Context, d Driver, fresh bool) Status {
	if s, ok := r.remembered(d); ok && !fresh {
		return s
	}
	r.probes.Lock()
	defer r.probes.Unlock()
	if s, ok := r.remembered(d); ok && !fresh {
		return s
	}
	s := d.Probe(ctx)
	if ctx.Err() == nil { // else it only says that nobody waited
		r.mu.Lock()
		r.known[d], r.asked[d] = s, time.Now()
		r.mu.Unlock()
	}
	return s
}

func (r *Runner) remembered(d Driver) (Status, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, ok := r.known[d]
	return s, ok && (s.complete() || time.Since(r.asked[d]) < recheckAfter)
}

func (r *Runner) forget(d Driver) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.known, d)
}

func (r *Runner) acquire(ctx context.Context) error {
	select {
	case r.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (r *Runner) release() { <-r.slots }
