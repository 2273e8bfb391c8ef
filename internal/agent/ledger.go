package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"capstore/db"
	"capstore/internal/fault"
	"capstore/internal/registry"
)

// EntryKind says what a ledger entry records. The set is closed.
type EntryKind string

const (
	EntryMessage          EntryKind = "message"
	EntryModelOutput      EntryKind = "model_output"
	EntryToolCall         EntryKind = "tool_call"
	EntryToolResult       EntryKind = "tool_result"
	EntryApprovalAsked    EntryKind = "approval_asked"
	EntryApprovalAnswered EntryKind = "approval_answered"
	EntryHookOutcome      EntryKind = "hook_outcome"
	EntryEpochChanged     EntryKind = "capability_epoch_changed"
	EntryBrief            EntryKind = "delegation_brief"
	EntryError            EntryKind = "error"
	EntryStop             EntryKind = "stop"
)

// Entry is one line of a conversation's ledger, in the order of Seq, which
// counts from 1 without gaps. Payload is JSON whose numbers keep every digit;
// its shape goes by Kind (Message, ModelOutput, ToolCall, ToolResult, …).
type Entry struct {
	Seq     int64           `json:"seq"`
	At      time.Time       `json:"at"`
	Turn    uuid.UUID       `json:"turn"`
	Kind    EntryKind       `json:"kind"`
	Call    *uuid.UUID      `json:"call,omitempty"`
	Payload json.RawMessage `json:"payload"`
}

// Message is what the member said.
type Message struct {
	Text string `json:"text"`
	// Calls are what he runs by hand.
	Calls []Requested `json:"calls,omitempty"`
	// Refs are what he wants worked on, beside the text: capability:source/id
	// or skill:id, as he may read them. A model is told of them.
	Refs []string `json:"refs,omitempty"`
	// Prompt is what a model reads in place of the text: a command, expanded.
	Prompt string `json:"prompt,omitempty"`
	// Surface is what a model had before it as it began; nil without one.
	Surface *Surfaced `json:"surface,omitempty"`
}

// Surfaced is which tools a model's first request of a turn held with their
// schemas, beside the built-ins that every request has, and which domains the
// message was read to ask for. All the others were deferred.
type Surfaced struct {
	Reading []registry.Domain `json:"reading,omitempty"`
	Loaded  []string          `json:"loaded"`
}

// Requested is a call that a message or a model wants made. It has a result
// entry with its Ref once it has ended, or was refused.
type Requested struct {
	Ref       string          `json:"ref"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	// Broken is what a model gave in place of JSON arguments.
	Broken string `json:"broken,omitempty"`
}

// ModelOutput is what answered him: a model, or direct mode with what could
// be run.
type ModelOutput struct {
	Model    string      `json:"model"` // "direct" without one
	Text     string      `json:"text,omitempty"`
	Thinking string      `json:"thinking,omitempty"`
	Calls    []Requested `json:"calls,omitempty"`
	Stop     string      `json:"stop,omitempty"` // end, tools, length, refused, stopped, died
	Usage    *Usage      `json:"usage,omitempty"`
	// Opaque is what the provider wants back as it gave it.
	Opaque      json.RawMessage `json:"opaque,omitempty"`
	Suggestions []Suggestion    `json:"suggestions,omitempty"`
}

// Usage is what one request to a model took, in tokens. Cost is a decimal in
// the currency of the model's prices, "" where it has none.
type Usage struct {
	Input       int64  `json:"input"`
	CachedInput int64  `json:"cachedInput,omitempty"`
	Output      int64  `json:"output"`
	Cost        string `json:"cost,omitempty"`
}

// Suggestion is one thing that direct mode proposes to run.
type Suggestion struct {
	Kind        string `json:"kind"` // "tool" or "skill"
	Name        string `json:"name"` // as the model sees it
	Description string `json:"description,omitempty"`
}

// ToolCall records a call that has started: it was authorized in the
// transaction that wrote this entry.
type ToolCall struct {
	Name      string          `json:"name"` // as the model sees it
	Raw       string          `json:"raw,omitempty"`
	Key       string          `json:"key"`
	Source    string          `json:"source,omitempty"`
	ID        string          `json:"id,omitempty"`
	Version   string          `json:"version,omitempty"`
	Digest    string          `json:"digest,omitempty"`
	Epoch     int64           `json:"epoch"`
	Snapshot  string          `json:"snapshot"`
	Caller    Caller          `json:"caller"`
	Ref       string          `json:"ref,omitempty"`
	Write     bool            `json:"write"`
	Arguments json.RawMessage `json:"arguments"`
	Hints     []fault.Field   `json:"hints,omitempty"`
	// Secrets are the names that were bound, never values.
	Secrets []string `json:"secrets,omitempty"`
}

// ToolResult records how a call ended, or why it never started: then its entry
// names no call.
type ToolResult struct {
	Name       string            `json:"name"`
	Ref        string            `json:"ref,omitempty"`
	IsError    bool              `json:"isError"`
	Code       string            `json:"code,omitempty"`    // why there is no result
	Message    string            `json:"message,omitempty"` // the same in words
	Action     string            `json:"action,omitempty"`
	Errors     []fault.Field     `json:"errors,omitempty"`
	Content    []json.RawMessage `json:"content,omitempty"` // MCP content blocks, in order
	Structured json.RawMessage   `json:"structured,omitempty"`
	Log        string            `json:"log,omitempty"`
	Stderr     string            `json:"stderr,omitempty"`
	DurationMS int64             `json:"durationMs"`
	Driver     string            `json:"driver,omitempty"`
	Isolated   bool              `json:"isolated,omitempty"`
	// Artifacts hold what was too long for the ledger, whole.
	Artifacts []Artifact `json:"artifacts,omitempty"`
	// Loads are the deferred tools that the result makes known to the model.
	Loads []string `json:"loads,omitempty"`
	// Withheld is why a hook keeps the result from the model, which Seen shows
	// it in place of the rest; Added is what hooks tell the model beside it.
	Withheld string `json:"withheld,omitempty"`
	Added    string `json:"added,omitempty"`
}

// ApprovalAsked records that a call waits for its member's word.
type ApprovalAsked struct {
	Approval  uuid.UUID       `json:"approval"`
	Ref       string          `json:"ref"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	Why       string          `json:"why"`
	Detail    string          `json:"detail,omitempty"`
}

