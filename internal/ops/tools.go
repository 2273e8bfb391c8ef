package ops

import (
	"context"
	"encoding/json"
	"net/http"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/identity"
	"capstore/internal/registry"
	"capstore/internal/workspace"
)

// CarriedRow is one thing that the member's agent could carry, with why it is
// on or off for him.
type CarriedRow struct {
	Key             capability.Key      `json:"key"`
	Name            string              `json:"name"`
	Description     string              `json:"description"`
	Kind            capability.Kind     `json:"kind,omitempty"`
	Scope           capability.RowScope `json:"scope" doc:"The group in which it is shown."`
	Origin          capability.Origin   `json:"origin"`
	Source          string              `json:"source,omitempty"`
	ID              string              `json:"id,omitempty"`
	Version         string              `json:"version,omitempty"`
	Digest          string              `json:"digest,omitempty"`
	Baseline        bool                `json:"baseline" doc:"What the workspace carries where the member says nothing."`
	Override        *bool               `json:"override" doc:"The member's own choice; null where he follows the workspace."`
	Enabled         bool                `json:"enabled" doc:"Whether his agent carries it."`
	Reason          capability.Reason   `json:"reason"`
	ShadowedBy      *capability.Key     `json:"shadowedBy" doc:"The row that carries the name instead."`
	Needs           []Need              `json:"needs" doc:"What has to be set before it can run."`
	Functions       []Function          `json:"functions"`
	LatestVersion   string              `json:"latestVersion,omitempty"`
	UpdateAvailable bool                `json:"updateAvailable"`
	Withdrawn       bool                `json:"withdrawn"`
	BlockedReason   string              `json:"blockedReason,omitempty"`
}

// Need is a secret or setting without which a row cannot run.
type Need struct {
	Kind        string `json:"kind" enum:"secret,setting"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

// Function is one function as the model sees it.
type Function struct {
	Name    string `json:"name"`
	Raw     string `json:"raw" doc:"The name at its origin."`
	Write   bool   `json:"write"`
	Allowed bool   `json:"allowed" doc:"False for a write that nobody opted into."`
}

// CarriedDetail is a row with everything that there is to know of it.
type CarriedDetail struct {
	CarriedRow
	Transport workspace.Transport  `json:"transport,omitempty"`
	Target    string               `json:"target,omitempty"`
	Secrets   []BoundSecret        `json:"secrets"`
	Settings  []capability.Setting `json:"settings"`
	Grant     capability.Adoption  `json:"grant" doc:"What holds for calls: the workspace's adoption, or what stands in for one."`
	Editable  bool                 `json:"editable" doc:"Whether the member may bind secrets to it."`
}

// BoundSecret is a declared secret and what it is bound to.
type BoundSecret struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Bound       string `json:"bound" doc:"The name of the secret that it is bound to; empty for none."`
	Available   bool   `json:"available"`
	Own         bool   `json:"own" doc:"It is the member's own rather than the workspace's."`
}

// Probed is what asking a tool for its functions gave.
type Probed struct {
	Key       capability.Key    `json:"key"`
	Standing  registry.Standing `json:"standing"`
	Trouble   string            `json:"trouble,omitempty" doc:"Why the server could not be asked."`
	Functions []ProbedFunction  `json:"functions"`
}

// ProbedFunction is a function with the schema of its arguments.
type ProbedFunction struct {
	Function
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema,omitempty"`
	Refused     string          `json:"refused,omitempty" doc:"Why this one cannot be used."`
}

type keyed struct {
	Key string `path:"key" doc:"The row's key, percent-encoded, such as capability:acme%2Funit-convert."`
}

type setSwitch struct {
	keyed
	Body Switch `body:""`
}

// Switch is the member's own choice.
type Switch struct {
	Enabled Nullable[bool] `json:"enabled" doc:"Null follows the workspace again."`
}

type bindSecrets struct {
	keyed
	Body Bindings `body:""`
}

// Bindings binds declared secrets to secrets by name.
type Bindings struct {
	SecretBindings map[string]*string `json:"secretBindings" doc:"Declared name to the name of a secret; null unbinds."`
}

