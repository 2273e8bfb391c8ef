package intake

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"capstore/db"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/interchange"
	"capstore/internal/pg"
	"capstore/internal/secret"
)

var queries = db.New()

const (
	// stagedFor is how long what was sent waits to be imported.
	stagedFor = time.Hour
	// stagedAtOnce is how many imports a member has waiting; the oldest goes.
	stagedAtOnce = 3
)

// Staging keeps what somebody sent while he looks at it, sealed as secrets are,
// for an hour and for himself alone.
type Staging struct {
	db      *pg.DB
	secrets *secret.Service
}

// NewStaging returns the staging of one database.
func NewStaging(database *pg.DB, secrets *secret.Service) *Staging {
	return &Staging{db: database, secrets: secrets}
}

// Staged is an import on its way.
type Staged struct {
	ID string
	// Uploads are gone once everything was dealt with.
	Uploads []interchange.Upload
	Origin  string // the address that it was fetched from, "" for what was sent
	State   State
}

// Name is what the import is called.
func (s Staged) Name() string {
	if len(s.Uploads) == 0 {
		return s.Origin
	}
	return s.Uploads[0].Name
}

// State is what was chosen, and what became of it so far.
type State struct {
	// Supply may hold what somebody should not have typed into an address, and
	// is kept sealed.
	Supply map[string]interchange.Supply `json:"-"`
	// Left are the paths of what is not to be published.
	Left       []string         `json:"left,omitempty"`
	Reach      capability.Reach `json:"reach,omitempty"`
	SharedWith []string         `json:"sharedWith,omitempty"`
	// Keep are the literal secrets to be kept, as SecretKey spells them.
	Keep []string `json:"keep,omitempty"`
	// Publishing begins with the word of the one who sent it, and Over ends it.
	Publishing bool     `json:"publishing,omitempty"`
	Over       bool     `json:"over,omitempty"`
	Done       int      `json:"done"` // of the import's sources
	Of         int      `json:"of"`
	Results    []Result `json:"results,omitempty"`
}

// Result is the outcome of one item as it is kept.
type Result struct {
	Path    string          `json:"path"`
	Status  Status          `json:"status"`
	Kind    capability.Kind `json:"kind,omitempty"`
	Name    string          `json:"name,omitempty"`
	ID      string          `json:"id,omitempty"`
	Version string          `json:"version,omitempty"`
	Follows string          `json:"follows,omitempty"`
	Fault   *fault.Fault    `json:"fault,omitempty"`
	// Why is what says why an ignored one was left out.
	Why     *interchange.Note `json:"why,omitempty"`
	Secrets []KeptSecret      `json:"secrets,omitempty"`
}

// KeptSecret is what became of a literal secret that was to be kept.
type KeptSecret struct {
	Name  string       `json:"name"`
	Fault *fault.Fault `json:"fault,omitempty"`
}

// SecretKey names a literal secret of an item.
func SecretKey(path, name string) string { return name + " " + path }

// ResultOf is what is kept of an outcome.
func ResultOf(o Outcome) Result {
	out := Result{
		Path: o.Item.Path, Status: o.Status, Kind: o.Item.Kind, Name: o.Item.Content.Name, ID: o.ID, Version: o.Version,
		Follows: o.Follows, Fault: o.Fault,
	}
	if n := len(o.Item.Notes); o.Status == Ignored && n > 0 {
		out.Why = &o.Item.Notes[n-1]
	}
	return out
}

