package ops

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"capstore/internal/agent"
	"capstore/internal/capability"
	"capstore/internal/fault"
)

func TestAConversationByItsOperations(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	who := h.who(capability.RoleMember, capability.ScopeAgent)
	title, plan := "Late parcels", capability.ModePlan
	made, err := h.createConversation(t.Context(), who, newConversation{Body: ConversationChoice{Title: &title, Mode: &plan}})
	must(t, err)
	if made.Title != title || made.Mode != plan || made.Turn != nil {
		t.Errorf("made %+v", made)
	}
	at := conversationPath{ID: made.ID}

	events, err := h.createTurn(t.Context(), who, newTurn{conversationPath: at, Body: Message{Text: "hello", Refs: []string{"skill:x"}}})
	must(t, err)
	var names, ids []string
	must(t, events(func(e Happening) error {
		names, ids = append(names, e.Name), append(ids, e.ID)
		return nil
	}))
	if len(names) < 3 || names[len(names)-1] != "turn" || ids[0] != "1" {
		t.Errorf("events %v with the ids %v", names, ids)
	}
	list, err := h.ledger(t.Context(), who, ledgerAfter{conversationPath: at})
	must(t, err)
	var said agent.Message
	must(t, json.Unmarshal(list.Items[0].Payload, &said))
	if diff := cmp.Diff([]string{"skill:x"}, said.Refs); diff != "" {
		t.Errorf("what it is about: %s", diff)
	}
	if rest, err := h.ledger(t.Context(), who, ledgerAfter{conversationPath: at, After: list.Items[0].Seq}); err != nil || len(rest.Items) != len(list.Items)-1 || rest.NextCursor != "" {
		t.Errorf("after the first: %+v, %v", rest, err)
	}
	now, err := h.getConversation(t.Context(), who, at)
	must(t, err)
	if now.Turn == nil || now.Turn.State != agent.TurnDone || now.Title != title {
		t.Errorf("afterwards %+v", now)
	}

	none := "nothing-of-the-kind"
	if _, err := h.updateConversation(t.Context(), who, patchConversation{conversationPath: at, Body: ConversationChoice{Model: &none}}); !fault.HasCode(err, "invalid") {
		t.Errorf("a model that is not registered: %v", err)
	}
	other := h.who(capability.RoleAdmin, capability.ScopeSession)
	for name, err := range map[string]error{
		"get":    fail(h.getConversation(t.Context(), other, at)),
		"ledger": fail(h.ledger(t.Context(), other, ledgerAfter{conversationPath: at})),
		"turn":   fail(h.createTurn(t.Context(), other, newTurn{conversationPath: at, Body: Message{Text: "x"}})),
		"stop":   fail(h.stopTurn(t.Context(), other, at)),
		"delete": fail(h.deleteConversation(t.Context(), other, at)),
		"no id":  fail(h.getConversation(t.Context(), who, conversationPath{ID: "nonsense"})),
	} {
		if !fault.Is(err, fault.NotFound) {
			t.Errorf("%s by somebody else: %v", name, err)
		}
	}
	must(t, fail(h.deleteConversation(t.Context(), who, at)))
	if list, err := h.listConversations(t.Context(), who, Nothing{}); err != nil || len(list.Items) != 0 {
		t.Errorf("after it was deleted: %+v, %v", list, err)
	}
}

func fail[T any](_ T, err error) error { return err }
