package intake

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"capstore/internal/catalog"
	"capstore/internal/fault"
)

// workers is how many capabilities are published at once. Most of a publication
// is waiting for the database.
const workers = 4

// flush deals with the batch and tells its outcomes in order. On an error it
// tells what was done.
func (r *run) flush(ctx context.Context) error {
	batch := r.batch
	r.batch, r.weight = nil, 0
	if err := r.look(ctx, batch); err != nil {
		return err
	}
	var err error
	if !r.opts.Preview {
		err = r.publish(ctx, batch)
	}
	for _, e := range batch {
		if e.done || e.publish && !r.opts.Preview {
			continue // told before, or not come to
		}
		r.counts.Add(e.Outcome)
		r.each(e.Outcome)
	}
	return err
}

// look asks the store about the whole batch at once.
func (r *run) look(ctx context.Context, batch []*entry) error {
	var wanted []*entry
	var pubs []catalog.Publication
	for _, e := range batch {
		if e.publish {
			wanted, pubs = append(wanted, e), append(pubs, e.pub)
		}
	}
	forecasts, err := r.store.Foresee(ctx, r.actor, pubs, r.opts.Preview)
	if err != nil {
		return err
	}
	for i, e := range wanted {
		r.claims.decide(e, forecasts[i])
	}
	return nil
}

// publish makes what is to be made. Items under one id go one after the other,
// the rest side by side; none depends on another, so that the outcome is the
// same in any order.
func (r *run) publish(ctx context.Context, batch []*entry) error {
	chains := map[string][]*entry{}
	var order []string
	for _, e := range batch {
		if !e.publish || e.done {
			continue
		}
		if chains[e.ID] == nil {
			order = append(order, e.ID)
		}
		chains[e.ID] = append(chains[e.ID], e)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(workers)
	for _, id := range order {
		group.Go(func() error { return r.chain(ctx, chains[id]) })
	}
	return group.Wait()
}

// chain publishes what stands under one id, in order.
func (r *run) chain(ctx context.Context, entries []*entry) error {
	exists := false
	for _, e := range entries {
		if e.fresh && !exists {
			e.pub.Visibility, e.pub.SharedWith = r.opts.Reach, r.opts.SharedWith
		}
		out, err := r.store.Publish(ctx, r.actor, e.pub)
		if err != nil {
			f := refusal(err)
			if f == nil {
				return err
			}
			e.refuse(f)
			continue
		}
		exists, e.publish = true, false
		e.Version, e.Digest, e.Status = out.Version.Version, out.Version.Digest, Made
		if !out.Created && !out.Revived {
			e.Status = Unchanged
		}
	}
	return nil
}

// refusal is the fault of an error that is about the item itself; nil for one
// that ends the import.
func refusal(err error) *fault.Fault {
	f := fault.From(err)
	if slices.Contains([]fault.Kind{fault.Invalid, fault.Conflict, fault.Denied, fault.TooLarge, fault.Malformed, fault.NotFound}, f.Kind) {
		return f
	}
	return nil
}
