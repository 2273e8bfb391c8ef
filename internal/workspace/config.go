package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"capstore/db"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/pg"
)

// ConfigVersion is one immutable version of a workspace's agent config.
// Version 0 is the empty default of a workspace that never changed it.
type ConfigVersion struct {
	Version int
	Config  capability.AgentConfig
	By      Person
	At      time.Time // zero for version 0
	Note    string
}

// AnyVersion, as the version that a change starts from, takes whatever is
// newest.
const AnyVersion = -1

// emptyConfig is what a workspace starts with. Its lists are empty rather than
// null, so that its JSON has the shape of every later one.
func emptyConfig() capability.AgentConfig {
	return normal(capability.AgentConfig{})
}

// normal fills what a config may leave out.
func normal(c capability.AgentConfig) capability.AgentConfig {
	if c.Capabilities == nil {
		c.Capabilities = []capability.Adoption{}
	}
	if c.MCPServers == nil {
		c.MCPServers = []capability.RawServer{}
	}
	if c.DisabledDefaults == nil {
		c.DisabledDefaults = []string{}
	}
	if c.ToolSecretBindings == nil {
		c.ToolSecretBindings = map[string]map[string]string{}
	}
	if c.PermissionMode == "" {
		c.PermissionMode = capability.ModeAsk
	}
	return c
}

func decodeConfig(raw []byte) (capability.AgentConfig, error) {
	var c capability.AgentConfig
	if err := json.Unmarshal(raw, &c); err != nil {
		return c, fmt.Errorf("stored agent config: %w", err)
	}
	return normal(c), nil
}

// Config returns the newest config of the actor's workspace.
func (s *Service) Config(ctx context.Context, actor capability.Actor) (ConfigVersion, error) {
	if err := capability.May(actor, capability.ActRead, capability.Ownership{}); err != nil {
		return ConfigVersion{}, err
	}
	return newestConfig(ctx, s.db, actor.Workspace)
}

func newestConfig(ctx context.Context, h db.DBTX, workspace string) (ConfigVersion, error) {
	row, err := queries.NewestConfig(ctx, h, workspace)
	if errors.Is(err, pgx.ErrNoRows) {
		return ConfigVersion{Config: emptyConfig()}, nil
	}
	if err != nil {
		return ConfigVersion{}, pg.Fault(fmt.Errorf("read agent config: %w", err))
	}
	return configOf(db.ConfigVersionRow(row))
}

func configOf(row db.ConfigVersionRow) (ConfigVersion, error) {
	config, err := decodeConfig(row.Config)
	if err != nil {
		return ConfigVersion{}, err
	}
	return ConfigVersion{
		Version: int(row.Version), Config: config, By: person(row.CreatedBy, row.Author), At: row.CreatedAt, Note: row.Note,
	}, nil
}

// ConfigAt returns the config of that number; a missing fault where the
// workspace has none. Version 0 is the empty default.
func (s *Service) ConfigAt(ctx context.Context, actor capability.Actor, version int) (ConfigVersion, error) {
	if err := capability.May(actor, capability.ActRead, capability.Ownership{}); err != nil {
		return ConfigVersion{}, err
	}
	return configAt(ctx, s.db, actor.Workspace, version)
}

func configAt(ctx context.Context, h db.DBTX, workspace string, version int) (ConfigVersion, error) {
	if version == 0 {
		return ConfigVersion{Config: emptyConfig()}, nil
	}
	row, err := queries.ConfigVersion(ctx, h, db.ConfigVersionParams{Workspace: workspace, Version: int32(version)})
	if err != nil {
		return ConfigVersion{}, pg.Fault(fmt.Errorf("read agent config %d: %w", version, err))
	}
	return configOf(row)
}

// maxHistory bounds a page of History.
const maxHistory = 200

// History lists the config's versions, newest first and without the configs
// themselves: at most limit (200 at most) below before; 0 starts at the
// newest.
func (s *Service) History(ctx context.Context, actor capability.Actor, before, limit int) ([]ConfigVersion, error) {
	if err := capability.May(actor, capability.ActRead, capability.Ownership{}); err != nil {
		return nil, err
	}
	if limit <= 0 || limit > maxHistory {
		limit = maxHistory
	}
	rows, err := queries.ConfigHistory(ctx, s.db, db.ConfigHistoryParams{
		Workspace: actor.Workspace, Before: int32(before), Count: int32(limit),
	})
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("read agent history: %w", err))
	}
	out := make([]ConfigVersion, len(rows))
	for i, r := range rows {
		out[i] = ConfigVersion{Version: int(r.Version), By: person(r.CreatedBy, r.Author), At: r.CreatedAt, Note: r.Note}
	}
	return out, nil
}

