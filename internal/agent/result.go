package agent

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"capstore/internal/fault"
)

// failed renders the fault within err as a result.
func failed(err error) ToolResult {
	f := failure(err)
	return ToolResult{IsError: true, Code: f.Code, Message: f.Message, Action: f.Action, Errors: f.Errors}
}

// textBlock is one MCP content block.
func textBlock(text string) json.RawMessage {
	b, err := json.Marshal(map[string]string{"type": "text", "text": text})
	if err != nil {
		return json.RawMessage(`{"type":"text","text":""}`)
	}
	return b
}

type artifact struct {
	mediaType string
	content   []byte
	images    []int
}

// fitLedger returns the result as the ledger keeps it: when its content is
// over maxInline, the beginning stands there and the whole is an artifact.
func fitLedger(r ToolResult) (ToolResult, []artifact) {
	size := len(r.Structured)
	for _, block := range r.Content {
		size += len(block)
	}
	if size <= maxInline {
		return r, nil
	}
	whole, err := json.Marshal(map[string]any{"content": r.Content, "structuredContent": r.Structured})
	if err != nil {
		return failed(fault.New(fault.Internal, "result_unreadable", "The result could not be kept.").Because(err)), nil
	}
	stored := []artifact{{"application/json", whole, images(r.Content)}}
	shown := wholeText(r.Content, r.Structured)
	r.Content = []json.RawMessage{textBlock(cutText(shown, maxInline) +
		cutMark + " the result has " + strconv.Itoa(size) + " bytes and is kept whole beside this entry.")}
	r.Structured = nil
	return r, stored
}

// cutMark ends what stands in the ledger of a longer result.
const cutMark = "\n… cut here:"

// wholeText is a result as one text: that of its blocks, or the data where they
// hold none.
func wholeText(content []json.RawMessage, structured json.RawMessage) string {
	if text := head(content, math.MaxInt); text != "" {
		return text
	}
	return string(structured)
}

// cutText returns the first n bytes, cut between characters.
func cutText(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// images are the places of the pictures among the blocks.
func images(blocks []json.RawMessage) (at []int) {
	for i, raw := range blocks {
		var block struct{ Type string }
		if json.Unmarshal(raw, &block) == nil && block.Type == "image" {
			at = append(at, i)
		}
	}
	return at
}

// head returns the first texts of the blocks, at most n bytes, cut between
// characters. A block that is no text counts by its type.
func head(blocks []json.RawMessage, n int) string {
	var out []byte
	for _, raw := range blocks {
		var block struct{ Type, Text string }
		if json.Unmarshal(raw, &block) != nil {
			continue
		}
		if block.Type != "text" {
			block.Text = "[" + block.Type + "]"
		}
		out = append(out, block.Text...)
		if len(out) > n {
			break
		}
		out = append(out, '\n')
	}
	return cutText(string(out), n)
}

// Seen is the result as a model gets it: without what a hook withheld, and
// with what hooks say beside it.
func (r ToolResult) Seen() ToolResult {
	if r.Withheld != "" {
		return ToolResult{Name: r.Name, Ref: r.Ref, IsError: true, Code: codeHookDenied, Message: r.Withheld, DurationMS: r.DurationMS}
	}
	if r.Added != "" {
		if len(r.Content) == 0 && len(r.Structured) > 0 {
			r.Content = []json.RawMessage{textBlock(string(r.Structured))}
		}
		r.Content = append(slices.Clip(r.Content), textBlock(r.Added))
	}
	return r
}
