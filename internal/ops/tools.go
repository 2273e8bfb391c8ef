package ops

import (
	"context"
	"net/http"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/identity"
	"capstore/internal/workspace"
)

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

// channelRoutes are the words in which the routes of one channel differ.
type channelRoutes struct {
	channel     capability.Channel
	path        string
	plural, one string
	list, get   string // get is "" for channels without a detail
	set         string
}

func (r channelRoutes) listing() Meta {
	return Meta{
		Name: "list_" + r.plural, Method: http.MethodGet, Path: tenant + r.path, Area: AreaAgent,
		Action: capability.ActOwnRead, ReadOnly: true, Summary: r.list,
	}
}

func channelOperations(s Services, r channelRoutes) []Operation {
	out := []Operation{declare(r.listing(), func(ctx context.Context, who identity.Principal, _ Nothing) (List[CarriedRow], error) {
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
	return append(out, switching(s, r))
}

// switching is the operation that sets the member's own switch.
func switching(s Services, r channelRoutes) Operation {
	return declare(Meta{
		Name: "set_" + r.one, Method: http.MethodPut, Path: tenant + r.path + "/{key}", Area: AreaAgent,
		Action: capability.ActOwn, Summary: r.set, Example: `{"enabled": false}`,
	}, func(ctx context.Context, who identity.Principal, in setSwitch) (CarriedRow, error) {
		return s.setSwitch(ctx, who, r.channel, in)
	})
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
