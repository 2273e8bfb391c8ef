package catalog

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"capstore/db"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/pg"
)

// Forecast is what would become of a Publication.
type Forecast struct {
	// ID is under which it would stand, and Digest what its content has.
	ID     string
	Digest string
	// New says that there is nothing under the id yet.
	New bool
	// Version is the one that would be made, or that is there already with the
	// same content when Exists.
	Version string
	Exists  bool
	// Base is the latest live version of what exists, "" where there is none.
	// It is what the change is measured from.
	Base    string
	Effects []capability.Effect
	// Fault is why it would be refused.
	Fault *fault.Fault
}

// foreseen is how many publications one round of statements looks at.
const foreseen = 200

// Foresee says of each publication what Publish would do with it as things
// stand, each by itself, and changes nothing. Whether the actor may publish at
// all is not asked: a reader may look before he asks somebody who can. With
// effects it compares the contents too.
func (s *Service) Foresee(ctx context.Context, actor capability.Actor, all []Publication, effects bool) ([]Forecast, error) {
	out := make([]Forecast, 0, len(all))
	for some := range slices.Chunk(all, foreseen) {
		o := outlook{by: publisher{Actor: actor}, rules: s.opts.Rules}
		if err := o.load(ctx, s.db, some); err != nil {
			return nil, pg.Fault(err)
		}
		if effects {
			if err := o.compare(ctx, s.db); err != nil {
				return nil, pg.Fault(err)
			}
		}
		out = append(out, o.forecasts...)
	}
	return out, nil
}

// outlook is what the forecasts of one round rest on.
type outlook struct {
	by        publisher
	rules     capability.Rules
	drafts    []draft
	forecasts []Forecast
	held      map[string]*holding
	lines     map[int64][]db.VersionLineRow
	names     map[nameKey][]string
	bases     map[int]int64 // by forecast: the key of its base
}

type nameKey struct{ kind, fold string }

func (o *outlook) load(ctx context.Context, dbtx db.DBTX, some []Publication) error {
	o.drafts, o.forecasts = make([]draft, len(some)), make([]Forecast, len(some))
	var ids, folds []string
	for i, p := range some {
		d, err := p.check(o.rules)
		if err != nil {
			if !fault.Is(err, fault.Invalid) {
				return err
			}
			o.forecasts[i] = Forecast{ID: p.ID, Fault: fault.From(err)}
			continue
		}
		o.drafts[i] = d
		ids, folds = append(ids, d.ID), append(folds, capability.FoldName(d.Name))
	}
	if err := o.loadHeld(ctx, dbtx, ids); err != nil {
		return err
	}
	if err := o.loadNames(ctx, dbtx, folds); err != nil {
		return err
	}
	o.bases = map[int]int64{}
	for i, d := range o.drafts {
		if o.forecasts[i].Fault == nil {
			o.forecasts[i] = o.forecast(i, d)
		}
	}
	return nil
}

func (o *outlook) loadHeld(ctx context.Context, dbtx db.DBTX, ids []string) error {
	rows, err := queries.HeldAmong(ctx, dbtx, db.HeldAmongParams{Source: o.by.Workspace, Ids: ids})
	if err != nil {
		return fmt.Errorf("look for ids: %w", err)
	}
	o.held, o.lines = map[string]*holding{}, map[int64][]db.VersionLineRow{}
	var pks []int64
	for _, row := range rows {
		o.held[row.ID] = hold(db.LockCapabilityRow(row))
		pks = append(pks, row.Pk)
	}
	lines, err := queries.LinesOf(ctx, dbtx, pks)
	if err != nil {
		return fmt.Errorf("look for versions: %w", err)
	}
	for _, v := range lines {
		o.lines[v.CapabilityPk] = append(o.lines[v.CapabilityPk], db.VersionLineRow{
			Pk: v.Pk, Version: v.Version, Kind: v.Kind, Name: v.Name, Digest: v.Digest, WithdrawnAt: v.WithdrawnAt, BlockedAt: v.BlockedAt,
		})
	}
	return nil
}

