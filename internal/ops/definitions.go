package ops

import (
	"context"
	"net/http"
	"time"

	"capstore/internal/capability"
	"capstore/internal/identity"
	"capstore/internal/registry"
)

// HeldDefinition is a tool that its server describes otherwise than the
// workspace accepted.
type HeldDefinition struct {
	Tool     string                 `json:"tool" doc:"Its name at the server."`
	Accepted *capability.Definition `json:"accepted" doc:"Null for a tool that is new."`
	Offered  capability.Definition  `json:"offered"`
	Digest   string                 `json:"digest" doc:"Of what is offered; send it to accept."`
	Since    time.Time              `json:"since"`
}

type definitionPath struct {
	Key string `path:"key" doc:"The server's key, such as capability:acme/mail."`
}

type acceptDefinition struct {
	definitionPath
	Body AcceptedDefinition `body:""`
}

// AcceptedDefinition says what was seen.
type AcceptedDefinition struct {
	Tool   string `json:"tool"`
	Digest string `json:"digest"`
}

func definitionOperations(s Services) []Operation {
	return []Operation{
		declare(Meta{
			Name: "list_held_definitions", Method: http.MethodGet, Path: tenant + "/agent/tools/{key}/definitions", Area: AreaAgent,
			Action: capability.ActRead, ReadOnly: true, Summary: "The tools of an MCP server that it describes otherwise than was accepted.",
		}, s.heldDefinitions),
		declare(Meta{
			Name: "accept_definition", Method: http.MethodPost, Path: tenant + "/agent/tools/{key}/definitions", Area: AreaAgent,
			Action: capability.ActAgents, Guarded: true, Personal: true, Success: http.StatusNoContent,
			Summary: "Accept what an MCP server says of one of its tools now, for the whole workspace.",
			Example: `{"tool": "send", "digest": "sha256:0b2c…"}`,
		}, s.acceptDefinition),
	}
}

func (s Services) heldDefinitions(ctx context.Context, who identity.Principal, in definitionPath) (List[HeldDefinition], error) {
	held, err := s.Agent.HeldDefinitions(ctx, who.Actor(), capability.Key(in.Key))
	return listOf(held, func(d registry.ToolDefinition) HeldDefinition { return HeldDefinition(d) }), err
}

func (s Services) acceptDefinition(ctx context.Context, who identity.Principal, in acceptDefinition) (Empty, error) {
	return Empty{}, s.Agent.AcceptDefinition(ctx, who.Actor(), capability.Key(in.Key), in.Body.Tool, in.Body.Digest)
}
