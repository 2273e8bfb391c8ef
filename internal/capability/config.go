package capability

import (
	"maps"
	"slices"
	"time"
)

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
	Policy             []PolicyRule                 `json:"policy,omitempty"`
	Channels           map[Surface]ChannelRule      `json:"channels,omitempty"`
	Slice              Slicing                      `json:"slice,omitempty"`
	Definitions        DefinitionChanges            `json:"definitions,omitempty"`
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

// WithDefaults fills what was left out, so that a config reads and encodes the
// same however it came: lists instead of null, and the mode that asks.
func (c AgentConfig) WithDefaults() AgentConfig {
	if c.Capabilities == nil {
		c.Capabilities = []Adoption{}
	}
	if c.MCPServers == nil {
		c.MCPServers = []RawServer{}
	}
	if c.DisabledDefaults == nil {
		c.DisabledDefaults = []string{}
	}
	if c.ToolSecretBindings == nil {
		c.ToolSecretBindings = map[string]map[string]string{}
	}
	if c.PermissionMode == "" {
		c.PermissionMode = ModeAsk
	}
	return c
}

// Key is the adoption's key in a member's overlay.
func (a Adoption) Key() Key { return CapabilityKey(a.Source, a.ID) }

// Adopted returns the adoption of the capability, nil when the workspace has
// not adopted it.
func (c AgentConfig) Adopted(source, id string) *Adoption {
	for i := range c.Capabilities {
		if a := &c.Capabilities[i]; a.Source == source && a.ID == id {
			return a
		}
	}
	return nil
}

// NeedsConsent reports whether the workspace must consent to the exact digest
// before it adopts: the kind runs code, and the code is somebody else's. What
// ships with capstore counts as somebody else's.
func NeedsConsent(kind Kind, source, workspace string) bool {
	return kind.RunsCode() && source != workspace
}

// SecretsOf returns the secrets that the spec declares, nil for kinds that
// declare none.
func SecretsOf(spec Spec) []RequiredSecret {
	switch s := spec.(type) {
	case *MCPSpec:
		return s.RequiredSecrets
	case *CodeSpec:
		return s.RequiredSecrets
	}
	return nil
}

// MissingSecrets returns the declared secrets that the bindings leave unbound
// or bind to a name for which have says no. It never falls back on the
// declared name: adopting somebody's code must not hand it a secret that
// merely happens to be called so.
func MissingSecrets(spec Spec, bindings map[string]string, have func(name string) bool) []RequiredSecret {
	var out []RequiredSecret
	for _, s := range SecretsOf(spec) {
		if name := bindings[s.Name]; name == "" || !have(name) {
			out = append(out, s)
		}
	}
	return out
}

// BindByName returns the bindings of what is not adopted (defaults, the own
// workspace's publications): the declared name unless overrides says another.
func BindByName(spec Spec, overrides map[string]string) map[string]string {
	out := map[string]string{}
	for _, s := range SecretsOf(spec) {
		out[s.Name] = s.Name
		if name := overrides[s.Name]; name != "" {
			out[s.Name] = name
		}
	}
	return out
}

// SuggestedClasses is the author's word on which tools only read, for the
// adopter to confirm. A code tool is classified under its capability's name.
func (c Content) SuggestedClasses() map[string]ToolClass {
	switch s := c.Spec.(type) {
	case *MCPSpec:
		return maps.Clone(s.ToolClasses)
	case *CodeSpec:
		class := ClassWrite
		if s.IsReadOnly != nil && *s.IsReadOnly {
			class = ClassRead
		}
		return map[string]ToolClass{c.Name: class}
	}
	return nil
}

// IsWrite reports whether a call of the tool (by its raw name) changes
// something. What the adopter has not classified as a read is a write.
func (a Adoption) IsWrite(tool string) bool { return a.ToolClasses[tool] != ClassRead }

// Allows reports whether the adoption lets the tool run: reads always, writes
// only under the opt-in and, where that is narrowed, among its tools.
func (a Adoption) Allows(tool string) bool {
	if !a.IsWrite(tool) {
		return true
	}
	return a.EnableWrite && (len(a.WriteTools) == 0 || slices.Contains(a.WriteTools, tool))
}
