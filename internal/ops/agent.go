package ops

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/identity"
	"capstore/internal/workspace"
)

// AgentConfig is one version of what the workspace's agent is given.
type AgentConfig struct {
	AgentConfigInfo
	Config capability.AgentConfig `json:"config"`
}

// ETag is the config's version.
func (c AgentConfig) ETag() string { return strconv.Itoa(c.Version) }

// AgentConfigInfo is a version of the config without the config.
type AgentConfigInfo struct {
	Version int       `json:"version" doc:"0 for a workspace that never changed it."`
	By      Person    `json:"by"`
	At      time.Time `json:"at,omitzero"`
	Note    string    `json:"note,omitempty"`
}

func configInfo(v workspace.ConfigVersion) AgentConfigInfo {
	return AgentConfigInfo{Version: v.Version, By: v.By, At: v.At, Note: v.Note}
}

func agentConfig(v workspace.ConfigVersion, err error) (AgentConfig, error) {
	return AgentConfig{AgentConfigInfo: configInfo(v), Config: v.Config.WithDefaults()}, err
}

type putAgent struct {
	IfMatch string         `header:"If-Match" doc:"ETag of the config that the change starts from."`
	Body    NewAgentConfig `body:""`
}

// NewAgentConfig replaces the config. What a GET answered can be sent back
// changed: by and at are read past.
type NewAgentConfig struct {
	Config  capability.AgentConfig `json:"config"`
	Version *int                   `json:"version,omitempty" doc:"The version that the change starts from, where If-Match is not sent."`
	Note    string                 `json:"note,omitempty"`
	By      json.RawMessage        `json:"by,omitempty" doc:"Ignored."`
	At      json.RawMessage        `json:"at,omitempty" doc:"Ignored."`
}

type listConfigs struct {
	Limit  int    `query:"limit" doc:"Rows of a page, 1 to 200; 30 unless told."`
	Cursor string `query:"cursor" doc:"The nextCursor of the page before."`
}

type adopt struct {
	Body NewAdoption `body:""`
}

// NewAdoption pins a version; again with another version it re-pins. What is
// left out keeps what an earlier adoption said.
type NewAdoption struct {
	Source         string                          `json:"source"`
	ID             string                          `json:"id"`
	Version        string                          `json:"version"`
	SecretBindings map[string]string               `json:"secretBindings,omitempty" doc:"Declared name to the name of a secret."`
	Settings       map[string]string               `json:"settings,omitempty"`
	Egress         []string                        `json:"egress,omitempty" doc:"The declared hosts that it may reach."`
	ToolClasses    map[string]capability.ToolClass `json:"toolClasses,omitempty"`
	EnableWrite    *bool                           `json:"enableWrite,omitempty"`
	WriteTools     []string                        `json:"writeTools,omitempty"`
	ConsentDigest  string                          `json:"consentDigest,omitempty" doc:"The digest of foreign code that was read and is agreed to."`
	Note           string                          `json:"note,omitempty"`
}

// Adoption is what the workspace pinned.
type Adoption struct {
	capability.Adoption
	ConfigVersion int `json:"configVersion"`
}

type unadopt struct {
	Source string `path:"source" doc:"The workspace that owns the capability."`
	ID     string `path:"id" doc:"The capability's id."`
}

