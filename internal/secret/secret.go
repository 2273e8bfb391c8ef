// Package secret keeps what must not be shown. Values go in by Set and come
// out by Resolve alone, for the call that needs them; everything else deals in
// names. At rest each value is encrypted under a data key of its own, which a
// keyset beside the data protects.
package secret

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"capstore/db"
	"capstore/internal/fault"
	"capstore/internal/pg"
)

// Topic of the change feed that this package appends to. The key is the
// subject for a personal secret and "" for a workspace's.
const Topic = "secrets"

// Config says where the key is. Key, the text of a key file, goes before
// KeyFile; with Key the file is neither read nor made.
type Config struct {
	KeyFile string
	Key     string
}

// Service is the secrets of one database. Make it with Open.
type Service struct {
	db   *pg.DB
	q    *db.Queries
	keys *keyring
}

// Open readies the key and proves it on a stored secret. At the first start it
// makes the key file. It returns an Unavailable fault when the file is open to
// others (secret_key_exposed), is gone though secrets are stored
// (secret_key_missing), holds no key (secret_key_malformed) or another one
// (secret_key_wrong).
func Open(ctx context.Context, database *pg.DB, cfg Config) (*Service, error) {
	s := &Service{db: database, q: db.New(), keys: &keyring{path: cfg.KeyFile}}
	if cfg.Key != "" {
		s.keys.path = ""
		if err := s.keys.useLocked(cfg.Key, "CAPSTORE_SECRET_KEY"); err != nil {
			return nil, err
		}
		return s, s.prove(ctx)
	}
	err := s.keys.load()
	if errors.Is(err, fs.ErrNotExist) {
		err = s.firstKey(ctx)
	}
	if err != nil {
		return nil, err
	}
	return s, s.following(func() error { return s.prove(ctx) })
}

// following reads with the key that is there. When that turns out to be the
// wrong one, another process may have rotated it meanwhile: the key file is
// read anew, and so are the rows.
func (s *Service) following(read func() error) error {
	err := read()
	for range 3 {
		if !fault.HasCode(err, "secret_key_wrong") || s.keys.path == "" {
			return err
		}
		if err := s.keys.load(); err != nil {
			return err
		}
		err = read()
	}
	return err
}

// firstKey makes a key only where nothing was sealed under another: a key that
// was lost must not be papered over.
func (s *Service) firstKey(ctx context.Context) error {
	_, err := s.q.NewestSecret(ctx, s.db)
	if errors.Is(err, pgx.ErrNoRows) {
		return s.keys.create()
	}
	if err != nil {
		return pg.Fault(fmt.Errorf("look for secrets: %w", err))
	}
	return fault.New(fault.Unavailable, "secret_key_missing", "Secrets are stored, but the key file %s is gone.", s.keys.path).
		Do("Whoever runs this server should restore it from a backup, or set CAPSTORE_SECRET_KEY to what it held.")
}

func (s *Service) prove(ctx context.Context) error {
	row, err := s.q.NewestSecret(ctx, s.db)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return pg.Fault(fmt.Errorf("look for secrets: %w", err))
	}
	_, err = s.keys.open(row.Ciphertext, binding(row.Workspace, row.Subject, row.Name))
	if err != nil {
		return wrongKey()
	}
	return nil
}

func wrongKey() *fault.Fault {
	return fault.New(fault.Unavailable, "secret_key_wrong", "The stored secrets were sealed under another key.").
		Do("Whoever runs this server should restore the key that belongs to this database; doctor says where it is looked for.")
}

// binding is what a ciphertext is good for: moved to another row, it does not
// open. No part can hold a NUL.
func binding(workspace string, subject *uuid.UUID, name string) []byte {
	owner := ""
	if subject != nil {
		owner = subject.String()
	}
	return []byte("capstore secret 1\x00" + workspace + "\x00" + owner + "\x00" + name)
}
