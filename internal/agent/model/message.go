package model

import "encoding/json"

// Role says who speaks in a Message.
type Role string

const (
	// User is the member, and the results of the tools that were called.
	User Role = "user"
	// Assistant is the model.
	Assistant Role = "assistant"
)

// Message is one contribution to a conversation. An assistant's has text and
// calls; a user's has text and results. Results come before the text.
type Message struct {
	Role    Role
	Text    string
	Calls   []Call
	Results []Result
	// Opaque is Output.Opaque of the answer that this message repeats: what its
	// provider wants back verbatim, such as signed thoughts. Another provider
	// leaves it out.
	Opaque json.RawMessage
}

// Call is a tool that the model asks for.
type Call struct {
	// ID is unique within the conversation, also where the provider's is not.
	ID   string
	Name string
	// Arguments is a JSON object in the very bytes that the model wrote; nothing
	// at all counts as {}. It is nil when Broken is set.
	Arguments json.RawMessage
	// Broken is what the model wrote where it is no JSON object: cut short, a
	// string around an object, a key given twice. Fault says what is wrong.
	Broken string
}

// Result answers a Call.
type Result struct {
	Call string // the call's ID
	// Content holds content blocks of the Model Context Protocol. What the model
	// cannot take becomes a line that names its type.
	Content []json.RawMessage
	// Structured is the result as data. It is given to the model when no text
	// block says the same.
	Structured json.RawMessage
	IsError    bool
	// Loads names deferred tools that the model may call from now on.
	Loads []string
}

// Tool is one that the model may ask for.
type Tool struct {
	Name        string // at most 64 of A-Z a-z 0-9 _ -
	Description string
	// Schema is the schema of the parameters as its author wrote it. The model
	// is shown a form that its provider takes; whoever runs the call checks the
	// arguments against the original.
	Schema json.RawMessage
	// Deferred tools are only shown once a result of the conversation Loads
	// them. Where the provider defers by itself, it gets them all, marked.
	Deferred bool
}

// Request is a whole conversation and what the model may do next.
type Request struct {
	// System is the same from turn to turn, byte for byte: it is cached.
	System string
	// Standing follows it and may change by the turn.
	Standing string
	Messages []Message
	Tools    []Tool
	// MaxTokens bounds the answer; 0 leaves it to the provider, or to 16,384
	// where the provider wants a number.
	MaxTokens int
}

// Delta is a piece of an answer as it comes. One field is set.
type Delta struct {
	Text     string
	Thinking string
	// Call has the ID and the name of a call whose arguments are still being
	// written.
	Call *Call
}

// Stop says why an answer ended.
type Stop string

const (
	// StopEnd is an answer that is complete.
	StopEnd Stop = "end"
	// StopTools is an answer that waits for the results of its calls.
	StopTools Stop = "tools"
	// StopLength is an answer that was cut at MaxTokens or at the model's own
	// limit. It may hold calls, the last of them Broken.
	StopLength Stop = "length"
	// StopRefused is an answer that the provider withheld. It holds no calls.
	StopRefused Stop = "refused"
)

// Output is a whole answer, or what there is of it beside an error.
type Output struct {
	Text  string
	Calls []Call
	Stop  Stop
	Usage Usage
	// Opaque belongs into the Message that repeats this answer; often nil.
	Opaque json.RawMessage
	// Model is the underlying model's name as the provider gives it.
	Model string
}