func (o *outlook) loadNames(ctx context.Context, dbtx db.DBTX, folds []string) error {
	rows, err := queries.SameNames(ctx, dbtx, db.SameNamesParams{Source: o.by.Workspace, Folds: folds, Audiences: o.by.audiences()})
	if err != nil {
		return fmt.Errorf("look for names: %w", err)
	}
	o.names = map[nameKey][]string{}
	for _, row := range rows {
		k := nameKey{row.Kind, row.NameFold}
		o.names[k] = append(o.names[k], row.ID)
	}
	return nil
}

// forecast asks what publish asks, in its order.
func (o *outlook) forecast(i int, d draft) Forecast {
	f := Forecast{ID: d.ID, Digest: d.digest}
	h, line := o.held[d.ID], []db.VersionLineRow(nil)
	var newest *capability.Version
	if h == nil {
		f.New = true
	} else {
		line = o.lines[h.Pk]
		done, err := o.extends(&f, i, d, h, line)
		if err != nil {
			f.Fault = fault.From(err)
			return f
		}
		if done {
			return f
		}
		v, err := capability.ParseVersion(line[0].Version)
		if err != nil {
			f.Fault = fault.From(fmt.Errorf("stored version %q: %w", line[0].Version, err))
			return f
		}
		newest = &v
	}
	next, err := capability.NextVersion(newest, d.Version, d.Bump)
	if err == nil {
		err = o.nameTaken(d)
	}
	if err != nil {
		f.Fault = fault.From(err)
		return f
	}
	f.Version = next.String()
	return f
}

// extends looks at what has the id. It reports whether the content is there
// already.
func (o *outlook) extends(f *Forecast, i int, d draft, h *holding, line []db.VersionLineRow) (bool, error) {
	if err := mayExtend(o.by, h, d.ID); err != nil {
		return false, err
	}
	for _, row := range line {
		if h.LatestPk != nil && row.Pk == *h.LatestPk {
			f.Base, o.bases[i] = row.Version, row.Pk
		}
	}
	same, err := sameContent(line, d, h)
	if err != nil {
		return false, err
	}
	if err := keepsReach(d, h, same != nil); err != nil {
		return false, err
	}
	if same == nil {
		return false, nil
	}
	f.Version = same.Version
	f.Exists = stateOf(same.WithdrawnAt, same.BlockedAt) != Withdrawn
	return true, nil
}

func (o *outlook) nameTaken(d draft) error {
	for _, id := range o.names[nameKey{string(d.kind), capability.FoldName(d.Name)}] {
		if id != d.ID {
			return nameTaken(o.by, id)
		}
	}
	return nil
}

// comparedAtOnce is how many contents are held to be compared: each may have
// more than 10 MiB.
const comparedAtOnce = 20

// compare says what the publications that follow a version change.
func (o *outlook) compare(ctx context.Context, dbtx db.DBTX) error {
	var follow []int
	for i, f := range o.forecasts {
		if f.Fault == nil && !f.Exists && o.bases[i] != 0 {
			follow = append(follow, i)
		}
	}
	for some := range slices.Chunk(follow, comparedAtOnce) {
		var pks []int64
		for _, i := range some {
			pks = append(pks, o.bases[i])
		}
		rows, err := queries.ContentsOf(ctx, dbtx, pks)
		if err != nil {
			return fmt.Errorf("read contents: %w", err)
		}
		contents := make(map[int64]string, len(rows))
		for _, row := range rows {
			contents[row.Pk] = row.Content
		}
		for _, i := range some {
			base, faults := capability.DecodeContent([]byte(contents[o.bases[i]]))
			if len(faults) > 0 {
				return errors.New("a stored content does not decode")
			}
			o.forecasts[i].Effects = capability.Effects(base, o.drafts[i].content)
		}
	}
	return nil
}
