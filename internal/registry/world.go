package registry

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"time"
	"weak"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"capstore/db"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/pg"
)

// Key names a world: the agent of one member in one workspace.
type Key struct{ Workspace, Subject string }

// KeyOf is the actor's own world.
func KeyOf(actor capability.Actor) Key { return Key{actor.Workspace, actor.Subject} }

// world is a world that is in use here. Its state in the database is what
// counts; this is what was read of it last.
type world struct {
	Key
	subject uuid.UUID
	// turn is taken by whoever reads the world anew; built belongs to him.
	turn  chan struct{}
	built inputs

	// Below belongs to the registry's lock.
	current *Snapshot
	users   int // who is reading it, holds a binding of it, or follows it
	used    time.Time
	stale   bool // something that it rests on has changed
	dropped bool // no longer among the worlds in use
	follow  map[chan struct{}]struct{}
}

// inputs is all that a snapshot is made of; equal inputs make an equal one.
type inputs struct {
	role     capability.Role
	carried  string
	aside    string
	observed string
	epoch    int64
	digest   string
}

// head is what WorldHead read.
type head struct {
	role         capability.Role
	epoch        int64
	digest       string
	observations []db.WorldHeadRow
}

// fingerprint is what of the observations the world's entries rest on.
func (h *head) fingerprint() string {
	var b strings.Builder
	for _, o := range h.observations {
		b.WriteString(o.Key + "\x00" + o.Pin + "\x00" + o.CatalogueDigest + "\x00" + o.TroubleCode + "\x00" + strings.Join(o.Held, "\x00") + "\x00")
	}
	return b.String()
}

// tries bounds how often a world is read anew because another server moved it
// on meanwhile; each time that server has made progress.
const tries = 8

// refresh reads the world as it is now, publishes it where it moved, and
// returns its snapshot, retained for the caller. What is read came after the
// epoch that it is compared with, so that a slow reader never turns the world
// back: his publication loses and he reads again.
func (r *Registry) refresh(ctx context.Context, w *world) (*Snapshot, error) {
	select {
	case w.turn <- struct{}{}:
		defer func() { <-w.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	for range tries {
		snap, err := r.read(ctx, w)
		if snap != nil || err != nil {
			return snap, err
		}
	}
	return nil, fault.New(fault.Unavailable, "world_unsettled", "What this agent carries kept changing while it was read.").
		Do("Try again in a moment.")
}

// read returns nil without an error when another server moved the world on.
func (r *Registry) read(ctx context.Context, w *world) (*Snapshot, error) {
	r.freshen(w)
	if err := r.forget(ctx, w.Key); err != nil {
		return nil, err
	}
	h, err := r.head(ctx, w)
	if err != nil {
		return nil, err
	}
	carried, err := r.workspace.Carried(ctx, capability.Actor{Workspace: w.Workspace, Subject: w.Subject, Role: h.role})
	if err != nil {
		return nil, err
	}
	in := inputs{h.role, carried.Digest, asideOf(carried), h.fingerprint(), h.epoch, h.digest}
	if snap := r.same(w, in); snap != nil {
		return snap, nil
	}
	observe, err := r.observer(ctx, w, h)
	if observe == nil || err != nil {
		return nil, err
	}
	set := r.share(w.Workspace, build(carried, r.offered(h.role), observe))
	if set.Digest != h.digest {
		if moved, err := r.publish(ctx, w, h, set); err != nil || !moved {
			return nil, err
		}
		in.epoch, in.digest = h.epoch+1, set.Digest
	}
	return r.install(w, set, in), nil
}

// freshen says that what is read from now on is up to date; a change that
// arrives during the reading makes the world stale again.
func (r *Registry) freshen(w *world) {
	r.mu.Lock()
	defer r.mu.Unlock()
	w.stale = false
}

func (r *Registry) head(ctx context.Context, w *world) (*head, error) {
	rows, err := queries.WorldHead(ctx, r.db, db.WorldHeadParams{Workspace: w.Workspace, Subject: w.subject})
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("read world: %w", err))
	}
	if len(rows) == 0 {
		return nil, errNoMember()
	}
	h := &head{role: capability.Role(rows[0].Role), epoch: rows[0].Epoch, digest: rows[0].Digest}
	for _, row := range rows {
		if row.Key != "" {
			h.observations = append(h.observations, row)
		}
	}
	return h, nil
}

