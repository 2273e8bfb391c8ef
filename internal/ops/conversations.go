package ops

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/google/uuid"

	"capstore/internal/agent"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/identity"
)

// Conversation is one of the member's own with his agent.
type Conversation struct {
	ID        string                    `json:"id"`
	Title     string                    `json:"title"`
	Model     string                    `json:"model" doc:"Its own choice of a registered model; empty follows the member."`
	Mode      capability.PermissionMode `json:"mode" doc:"Its own permission mode; empty follows the workspace."`
	LastSeq   int64                     `json:"lastSeq" doc:"The number of its newest ledger entry."`
	CreatedAt time.Time                 `json:"createdAt"`
	UpdatedAt time.Time                 `json:"updatedAt"`
	Turn      *Turn                     `json:"turn,omitempty" doc:"The newest turn; left out of lists and before the first."`
}

// Location is where the conversation stands.
func (c Conversation) Location(workspace string) string {
	return "/workspaces/" + workspace + "/conversations/" + c.ID
}

// Turn is where one run of the agent stands.
type Turn struct {
	ID        string                    `json:"id"`
	State     agent.TurnState           `json:"state" enum:"running,waiting,done,stopped,failed,interrupted"`
	Model     string                    `json:"model" doc:"Empty in direct mode."`
	Mode      capability.PermissionMode `json:"mode"`
	Epoch     int64                     `json:"epoch"`
	StartedAt time.Time                 `json:"startedAt"`
	EndedAt   *time.Time                `json:"endedAt,omitempty"`
}

func conversation(c agent.Conversation) Conversation {
	return Conversation{
		ID: c.ID.String(), Title: c.Title, Model: c.Model, Mode: c.Mode, LastSeq: c.LastSeq, CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt,
	}
}

func turnOf(t agent.TurnStatus) *Turn {
	if t.State == "" {
		return nil
	}
	return &Turn{ID: t.Turn.String(), State: t.State, Model: t.Model, Mode: t.Mode, Epoch: t.Epoch, StartedAt: t.StartedAt, EndedAt: t.EndedAt}
}

type conversationPath struct {
	ID string `path:"id" doc:"The conversation's id."`
}

type newConversation struct {
	Body ConversationChoice `body:""`
}

type patchConversation struct {
	conversationPath
	Body ConversationChoice `body:""`
}

// ConversationChoice is what a conversation may choose; what is left out stays.
type ConversationChoice struct {
	Title *string                    `json:"title,omitempty"`
	Model *string                    `json:"model,omitempty" doc:"A registered model; empty follows the member."`
	Mode  *capability.PermissionMode `json:"mode,omitempty" doc:"ask, auto, bypass or plan; empty follows the workspace. A looser one than the workspace's changes nothing."`
}

type ledgerAfter struct {
	conversationPath
	After int64 `query:"after" doc:"The number of the newest entry that the caller has; 0 unless told."`
}

type newTurn struct {
	conversationPath
	Body Message `body:""`
}

// Message is what a member says: a text, or a tool with its arguments.
type Message struct {
	Text      string          `json:"text,omitempty"`
	Tool      string          `json:"tool,omitempty" doc:"A tool to run by hand, as the model sees its name."`
	Arguments json.RawMessage `json:"arguments,omitempty" doc:"Of the tool, an object."`
	Refs      []string        `json:"refs,omitempty" doc:"What the message is about: capability:source/id or skill:id."`
}

