package lifecycle

import (
	"context"
	"fmt"
	"sync"
)

// Group is several services as one: started in order, each when the one
// before it works, and stopped together.
type Group struct {
	base     Base
	services []Service
}

// NewGroup returns a group of the services in the order they start.
func NewGroup(services ...Service) *Group { return &Group{services: services} }

// Start starts the services one after the other and returns when all of them
// work. When one cannot be started, or ctx ends first, those that were started
// are stopped again and the error says why.
func (g *Group) Start(ctx context.Context) error {
	begun := make(chan error, 1)
	err := g.base.Run(ctx, func(ctx context.Context, ready func()) {
		defer g.stopAll()
		err := g.startAll(ctx)
		begun <- err
		if err == nil {
			ready()
			<-ctx.Done()
		}
	})
	if err != nil {
		return err
	}
	return <-begun
}

func (g *Group) startAll(ctx context.Context) error {
	for _, s := range g.services {
		// Asked for first: a service that ends at once has the next run's
		// channel by the time that Start returns.
		started := s.Started()
		if err := s.Start(ctx); err != nil {
			return fmt.Errorf("start %T: %w", s, err)
		}
		select {
		case <-started:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func (g *Group) stopAll() {
	var wg sync.WaitGroup
	for _, s := range g.services {
		wg.Go(s.Stop)
	}
	wg.Wait()
}

// Started is closed once every service works, or the group has ended.
func (g *Group) Started() <-chan struct{} { return g.base.Started() }

// Stop stops all services at the same time and waits for them.
func (g *Group) Stop() { g.base.Stop() }
