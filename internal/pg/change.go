package pg

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// channel is what Append notifies on. The payload is empty, so that many
// changes of one transaction arrive as one notification: it is a hint to read
// the table, never the news itself.
const channel = "capstore_changes"

// Change says that something may differ from what a reader remembers.
type Change struct {
	Workspace string // "" concerns every workspace
	Topic     string // what kind of thing, such as "capability" or "agent"
	Key       string // which one; "" when it does not matter
}

// Append records the changes in the transaction that makes them, so that they
// are announced if and only if it commits.
func Append(ctx context.Context, tx pgx.Tx, changes ...Change) error {
	if len(changes) == 0 {
		return nil
	}
	workspaces, topics, keys := make([]string, len(changes)), make([]string, len(changes)), make([]string, len(changes))
	for i, c := range changes {
		workspaces[i], topics[i], keys[i] = c.Workspace, c.Topic, c.Key
	}
	_, err := tx.Exec(ctx, `
		with appended as (
			insert into changes (workspace, topic, key)
			select * from unnest($1::text[], $2::text[], $3::text[]))
		select pg_notify('`+channel+`', '')`, workspaces, topics, keys)
	if err != nil {
		return fmt.Errorf("append to the change feed: %w", err)
	}
	return nil
}