func conversationOperations(s Services) []Operation {
	at := tenant + "/conversations"
	return []Operation{
		declare(Meta{
			Name: "list_conversations", Method: http.MethodGet, Path: at, Area: AreaConversations, Action: capability.ActOwnRead,
			ReadOnly: true, Summary: "One's own newest conversations, fifty at most.",
		}, s.listConversations),
		declare(Meta{
			Name: "create_conversation", Method: http.MethodPost, Path: at, Area: AreaConversations, Action: capability.ActRun, Personal: true,
			Success: http.StatusCreated, Summary: "Begin a conversation.", Example: `{"title": "Late parcels", "mode": "plan"}`,
		}, s.createConversation),
		declare(Meta{
			Name: "get_conversation", Method: http.MethodGet, Path: at + "/{id}", Area: AreaConversations, Action: capability.ActOwnRead,
			ReadOnly: true, Summary: "One conversation with where its newest turn stands.",
		}, s.getConversation),
		declare(Meta{
			Name: "update_conversation", Method: http.MethodPatch, Path: at + "/{id}", Area: AreaConversations, Action: capability.ActOwn, Personal: true,
			Summary: "Choose a conversation's title, model or permission mode.", Example: `{"model": "fast"}`,
		}, s.updateConversation),
		declare(Meta{
			Name: "delete_conversation", Method: http.MethodDelete, Path: at + "/{id}", Area: AreaConversations, Action: capability.ActOwn, Personal: true,
			Success: http.StatusNoContent, Summary: "Delete a conversation with its ledger; what runs in it is stopped.",
		}, s.deleteConversation),
		declare(Meta{
			Name: "list_ledger", Method: http.MethodGet, Path: at + "/{id}/ledger", Area: AreaConversations, Action: capability.ActOwnRead,
			ReadOnly: true, Summary: "The entries of a conversation after a number, in order.",
		}, s.ledger),
		declare(Meta{
			Name: "create_turn", Method: http.MethodPost, Path: at + "/{id}/turns", Area: AreaConversations, Action: capability.ActRun, Personal: true,
			Summary: "Say something and follow the answer as events, until the turn ends or waits.", Example: `{"text": "Where are the parcels?"}`,
		}, s.createTurn),
		declare(Meta{
			Name: "stop_turn", Method: http.MethodPost, Path: at + "/{id}/stop", Area: AreaConversations, Action: capability.ActRun, Personal: true,
			Success: http.StatusNoContent, Summary: "Stop what is being worked on.",
		}, s.stopTurn),
	}
}

func (s Services) listConversations(ctx context.Context, who identity.Principal, _ Nothing) (List[Conversation], error) {
	rows, err := s.Agent.Conversations(ctx, who.Actor())
	return listOf(rows, conversation), err
}

func (s Services) createConversation(ctx context.Context, who identity.Principal, in newConversation) (Conversation, error) {
	if err := capability.May(who.Actor(), capability.ActRun, capability.Fresh); err != nil {
		return Conversation{}, err
	}
	made, err := s.Agent.NewConversation(ctx, who.Actor())
	if err != nil {
		return Conversation{}, err
	}
	if err := s.chooseFor(ctx, who, made, in.Body); err != nil {
		_ = s.Agent.DeleteConversation(ctx, who.Actor(), made.ID) // nothing was begun, so nothing of it stays
		return Conversation{}, err
	}
	return s.getConversation(ctx, who, conversationPath{ID: made.ID.String()})
}

func (s Services) getConversation(ctx context.Context, who identity.Principal, in conversationPath) (Conversation, error) {
	id, err := idOf(in.ID)
	if err != nil {
		return Conversation{}, err
	}
	c, err := s.Agent.Conversation(ctx, who.Actor(), id)
	if err != nil {
		return Conversation{}, err
	}
	turn, err := s.Agent.Turn(ctx, who.Actor(), id)
	out := conversation(c)
	out.Turn = turnOf(turn)
	return out, err
}

func (s Services) updateConversation(ctx context.Context, who identity.Principal, in patchConversation) (Conversation, error) {
	if err := capability.May(who.Actor(), capability.ActOwn, capability.Fresh); err != nil {
		return Conversation{}, err
	}
	id, err := idOf(in.ID)
	if err != nil {
		return Conversation{}, err
	}
	c, err := s.Agent.Conversation(ctx, who.Actor(), id)
	if err != nil {
		return Conversation{}, err
	}
	if err := s.chooseFor(ctx, who, c, in.Body); err != nil {
		return Conversation{}, err
	}
	return s.getConversation(ctx, who, in.conversationPath)
}

