package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/google/uuid"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/catalog/sample"
	"capstore/internal/fault"
	"capstore/internal/identity"
	"capstore/internal/pg"
)

type seedCmd struct {
	DatabaseURL string `help:"PostgreSQL database to fill; nothing else uses it meanwhile." required:"" env:"CAPSTORE_DATABASE_URL"`
	N           int    `help:"How many capabilities." default:"100000"`
	Times       int    `help:"How often each is put there, under another id: for stores too large to generate." default:"1"`
	Seed        uint64 `help:"Of the generator: the same seed makes the same store." default:"1"`
	Workspace   string `help:"Short name of the reader's workspace; the other owners are named after it." default:"bench"`
	Owners      int    `help:"How many workspaces publish." default:"20"`
	Password    string `help:"The reader's password." default:"bench measures stores"`
}

// seeded is what the command prints: whom to sign in as, and what it took.
type seeded struct {
	Workspace string  `json:"workspace"`
	Email     string  `json:"email"`
	Password  string  `json:"password"`
	Made      int     `json:"made"`
	Terms     int64   `json:"terms"`
	Lists     int64   `json:"lists"`
	Words     int64   `json:"words"`
	Bytes     int64   `json:"bytes"`
	Seconds   float64 `json:"seconds"`
}

// Run fills the database and prints who can look at it.
func (c *seedCmd) Run(ctx context.Context) error {
	db, err := pg.Open(ctx, pg.Config{URL: c.DatabaseURL, MaxConns: 4, StatementTimeout: 6 * time.Hour})
	if err != nil {
		return err
	}
	defer db.Close()
	if err := db.Migrate(ctx); err != nil {
		return err
	}
	out := seeded{Workspace: c.Workspace, Email: c.Workspace + "@example.com", Password: c.Password}
	start := time.Now()
	creator, sources, err := c.people(ctx, identity.New(db), out.Email)
	if err != nil {
		return err
	}
	store := catalog.New(db, catalog.Options{})
	if err := store.SeedFirstParty(ctx); err != nil {
		return err
	}
	made := sample.Store{Seed: c.Seed, N: c.N, Sources: sources, Creator: creator}
	if out.Made, err = store.Load(ctx, made.All(), c.Times); err != nil {
		return err
	}
	if err := settle(ctx, db, &out); err != nil {
		return err
	}
	out.Seconds = time.Since(start).Seconds()
	enc := json.NewEncoder(os.Stdout)
	enc.SetIndent("", "  ")
	return enc.Encode(out)
}

// people makes the owners and the one who reads. A workspace that is there
// already has been filled before.
func (c *seedCmd) people(ctx context.Context, people *identity.Service, email string) (uuid.UUID, []string, error) {
	user, err := people.EnsureUser(ctx, identity.NewUser{Email: email, Name: "Bench", Password: c.Password})
	if err != nil {
		return uuid.Nil, nil, err
	}
	var sources []string
	for i := range c.Owners {
		slug := c.Workspace
		if i > 0 {
			slug = fmt.Sprintf("%s-%02d", c.Workspace, i+1)
		}
		if err := people.EnsureWorkspace(ctx, slug, slug); err != nil {
			return uuid.Nil, nil, err
		}
		sources = append(sources, slug)
	}
	if err := people.EnsureMember(ctx, c.Workspace, user.Subject, capability.RoleMember); err != nil {
		return uuid.Nil, nil, err
	}
	id, err := uuid.Parse(user.Subject)
	if err != nil {
		return uuid.Nil, nil, fault.New(fault.Invalid, "bad_subject", "The person has no usable id.")
	}
	return id, sources, nil
}

// settle gathers statistics, as the server's own housekeeping would in time,
// and says how large the store became.
func settle(ctx context.Context, db *pg.DB, out *seeded) error {
	conn, err := db.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("settle: %w", err)
	}
	defer conn.Release()
	for _, sql := range []string{"SET statement_timeout = 0", "VACUUM ANALYZE"} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return fmt.Errorf("settle: %w", err)
		}
	}
	err = conn.QueryRow(ctx, `SELECT (SELECT count(*) FROM capability_terms), (SELECT count(*) FROM capability_lists),
		(SELECT count(DISTINCT word) FROM capability_words), pg_database_size(current_database())`).Scan(&out.Terms, &out.Lists, &out.Words, &out.Bytes)
	if err != nil {
		return fmt.Errorf("settle: %w", err)
	}
	if _, err := conn.Exec(ctx, "RESET statement_timeout"); err != nil {
		return fmt.Errorf("settle: %w", err)
	}
	return nil
}
