package agent

import (
	"log/slog"
	"time"

	"github.com/google/uuid"

	"capstore/db"
	"capstore/internal/agent/mcppool"
	"capstore/internal/agent/sandbox"
	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/netguard"
	"capstore/internal/pg"
	"capstore/internal/registry"
	"capstore/internal/secret"
	"capstore/internal/workspace"
)

// queries is the stateless generated code; each call names its handle.
var queries = db.New()

const (
	// maxArguments bounds the JSON of one call's arguments.
	maxArguments = 4 << 20
	// maxInline is how much of a result stands in the ledger; what is longer
	// is kept whole beside it.
	maxInline = 64 << 10
	// callSlack is added to a call's own time-out before it counts as left
	// behind by a server that died.
	callSlack = 30 * time.Second
)

// Parts are what the agent works with.
type Parts struct {
	DB        *pg.DB
	Catalog   *catalog.Service
	Workspace *workspace.Service
	Secrets   *secret.Service
	Sandbox   *sandbox.Runner
	// Registry binds what turns may call; nil makes one that nothing keeps
	// current between turns.
	Registry *registry.Registry
	// Guard is the way out to MCP servers and models, the public ones alone
	// where it is nil; Rules what their addresses may be.
	Guard *netguard.Guard
	Rules capability.Rules
	// Feed tells what other servers and other parts have committed; without one
	// nothing is hurried.
	Feed *pg.Feed
	Log  *slog.Logger
	// Control is the control plane as tools, nil for none. The registry lists
	// them by Builtins.
	Control Control
}

// Service runs the agents of every member. Start it before turns begin.
type Service struct {
	db        *pg.DB
	catalog   *catalog.Service
	workspace *workspace.Service
	secrets   *secret.Service
	sandbox   *sandbox.Runner
	pool      *mcppool.Pool
	guard     *netguard.Guard
	rules     capability.Rules
	registry  *registry.Registry
	control   Control
	log       *slog.Logger

	// server is this process among all that work on the database.
	server  uuid.UUID
	feed    *pg.Feed
	turns   turns
	running running
	live    live
	trials  trials
}

// New returns a service; Start lets turns begin.
func New(p Parts) *Service {
	if p.Registry == nil {
		p.Registry = registry.New(registry.Parts{DB: p.DB, Workspace: p.Workspace, Builtins: Builtins(p.Control), Options: registry.Options{Log: p.Log}})
	}
	if p.Guard == nil {
		p.Guard, _ = netguard.New(nil) // an empty list has no entry that could be wrong
	}
	s := &Service{
		registry: p.Registry,
		db:       p.DB, catalog: p.Catalog, workspace: p.Workspace, secrets: p.Secrets, sandbox: p.Sandbox, rules: p.Rules, feed: p.Feed, log: p.Log,
		control: p.Control, server: uuid.New(),
	}
	s.guard = p.Guard
	s.pool = mcppool.New(p.Guard, mcppool.Options{Changed: s.ToolsChanged})
	return s
}