// Put stages what was sent and returns the name under which it waits.
func (s *Staging) Put(ctx context.Context, actor capability.Actor, uploads []interchange.Upload, origin string) (string, error) {
	subject, err := member(actor)
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(uploads); err != nil {
		return "", fmt.Errorf("stage import: %w", err)
	}
	id, err := uuid.NewRandom()
	if err != nil {
		return "", fmt.Errorf("stage import: %w", err)
	}
	sealed, err := s.secrets.Seal(b.Bytes(), bound(actor, id)...)
	if err != nil {
		return "", err
	}
	return id.String(), s.db.Tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		err := queries.StageImport(ctx, tx, db.StageImportParams{
			ID: id, Workspace: actor.Workspace, Subject: subject, Name: uploads[0].Name, Origin: origin, Ciphertext: sealed, KeptSecs: stagedFor.Seconds(),
		})
		if err != nil {
			return fmt.Errorf("stage import: %w", err)
		}
		return queries.TrimStagedImports(ctx, tx, db.TrimStagedImportsParams{Workspace: actor.Workspace, Subject: subject, Keep: stagedAtOnce})
	})
}

// Get returns what the actor staged. Missing when it is another's, has expired,
// or cannot be opened any more since the key was replaced.
func (s *Staging) Get(ctx context.Context, actor capability.Actor, id string) (Staged, error) {
	subject, key, err := ids(actor, id)
	if err != nil {
		return Staged{}, err
	}
	row, err := queries.StagedImport(ctx, s.db, db.StagedImportParams{ID: key, Workspace: actor.Workspace, Subject: subject})
	if err != nil {
		return Staged{}, gone(err)
	}
	out := Staged{ID: id, Origin: row.Origin}
	if out.State, err = s.openState(row.State, bound(actor, key)); err != nil {
		return Staged{}, err
	}
	if len(row.Ciphertext) == 0 {
		return out, nil
	}
	clear, ok := s.secrets.Unseal(row.Ciphertext, bound(actor, key)...)
	if !ok {
		return Staged{}, expired()
	}
	if err := gob.NewDecoder(bytes.NewReader(clear)).Decode(&out.Uploads); err != nil {
		return Staged{}, fmt.Errorf("staged import: %w", err)
	}
	return out, nil
}

// Change changes what is kept of a staged import; of two at once the second
// sees what the first one left. Missing as for Get.
func (s *Staging) Change(ctx context.Context, actor capability.Actor, id string, change func(*State)) (out State, err error) {
	subject, key, err := ids(actor, id)
	if err != nil {
		return State{}, err
	}
	err = s.db.Tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		raw, err := queries.StagedState(ctx, tx, db.StagedStateParams{ID: key, Workspace: actor.Workspace, Subject: subject})
		if err != nil {
			return gone(err)
		}
		if out, err = s.openState(raw, bound(actor, key)); err != nil {
			return err
		}
		change(&out)
		if raw, err = s.closeState(out, bound(actor, key)); err != nil {
			return err
		}
		return queries.SetStagedState(ctx, tx, db.SetStagedStateParams{
			ID: key, Workspace: actor.Workspace, Subject: subject, State: raw, Over: out.Over,
		})
	})
	return out, err
}

func ids(actor capability.Actor, id string) (subject, key uuid.UUID, err error) {
	if subject, err = member(actor); err != nil {
		return subject, key, err
	}
	if key, err = uuid.Parse(id); err != nil {
		return subject, key, fault.Missing()
	}
	return subject, key, nil
}

// member is the actor's id; an import is looked at by members only.
func member(actor capability.Actor) (uuid.UUID, error) {
	if err := capability.May(actor, capability.ActRead, capability.Ownership{}); err != nil {
		return uuid.Nil, err
	}
	id, err := uuid.Parse(actor.Subject)
	if err != nil {
		return uuid.Nil, fault.Missing()
	}
	return id, nil
}

func bound(actor capability.Actor, id uuid.UUID) []string {
	return []string{"import", actor.Workspace, actor.Subject, id.String()}
}

func gone(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return expired()
	}
	return pg.Fault(fmt.Errorf("read staged import: %w", err))
}

// expired is the answer for what is another's too: it tells nothing of it.
func expired() error {
	return fault.New(fault.NotFound, "import_expired", "This import is not waiting any more: what is sent is kept for an hour.").
		Do("Send it again.")
}