func agentOperations(s Services) []Operation {
	return []Operation{
		declare(Meta{
			Name: "get_agent", Method: http.MethodGet, Path: tenant + "/agent", Area: AreaAgent,
			Action: capability.ActRead, ReadOnly: true, Summary: "The newest config of the workspace's agent.",
		}, s.agent),
		declare(Meta{
			Name: "set_agent", Method: http.MethodPut, Path: tenant + "/agent", Area: AreaAgent, Action: capability.ActAgents,
			Guarded: true, Summary: "Replace the config of the workspace's agent; every change cuts a new version.",
			Example: `{"config": {"capabilities": [], "mcpServers": [], "disabledDefaults": [], "toolSecretBindings": {}, "permissionMode": "ask", "instructions": "Answer briefly."}}`,
		}, s.setAgent),
		declare(Meta{
			Name: "list_agent_versions", Method: http.MethodGet, Path: tenant + "/agent/versions", Area: AreaAgent,
			Action: capability.ActRead, ReadOnly: true, Summary: "The versions of the agent's config, newest first.",
		}, s.agentVersions),
		declare(Meta{
			Name: "adopt_capability", Method: http.MethodPost, Path: tenant + "/agent/capabilities", Area: AreaAgent, Action: capability.ActAgents,
			Summary: "Pin a version for the workspace's agent, or re-pin one.",
			Example: `{"source": "globex", "id": "invoice-check", "version": "1.1.0", "secretBindings": {"INVOICE_SIGNING_KEY": "SIGNING_KEY"}}`,
		}, s.adopt),
		declare(Meta{
			Name: "unadopt_capability", Method: http.MethodDelete, Path: tenant + "/agent/capabilities/{source}/{id}", Area: AreaAgent,
			Action: capability.ActAgents, Success: http.StatusNoContent, Summary: "End an adoption at once.",
		}, s.unadopt),
	}
}

func (s Services) agent(ctx context.Context, who identity.Principal, _ Nothing) (AgentConfig, error) {
	return agentConfig(s.Workspace.Config(ctx, who.Actor()))
}

func (s Services) setAgent(ctx context.Context, who identity.Principal, in putAgent) (AgentConfig, error) {
	from, err := configVersion(in.IfMatch, in.Body.Version)
	if err != nil {
		return AgentConfig{}, err
	}
	return agentConfig(s.Workspace.Change(ctx, who.Actor(), from, in.Body.Note, func(c *capability.AgentConfig) error {
		*c = in.Body.Config.WithDefaults()
		return nil
	}))
}

// configVersion is the version of the agent's config that a change starts from:
// the tag's, else the one in the body, else any.
func configVersion(tag string, version *int) (int, error) {
	switch {
	case tag != "":
		n, err := strconv.Atoi(tag)
		if err != nil || n < 0 {
			return 0, badTag("the ETag that a GET of the same address answered")
		}
		return n, nil
	case version != nil:
		return *version, nil
	}
	return workspace.AnyVersion, nil
}

func (s Services) agentVersions(ctx context.Context, who identity.Principal, in listConfigs) (List[AgentConfigInfo], error) {
	before, limit := 0, in.Limit
	if in.Cursor != "" {
		n, err := strconv.Atoi(in.Cursor)
		if err != nil || n < 1 {
			return List[AgentConfigInfo]{}, fault.New(fault.Malformed, "bad_cursor", "This cursor is not one of this list.").
				Do("Start again without a cursor.")
		}
		before = n
	}
	if limit == 0 {
		limit = 30
	}
	if limit < 1 || limit > 200 {
		return List[AgentConfigInfo]{}, refused("/limit", "out_of_range", "The limit is 1 to 200.")
	}
	versions, err := s.Workspace.History(ctx, who.Actor(), before, limit)
	if err != nil {
		return List[AgentConfigInfo]{}, err
	}
	out := listOf(versions, configInfo)
	if n := len(versions); n == limit && versions[n-1].Version > 1 {
		out.NextCursor = strconv.Itoa(versions[n-1].Version)
	}
	return out, nil
}

func (s Services) adopt(ctx context.Context, who identity.Principal, in adopt) (Adoption, error) {
	b := in.Body
	v, err := s.Workspace.Adopt(ctx, who.Actor(), workspace.AdoptInput{
		Source: b.Source, ID: b.ID, Version: b.Version, SecretBindings: b.SecretBindings, Settings: b.Settings, Egress: b.Egress,
		ToolClasses: b.ToolClasses, EnableWrite: b.EnableWrite, WriteTools: b.WriteTools, ConsentDigest: b.ConsentDigest, Note: b.Note,
	})
	if err != nil {
		return Adoption{}, err
	}
	out := Adoption{ConfigVersion: v.Version}
	if a := v.Config.Adopted(b.Source, b.ID); a != nil {
		out.Adoption = *a
	}
	return out, nil
}

func (s Services) unadopt(ctx context.Context, who identity.Principal, in unadopt) (Empty, error) {
	_, err := s.Workspace.Unadopt(ctx, who.Actor(), in.Source, in.ID)
	return Empty{}, err
}
