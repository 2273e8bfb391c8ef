// Command capbench measures a running capstore, and fills a database with a
// store of any size to measure. Its figures are ratios against something plain
// from the same server in the same run, since times alone say little of
// another machine.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/alecthomas/kong"

	"capstore/internal/fault"
)

type cli struct {
	Seed   seedCmd   `cmd:"" help:"Fill a database with a generated store and a person who reads it."`
	Store  storeCmd  `cmd:"" help:"Load the pages of the store, beside a static file of the same server."`
	Recall recallCmd `cmd:"" help:"Ask a store that seed filled questions whose answers are known."`

	Toolsearch toolsearchCmd `cmd:"" help:"Look for tools by queries whose answers are known, beside plain BM25."`
}

func main() {
	var c cli
	k := kong.Parse(&c, kong.Name("capbench"), kong.Description("Measures a capstore."))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	k.BindTo(ctx, (*context.Context)(nil))
	if err := k.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "capbench:", explain(err))
		os.Exit(1)
	}
}

// explain adds to a fault what to do about it.
func explain(err error) string {
	if f := fault.From(err); f.Kind != fault.Internal {
		return f.Message + " " + f.Action
	}
	return err.Error()
}
