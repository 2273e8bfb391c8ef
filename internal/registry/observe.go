package registry

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"capstore/db"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/pg"
	"capstore/internal/workspace"
)

// TopicObservation is what this package appends to the change feed: demand
// taught something new about a server of the member who is the key.
const TopicObservation = "observation"

// catalogues remembers what servers were observed to have, by digest: nothing
// in it can be stale. It is bounded by being emptied when full.
type catalogues struct {
	mu    sync.Mutex
	known map[string][]ObservedTool
	bytes int
}

const maxCatalogueBytes = 64 << 20

func (c *catalogues) get(digest string) ([]ObservedTool, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	tools, ok := c.known[digest]
	return tools, ok
}

func (c *catalogues) put(digest string, raw []byte) ([]ObservedTool, error) {
	var tools []ObservedTool
	if err := json.Unmarshal(raw, &tools); err != nil {
		return nil, fmt.Errorf("stored catalogue: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil || c.bytes+len(raw) > maxCatalogueBytes {
		c.known, c.bytes = map[string][]ObservedTool{}, 0
	}
	c.known[digest] = tools
	c.bytes += len(raw)
	return tools, nil
}

// pinOf names what a server is to the member: its version or entry, and what
// was set and bound for it. Another pin is another server, to be asked anew.
func pinOf(row *workspace.Row) string {
	var m capability.Mark
	m.Text(row.Digest)
	m.Dict(row.Grant.Settings)
	m.Dict(row.Grant.SecretBindings)
	return m.Sum()
}

// observer returns what looks up the observations of the head. Catalogues that
// this process has not seen cost one statement together. It is nil without an
// error when one of them was replaced meanwhile.
func (r *Registry) observer(ctx context.Context, w *world, h *head) (observer, error) {
	byKey := make(map[capability.Key]Observation, len(h.observations))
	pins := make(map[capability.Key]string, len(h.observations))
	var unknown []string
	for _, o := range h.observations {
		if _, ok := r.seen.get(o.CatalogueDigest); !ok && o.CatalogueDigest != "" {
			unknown = append(unknown, o.Key)
		}
	}
	fetched, err := r.fetch(ctx, w, unknown)
	if err != nil {
		return nil, err
	}
	for _, o := range h.observations {
		seen := Observation{Trouble: o.Trouble, TroubleCode: o.TroubleCode, Notes: o.Notes, Known: o.CatalogueDigest != "", held: o.Held}
		if seen.Known {
			tools, ok := fetched[o.CatalogueDigest]
			if !ok {
				tools, ok = r.seen.get(o.CatalogueDigest)
			}
			if !ok {
				return nil, nil
			}
			seen.Tools = tools
		}
		byKey[capability.Key(o.Key)], pins[capability.Key(o.Key)] = seen, o.Pin
	}
	return func(row *workspace.Row) (Observation, bool) {
		seen, ok := byKey[row.Key]
		return seen, ok && pins[row.Key] == pinOf(row)
	}, nil
}

func (r *Registry) fetch(ctx context.Context, w *world, keys []string) (map[string][]ObservedTool, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	rows, err := queries.Catalogues(ctx, r.db, db.CataloguesParams{Workspace: w.Workspace, Subject: w.subject, Keys: keys})
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("read catalogues: %w", err))
	}
	out := make(map[string][]ObservedTool, len(rows))
	for _, row := range rows {
		if out[row.CatalogueDigest], err = r.seen.put(row.CatalogueDigest, row.Catalogue); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Observe records what a demand taught about the actor's server: its whole
// catalogue where that is Known, why it could not be asked where there is a
// TroubleCode, and with neither that it answers again. The same again changes
// nothing. A failure leaves the catalogue as it was. It is published with the
// next epoch.
func (r *Registry) Observe(ctx context.Context, actor capability.Actor, row workspace.Row, seen Observation) error {
	subject, err := uuid.Parse(actor.Subject)
	if err != nil {
		return errNoMember()
	}
	switch {
	case seen.TroubleCode != "":
		return r.learn(ctx, KeyOf(actor), func(ctx context.Context, tx pgx.Tx) (int64, error) {
			return queries.PutTrouble(ctx, tx, db.PutTroubleParams{
				Workspace: actor.Workspace, Subject: subject, Key: string(row.Key), Pin: pinOf(&row),
				TroubleCode: seen.TroubleCode, Trouble: storable(seen.Trouble),
			})
		})
	case seen.Known:
		put, err := catalogueOf(seen)
		if err != nil {
			return err
		}
		put.Workspace, put.Subject, put.Key, put.Pin = actor.Workspace, subject, string(row.Key), pinOf(&row)
		return r.learn(ctx, KeyOf(actor), func(ctx context.Context, tx pgx.Tx) (int64, error) {
			n, err := queries.PutCatalogue(ctx, tx, put)
			if err != nil {
				return 0, err
			}
			moved, err := pin(ctx, tx, actor.Workspace, &row, seen.Tools)
			if err == nil && moved > 0 { // it concerns every member
				err = pg.Append(ctx, tx, pg.Change{Workspace: actor.Workspace, Topic: workspace.TopicAgent})
			}
			return n, err
		})
	}
	return r.learn(ctx, KeyOf(actor), func(ctx context.Context, tx pgx.Tx) (int64, error) {
		return queries.ClearTrouble(ctx, tx, db.ClearTroubleParams{Workspace: actor.Workspace, Subject: subject, Key: string(row.Key)})
	})
}

func catalogueOf(seen Observation) (db.PutCatalogueParams, error) {
	tools, notes := seen.Tools, make([]string, len(seen.Notes))
	if tools == nil {
		tools = []ObservedTool{}
	}
	for i, note := range seen.Notes {
		notes[i] = storable(note)
	}
	raw, err := json.Marshal(tools)
	if err != nil {
		return db.PutCatalogueParams{}, fault.New(fault.Invalid, "catalogue_unreadable", "What the server lists cannot be stored.").Because(err)
	}
	sum := sha256.Sum256(raw)
	return db.PutCatalogueParams{Catalogue: raw, CatalogueDigest: hex.EncodeToString(sum[:]), Notes: notes}, nil
}

// maxTrouble bounds what is kept of a server's own words about a failure.
const maxTrouble = 2 << 10

// storable is text of others as the database takes it.
func storable(text string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(text[:min(len(text), maxTrouble)], "\x00", ""), "")
}