// HistoryChanges says what each version of a page of the History changed
// against the one before it, by version. Versions that the workspace does not
// have are not in the map.
func (s *Service) HistoryChanges(ctx context.Context, actor capability.Actor, page []ConfigVersion) (map[int][]capability.Change, error) {
	if err := capability.May(actor, capability.ActRead, capability.Ownership{}); err != nil || len(page) == 0 {
		return nil, err
	}
	newest, oldest := page[0].Version, page[len(page)-1].Version
	rows, err := queries.ConfigBodies(ctx, s.db, db.ConfigBodiesParams{
		Workspace: actor.Workspace, Low: int32(oldest) - 1, High: int32(newest), Count: maxHistory + 1,
	})
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("read agent configs: %w", err))
	}
	configs := map[int]capability.AgentConfig{0: emptyConfig()}
	for _, r := range rows {
		if configs[int(r.Version)], err = decodeConfig(r.Config); err != nil {
			return nil, err
		}
	}
	out := make(map[int][]capability.Change, len(page))
	for _, v := range page {
		before, ok := configs[v.Version-1]
		if after, there := configs[v.Version]; ok && there {
			out[v.Version] = capability.DiffConfigs(before, after)
		}
	}
	return out, nil
}

// Change is the one way to write the config: it runs mutate on a copy of the
// newest version, checks the outcome and every adoption that differs, and cuts
// a new version. ifVersion is the version that the author saw; another one by
// now is a stale_config conflict, AnyVersion skips the check. A change that
// changes nothing cuts nothing. Faults of the outcome have paths into the
// config. What only an admin decides (model, permission mode, policy,
// channels, slice) takes settings:write besides.
//
// mutate may run more than once and must not call the Service.
func (s *Service) Change(ctx context.Context, actor capability.Actor, ifVersion int, note string,
	mutate func(*capability.AgentConfig) error,
) (ConfigVersion, error) {
	return s.change(ctx, actor, "agent.change", ifVersion, note, func(_ context.Context, _ pgx.Tx, e *edit) error {
		return mutate(&e.next)
	})
}

// edit is a config change under way, the workspace's agent being locked.
type edit struct {
	actor   capability.Actor
	at      time.Time // the transaction's, by the database's clock
	version int       // of prev
	prev    capability.AgentConfig
	next    capability.AgentConfig
	// targets are the versions locked so far, by pin.
	targets map[capability.Ref]target
}

func (s *Service) change(ctx context.Context, actor capability.Actor, action string, ifVersion int, note string,
	mutate func(context.Context, pgx.Tx, *edit) error,
) (ConfigVersion, error) {
	if _, err := subjectOf(actor); err != nil {
		return ConfigVersion{}, err
	}
	if err := capability.May(actor, capability.ActAgents, capability.Ownership{}); err != nil {
		return ConfigVersion{}, err
	}
	if err := checkNote(note); err != nil {
		return ConfigVersion{}, err
	}
	var out ConfigVersion
	err := s.db.Tx(ctx, func(ctx context.Context, tx pgx.Tx) error {
		e, err := openEdit(ctx, tx, actor, ifVersion)
		if err != nil {
			return err
		}
		if err := mutate(ctx, tx, e); err != nil {
			return err
		}
		e.next = normal(e.next)
		if err := s.save(ctx, tx, e, action, note); err != nil {
			return err
		}
		out, err = newestConfig(ctx, tx, actor.Workspace)
		return err
	})
	return out, err
}

// openEdit locks the workspace's agent and reads its newest config.
func openEdit(ctx context.Context, tx pgx.Tx, actor capability.Actor, ifVersion int) (*edit, error) {
	head, err := queries.LockAgent(ctx, tx, actor.Workspace)
	if err != nil {
		return nil, fmt.Errorf("lock agent: %w", err)
	}
	if ifVersion != AnyVersion && ifVersion != int(head.ConfigVersion) {
		return nil, fault.New(fault.Conflict, "stale_config", "The agent's settings were changed since you opened them.").
			Do("Look at the present settings, then make your change again.").With("version", head.ConfigVersion)
	}
	now, err := newestConfig(ctx, tx, actor.Workspace)
	if err != nil {
		return nil, err
	}
	next, err := cloneConfig(now.Config)
	if err != nil {
		return nil, err
	}
	return &edit{
		actor: actor, at: head.At, version: int(head.ConfigVersion), prev: now.Config, next: next,
		targets: map[capability.Ref]target{},
	}, nil
}

func cloneConfig(c capability.AgentConfig) (capability.AgentConfig, error) {
	raw, err := json.Marshal(c)
	if err != nil {
		return c, fmt.Errorf("clone agent config: %w", err)
	}
	return decodeConfig(raw)
}
