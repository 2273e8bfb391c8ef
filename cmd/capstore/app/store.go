package app

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"

	"capstore/internal/pg"
	"capstore/internal/pg/cluster"
	"capstore/internal/secret"
)

// KeyFile is the name of the secret key's file, beside the embedded database.
const KeyFile = "secret.key"

// Roots are the folders whose node_modules may hold PostgreSQL, besides the
// program's own.
func Roots() []string {
	if wd, err := os.Getwd(); err == nil {
		return []string{wd}
	}
	return nil
}

// Store is an open database, the embedded one or an outside one.
type Store struct {
	DB *pg.DB
	// Cluster is nil for an outside database.
	Cluster *cluster.Cluster
	// Alone says that no other server can be working on the database.
	Alone bool
}

// OpenStore opens the configured database. With role cluster.Serve the
// embedded one is held until Close; any other role joins a running server's
// database, or starts it for the command's time.
func OpenStore(ctx context.Context, cfg Config, role string, log *slog.Logger) (*Store, error) {
	if cfg.DatabaseURL != "" {
		db, err := pg.Open(ctx, pg.Config{URL: cfg.DatabaseURL})
		if err != nil {
			return nil, err
		}
		return &Store{DB: db}, nil
	}
	dir, err := cfg.DataDir()
	if err != nil {
		return nil, err
	}
	opts := cluster.Options{Dir: dir, Role: role, Roots: Roots(), Log: log}
	open := cluster.Attach
	if role == cluster.Serve {
		open = cluster.Start
	}
	c, err := open(ctx, opts)
	if err != nil {
		return nil, err
	}
	db, err := pg.Open(ctx, pg.Config{URL: c.URL()})
	if err != nil {
		c.Stop()
		return nil, err
	}
	return &Store{DB: db, Cluster: c, Alone: role == cluster.Serve}, nil
}

// Close closes the pool, and stops the embedded database that this process
// started.
func (s *Store) Close() {
	s.DB.Close()
	if s.Cluster != nil {
		s.Cluster.Stop()
	}
}

// OpenSecrets readies the secret key of the configuration.
func OpenSecrets(ctx context.Context, cfg Config, db *pg.DB) (*secret.Service, error) {
	dir, err := cfg.DataDir()
	if err != nil {
		return nil, err
	}
	if cfg.SecretKey == "" {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
	}
	return secret.Open(ctx, db, secret.Config{KeyFile: filepath.Join(dir, KeyFile), Key: cfg.SecretKey})
}
