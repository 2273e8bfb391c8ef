package secret

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"capstore/db"
	"capstore/internal/fault"
	"capstore/internal/pg"
)

// Rotate makes a new key, seals every secret under it and drops the old ones;
// it returns how many secrets there were. Running servers follow by
// themselves. Cut off at any point it leaves everything readable, and can be
// run again. A key from the environment is refused: only its setter can
// change it.
func (s *Service) Rotate(ctx context.Context) (int, error) {
	if s.keys.path == "" {
		return 0, fault.New(fault.Invalid, "secret_key_in_environment", "The key comes from CAPSTORE_SECRET_KEY and cannot be replaced there.").
			Do("Write it to the key file with mode 600, unset the variable, and rotate again.")
	}
	var key uint32
	var count int
	err := s.alone(ctx, func(ctx context.Context, tx pgx.Tx) (err error) {
		// The file holds both keys before the first row needs the new one.
		if key, err = s.keys.add(); err != nil {
			return err
		}
		if count, err = s.resealAll(ctx, tx); err != nil {
			return err
		}
		return pg.Audit(ctx, tx, pg.Entry{Action: "secret.rotate_key", Detail: map[string]int{"secrets": count}})
	})
	if err != nil {
		return 0, err
	}
	return count, s.alone(ctx, func(context.Context, pgx.Tx) error { return s.keys.keepOnly(key) })
}

// alone runs fn while nobody writes a secret or rotates, with the key file as
// it then is.
func (s *Service) alone(ctx context.Context, fn func(ctx context.Context, tx pgx.Tx) error) error {
	return s.db.Tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if err := s.q.LockSecretRotation(ctx, tx); err != nil {
			return err
		}
		if err := s.keys.load(); err != nil {
			return err
		}
		return fn(ctx, tx)
	})
}

func (s *Service) resealAll(ctx context.Context, tx pgx.Tx) (int, error) {
	rows, err := s.q.AllSecrets(ctx, tx)
	if err != nil {
		return 0, fmt.Errorf("read secrets: %w", err)
	}
	for _, r := range rows {
		bound := binding(r.Workspace, r.Subject, r.Name)
		clear, err := s.keys.open(r.Ciphertext, bound)
		if err != nil {
			return 0, wrongKey()
		}
		sealed, err := s.keys.seal(clear, bound)
		if err != nil {
			return 0, err
		}
		err = s.q.ResealSecret(ctx, tx, db.ResealSecretParams{
			Workspace: r.Workspace, Subject: r.Subject, Name: r.Name, Ciphertext: sealed,
		})
		if err != nil {
			return 0, fmt.Errorf("write secret: %w", err)
		}
	}
	return len(rows), nil
}
