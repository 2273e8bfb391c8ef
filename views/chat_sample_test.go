package views

import (
	"time"

	"capstore/views/ui"
)

// sampleChat has one of everything that a conversation shows.
func sampleChat(now time.Time) Chat {
	table := ChatValue{Type: "array", Columns: []string{"city", "parcels"}, Rows: [][]ChatValue{
		{{Type: "string", Text: "Bremen"}, {Type: "number", Text: "9007199254740993"}}, {{Type: "string", Text: "Łódź"}, {Type: "number", Text: "12"}},
	}, More: 3}
	nested := ChatValue{Type: "object", Parts: []ChatPart{
		{Name: "total", Value: ChatValue{Type: "number", Text: "12.50"}},
		{Name: "lines", Value: ChatValue{Type: "array", Parts: []ChatPart{
			{Name: "1", Value: ChatValue{Type: "string", Text: "a"}}, {Name: "2", Value: ChatValue{Type: "string", Text: "b"}}}, More: 7}},
	}}
	return Chat{
		Workspace: "acme", Title: "Where are the parcels?", Panel: true, Older: 41, State: ChatState{Name: "running", Since: now.Add(-75 * time.Second)},
		Live:  "Half of an **answer**\n\n```python\nprint(1",
		Links: []ChatLink{{ID: "1", Title: "Where are the parcels?", At: now, Current: true}, {ID: "2", Title: "Month end", At: now.Add(-30 * time.Hour)}},
		Items: []ChatItem{
			{Seq: 42, Said: &ChatMessage{Text: "Where are the parcels?", Prompt: "Look up every parcel.", Refs: []ChatRef{{Ref: "skill:tracking", Kind: "skill", Label: "tracking", Href: "#"}}}},
			{Seq: 43, Answer: &ChatAnswer{Text: "Two tables:\n\n| a | b |\n|---|---|\n| 1 | 2 |", Thinking: "Which ones?"}, Calls: []*ChatCall{
				{ID: "call-1", Name: "mcp__tracking__find", State: CallDone, Duration: "1.2 s", Label: "acme/tracking@1.0.0", Href: "#", Arguments: "{}",
					Facts: []ui.Fact{{Label: "Epoch", Text: "12"}}, Blocks: []ChatBlock{{Value: &table, JSON: "[]"}, {Value: &nested, JSON: "{}"}, {Markdown: "# Title\n\n- one"}, {Text: "plain"}}},
				{ID: "call-2", Name: "code__label", State: CallFailed, Code: "exit_status", Message: "It ended with 1.", Action: "Look at its output.", Arguments: "{}", Stderr: "Traceback", Write: true, Unisolated: true},
				{ID: "call-3", Name: "code__slow", State: CallRunning, Since: now.Add(-3 * time.Second), Arguments: "{}", Hooks: []ChatHook{{Text: "The hook guard changed the arguments."}}},
				{ID: "call-4", Name: "code__later", State: CallAsked, Broken: "{oops"},
			}},
			{Seq: 60, Notice: &ChatNotice{Icon: ui.IconRefresh, Text: "What your agent carries changed (epoch 13). 1 added", Lines: []string{"Added: code__new"}}},
			{Seq: 61, Answer: &ChatAnswer{Text: "Done.", Note: "Stopped here.", Usage: "fast · 1,204 tokens in, 88 out · 3.1 s"}},
			{Seq: 62, Trouble: &ChatTrouble{Tone: ui.Danger, Text: "The model could not be reached.", Action: "Try again."}},
		},
		Composer: Composer{
			Workspace: "acme", Panel: true, Refs: []ChatRef{{Ref: "skill:tracking", Kind: "skill", Label: "tracking", Href: "#"}},
			Models: []ui.Option{{Label: "fast (workspace)", Selected: true}, {Value: "deep", Label: "deep"}},
			Modes:  []ui.Option{{Label: "Ask before writes", Selected: true}, {Value: "bypass", Label: "Ask nothing", Reason: "looser than the workspace"}},
		},
	}
}
