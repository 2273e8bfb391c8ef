package registry

import (
	"cmp"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
	"weak"

	"capstore/db"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/lifecycle"
	"capstore/internal/pg"
	"capstore/internal/workspace"
)

// queries is the stateless generated code; each call names its handle.
var queries = db.New()

// Parts are what the registry works with.
type Parts struct {
	DB        *pg.DB
	Workspace *workspace.Service
	// Feed says what changed. Without one each tick looks at every world that
	// is in use.
	Feed *pg.Feed
	// Builtins are the entries that every member of the role is given; nil for
	// none. It is asked once per role.
	Builtins func(role capability.Role) []Entry
	Options  Options
}

// Options holds what tests put in place of the real thing. The zero value is
// right for production.
type Options struct {
	Tick     time.Duration // between passes that no hint asked for; 0 means 15 s
	Debounce time.Duration // from the first hint to its pass; 0 means 50 ms
	Idle     time.Duration // a world that nobody held for that long is dropped; 0 means 30 min
	// Now is the clock of the loop; nil means time.Now.
	Now func() time.Time
	Log *slog.Logger // nil means slog.Default
}

// Registry keeps the worlds of one process. Bind works whether it is started
// or not; starting it keeps idle worlds current between turns.
type Registry struct {
	lifecycle.Base
	db        *pg.DB
	workspace *workspace.Service
	feed      *pg.Feed
	builtins  func(role capability.Role) []Entry
	opts      Options

	mu       sync.Mutex
	worlds   map[string]map[string]*world // by workspace and subject
	count    int
	sets     map[setKey]weak.Pointer[Set]
	byRole   map[capability.Role][]Entry
	outdated map[Key]map[capability.Key]struct{} // servers that announced other tools
	seen     catalogues

	live    atomic.Int64 // snapshots that a world or a binding holds
	holders atomic.Int64 // bindings that were not released

	loop loop

	// Passes reports each pass that ended, to tests.
	Passes lifecycle.Signal[error]
}

// New returns a registry over the parts.
func New(p Parts) *Registry {
	p.Options.Tick = cmp.Or(p.Options.Tick, 15*time.Second)
	p.Options.Debounce = cmp.Or(p.Options.Debounce, 50*time.Millisecond)
	p.Options.Idle = cmp.Or(p.Options.Idle, 30*time.Minute)
	p.Options.Log = cmp.Or(p.Options.Log, slog.Default())
	if p.Options.Now == nil {
		p.Options.Now = time.Now
	}
	return &Registry{
		db: p.DB, workspace: p.Workspace, feed: p.Feed, builtins: p.Builtins, opts: p.Options,
		worlds: map[string]map[string]*world{}, sets: map[setKey]weak.Pointer[Set]{}, byRole: map[capability.Role][]Entry{},
		outdated: map[Key]map[capability.Key]struct{}{},
	}
}

// offered are the built-in entries of the role.
func (r *Registry) offered(role capability.Role) []Entry {
	if r.builtins == nil {
		return nil
	}
	r.mu.Lock()
	entries, ok := r.byRole[role]
	r.mu.Unlock()
	if ok {
		return entries
	}
	entries = r.builtins(role)
	var m capability.Mark
	for i := range entries {
		entries[i].mark = markOf(&m, &entries[i])
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.byRole[role] = entries
	return entries
}

// errNoMember is what somebody finds who is not, or no longer, of the workspace.
func errNoMember() error {
	return fault.New(fault.Revoked, workspace.RevokedMembership, "You are no longer a member of this workspace.")
}
