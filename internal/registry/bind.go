package registry

import (
	"context"
	"sync"

	"github.com/google/uuid"

	"capstore/internal/capability"
)

// Binding is a snapshot that somebody holds, for one of the doors that turns
// come in by. Release it when the turn has ended.
type Binding struct {
	*Snapshot
	On      capability.Surface
	release func()
}

// Release gives the snapshot back. It may be called twice.
func (b *Binding) Release() { b.release() }

// Bind reads the actor's world as it is now, publishes a new epoch where it
// moved, and returns its snapshot, held until the binding is released. It
// reads the database and nothing else. Somebody who is no member gets a
// Revoked fault, one whose token may not read a Denied one.
func (r *Registry) Bind(ctx context.Context, actor capability.Actor, on capability.Surface) (*Binding, error) {
	if err := capability.May(actor, capability.ActOwnRead, capability.Ownership{}); err != nil {
		return nil, err
	}
	w, err := r.enter(KeyOf(actor))
	if err != nil {
		return nil, err
	}
	snap, err := r.refresh(ctx, w)
	if err != nil {
		r.leave(w)
		return nil, err
	}
	r.holders.Add(1)
	return &Binding{Snapshot: snap, On: on, release: sync.OnceFunc(func() {
		r.holders.Add(-1)
		r.release(snap)
		r.leave(w)
	})}, nil
}

// Share binds the snapshot of a binding once more, for a worker of its turn:
// he inherits it and discovers nothing.
func (r *Registry) Share(b *Binding) *Binding {
	r.retain(b.Snapshot)
	r.holders.Add(1)
	return &Binding{Snapshot: b.Snapshot, On: b.On, release: sync.OnceFunc(func() {
		r.holders.Add(-1)
		r.release(b.Snapshot)
	})}
}

// enter finds the world among those in use, or adds it, and keeps it there
// until leave.
func (r *Registry) enter(key Key) (*world, error) {
	subject, err := uuid.Parse(key.Subject)
	if err != nil || key.Workspace == "" {
		return nil, errNoMember()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	of := r.worlds[key.Workspace]
	if of == nil {
		of = map[string]*world{}
		r.worlds[key.Workspace] = of
	}
	w := of[key.Subject]
	if w == nil {
		w = &world{Key: key, subject: subject, turn: make(chan struct{}, 1)}
		of[key.Subject] = w
		r.count++
	}
	w.users++
	return w, nil
}

func (r *Registry) leave(w *world) {
	now := r.opts.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	w.users--
	w.used = now
}

// drop forgets the world; the registry's lock is held. Whoever holds a
// snapshot of it keeps that, and the next one to ask reads it anew.
func (r *Registry) drop(w *world) {
	of := r.worlds[w.Workspace]
	if of[w.Subject] != w {
		return
	}
	if delete(of, w.Subject); len(of) == 0 {
		delete(r.worlds, w.Workspace)
	}
	r.count--
	w.dropped = true
	if w.current != nil {
		r.release(w.current)
		w.current = nil
	}
}

// Subscribe returns a channel that receives after the world moved, and what
// ends the subscription. Many moves may come as one, and one that was none; the
// subscriber binds anew to see where the world stands. Whoever subscribes
// before he binds misses nothing. The channel is never closed.
func (r *Registry) Subscribe(key Key) (moved <-chan struct{}, end func(), err error) {
	w, err := r.enter(key)
	if err != nil {
		return nil, nil, err
	}
	ch := make(chan struct{}, 1)
	r.mu.Lock()
	defer r.mu.Unlock()
	if w.follow == nil {
		w.follow = map[chan struct{}]struct{}{}
	}
	w.follow[ch] = struct{}{}
	return ch, sync.OnceFunc(func() {
		r.mu.Lock()
		delete(w.follow, ch)
		r.mu.Unlock()
		r.leave(w)
	}), nil
}

// Since is what differs between an epoch of the actor's world and the
// snapshot: what a conversation that last ran at that epoch is told. An epoch
// that is not kept any more differs in everything.
func (r *Registry) Since(ctx context.Context, actor capability.Actor, epoch int64, snap *Snapshot) (Delta, error) {
	if epoch == snap.Epoch {
		return Delta{From: epoch, To: epoch}, nil
	}
	before, err := r.Manifest(ctx, KeyOf(actor), epoch)
	if err != nil {
		return Delta{}, err
	}
	d := difference(before, snap.Manifest(), snap.Find)
	d.From, d.To = epoch, snap.Epoch
	return d, nil
}
