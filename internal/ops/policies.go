package ops

import (
	"context"
	"net/http"
	"strconv"

	"capstore/internal/capability"
	"capstore/internal/identity"
	"capstore/internal/workspace"
)

// Policies are the rules by which the workspace's agent runs tools.
type Policies struct {
	Version        int                       `json:"version" doc:"Of the agent's config that holds them."`
	PermissionMode capability.PermissionMode `json:"permissionMode" enum:"plan,ask,auto,bypass"`
	Rules          []capability.PolicyRule   `json:"rules" doc:"Deny wins over ask over allow, whatever their order."`
	Definitions    string                    `json:"definitions" enum:"hold,notice" doc:"What becomes of a tool that its server describes otherwise than was accepted."`
}

// ETag is the config's version.
func (p Policies) ETag() string { return strconv.Itoa(p.Version) }

type setPolicies struct {
	IfMatch string      `header:"If-Match" doc:"ETag of the policies that the change starts from."`
	Body    NewPolicies `body:""`
}

// NewPolicies replaces the rules; the mode stays where it is left out.
type NewPolicies struct {
	PermissionMode capability.PermissionMode `json:"permissionMode,omitempty" enum:"plan,ask,auto,bypass"`
	Rules          []capability.PolicyRule   `json:"rules"`
	Definitions    string                    `json:"definitions,omitempty" enum:"hold,notice" doc:"Stays where it is left out."`
	Version        *int                      `json:"version,omitempty" doc:"The version that the change starts from, where If-Match is not sent."`
	Note           string                    `json:"note,omitempty"`
}

func policyOperations(s Services) []Operation {
	return []Operation{
		declare(Meta{
			Name: "get_policies", Method: http.MethodGet, Path: tenant + "/policies", Area: AreaApprovals, Action: capability.ActRead,
			ReadOnly: true, Summary: "The permission mode and the rules that every member's calls are held to.",
		}, s.policies),
		declare(Meta{
			Name: "set_policies", Method: http.MethodPut, Path: tenant + "/policies", Area: AreaApprovals, Action: capability.ActSettings,
			Guarded: true, Summary: "Replace the rules and, where it is given, the permission mode.",
			Example: `{"rules": [{"effect": "deny", "match": "mcp__mail__*", "tool": "send", "arguments": [{"path": "/to", "op": "exists"}, {"path": "/to", "op": "notEquals", "value": "team@acme.example"}], "note": "Only to the team."}]}`,
		}, s.setPolicies),
	}
}

// definitionsHold is how the default is called here.
const definitionsHold = "hold"

func policiesOf(v workspace.ConfigVersion, err error) (Policies, error) {
	out := Policies{Version: v.Version, PermissionMode: v.Config.WithDefaults().PermissionMode, Rules: list(v.Config.Policy), Definitions: definitionsHold}
	if v.Config.Definitions != capability.DefinitionsHold {
		out.Definitions = string(v.Config.Definitions)
	}
	return out, err
}

func (s Services) policies(ctx context.Context, who identity.Principal, _ Nothing) (Policies, error) {
	return policiesOf(s.Workspace.Config(ctx, who.Actor()))
}

func (s Services) setPolicies(ctx context.Context, who identity.Principal, in setPolicies) (Policies, error) {
	if err := capability.May(who.Actor(), capability.ActSettings, capability.Ownership{}); err != nil {
		return Policies{}, err
	}
	from, err := configVersion(in.IfMatch, in.Body.Version)
	if err != nil {
		return Policies{}, err
	}
	return policiesOf(s.Workspace.Change(ctx, who.Actor(), from, in.Body.Note, func(c *capability.AgentConfig) error {
		c.Policy = in.Body.Rules
		if in.Body.PermissionMode != "" {
			c.PermissionMode = in.Body.PermissionMode
		}
		switch in.Body.Definitions {
		case "":
		case definitionsHold:
			c.Definitions = capability.DefinitionsHold
		default:
			c.Definitions = capability.DefinitionChanges(in.Body.Definitions)
		}
		return nil
	}))
}
