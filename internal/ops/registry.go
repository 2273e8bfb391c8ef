package ops

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"capstore/internal/agent"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/identity"
	"capstore/internal/registry"
)

type ofMember struct {
	Member string `query:"member" doc:"The subject of the member that it is about; oneself unless told. Admins may name another, whose private capabilities are left to a count."`
}

type listEpochs struct {
	ofMember
	Limit  int    `query:"limit" doc:"Rows of a page, 1 to 200; 50 unless told."`
	Cursor string `query:"cursor" doc:"The nextCursor of the page before."`
}

type turnPath struct {
	Turn string `path:"turn" doc:"The turn's id."`
}

// TurnSeen is what a turn could see.
type TurnSeen struct {
	Turn         string                     `json:"turn"`
	Conversation string                     `json:"conversation,omitempty" doc:"Only of one's own turn."`
	Subject      string                     `json:"subject"`
	Surface      capability.Surface         `json:"surface" doc:"The door that it came in by."`
	Epoch        int64                      `json:"epoch"`
	Digest       string                     `json:"digest" doc:"Equal exactly where what could be seen is."`
	Mode         capability.PermissionMode  `json:"mode"`
	Model        string                     `json:"model" doc:"Empty for direct mode."`
	State        agent.TurnState            `json:"state" enum:"running,waiting,done,stopped,failed,interrupted"`
	StartedAt    time.Time                  `json:"startedAt"`
	EndedAt      *time.Time                 `json:"endedAt"`
	Requests     int                        `json:"requests" doc:"To the model."`
	Calls        int                        `json:"calls"`
	FailedCalls  int                        `json:"failedCalls"`
	Usage        agent.Usage                `json:"usage"`
	Entries      []registry.Listed          `json:"entries" doc:"What the epoch held, with versions and digests. What was switched off is not listed."`
	Private      map[registry.EntryKind]int `json:"private,omitempty" doc:"Of another member's turn: his private entries, by kind."`
	Loading      *agent.Surfaced            `json:"loading" doc:"Which tools the model had loaded as the turn began; the others were deferred. Null without a model, and of another member's turn."`
}

func registryOperations(s Services) []Operation {
	return []Operation{
		declare(Meta{
			Name: "get_registry_report", Method: http.MethodGet, Path: tenant + "/registry/report", Area: AreaAgent,
			Action: capability.ActOwnRead, ReadOnly: true,
			Summary: "What a member's agent has and why: every entry with its standing and reason, epochs, the loop, connections to servers, misreads.",
		}, s.registryReport),
		declare(Meta{
			Name: "list_registry_epochs", Method: http.MethodGet, Path: tenant + "/registry/epochs", Area: AreaAgent,
			Action: capability.ActOwnRead, ReadOnly: true, Summary: "How what a member's agent has changed, epoch by epoch, newest first.",
		}, s.registryEpochs),
		declare(Meta{
			Name: "get_registry_turn", Method: http.MethodGet, Path: tenant + "/registry/turns/{turn}", Area: AreaAgent,
			Action: capability.ActOwnRead, ReadOnly: true,
			Summary: "What a turn could see and what it took: one's own, or for admins another member's without what was said in it.",
		}, s.registryTurn),
	}
}

func (s Services) registryReport(ctx context.Context, who identity.Principal, in ofMember) (registry.Report, error) {
	return s.Agent.Report(ctx, who.Actor(), in.Member)
}

func (s Services) registryEpochs(ctx context.Context, who identity.Principal, in listEpochs) (List[registry.Epoch], error) {
	limit := in.Limit
	if limit == 0 {
		limit = 50
	}
	if limit < 1 || limit > 200 {
		return List[registry.Epoch]{}, refused("/limit", "out_of_range", "The limit is 1 to 200.")
	}
	before := int64(0)
	if in.Cursor != "" {
		n, err := strconv.ParseInt(in.Cursor, 36, 64)
		if err != nil || n < 1 {
			return List[registry.Epoch]{}, fault.New(fault.Malformed, "bad_cursor", "This cursor is not one of this list.").Do("Start again without a cursor.")
		}
		before = n
	}
	epochs, err := s.Agent.Epochs(ctx, who.Actor(), in.Member, before, limit+1)
	if err != nil {
		return List[registry.Epoch]{}, err
	}
	out := List[registry.Epoch]{Items: epochs}
	if len(epochs) > limit {
		out.Items = epochs[:limit]
		out.NextCursor = strconv.FormatInt(epochs[limit-1].Epoch, 36)
	}
	return out, nil
}

func (s Services) registryTurn(ctx context.Context, who identity.Principal, in turnPath) (TurnSeen, error) {
	id, err := idOf(in.Turn)
	if err != nil {
		return TurnSeen{}, err
	}
	seen, err := s.Agent.Seen(ctx, who.Actor(), id)
	if err != nil {
		return TurnSeen{}, err
	}
	out := TurnSeen{
		Turn: seen.Turn.String(), Subject: seen.Subject, Surface: seen.On, Epoch: seen.Epoch, Digest: seen.Digest, Mode: seen.Mode,
		Model: seen.Model, State: seen.State, StartedAt: seen.StartedAt, EndedAt: seen.EndedAt, Requests: seen.Requests,
		Calls: seen.Calls, FailedCalls: seen.FailedCalls, Usage: seen.Usage, Private: seen.Private, Loading: seen.Surface,
		Entries: list(seen.Entries),
	}
	if seen.Own {
		out.Conversation = seen.Conversation.String()
	}
	return out, nil
}
