// Package app is a whole capstore: it assembles every part from one Config,
// so that the binary and the tests run the same program.
package app

import (
	"context"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"capstore/cmd/capstore/demo"
	"capstore/internal/agent"
	"capstore/internal/agent/sandbox"
	"capstore/internal/api"
	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/fault"
	"capstore/internal/httpd"
	"capstore/internal/identity"
	"capstore/internal/interchange/intake"
	"capstore/internal/lifecycle"
	"capstore/internal/netguard"
	"capstore/internal/ops"
	"capstore/internal/outward"
	"capstore/internal/pg"
	"capstore/internal/registry"
	"capstore/internal/secret"
	"capstore/internal/web"
	"capstore/internal/workspace"
	"capstore/static"
)

// App is an assembled capstore. Open one, Serve it, and Close it.
type App struct {
	Config    Config
	Log       *slog.Logger
	Store     *Store
	Feed      *pg.Feed
	Identity  *identity.Service
	Sessions  *identity.Sessions
	Secrets   *secret.Service
	Catalog   *catalog.Service
	Workspace *workspace.Service
	Sandbox   *sandbox.Runner
	Registry  *registry.Registry
	Agent     *agent.Service
	Root      *httpd.Root
	Handler   http.Handler

	background *lifecycle.Group
	guard      *netguard.Guard
}

// Options are what the command decides besides the configuration.
type Options struct {
	Demo bool
	Role string // what holds the data folder, for the message to a second one
}

// Open connects, migrates and assembles, and serves nothing yet. The caller
// closes the App.
func Open(ctx context.Context, cfg Config, opts Options, log *slog.Logger) (*App, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if opts.Demo && !cfg.Loopback() {
		return nil, fault.New(fault.Invalid, "demo_exposed", "The demo signs anyone in by a click, and %s is not a loopback address.", cfg.Addr).
			Do("Listen on 127.0.0.1, or start without --demo.")
	}
	store, err := OpenStore(ctx, cfg, opts.Role, log)
	if err != nil {
		return nil, err
	}
	a := &App{Config: cfg, Log: log, Store: store}
	if err := a.assemble(ctx, opts); err != nil {
		store.Close()
		return nil, err
	}
	return a, nil
}

func (a *App) assemble(ctx context.Context, opts Options) error {
	if err := a.Store.DB.Migrate(ctx); err != nil {
		return err
	}
	var err error
	if a.Secrets, err = OpenSecrets(ctx, a.Config, a.Store.DB); err != nil {
		return err
	}
	options := a.Config.CatalogOptions()
	options.Runtimes = a.runtimes
	rules := options.Rules
	db := a.Store.DB
	a.Feed = pg.NewFeed(db, pg.FeedConfig{Log: a.Log})
	a.Identity = identity.New(db)
	a.Sessions = identity.NewSessions(db, a.Config.PublicURL().Scheme == "https")
	a.Catalog = catalog.New(db, options)
	if a.guard, err = netguard.New(a.Config.AllowHosts); err != nil {
		return err
	}
	a.Workspace = workspace.New(db, a.Catalog, workspace.Options{Rules: rules, Guard: a.guard})
	if a.Sandbox, err = sandbox.NewRunner(sandbox.Options{AllowHost: a.Config.SandboxAllowHost, Folder: os.TempDir()}); err != nil {
		return err
	}
	control := ops.NewControl(a.Identity)
	a.Registry = registry.New(registry.Parts{
		DB: db, Workspace: a.Workspace, Feed: a.Feed, Builtins: agent.Builtins(control), Options: registry.Options{Log: a.Log},
	})
	a.Agent = agent.New(agent.Parts{
		DB: db, Catalog: a.Catalog, Workspace: a.Workspace, Secrets: a.Secrets, Sandbox: a.Sandbox, Registry: a.Registry,
		Control: control, Guard: a.guard, Rules: rules, Feed: a.Feed, Log: a.Log,
	})
	if err := control.Offer(ops.All(a.services())); err != nil {
		return err
	}
	if err := a.Catalog.SeedFirstParty(ctx); err != nil {
		return err
	}
	if opts.Demo {
		if err := demo.Fill(ctx, demo.Parts{
			DB: db, Identity: a.Identity, Secrets: a.Secrets, Catalog: a.Catalog, Workspace: a.Workspace, Log: a.Log,
		}); err != nil {
			return err
		}
	}
	if n, err := a.Agent.Settle(ctx, a.Store.Alone); err != nil {
		return err
	} else if n > 0 {
		a.Log.InfoContext(ctx, "app: turns of an earlier run marked interrupted", "turns", n)
	}
	a.background = lifecycle.NewGroup(a.Feed, identity.NewCleaner(db), catalog.NewIndexer(a.Catalog), a.Registry, a.Agent)
	return a.mount(ctx, opts)
}