func toolOperations(s Services) []Operation {
	out := channelOperations(s, channelRoutes{
		channel: capability.ChannelTool, path: "/agent/tools", plural: "agent_tools", one: "agent_tool",
		list: "Every tool that the member's agent could carry, with why it is on or off.",
		get:  "One tool with its secrets, settings and functions.",
		set:  "Switch a tool on or off for oneself, or follow the workspace again.",
	})
	out = append(out,
		declare(Meta{
			Name: "probe_agent_tool", Method: http.MethodPost, Path: tenant + "/agent/tools/{key}/probe", Area: AreaAgent,
			Action: capability.ActRun, Summary: "Ask a tool's server for its functions now.",
		}, s.probe),
		declare(Meta{
			Name: "bind_agent_tool_secrets", Method: http.MethodPut, Path: tenant + "/agent/tools/{key}/secrets", Area: AreaAgent,
			Action: capability.ActAgents, Guarded: true, Summary: "Bind a tool's declared secrets to secrets by name.",
			Example: `{"secretBindings": {"API_TOKEN": "TRACKING_TOKEN"}}`,
		}, s.bindSecrets))
	return append(out, channelOperations(s, channelRoutes{
		channel: capability.ChannelSkill, path: "/agent/skills", plural: "agent_skills", one: "agent_skill",
		list: "Every skill that the member's agent could carry, with why it is on or off.",
		set:  "Switch a skill on or off for oneself, or follow the workspace again.",
	})...)
}

func hookOperations(s Services) []Operation {
	return append(
		channelOperations(s, channelRoutes{
			channel: capability.ChannelHook, path: "/agent/hooks", plural: "agent_hooks", one: "agent_hook",
			list: "Every hook that the member's agent could carry, with why it is on or off.",
			set:  "Switch a hook on or off for oneself, or follow the workspace again.",
		}),
		channelOperations(s, channelRoutes{
			channel: capability.ChannelCommand, path: "/agent/commands", plural: "agent_commands", one: "agent_command",
			list: "Every command that the member's agent could carry, with why it is on or off.",
			set:  "Switch a command on or off for oneself, or follow the workspace again.",
		})...)
}

// channelRoutes are the words in which the routes of one channel differ.
type channelRoutes struct {
	channel     capability.Channel
	path        string
	plural, one string
	list, get   string // get is "" for channels without a detail
	set         string
}

func channelOperations(s Services, r channelRoutes) []Operation {
	out := []Operation{declare(Meta{
		Name: "list_" + r.plural, Method: http.MethodGet, Path: tenant + r.path, Area: AreaAgent,
		Action: capability.ActOwnRead, ReadOnly: true, Summary: r.list,
	}, func(ctx context.Context, who identity.Principal, _ Nothing) (List[CarriedRow], error) {
		return s.carried(ctx, who, r.channel)
	})}
	if r.get != "" {
		out = append(out, declare(Meta{
			Name: "get_" + r.one, Method: http.MethodGet, Path: tenant + r.path + "/{key}", Area: AreaAgent,
			Action: capability.ActOwnRead, ReadOnly: true, Summary: r.get,
		}, func(ctx context.Context, who identity.Principal, in keyed) (CarriedDetail, error) {
			return s.carriedDetail(ctx, who, r.channel, in)
		}))
	}
	return append(out, declare(Meta{
		Name: "set_" + r.one, Method: http.MethodPut, Path: tenant + r.path + "/{key}", Area: AreaAgent,
		Action: capability.ActOwn, Summary: r.set, Example: `{"enabled": false}`,
	}, func(ctx context.Context, who identity.Principal, in setSwitch) (CarriedRow, error) {
		return s.setSwitch(ctx, who, r.channel, in)
	}))
}

func (s Services) carried(ctx context.Context, who identity.Principal, channel capability.Channel) (List[CarriedRow], error) {
	carried, err := s.Workspace.Carried(ctx, who.Actor())
	if err != nil {
		return List[CarriedRow]{}, err
	}
	out := List[CarriedRow]{Items: []CarriedRow{}}
	for _, row := range carried.Rows {
		if row.Channel == channel {
			out.Items = append(out.Items, carriedRow(row))
		}
	}
	return out, nil
}

// row returns the detail of the key, missing when it is of another channel.
func (s Services) row(ctx context.Context, who identity.Principal, channel capability.Channel, in keyed) (workspace.Detail, error) {
	d, err := s.Workspace.Tool(ctx, who.Actor(), capability.Key(in.Key))
	if err == nil && d.Channel != channel {
		err = fault.Missing()
	}
	return d, err
}

func (s Services) carriedDetail(ctx context.Context, who identity.Principal, channel capability.Channel, in keyed) (CarriedDetail, error) {
	d, err := s.row(ctx, who, channel, in)
	if err != nil {
		return CarriedDetail{}, err
	}
	out := CarriedDetail{
		CarriedRow: carriedRow(d.Row), Transport: d.Transport, Target: d.Target, Secrets: []BoundSecret{},
		Settings: list(d.Settings), Grant: d.Grant, Editable: d.Editable,
	}
	for _, secret := range d.Secrets {
		out.Secrets = append(out.Secrets, BoundSecret{
			Name: secret.Name, Description: secret.Description, Bound: secret.Bound, Available: secret.Available, Own: secret.Own,
		})
	}
	return out, nil
}

