package web

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/google/uuid"

	"capstore/internal/agent"
	"capstore/views"
)

// chatFold turns the entries of a ledger, in their order, into what is shown:
// each entry begins an item, or goes on with a call that an item holds.
type chatFold struct {
	c     *Ctx
	chat  string // id of the conversation
	items []views.ChatItem
	calls map[string]*views.ChatCall
	turns map[uuid.UUID]*chatTurn
}

// chatTurn is what is known of a turn while its entries are read.
type chatTurn struct {
	calls []*views.ChatCall
	spent
}

func (c *Ctx) newFold(chat string) *chatFold {
	return &chatFold{c: c, chat: chat, calls: map[string]*views.ChatCall{}, turns: map[uuid.UUID]*chatTurn{}}
}

// add takes the next entry and returns what it changes.
func (f *chatFold) add(e agent.Entry) []views.ChatChange {
	t := f.turn(e.Turn)
	switch e.Kind {
	case agent.EntryMessage:
		t.spent = spent{began: e.At}
		if m, ok := payload[agent.Message](e); ok {
			said := f.c.chatSaid(m)
			said.Seen = views.ChatTurnPath(f.c.Who.Workspace, f.chat, e.Turn.String())
			return f.item(e, views.ChatItem{Said: said, Calls: f.requested(e, m.Calls)})
		}
	case agent.EntryModelOutput:
		if m, ok := payload[agent.ModelOutput](e); ok {
			t.add(m)
			return f.item(e, views.ChatItem{Answer: f.answer(e, t, m), Calls: f.requested(e, m.Calls)})
		}
	case agent.EntryToolCall:
		if m, ok := payload[agent.ToolCall](e); ok {
			return f.on(e, m.Ref, m.Name, func(call *views.ChatCall) { f.c.callStarted(call, e, m) })
		}
	case agent.EntryToolResult:
		if m, ok := payload[agent.ToolResult](e); ok {
			return f.on(e, m.Ref, m.Name, func(call *views.ChatCall) { f.c.fillResult(f.chat, call, m) })
		}
	case agent.EntryApprovalAsked:
		if m, ok := payload[agent.ApprovalAsked](e); ok {
			return f.on(e, m.Ref, m.Tool, func(call *views.ChatCall) { f.c.callAsked(call, m) })
		}
	case agent.EntryApprovalAnswered:
		if m, ok := payload[agent.ApprovalAnswered](e); ok {
			return f.on(e, m.Ref, m.Tool, func(call *views.ChatCall) { f.c.callAnswered(call, m) })
		}
	case agent.EntryHookOutcome:
		if m, ok := payload[agent.HookOutcome](e); ok {
			return f.hook(e, m)
		}
	case agent.EntryEpochChanged:
		return f.item(e, views.ChatItem{Notice: f.c.epochNotice(e)})
	case agent.EntryError, agent.EntryStop:
		if m, ok := payload[agent.Failure](e); ok {
			return append(f.notRun(t), f.item(e, views.ChatItem{Trouble: f.c.chatTrouble(e.Kind, m)})...)
		}
	}
	return nil
}

func payload[T any](e agent.Entry) (T, bool) {
	var out T
	err := json.Unmarshal(e.Payload, &out)
	return out, err == nil
}

func (f *chatFold) turn(id uuid.UUID) *chatTurn {
	if f.turns[id] == nil {
		f.turns[id] = &chatTurn{}
	}
	return f.turns[id]
}

// item is shown at the end, unless nothing of it can be seen.
func (f *chatFold) item(e agent.Entry, item views.ChatItem) []views.ChatChange {
	if item.Said == nil && item.Answer == nil && item.Notice == nil && item.Trouble == nil && len(item.Calls) == 0 {
		return nil
	}
	item.Seq, item.At = e.Seq, e.At
	f.items = append(f.items, item)
	return []views.ChatChange{{Item: &f.items[len(f.items)-1]}}
}

// requested are calls that are wanted and have not begun.
func (f *chatFold) requested(e agent.Entry, wanted []agent.Requested) []*views.ChatCall {
	out := make([]*views.ChatCall, len(wanted))
	for i, w := range wanted {
		out[i] = f.call(e, w.Ref, w.Name)
		out[i].Arguments, out[i].Broken = indented(w.Arguments), w.Broken
	}
	return out
}

// call is the call of the turn that goes by the reference, made where it is new.
func (f *chatFold) call(e agent.Entry, ref, name string) *views.ChatCall {
	key := callKey(e, ref)
	if call := f.calls[key]; call != nil {
		return call
	}
	call := &views.ChatCall{ID: key, Name: name, State: views.CallAsked, Kind: kindOfTool(name)}
	f.calls[key] = call
	t := f.turn(e.Turn)
	t.calls = append(t.calls, call)
	return call
}

// callKey names a call within the page, whatever a model called it.
func callKey(e agent.Entry, ref string) string {
	if ref == "" && e.Call != nil {
		ref = e.Call.String()
	}
	sum := sha256.Sum256([]byte(e.Turn.String() + " " + ref))
	return "call-" + hex.EncodeToString(sum[:8])
}

// on changes a call in place, or begins an item with one that nobody announced.
func (f *chatFold) on(e agent.Entry, ref, name string, change func(*views.ChatCall)) []views.ChatChange {
	known := f.calls[callKey(e, ref)] != nil
	call := f.call(e, ref, name)
	change(call)
	if known {
		return []views.ChatChange{{Call: call}}
	}
	return f.item(e, views.ChatItem{Calls: []*views.ChatCall{call}})
}

// notRun marks the calls that will not run any more, since their turn ended.
func (f *chatFold) notRun(t *chatTurn) []views.ChatChange {
	var out []views.ChatChange
	for _, call := range t.calls {
		if call.State == views.CallAsked || call.State == views.CallWaiting {
			call.State, call.Approval = views.CallNotRun, nil
			out = append(out, views.ChatChange{Call: call})
		}
	}
	return out
}

// hook tells what a hook said where the call stands that it is about, else by
// itself; one that let everything be says nothing.
func (f *chatFold) hook(e agent.Entry, m agent.HookOutcome) []views.ChatChange {
	said := f.c.hookText(m)
	if said.Text == "" {
		return nil
	}
	if m.Ref == "" {
		return f.item(e, views.ChatItem{Notice: f.c.hookNotice(said, m)})
	}
	return f.on(e, m.Ref, m.Tool, func(call *views.ChatCall) { call.Hooks = append(call.Hooks, said) })
}

// waiting are the calls whose questions are open, by their approvals.
func (f *chatFold) waiting() map[uuid.UUID]*views.ChatCall {
	out := map[uuid.UUID]*views.ChatCall{}
	for _, call := range f.calls {
		if call.State != views.CallWaiting || call.Approval == nil {
			continue
		}
		if id, err := uuid.Parse(call.Approval.ID); err == nil {
			out[id] = call
		}
	}
	return out
}
