package ops

import (
	"context"
	"encoding/json"
	"net/http"

	"capstore/internal/agent"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/identity"
)

type checkCode struct {
	Body Draft `body:""`
}

// Draft is the spec of a code tool that is being written.
type Draft struct {
	Spec json.RawMessage `json:"spec"`
}

// Checked code parses. Code that does not is a fault at /spec/code.
type CheckedCode struct {
	OK bool `json:"ok"`
}

type tryCode struct {
	Body Trial `body:""`
}

// Trial is a draft, or a published version by its address, and what to run it
// with.
type Trial struct {
	Spec          json.RawMessage `json:"spec,omitempty" doc:"Of a draft, instead of source, id and version."`
	Source        string          `json:"source,omitempty"`
	ID            string          `json:"id,omitempty"`
	Version       string          `json:"version,omitempty"`
	Input         json.RawMessage `json:"input,omitempty" doc:"The arguments, an object."`
	ConsentDigest string          `json:"consentDigest,omitempty" doc:"Lets foreign code of this digest have the bound secrets for this run."`
}

// TrialResult is what the agent's own contract made of the run.
type TrialResult struct {
	Result         json.RawMessage `json:"result" doc:"The JSON that the program ended with; null when it failed."`
	IsError        bool            `json:"isError"`
	Code           string          `json:"code,omitempty" doc:"Why there is no result."`
	Message        string          `json:"message,omitempty"`
	Action         string          `json:"action,omitempty"`
	Errors         []fault.Field   `json:"errors,omitempty"`
	Log            string          `json:"log"`
	Stderr         string          `json:"stderr,omitempty"`
	MissingSecrets []string        `json:"missingSecrets" doc:"Declared secrets that it ran without."`
	DurationMS     int64           `json:"durationMs"`
	Driver         string          `json:"driver,omitempty" doc:"What kept it apart."`
	Isolated       bool            `json:"isolated"`
}

func codeOperations(s Services) []Operation {
	return []Operation{
		declare(Meta{
			Name: "check_code_tool", Method: http.MethodPost, Path: tenant + "/agent/code-tools/check", Area: AreaAgent,
			Action: capability.ActWrite, ReadOnly: true, Example: exampleDraft,
			Summary: "Parse a code tool without running it.",
		}, s.checkCode),
		declare(Meta{
			Name: "try_code_tool", Method: http.MethodPost, Path: tenant + "/agent/code-tools/try", Area: AreaAgent,
			Action: capability.ActRun, Summary: "Run a draft or a published code tool once, exactly as an agent would.",
			Example: `{"source": "globex", "id": "iban-check", "version": "1.0.0", "input": {"iban": "DE89370400440532013000"}}`,
		}, s.tryCode),
	}
}

const exampleDraft = `{"spec": {"type": "code", "language": "python", "isReadOnly": true,
  "parametersSchema": {"type": "object"}, "code": "print('{}')"}}`

func (s Services) checkCode(ctx context.Context, who identity.Principal, in checkCode) (CheckedCode, error) {
	if err := s.Agent.Check(ctx, who.Actor(), in.Body.Spec); err != nil {
		return CheckedCode{}, err
	}
	return CheckedCode{OK: true}, nil
}

func (s Services) tryCode(ctx context.Context, who identity.Principal, in tryCode) (TrialResult, error) {
	b := in.Body
	ref := capability.Ref{Source: b.Source, ID: b.ID, Version: b.Version}
	if err := fault.Fields(b.faults()); err != nil {
		return TrialResult{}, err
	}
	r, err := s.Agent.Try(ctx, who.Actor(), agent.TryInput{Spec: b.Spec, Ref: ref, Input: b.Input, ConsentDigest: b.ConsentDigest})
	if err != nil {
		return TrialResult{}, err
	}
	return TrialResult{
		Result: resultOf(r.ToolResult), IsError: r.IsError, Code: r.Code, Message: r.Message, Action: r.Action, Errors: r.Errors,
		Log: r.Log, Stderr: r.Stderr, MissingSecrets: list(r.MissingSecrets), DurationMS: r.DurationMS, Driver: r.Driver, Isolated: r.Isolated,
	}, nil
}

// faults says whether exactly one of the two ways to name the code was taken.
func (t Trial) faults() []fault.Field {
	var out []fault.Field
	need := func(path, value string) {
		if value == "" {
			out = append(out, fault.Field{Path: path, Code: "required", Message: "Name what to run: a spec, or source, id and version."})
		}
	}
	if len(t.Spec) == 0 {
		need("/source", t.Source)
		need("/id", t.ID)
		need("/version", t.Version)
	} else if t.Source != "" || t.ID != "" || t.Version != "" {
		out = append(out, fault.Field{Path: "/spec", Code: "one_of", Message: "Send a spec, or source, id and version, but not both."})
	}
	return out
}

// resultOf is the value that the program printed, or the content blocks where
// it printed a tool result of its own.
func resultOf(r agent.ToolResult) json.RawMessage {
	if len(r.Structured) > 0 {
		return r.Structured
	}
	if len(r.Content) > 0 {
		if raw, err := json.Marshal(map[string]any{"content": r.Content}); err == nil {
			return raw
		}
	}
	return json.RawMessage("null")
}
