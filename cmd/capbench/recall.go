package main

import (
	"context"
	"fmt"
	"os"
	"text/tabwriter"
	"time"

	"github.com/google/uuid"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/catalog/sample"
	"capstore/internal/identity"
	"capstore/internal/pg"
)

type recallCmd struct {
	DatabaseURL string `help:"The database that seed filled." required:"" env:"CAPSTORE_DATABASE_URL"`
	N           int    `help:"As seed was told." default:"100000"`
	Seed        uint64 `help:"As seed was told." default:"1"`
	Workspace   string `help:"As seed was told." default:"bench"`
	Each        int    `help:"How many questions of each sort." default:"40"`
}

// Run prints of how many questions a right answer was among the first five,
// and what the slowest of each sort took.
func (c *recallCmd) Run(ctx context.Context) error {
	db, err := pg.Open(ctx, pg.Config{URL: c.DatabaseURL, MaxConns: 2})
	if err != nil {
		return err
	}
	defer db.Close()
	user, err := identity.New(db).UserByEmail(ctx, c.Workspace+"@example.com")
	if err != nil {
		return err
	}
	store, actor := catalog.New(db, catalog.Options{}), capability.Actor{Workspace: c.Workspace, Subject: user.Subject, Role: capability.RoleMember}
	found, slowest := map[sample.Sort]int{}, map[sample.Sort]time.Duration{}
	made := sample.Store{Seed: c.Seed, N: c.N, Sources: []string{c.Workspace}, Creator: uuid.Nil}
	for _, q := range made.Questions(c.Each) {
		start := time.Now()
		ok, err := q.Answered(ctx, store, actor)
		if err != nil {
			return err
		}
		slowest[q.Sort] = max(slowest[q.Sort], time.Since(start))
		if ok {
			found[q.Sort]++
		} else {
			fmt.Fprintf(os.Stderr, "%s: %q is not among the first five\n", q.Sort, q.Typed)
		}
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "question\tfound\tof\tslowest")
	for _, sort := range sample.Sorts {
		fmt.Fprintf(w, "%s\t%d\t%d\t%s\n", sort, found[sort], c.Each, slowest[sort].Round(100*time.Microsecond))
	}
	return w.Flush()
}