// publish moves the world on to the set; false when another server did so
// first.
func (r *Registry) publish(ctx context.Context, w *world, h *head, set *Set) (moved bool, err error) {
	before, err := r.before(ctx, w, h)
	if err != nil {
		return false, err
	}
	manifest := set.Manifest()
	delta := difference(before, manifest, set.Find)
	delta.From, delta.To = h.epoch, h.epoch+1
	row := db.InsertEpochParams{Workspace: w.Workspace, Subject: w.subject, Epoch: h.epoch + 1, Digest: set.Digest, Skills: manifest.skills()}
	if row.Manifest, err = json.Marshal(manifest); err != nil {
		return false, fmt.Errorf("encode manifest: %w", err)
	}
	if row.Delta, err = json.Marshal(delta); err != nil {
		return false, fmt.Errorf("encode delta: %w", err)
	}
	err = r.db.Tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		n, err := queries.AdvanceWorld(ctx, tx, db.AdvanceWorldParams{
			Workspace: w.Workspace, Subject: w.subject, Epoch: h.epoch + 1, Digest: set.Digest,
		})
		if moved = n == 1; err != nil || !moved {
			return err
		}
		return queries.InsertEpoch(ctx, tx, row)
	})
	return moved && err == nil, err
}

// before is the manifest of the epoch that the world stands at, empty at its
// beginning.
func (r *Registry) before(ctx context.Context, w *world, h *head) (Manifest, error) {
	if h.epoch == 0 {
		return Manifest{}, nil
	}
	r.mu.Lock()
	current := w.current
	r.mu.Unlock()
	if current != nil && current.Epoch == h.epoch && current.Digest == h.digest {
		return current.Manifest(), nil
	}
	return r.Manifest(ctx, w.Key, h.epoch)
}

// same returns the present snapshot, retained, when nothing that it is made of
// differs.
func (r *Registry) same(w *world, in inputs) *Snapshot {
	if w.built != in {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if w.current == nil {
		return nil
	}
	return r.retain(w.current)
}

// install makes the set the world's present snapshot and returns it, retained
// for the caller. Who follows the world is told when a turn would see a
// difference, or might: what was there before is not known.
func (r *Registry) install(w *world, set *Set, in inputs) *Snapshot {
	r.mu.Lock()
	defer r.mu.Unlock()
	old := w.current
	if w.built = in; old != nil && old.Set == set && old.Epoch == in.epoch {
		return r.retain(old)
	}
	snap := &Snapshot{Set: set, Epoch: in.epoch}
	r.live.Add(1)
	if w.dropped {
		return r.retain(snap)
	}
	w.current = r.retain(snap)
	if old == nil || old.Digest != snap.Digest {
		w.tell()
	}
	if old != nil {
		r.release(old)
	}
	return r.retain(snap)
}

func (r *Registry) retain(s *Snapshot) *Snapshot {
	s.refs.Add(1)
	return s
}

func (r *Registry) release(s *Snapshot) {
	if s.refs.Add(-1) == 0 {
		r.live.Add(-1)
	}
}

// tell wakes whoever follows the world; the registry's lock is held.
func (w *world) tell() {
	for ch := range w.follow {
		select {
		case ch <- struct{}{}:
		default: // woken already
		}
	}
}

type setKey struct{ workspace, full string }

// share returns the set that the workspace's members hold already where it is
// the same one. Nothing keeps it there: the last holder takes it along.
func (r *Registry) share(in string, set *Set) *Set {
	key := setKey{in, set.full}
	r.mu.Lock()
	defer r.mu.Unlock()
	if known := r.sets[key].Value(); known != nil {
		return known
	}
	p := weak.Make(set)
	r.sets[key] = p
	runtime.AddCleanup(set, func(key setKey) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.sets[key] == p {
			delete(r.sets, key)
		}
	}, key)
	return set
}

// Manifest is what the world's epoch held, empty when it is no longer kept.
func (r *Registry) Manifest(ctx context.Context, key Key, epoch int64) (Manifest, error) {
	subject, err := uuid.Parse(key.Subject)
	if err != nil {
		return Manifest{}, fault.Missing()
	}
	row, err := queries.EpochManifest(ctx, r.db, db.EpochManifestParams{Workspace: key.Workspace, Subject: subject, Epoch: epoch})
	if err = pg.Fault(err); fault.Is(err, fault.NotFound) {
		return Manifest{}, nil
	}
	if err != nil {
		return Manifest{}, err
	}
	return decodeManifest(row.Manifest)
}
