package capability

import "encoding/json"

// Spec is the kind-specific part of a version's content. Its JSON form is
// discriminated by "type". The kinds of this package are all there are.
type Spec interface {
	Kind() Kind
	validate(*faults, Rules)
}

// Content is what a version freezes: exactly this, canonically encoded, is
// what its digest covers.
type Content struct {
	Name        string
	Description string
	Spec        Spec
}

// RequiredSecret declares a secret that the adopter binds. It never holds a
// value.
type RequiredSecret struct {
	Name        string `json:"name"` // ^[A-Z][A-Z0-9_]{0,63}$
	Description string `json:"description,omitempty"`
	Header      string `json:"header,omitempty"` // mcp over HTTP: the header it goes to
	Scheme      string `json:"scheme,omitempty"` // prefix of the header value, "Bearer" unless told
	Env         string `json:"env,omitempty"`    // exact variable where it differs from Name
}

// Variable is the environment variable that carries the secret's value.
func (s RequiredSecret) Variable() string {
	if s.Env != "" {
		return s.Env
	}
	return s.Name
}

// Setting declares a non-secret variable of an mcp server.
type Setting struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Default     string `json:"default,omitempty"`
	Required    bool   `json:"required,omitempty"`
}

// ToolClass says whether a tool only reads. A tool in no class is a write.
type ToolClass string

const (
	ClassRead  ToolClass = "read"
	ClassWrite ToolClass = "write"
)

// Auth says how a remote server wants its caller to prove itself.
type Auth string

const (
	AuthNone   Auth = "none"
	AuthSecret Auth = "secret"
	AuthOAuth  Auth = "oauth"
)

// MCPSpec is a curated MCP connection: exactly one of URL and Image.
type MCPSpec struct {
	URL             string               `json:"url,omitempty"`
	Image           string               `json:"image,omitempty"`
	Args            []string             `json:"args,omitempty"` // image only
	Provides        []string             `json:"provides,omitempty"`
	RequiredSecrets []RequiredSecret     `json:"requiredSecrets,omitempty"`
	Settings        []Setting            `json:"settings,omitempty"`
	Write           bool                 `json:"write,omitempty"`
	ToolClasses     map[string]ToolClass `json:"toolClasses,omitempty"`
	Auth            Auth                 `json:"auth,omitempty"`
	Leans
}

// Language is what a code tool or hook is written in.
type Language string

const (
	Python Language = "python"
	Node   Language = "node"
	Bash   Language = "bash" // hooks only
)

// Example is a worked call of a code tool.
type Example struct {
	Name  string          `json:"name,omitempty"`
	Input json.RawMessage `json:"input"`
	Note  string          `json:"note,omitempty"`
}

// CodeSpec is a function that capstore runs in its sandbox.
type CodeSpec struct {
	Language         Language         `json:"language"`
	Code             string           `json:"code"`
	ParametersSchema json.RawMessage  `json:"parametersSchema"`
	IsReadOnly       *bool            `json:"isReadOnly"` // required; nil is a fault
	TimeoutSec       int              `json:"timeoutSec,omitempty"`
	Image            string           `json:"image,omitempty"`
	RequiredSecrets  []RequiredSecret `json:"requiredSecrets,omitempty"`
	Egress           []string         `json:"egress,omitempty"`
	Examples         []Example        `json:"examples,omitempty"`
	Leans
}

// File is one file beside a skill or hook.
type File struct {
	Path       string `json:"path"` // relative, slash-separated
	MediaType  string `json:"mediaType,omitempty"`
	Encoding   string `json:"encoding,omitempty"` // "utf-8" (default) or "base64"
	Content    string `json:"content"`
	Executable bool   `json:"executable,omitempty"`
}

// SkillSpec is a document with instructions and files. Raw is the SKILL.md
// exactly as its author wrote it, when it came from a file.
type SkillSpec struct {
	Instructions  string            `json:"instructions"`
	Raw           string            `json:"raw,omitempty"`
	Files         []File            `json:"files,omitempty"`
	License       string            `json:"license,omitempty"`
	Compatibility string            `json:"compatibility,omitempty"`
	Metadata      map[string]string `json:"metadata,omitempty"`
	AllowedTools  string            `json:"allowedTools,omitempty"` // shown, never grants
	Leans
}

// EnvironmentSpec is a managed image in which work is done.
type EnvironmentSpec struct {
	Image        string          `json:"image"`
	Preset       json.RawMessage `json:"preset,omitempty"`
	Instructions string          `json:"instructions,omitempty"`
	Benchmark    string          `json:"benchmark,omitempty"`
}

// EnvValue is one variable of a delegation profile: a literal or a reference
// to a secret. In JSON a literal is a string and a reference an object.
type EnvValue struct {
	Literal   string
	SecretRef string
	Scope     string // "workspace" (default) or "personal"; only with SecretRef
}

// DelegationSpec is a work profile that a job can be handed to.
type DelegationSpec struct {
	Harness          string              `json:"harness"`
	Image            string              `json:"image"`
	Model            string              `json:"model,omitempty"`
	Env              map[string]EnvValue `json:"env,omitempty"`
	WorkDir          string              `json:"workDir,omitempty"`
	Instructions     string              `json:"instructions,omitempty"`
	InstructionsFile string              `json:"instructionsFile,omitempty"`
	TTLSec           int                 `json:"ttlSec,omitempty"`
}

// Event is when a hook runs.
type Event string

const (
	EventSessionStart     Event = "session_start"
	EventUserPromptSubmit Event = "user_prompt"
	EventBeforeTool       Event = "before_tool"
	EventAfterTool        Event = "after_tool"
	EventTurnEnd          Event = "turn_end"
)

// FailureMode says what a hook that cannot run means.
type FailureMode string

const (
	Advisory   FailureMode = "advisory"
	FailClosed FailureMode = "fail-closed"
)

// HookSpec runs code at an event of the agent.
type HookSpec struct {
	Event       Event       `json:"event"`
	Matcher     string      `json:"matcher,omitempty"` // tool-name glob, "" = all
	Language    Language    `json:"language"`
	Code        string      `json:"code"`
	Files       []File      `json:"files,omitempty"`
	FailureMode FailureMode `json:"failureMode,omitempty"`
	TimeoutSec  int         `json:"timeoutSec,omitempty"`
	Leans
}

// CommandSpec is a prompt that the host expands before the model sees it.
type CommandSpec struct {
	Template     string   `json:"template"`
	ArgumentHint string   `json:"argumentHint,omitempty"`
	AllowedTools []string `json:"allowedTools,omitempty"` // shown, never grants
	Leans
}

// Leans is what every kind that reaches the agent may declare besides: the
// domains it serves and what it needs beside itself.
type Leans struct {
	Serves   []string `json:"serves,omitempty"`
	Requires []string `json:"requires,omitempty"` // "source/id" or a runtime tool name
}

func (*MCPSpec) Kind() Kind         { return KindMCP }
func (*CodeSpec) Kind() Kind        { return KindCode }
func (*SkillSpec) Kind() Kind       { return KindSkill }
func (*EnvironmentSpec) Kind() Kind { return KindEnvironment }
func (*DelegationSpec) Kind() Kind  { return KindDelegation }
func (*HookSpec) Kind() Kind        { return KindHook }
func (*CommandSpec) Kind() Kind     { return KindCommand }
