package main

import (
	"context"
	"fmt"

	"capstore/cmd/capstore/app"
)

type secretsCmd struct {
	RotateKey rotateKeyCmd `cmd:"" help:"Make a new secret key and seal every secret under it."`
}

type rotateKeyCmd struct{}

// Run rotates the key. A running server follows by itself.
func (rotateKeyCmd) Run(env *environment) error {
	return withStore(env, "secrets rotate-key", func(ctx context.Context, store *app.Store) error {
		secrets, err := app.OpenSecrets(ctx, env.config, store.DB)
		if err != nil {
			return err
		}
		n, err := secrets.Rotate(ctx)
		if err != nil {
			return err
		}
		fmt.Fprintf(env.stdout, "The key is new; secrets sealed under it: %d. Back the key file up.\n", n)
		return nil
	})
}