// Outdated says that a server announced other tools than it was observed to
// have. It only remembers that, and never waits: what is known of the server
// is forgotten before the world is read the next time, to be learnt anew by
// the next demand.
func (r *Registry) Outdated(of Key, server capability.Key) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.outdated[of] == nil {
		r.outdated[of] = map[capability.Key]struct{}{}
	}
	r.outdated[of][server] = struct{}{}
}

// forget drops what is known of the servers of the world that said so.
func (r *Registry) forget(ctx context.Context, of Key) error {
	r.mu.Lock()
	servers := r.outdated[of]
	delete(r.outdated, of)
	r.mu.Unlock()
	if len(servers) == 0 {
		return nil
	}
	subject, err := uuid.Parse(of.Subject)
	if err != nil {
		return errNoMember()
	}
	err = r.learn(ctx, of, func(ctx context.Context, tx pgx.Tx) (n int64, err error) {
		for server := range servers {
			gone, err := queries.ForgetObservation(ctx, tx, db.ForgetObservationParams{Workspace: of.Workspace, Subject: subject, Key: string(server)})
			if err != nil {
				return 0, err
			}
			n += gone
		}
		return n, nil
	})
	if err != nil {
		for server := range servers {
			r.Outdated(of, server)
		}
	}
	return err
}

// learn writes, and tells the change feed where that changed something.
func (r *Registry) learn(ctx context.Context, of Key, write func(context.Context, pgx.Tx) (int64, error)) error {
	return r.db.Tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		n, err := write(ctx, tx)
		if err != nil || n == 0 {
			return err
		}
		return pg.Append(ctx, tx, pg.Change{Workspace: of.Workspace, Topic: TopicObservation, Key: of.Subject})
	})
}
