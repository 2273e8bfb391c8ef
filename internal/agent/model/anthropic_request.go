package model

import (
	"encoding/json"
	"slices"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"
)

// cached marks the end of what the provider keeps for the next question: the
// tools and the system text, and the conversation so far. It allows four.
var cached = sdk.NewCacheControlEphemeralParam()

// cachedMessages is how many of the newest user's messages are marked: the
// newest for the next step, and the one before it because the search for what
// is kept looks back over twenty blocks only.
const cachedMessages = 2

func (d *messages) params(r Request) sdk.MessageNewParams {
	p := sdk.MessageNewParams{Model: sdk.Model(d.config.Name), MaxTokens: defaultMaxTokens}
	if r.MaxTokens > 0 {
		p.MaxTokens = int64(r.MaxTokens)
	}
	if most := d.most.Load(); most > 0 {
		p.MaxTokens = min(p.MaxTokens, most)
	}
	if r.System != "" {
		p.System = append(p.System, sdk.TextBlockParam{Text: r.System, CacheControl: cached})
	}
	if strings.TrimSpace(r.Standing) != "" {
		p.System = append(p.System, sdk.TextBlockParam{Text: r.Standing})
	}
	references := d.addTools(&p, r)
	parts := resultParts(r.Messages, imagesLimit)
	marks := cachedMessages
	for _, m := range slices.Backward(r.Messages) {
		var content []sdk.ContentBlockParamUnion
		if m.Role == Assistant {
			content = d.answered(m)
		} else {
			content = asked(m, parts, references)
			if marks > 0 && mark(content) {
				marks--
			}
		}
		if len(content) > 0 {
			p.Messages = append(p.Messages, sdk.MessageParam{Role: sdk.MessageParamRole(m.Role), Content: content})
		}
	}
	slices.Reverse(p.Messages)
	return p
}

// addTools adds the tools and returns the names that a result may refer to.
func (d *messages) addTools(p *sdk.MessageNewParams, r Request) map[string]bool {
	tools, references := r.Tools, map[string]bool{}
	// Messages wants one tool at least that is not deferred.
	eager := d.eager.Load() || !slices.ContainsFunc(tools, func(t Tool) bool { return !t.Deferred })
	if eager {
		tools = shown(r)
	}
	for _, t := range tools {
		tool := &sdk.ToolParam{
			Name:        t.Name,
			InputSchema: param.Override[sdk.ToolInputSchemaParam](forms.form(t.Schema)),
		}
		if t.Description != "" {
			tool.Description = sdk.String(t.Description)
		}
		if t.Deferred && !eager {
			tool.DeferLoading = sdk.Bool(true)
			references[t.Name] = true
		}
		p.Tools = append(p.Tools, sdk.ToolUnionParam{OfTool: tool})
	}
	return references
}

// answered returns an assistant's message as blocks.
func (d *messages) answered(m Message) []sdk.ContentBlockParamUnion {
	var content []sdk.ContentBlockParamUnion
	if kept := opaqueFor(d.config, m.Opaque).Content; len(kept) > 0 {
		for _, raw := range kept {
			content = append(content, param.Override[sdk.ContentBlockParamUnion](raw))
		}
		return content
	}
	if strings.TrimSpace(m.Text) != "" {
		content = append(content, sdk.NewTextBlock(m.Text))
	}
	for _, call := range m.Calls {
		content = append(content, sdk.NewToolUseBlock(safeID(call.ID, strictID), inputOf(call), call.Name))
	}
	return content
}

// asked returns a user's message as blocks: all results first, then text.
func asked(m Message, parts map[string][]part, references map[string]bool) []sdk.ContentBlockParamUnion {
	var content, beside []sdk.ContentBlockParamUnion
	for _, r := range m.Results {
		block := &sdk.ToolResultBlockParam{ToolUseID: safeID(r.Call, strictID)}
		if r.IsError {
			block.IsError = sdk.Bool(true)
		}
		said := resultBlocks(parts[r.Call])
		for _, name := range r.Loads {
			if references[name] && !r.IsError {
				block.Content = append(block.Content, sdk.ToolResultBlockParamContentUnion{
					OfToolReference: &sdk.ToolReferenceBlockParam{ToolName: name},
				})
			}
		}
		if len(block.Content) > 0 { // references stand alone in their result
			beside = append(beside, texts(parts[r.Call])...)
		} else {
			block.Content = said
		}
		content = append(content, sdk.ContentBlockParamUnion{OfToolResult: block})
	}
	content = append(content, beside...)
	if strings.TrimSpace(m.Text) != "" {
		content = append(content, sdk.NewTextBlock(m.Text))
	}
	return content
}

func resultBlocks(parts []part) []sdk.ToolResultBlockParamContentUnion {
	blocks := make([]sdk.ToolResultBlockParamContentUnion, 0, len(parts))
	for _, p := range parts {
		if p.Image != nil {
			image := sdk.NewImageBlockBase64(p.Image.Media, p.Image.Data)
			blocks = append(blocks, sdk.ToolResultBlockParamContentUnion{OfImage: image.OfImage})
			continue
		}
		blocks = append(blocks, sdk.ToolResultBlockParamContentUnion{OfText: &sdk.TextBlockParam{Text: p.Text}})
	}
	return blocks
}

func texts(parts []part) []sdk.ContentBlockParamUnion {
	var blocks []sdk.ContentBlockParamUnion
	for _, p := range parts {
		if p.Image == nil {
			blocks = append(blocks, sdk.NewTextBlock(p.Text))
		}
	}
	return blocks
}

// mark puts a mark on the last block; false where there is none.
func mark(content []sdk.ContentBlockParamUnion) bool {
	if len(content) == 0 {
		return false
	}
	switch last := content[len(content)-1]; {
	case last.OfText != nil:
		last.OfText.CacheControl = cached
	case last.OfToolResult != nil:
		last.OfToolResult.CacheControl = cached
	}
	return true
}

// thought is a thinking block as it is given back.
type thought struct {
	Type      string `json:"type"`
	Thinking  string `json:"thinking"`
	Signature string `json:"signature"`
}

type withheld struct {
	Type string `json:"type"`
	Data string `json:"data"`
}

type spoken struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type toolUse struct {
	Type  string          `json:"type"`
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}
