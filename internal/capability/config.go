package capability

import "time"

// Ref is a reproducible pin.
type Ref struct {
	Source  string `json:"source"`
	ID      string `json:"id"`
	Version string `json:"version,omitempty"`
}

// AgentConfig is what a workspace's agent is given. Every change cuts a new
// immutable config version.
type AgentConfig struct {
	Capabilities       []Adoption                   `json:"capabilities"`
	MCPServers         []RawServer                  `json:"mcpServers"`
	DisabledDefaults   []string                     `json:"disabledDefaults"`
	ToolSecretBindings map[string]map[string]string `json:"toolSecretBindings"` // tool key → declared → secret name
	Model              string                       `json:"model,omitempty"`
	Instructions       string                       `json:"instructions,omitempty"`
	PermissionMode     PermissionMode               `json:"permissionMode"`
}

// PermissionMode says which calls wait for the member's word.
type PermissionMode string

const (
	ModeAsk    PermissionMode = "ask"
	ModeAuto   PermissionMode = "auto"
	ModeBypass PermissionMode = "bypass"
	ModePlan   PermissionMode = "plan"
)

// Adoption is a pinned reference with the consumer's bindings.
type Adoption struct {
	Ref
	SecretBindings map[string]string    `json:"secretBindings,omitempty"` // declared → workspace secret name
	Settings       map[string]string    `json:"settings,omitempty"`
	Egress         []string             `json:"egress,omitempty"` // approved hosts
	ToolClasses    map[string]ToolClass `json:"toolClasses,omitempty"`
	EnableWrite    bool                 `json:"enableWrite,omitempty"`
	WriteTools     []string             `json:"writeTools,omitempty"` // narrows EnableWrite
	ConsentDigest  string               `json:"consentDigest,omitempty"`
	AdoptedBy      string               `json:"adoptedBy,omitempty"`
	AdoptedAt      time.Time            `json:"adoptedAt,omitzero"`
}

// RawServer is the escape hatch: a hand-wired MCP server.
type RawServer struct {
	Name       string   `json:"name"`
	URL        string   `json:"url"`
	AuthSecret string   `json:"authSecret,omitempty"`
	Write      bool     `json:"write,omitempty"`
	Serves     []string `json:"serves,omitempty"`
}
