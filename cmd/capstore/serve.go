package main

import (
	"fmt"
	"net"
	"os"
	"runtime/debug"

	"capstore/cmd/capstore/app"
	"capstore/internal/agent/sandbox"
	"capstore/internal/pg/cluster"
)

type serveCmd struct {
	Demo bool `help:"Fill two workspaces and sign in by a click; loopback addresses only." env:"CAPSTORE_DEMO"`
}

// Run serves until it is told to stop.
func (c *serveCmd) Run(env *environment) error {
	a, err := app.Open(env.ctx, env.config, app.Options{Demo: c.Demo, Role: cluster.Serve}, env.log)
	if err != nil {
		return err
	}
	defer a.Close()
	if os.Getenv("GOGC") == "" {
		// Pages are much garbage beside little that stays: collecting it half as
		// often gives a tenth of the processor back.
		debug.SetGCPercent(200)
	}
	for _, setting := range env.config.Redacted() {
		env.log.DebugContext(env.ctx, "serve: setting", "name", setting[0], "value", setting[1])
	}
	return a.Serve(env.ctx, func(net.Addr) { c.announce(env, a) })
}

// announce says where to go and what is off.
func (c *serveCmd) announce(env *environment, a *app.App) {
	for _, status := range a.Sandbox.Status(env.ctx, false) {
		if !status.Ready {
			fmt.Fprintf(env.stdout, "Off: code tools. %s %s\n", status.Reason, status.Action)
			continue
		}
		for _, language := range []sandbox.Language{sandbox.Python, sandbox.Node} {
			if reason := status.Languages[language]; reason != "" {
				fmt.Fprintf(env.stdout, "Off: %s code tools. %s %s\n", language, reason, status.Action)
			}
		}
	}
	fmt.Fprintf(env.stdout, "\ncapstore is ready at %s\n", env.config.PublicURL())
	if dir, err := env.config.DataDir(); err == nil && env.config.DatabaseURL == "" {
		fmt.Fprintf(env.stdout, "Its data is in %s\n", dir)
	}
	if c.Demo {
		fmt.Fprintf(env.stdout, "Sign in with one click at %s\n", env.config.PublicURL().JoinPath("login"))
	}
}

type migrateCmd struct{}

// Run migrates and prints the schema version.
func (migrateCmd) Run(env *environment) error {
	store, err := app.OpenStore(env.ctx, env.config, "migrate", env.log)
	if err != nil {
		return err
	}
	defer store.Close()
	if err := store.DB.Migrate(env.ctx); err != nil {
		return err
	}
	have, _, err := store.DB.SchemaVersion(env.ctx)
	if err != nil {
		return err
	}
	fmt.Fprintln(env.stdout, "The schema is at version", have)
	return nil
}

type versionCmd struct{}

// Run prints the version that the binary was built from.
func (versionCmd) Run(env *environment) error {
	version := "development"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		version = info.Main.Version
	}
	fmt.Fprintln(env.stdout, "capstore", version)
	return nil
}