// runtimes lists the languages whose code this server runs whoever wrote it.
func (a *App) runtimes(ctx context.Context) (out []catalog.Runtime) {
	for _, l := range []capability.Language{capability.Python, capability.Node, capability.Bash} {
		if a.Sandbox.Available(ctx, sandbox.Language(l), true) == nil {
			out = append(out, catalog.Runtime(l))
		}
	}
	return out
}

func (a *App) mount(ctx context.Context, opts Options) error {
	key, err := a.cookieKey()
	if err != nil {
		return err
	}
	var demoPeople []string
	if opts.Demo {
		demoPeople = demo.Emails()
	}
	a.Root = httpd.New(httpd.Config{
		BaseURL: a.Config.PublicURL(), Hosts: a.Config.Hosts, TrustProxy: a.Config.TrustProxy, Demo: demoPeople, CookieKey: key,
	}, a.Identity, a.Sessions, a.Log, a.Ready)
	web.Mount(web.Parts{
		Root: a.Root, Catalog: a.Catalog, Workspace: a.Workspace, Secrets: a.Secrets, Agent: a.Agent,
		Staging: intake.NewStaging(a.Store.DB, a.Secrets), Guard: a.guard,
	})
	if err := api.Mount(api.Parts{Root: a.Root, DB: a.Store.DB, Services: a.services()}); err != nil {
		return err
	}
	outward.Mount(outward.Parts{Root: a.Root, Catalog: a.Catalog, Workspace: a.Workspace})
	a.Handler = a.Root.Handler()
	return a.offerSetup(ctx)
}

// services are what the operations call.
func (a *App) services() ops.Services {
	return ops.Services{Identity: a.Identity, Catalog: a.Catalog, Workspace: a.Workspace, Secrets: a.Secrets, Agent: a.Agent}
}

// offerSetup says how the first admin is made while there is none.
func (a *App) offerSetup(ctx context.Context) error {
	needed, err := a.Identity.SetupNeeded(ctx)
	if err != nil || !needed || a.Config.Loopback() {
		return err
	}
	a.Log.WarnContext(ctx, "app: nobody has an account yet; the set-up page asks for this token",
		"page", a.Config.PublicURL().JoinPath("setup").String(), "token", a.Identity.RequireSetupToken())
	return nil
}

// Ready returns nil when the server can serve, else why not.
func (a *App) Ready(ctx context.Context) error {
	if err := a.Store.DB.Reachable(ctx); err != nil {
		return err
	}
	if err := static.Check(); err != nil {
		return fault.New(fault.Unavailable, "assets_missing", "%s", err.Error())
	}
	return nil
}

// Serve answers on the configured address until ctx ends, then finishes what
// is under way. Ready is called with the address once it listens.
func (a *App) Serve(ctx context.Context, ready func(net.Addr)) error {
	listener, err := listen(ctx, a.Config.Addr)
	if err != nil {
		return err
	}
	if err := a.background.Start(context.WithoutCancel(ctx)); err != nil {
		return errors.Join(err, listener.Close())
	}
	defer a.background.Stop()
	server := &http.Server{
		Handler: a.Handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(a.Log.Handler(), slog.LevelDebug),
	}
	ended := make(chan error, 1)
	var service lifecycle.Base
	if err := service.Run(context.WithoutCancel(ctx), func(context.Context, func()) { ended <- server.Serve(listener) }); err != nil {
		return err
	}
	ready(listener.Addr())
	select {
	case err := <-ended:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if err := server.Shutdown(grace); err != nil {
		a.Log.WarnContext(ctx, "app: requests were cut off at the end", "error", err)
	}
	<-ended
	return nil
}

// listen says in plain words when somebody else has the port.
func listen(ctx context.Context, addr string) (net.Listener, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fault.New(fault.Unavailable, "address_taken", "capstore cannot listen on %s.", addr).
			Do("Another program may have the port: name another with --addr or ADDR=host:port.").Because(err)
	}
	return listener, nil
}

// Close lets go of the database and stops the embedded one.
func (a *App) Close() { a.Store.Close() }

// cookieKey derives the flash cookies' keys from the secret key, so that
// there is one key to keep.
func (a *App) cookieKey() ([]byte, error) {
	material := []byte(a.Config.SecretKey)
	if len(material) == 0 {
		dir, err := a.Config.DataDir()
		if err != nil {
			return nil, err
		}
		if material, err = os.ReadFile(filepath.Join(dir, KeyFile)); err != nil {
			return nil, err
		}
	}
	return hkdf.Key(sha256.New, material, nil, "capstore flash cookies", 64)
}