func (s Services) setSwitch(ctx context.Context, who identity.Principal, channel capability.Channel, in setSwitch) (CarriedRow, error) {
	if err := capability.May(who.Actor(), capability.ActOwn, capability.Fresh); err != nil {
		return CarriedRow{}, err
	}
	if _, err := s.row(ctx, who, channel, in.keyed); err != nil {
		return CarriedRow{}, err
	}
	row, err := s.Workspace.SetSwitch(ctx, who.Actor(), capability.Key(in.Key), in.Body.Enabled.Value)
	if err != nil {
		return CarriedRow{}, err
	}
	return carriedRow(row), nil
}

func (s Services) bindSecrets(ctx context.Context, who identity.Principal, in bindSecrets) (CarriedDetail, error) {
	if err := capability.May(who.Actor(), capability.ActAgents, capability.Ownership{}); err != nil {
		return CarriedDetail{}, err
	}
	if _, err := s.row(ctx, who, capability.ChannelTool, in.keyed); err != nil {
		return CarriedDetail{}, err
	}
	bindings := map[string]string{}
	for declared, name := range in.Body.SecretBindings {
		bindings[declared] = ""
		if name != nil {
			bindings[declared] = *name
		}
	}
	if _, err := s.Workspace.BindSecrets(ctx, who.Actor(), capability.Key(in.Key), bindings); err != nil {
		return CarriedDetail{}, err
	}
	return s.carriedDetail(ctx, who, capability.ChannelTool, in.keyed)
}

// probe asks a server where there is one and it can be asked; of anything else
// it tells what is known.
func (s Services) probe(ctx context.Context, who identity.Principal, in keyed) (Probed, error) {
	if err := capability.May(who.Actor(), capability.ActRun, capability.Ownership{}); err != nil {
		return Probed{}, err
	}
	key := capability.Key(in.Key)
	snap, err := s.Agent.Bind(ctx, who.Actor())
	if err != nil {
		return Probed{}, err
	}
	entry, ok := snap.Find(key)
	if !ok || entry.Row.Channel != capability.ChannelTool {
		return Probed{}, fault.Missing()
	}
	if entry.Kind == registry.EntryMCP && entry.Standing == registry.Usable {
		if snap, err = s.Agent.Learn(ctx, who.Actor(), key); err != nil {
			return Probed{}, err
		}
		if entry, ok = snap.Find(key); !ok {
			return Probed{}, fault.Missing()
		}
	}
	out := Probed{Key: key, Standing: entry.Standing, Trouble: entry.Trouble, Functions: []ProbedFunction{}}
	for _, t := range entry.Tools {
		out.Functions = append(out.Functions, ProbedFunction{
			Function:    Function{Name: t.Name, Raw: t.Raw, Write: t.Write, Allowed: t.Allowed},
			Description: t.Description, InputSchema: t.Schema, Refused: t.Refused,
		})
	}
	return out, nil
}

func carriedRow(r workspace.Row) CarriedRow {
	out := CarriedRow{
		Key: r.Key, Name: r.Name, Description: r.Description, Kind: r.Kind, Scope: r.Scope, Origin: r.Origin,
		Source: r.Source, ID: r.ID, Version: r.Version, Digest: r.Digest, Baseline: r.Baseline, Override: r.Override,
		Enabled: r.Enabled, Reason: r.Reason, Needs: []Need{}, Functions: []Function{}, LatestVersion: r.LatestVisible,
		UpdateAvailable: r.UpdateAvailable, Withdrawn: r.Withdrawn, BlockedReason: r.BlockedReason,
	}
	if r.ShadowedBy != "" {
		out.ShadowedBy = &r.ShadowedBy
	}
	for _, m := range r.Missing {
		out.Needs = append(out.Needs, Need{Kind: "secret", Name: m.Name, Description: m.Description})
	}
	for _, u := range r.Unset {
		out.Needs = append(out.Needs, Need{Kind: "setting", Name: u.Name, Description: u.Description})
	}
	for _, f := range r.Functions {
		out.Functions = append(out.Functions, Function{Name: f.Name, Raw: f.Raw, Write: f.Write, Allowed: f.Allowed})
	}
	return out
}
