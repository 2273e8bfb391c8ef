package model

import (
	"encoding/json"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"
)

func (d *chat) params(r Request) sdk.ChatCompletionNewParams {
	p := sdk.ChatCompletionNewParams{Model: d.config.Name}
	if !d.usageRefused.Load() {
		p.StreamOptions.IncludeUsage = param.NewOpt(true)
	}
	if r.MaxTokens > 0 {
		// OpenAI's newer models refuse the old name, others only know that.
		if d.own != d.otherLimit.Load() {
			p.MaxCompletionTokens = param.NewOpt(int64(r.MaxTokens))
		} else {
			p.MaxTokens = param.NewOpt(int64(r.MaxTokens))
		}
	}
	for _, t := range shown(r) {
		p.Tools = append(p.Tools, sdk.ChatCompletionFunctionTool(functionOf(t)))
	}
	// One system message, and the first: local servers' templates allow no more.
	// What is the same from turn to turn begins it, for the provider's cache.
	if system := strings.TrimSpace(r.System + "\n\n" + r.Standing); system != "" {
		p.Messages = append(p.Messages, sdk.SystemMessage(system))
	}
	parts := resultParts(r.Messages, imagesLimit)
	for _, m := range r.Messages {
		if m.Role == Assistant {
			p.Messages = append(p.Messages, d.assistant(m))
			continue
		}
		p.Messages = append(p.Messages, d.user(m, parts)...)
	}
	return p
}

func functionOf(t Tool) shared.FunctionDefinitionParam {
	f := shared.FunctionDefinitionParam{Name: t.Name, Parameters: shared.FunctionParameters{}}
	if t.Description != "" {
		f.Description = param.NewOpt(t.Description)
	}
	var schema map[string]json.RawMessage
	if json.Unmarshal(forms.form(t.Schema), &schema) == nil {
		for key, value := range schema {
			f.Parameters[key] = value
		}
	}
	return f
}

func (d *chat) assistant(m Message) sdk.ChatCompletionMessageParamUnion {
	kept := opaqueFor(d.config, m.Opaque)
	said := &sdk.ChatCompletionAssistantMessageParam{}
	if strings.TrimSpace(m.Text) != "" || len(m.Calls) == 0 {
		said.Content.OfString = param.NewOpt(m.Text)
	}
	if len(kept.Fields) > 0 {
		said.SetExtraFields(fieldsOf(kept.Fields))
	}
	for _, call := range m.Calls {
		asked := &sdk.ChatCompletionMessageFunctionToolCallParam{
			ID:       safeID(call.ID, looseID),
			Function: sdk.ChatCompletionMessageFunctionToolCallFunctionParam{Name: call.Name, Arguments: string(inputOf(call))},
		}
		if fields := kept.Calls[call.ID]; len(fields) > 0 {
			asked.SetExtraFields(fieldsOf(fields))
		}
		said.ToolCalls = append(said.ToolCalls, sdk.ChatCompletionMessageToolCallUnionParam{OfFunction: asked})
	}
	return sdk.ChatCompletionMessageParamUnion{OfAssistant: said}
}

func fieldsOf(raw map[string]json.RawMessage) map[string]any {
	fields := make(map[string]any, len(raw))
	for key, value := range raw {
		fields[key] = value
	}
	return fields
}

// user returns one message for each result, and one for what is said besides.
// A tool's message holds text alone, so images follow as the user's.
func (d *chat) user(m Message, parts map[string][]part) []sdk.ChatCompletionMessageParamUnion {
	var out []sdk.ChatCompletionMessageParamUnion
	var shown []sdk.ChatCompletionContentPartUnionParam
	for _, r := range m.Results {
		var lines []string
		for _, p := range parts[r.Call] {
			if p.Image == nil {
				lines = append(lines, p.Text)
				continue
			}
			if !d.own && !d.config.Images {
				lines = append(lines, leftOut("image", p.Image.Media, p.Image.Data, "this model takes no images").Text)
				continue
			}
			lines = append(lines, "[an image, which follows]")
			shown = append(shown, sdk.ImageContentPart(sdk.ChatCompletionContentPartImageImageURLParam{
				URL: "data:" + p.Image.Media + ";base64," + p.Image.Data,
			}))
		}
		out = append(out, sdk.ToolMessage(resultText(lines, r.IsError), safeID(r.Call, looseID)))
	}
	text := strings.TrimSpace(m.Text) != ""
	switch {
	case len(shown) > 0:
		if text {
			shown = append(shown, sdk.TextContentPart(m.Text))
		}
		out = append(out, sdk.UserMessage(shown))
	case text:
		out = append(out, sdk.UserMessage(m.Text))
	}
	return out
}

// resultText joins a result's lines. The protocol has no mark for a failure,
// so the text begins with one.
func resultText(lines []string, failed bool) string {
	text := strings.Join(lines, "\n")
	switch {
	case failed && !strings.HasPrefix(strings.ToLower(text), "error"):
		return strings.TrimSpace("Error: " + text)
	case text == "":
		return "[nothing came back]"
	}
	return text
}