// ApprovalAnswered records the word: once, conversation, always, deny, or that
// the question expired or was withdrawn.
type ApprovalAnswered struct {
	Approval uuid.UUID `json:"approval"`
	Ref      string    `json:"ref"`
	Tool     string    `json:"tool"`
	Answer   string    `json:"answer"`
	Reason   string    `json:"reason,omitempty"`
}

// HookOutcome records what a hook said to an event, or that it failed.
type HookOutcome struct {
	Hook       string          `json:"hook"` // its name
	Key        string          `json:"key"`
	Version    string          `json:"version,omitempty"`
	Event      string          `json:"event"`
	Ref        string          `json:"ref,omitempty"` // of the call that it is about
	Tool       string          `json:"tool,omitempty"`
	Decision   Decision        `json:"decision"`
	Reason     string          `json:"reason,omitempty"`
	Arguments  json.RawMessage `json:"arguments,omitempty"` // as it rewrote them
	Context    string          `json:"context,omitempty"`   // what it tells the model
	Failure    *Failure        `json:"failure,omitempty"`
	DurationMS int64           `json:"durationMs"`
}

// Artifact points at a stored result.
type Artifact struct {
	ID        uuid.UUID `json:"id"`
	MediaType string    `json:"mediaType"`
	Bytes     int       `json:"bytes"`
	// Images are the places of the pictures among the result's blocks.
	Images []int `json:"images,omitempty"`
}

// Failure records an error or a stop that belongs to the turn, not to a call.
type Failure struct {
	Code    string        `json:"code"`
	Message string        `json:"message"`
	Action  string        `json:"action,omitempty"`
	Errors  []fault.Field `json:"errors,omitempty"`
}

// write appends one entry in the transaction. The conversation's row is
// locked by numbering, so entries of one conversation never interleave.
func write(ctx context.Context, tx pgx.Tx, conversation, turn uuid.UUID, kind EntryKind, call *uuid.UUID, payload any) (Entry, error) {
	body, err := json.Marshal(payload)
	if err != nil {
		return Entry{}, fmt.Errorf("ledger %s: %w", kind, err)
	}
	seq, err := queries.NextSeq(ctx, tx, conversation)
	if err != nil {
		return Entry{}, err
	}
	at, err := queries.InsertEntry(ctx, tx, db.InsertEntryParams{
		Conversation: conversation, Seq: seq, Turn: turn, Kind: string(kind), Call: call, Payload: body,
	})
	if err != nil {
		return Entry{}, err
	}
	return Entry{Seq: seq, At: at, Turn: turn, Kind: kind, Call: call, Payload: body}, nil
}

// failure renders the fault within err for the ledger.
func failure(err error) Failure {
	f := fault.From(err)
	return Failure{Code: f.Code, Message: f.Message, Action: f.Action, Errors: f.Fields}
}
