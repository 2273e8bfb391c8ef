// Package intake is what becomes of an import: each thing that was found is
// published, is there already, is refused, or is nothing of its own. Pages, the
// JSON interface and the command line all import through it.
package intake

import (
	"context"
	"encoding/json"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/fault"
	"capstore/internal/interchange"
)

// Status is what became of one thing that was found.
type Status string

const (
	// Made is for a new capability or the next version of one.
	Made Status = "made"
	// Unchanged is for content that is there already.
	Unchanged Status = "unchanged"
	// Refused is for what could not be made, with the fault that says why.
	Refused Status = "refused"
	// Ignored is for what is nothing of its own and for what was not chosen.
	Ignored Status = "ignored"
)

// Statuses lists every status in the order in which reports tell them.
var Statuses = []Status{Made, Unchanged, Refused, Ignored}

// Options are how an import is done.
type Options struct {
	// Preview says what would become of everything and publishes nothing.
	Preview bool
	// Reach and SharedWith are for what is new; "" takes each kind's default.
	// What exists keeps its own.
	Reach      capability.Reach
	SharedWith []string
	// Only says which of the readable items to publish, by their path; nil takes
	// them all. The others are ignored.
	Only func(path string) bool
	// Done tells of items that an earlier part of the same import dealt with:
	// they are not reported again, and what follows is compared with them.
	Done func(path string) bool
	// Limit ends the import after about so many items, for one that is done in
	// parts; 0 knows no end. Progress tells whether it came to its end.
	Limit int
	// From is what the provenance says it came from: a file's name or an
	// address; "" says nothing.
	From string
	// Progress is told how many of the import's sources were read and dealt with.
	Progress func(done, of int)
}

// Outcome is what became of one item, or in a preview what would.
type Outcome struct {
	Item   interchange.Item
	Status Status
	// ID, Version and Digest are what stands in the store, where something does.
	ID      string
	Version string
	Digest  string
	// Follows is the latest version before this one, "" for what is new.
	Follows string
	// Effects is what it changes for those who use that one; previews only.
	Effects []capability.Effect
	Fault   *fault.Fault // when Refused
}

// Counts are how many of each there were. Found is always Made, Unchanged,
// Refused and Ignored together.
type Counts struct {
	Found, Made, Unchanged, Refused, Ignored int
	// Repaired counts those made or unchanged that had to be mended to be read.
	Repaired int
}

// Add counts one outcome.
func (c *Counts) Add(o Outcome) {
	c.Found++
	switch o.Status {
	case Made:
		c.Made++
	case Unchanged:
		c.Unchanged++
	case Refused:
		c.Refused++
	default:
		c.Ignored++
	}
	if o.Item.Repaired && (o.Status == Made || o.Status == Unchanged) {
		c.Repaired++
	}
}

// Plus is the counts of two imports together.
func (c Counts) Plus(d Counts) Counts {
	return Counts{
		Found: c.Found + d.Found, Made: c.Made + d.Made, Unchanged: c.Unchanged + d.Unchanged, Refused: c.Refused + d.Refused,
		Ignored: c.Ignored + d.Ignored, Repaired: c.Repaired + d.Repaired,
	}
}

// Run deals with everything that was found, in its order, and hands each
// outcome to each. What is refused leaves the others alone. Denied when the
// actor may publish nothing, or not with that reach; any other error ends the
// import where it stands, with every version before it whole.
//
// Memory holds one batch of items at a time, and a line for each that was dealt
// with.
func Run(ctx context.Context, store *catalog.Service, actor capability.Actor, found interchange.Import, o Options, each func(Outcome)) (Counts, error) {
	r := &run{store: store, actor: actor, opts: o, each: each, claims: claims{ids: map[string]*claim{}, names: map[string]string{}}}
	if err := r.may(); err != nil {
		return Counts{}, err
	}
	for done, item := range found.Each() {
		if len(r.batch) >= batchItems || r.weight >= batchBytes {
			if err := r.flush(ctx); err != nil {
				return r.counts, err
			}
			r.progress(done, found.Sources())
			if o.Limit > 0 && r.counts.Found >= o.Limit {
				return r.counts, nil
			}
		}
		r.take(item)
	}
	if err := r.flush(ctx); err != nil {
		return r.counts, err
	}
	r.progress(found.Sources(), found.Sources())
	return r.counts, nil
}

// Bounds of a batch: how many are looked up by one round of statements, and how
// many bytes of content are held for it.
const (
	batchItems = 100
	batchBytes = 8 << 20
)

// run is one import under way.
type run struct {
	store  *catalog.Service
	actor  capability.Actor
	opts   Options
	each   func(Outcome)
	claims claims
	counts Counts

	batch  []*entry
	weight int
}

// entry is one item of the batch.
type entry struct {
	Outcome
	pub catalog.Publication
	// done was published by an earlier part of the import; publish wants to be.
	done, publish bool
	fresh         bool // there is nothing under its id yet
}

func (r *run) may() error {
	if r.opts.Preview {
		return nil
	}
	if err := capability.May(r.actor, capability.ActWrite, capability.Fresh); err != nil {
		return err
	}
	if r.opts.Reach == capability.ReachPublic {
		return capability.MayPublishPublic(r.actor, r.store.Policy())
	}
	return nil
}

func (r *run) progress(done, of int) {
	if r.opts.Progress != nil {
		r.opts.Progress(done, of)
	}
}

// take puts an item into the batch.
func (r *run) take(item interchange.Item) {
	e := &entry{Outcome: Outcome{Item: item, Status: Ignored}}
	e.done = r.opts.Done != nil && r.opts.Done(item.Path)
	r.batch = append(r.batch, e)
	switch {
	case item.Status == interchange.Refused:
		e.refuse(item.Fault)
	case item.Status != interchange.Ready:
	case r.opts.Only != nil && !r.opts.Only(item.Path):
		e.Item.Notes = append(e.Item.Notes[:len(e.Item.Notes):len(e.Item.Notes)],
			interchange.Note{Path: item.Path, Code: "not_chosen", Message: "It was not chosen."})
	default:
		e.publish = true
		e.pub = r.publication(item)
		r.weight += len(e.pub.Spec)
	}
}

func (r *run) publication(item interchange.Item) catalog.Publication {
	p := catalog.Publication{
		ID: item.As.ID, Name: item.Content.Name, Description: item.Content.Description, Spec: capability.EncodeSpec(item.Content.Spec),
		Tags: item.As.Tags, Version: item.As.Version, Note: item.As.Note, VersionTags: item.As.VersionTags, Provenance: item.Provenance,
	}
	if len(p.Provenance) == 0 {
		p.Provenance = r.provenance(item)
	}
	return p
}

// provenance is what can be said of an item whose format says nothing.
func (r *run) provenance(item interchange.Item) json.RawMessage {
	raw, err := json.Marshal(struct {
		Format interchange.Format `json:"format"`
		Path   string             `json:"path"`
		From   string             `json:"from,omitempty"`
	}{item.Format, item.Path, r.opts.From})
	if err != nil {
		return nil
	}
	return raw
}

func (e *entry) refuse(f *fault.Fault) {
	e.Status, e.Fault, e.publish = Refused, f, false
}
