package agent

import (
	"encoding/base64"
	"encoding/json"

	"capstore/internal/agent/sandbox"
	"capstore/internal/capability"
	"capstore/internal/fault"
)

// SampleEvent is an event as a hook of it is given, to try one with.
func SampleEvent(event capability.Event) json.RawMessage {
	sample := map[string]any{"event": event, "workspace": "acme", "conversation": "3f1c0000-0000-7000-8000-000000000000"}
	switch event {
	case capability.EventUserPromptSubmit:
		sample["text"] = "Send the invoice of March to the customer."
	case capability.EventBeforeTool, capability.EventAfterTool:
		sample["tool"], sample["arguments"] = "mcp__mail__send", map[string]any{"to": "kim@example.com", "subject": "Invoice"}
		if event == capability.EventAfterTool {
			sample["result"] = map[string]any{"isError": false, "content": []any{map[string]string{"type": "text", "text": "Sent."}}}
		}
	case capability.EventTurnEnd:
		sample["text"] = "The invoice is on its way."
	}
	raw, err := json.MarshalIndent(sample, "", "  ")
	if err != nil {
		return json.RawMessage("{}")
	}
	return raw
}

// hookRun is a hook as the sandbox takes it.
func hookRun(spec *capability.HookSpec, event json.RawMessage, foreign bool) (sandbox.Run, error) {
	run := codeRun(&capability.CodeSpec{Language: spec.Language, Code: spec.Code, TimeoutSec: spec.TimeoutSec}, event, nil, foreign, nil)
	for _, f := range spec.Files {
		data := []byte(f.Content)
		if f.Encoding == capability.EncodingBase64 {
			var err error
			if data, err = base64.StdEncoding.DecodeString(f.Content); err != nil {
				return run, fault.New(fault.Invalid, "bad_file", "The file %s cannot be read.", f.Path)
			}
		}
		run.Files = append(run.Files, sandbox.File{Path: f.Path, Data: data})
	}
	return run, nil
}