// chooseFor sets what was chosen and leaves the rest.
func (s Services) chooseFor(ctx context.Context, who identity.Principal, c agent.Conversation, choice ConversationChoice) error {
	if choice.Model != nil || choice.Mode != nil {
		model, mode := c.Model, c.Mode
		if choice.Model != nil {
			model = *choice.Model
		}
		if choice.Mode != nil {
			mode = *choice.Mode
		}
		if model != "" && model != c.Model {
			if _, err := s.Workspace.Model(ctx, who.Actor(), model); fault.Is(err, fault.NotFound) {
				return refused("/model", "unknown_model", "No model %s is registered here.", model)
			} else if err != nil {
				return err
			}
		}
		if err := s.Agent.Choose(ctx, who.Actor(), c.ID, model, mode); err != nil {
			return err
		}
	}
	if choice.Title == nil {
		return nil
	}
	return s.Agent.Rename(ctx, who.Actor(), c.ID, *choice.Title)
}

func (s Services) deleteConversation(ctx context.Context, who identity.Principal, in conversationPath) (Empty, error) {
	if err := capability.May(who.Actor(), capability.ActOwn, capability.Fresh); err != nil {
		return Empty{}, err
	}
	id, err := idOf(in.ID)
	if err != nil {
		return Empty{}, err
	}
	return Empty{}, s.Agent.DeleteConversation(ctx, who.Actor(), id)
}

func (s Services) ledger(ctx context.Context, who identity.Principal, in ledgerAfter) (List[agent.Entry], error) {
	id, err := idOf(in.ID)
	if err != nil {
		return List[agent.Entry]{}, err
	}
	c, err := s.Agent.Conversation(ctx, who.Actor(), id)
	if err != nil {
		return List[agent.Entry]{}, err
	}
	entries, err := s.Agent.Ledger(ctx, who.Actor(), id, in.After)
	out := List[agent.Entry]{Items: list(entries)}
	if n := len(entries); n > 0 && entries[n-1].Seq < c.LastSeq {
		out.NextCursor = strconv.FormatInt(entries[n-1].Seq, 10)
	}
	return out, err
}

func (s Services) stopTurn(ctx context.Context, who identity.Principal, in conversationPath) (Empty, error) {
	if err := capability.May(who.Actor(), capability.ActRun, capability.Fresh); err != nil {
		return Empty{}, err
	}
	id, err := idOf(in.ID)
	if err != nil {
		return Empty{}, err
	}
	return Empty{}, s.Agent.StopTurn(ctx, who.Actor(), id)
}

func (s Services) createTurn(ctx context.Context, who identity.Principal, in newTurn) (Events, error) {
	if err := capability.May(who.Actor(), capability.ActRun, capability.Fresh); err != nil {
		return nil, err
	}
	id, err := idOf(in.ID)
	if err != nil {
		return nil, err
	}
	c, err := s.Agent.Conversation(ctx, who.Actor(), id)
	if err != nil {
		return nil, err
	}
	turn, _, err := s.Agent.Begin(ctx, who.Actor(), id, agent.Ask{
		Surface: capability.SurfaceAPI,
		Text:    in.Body.Text, Tool: in.Body.Tool, Arguments: in.Body.Arguments, Refs: in.Body.Refs,
	})
	if err != nil {
		return nil, err
	}
	return s.follow(ctx, who, c, turn), nil
}

// follow tells of one turn until it ends or waits.
func (s Services) follow(ctx context.Context, who identity.Principal, c agent.Conversation, turn uuid.UUID) Events {
	return func(send func(Happening) error) error {
		for e, err := range s.Agent.Follow(ctx, who.Actor(), c.ID, c.LastSeq) {
			if err != nil {
				return err
			}
			if err := send(happening(e)); err != nil {
				return err
			}
			if e.Turn != nil && e.Turn.Turn == turn && e.Turn.State != agent.TurnRunning {
				return nil
			}
		}
		return nil
	}
}
