package main

import (
	"context"

	"capstore/cmd/capstore/app"
	"capstore/internal/fault"
)

// withStore runs a command on the database, whether or not a server runs. An
// empty database gets its schema first; an older one is not touched, as a
// server of the older version may be working on it.
func withStore(env *environment, role string, act func(ctx context.Context, store *app.Store) error) error {
	if err := env.config.Validate(); err != nil {
		return err
	}
	store, err := app.OpenStore(env.ctx, env.config, role, env.log)
	if err != nil {
		return err
	}
	defer store.Close()
	have, known, err := store.DB.SchemaVersion(env.ctx)
	if err != nil {
		return err
	}
	if have > 0 && have < known {
		return fault.New(fault.Conflict, "schema_older", "The database has schema %d, and this capstore needs %d.", have, known).
			Do("Stop the server, run capstore migrate, and start the server of this version.")
	}
	if err := store.DB.Migrate(env.ctx); err != nil {
		return err
	}
	return act(env.ctx, store)
}
