package ops

import (
	"context"
	"net/http"
	"time"

	"capstore/internal/agent"
	"capstore/internal/capability"
	"capstore/internal/identity"
)

type getUsage struct {
	Days int  `query:"days" doc:"How many days up to today, of UTC; 30 unless told, at most 366."`
	Mine bool `query:"mine" doc:"Only one's own. Whoever is no admin gets no other."`
}

// Usage is what agents did and took.
type Usage struct {
	Everyone bool          `json:"everyone" doc:"Of all members rather than of the caller alone."`
	Total    UsageSum      `json:"total"`
	Days     []UsageDay    `json:"days" doc:"Oldest first, every day of the span."`
	Members  []MemberUsage `json:"members" doc:"By member and model, those that cost most first."`
	Tools    []ToolUsage   `json:"tools" doc:"Those called most first."`
}

// UsageSum is figures added up.
type UsageSum struct {
	Turns        int64  `json:"turns"`
	FailedTurns  int64  `json:"failedTurns"`
	Requests     int64  `json:"requests" doc:"To models."`
	Calls        int64  `json:"calls" doc:"Of tools; what was refused before it started is not among them."`
	FailedCalls  int64  `json:"failedCalls"`
	InputTokens  int64  `json:"inputTokens" doc:"Without those that the provider had in its cache."`
	CachedTokens int64  `json:"cachedTokens"`
	OutputTokens int64  `json:"outputTokens"`
	Cost         string `json:"cost" doc:"US dollars as a decimal; empty where no model had a price."`
}

// UsageDay is one day of UTC.
type UsageDay struct {
	Day time.Time `json:"day" doc:"Its beginning."`
	UsageSum
	CallTimes
}

// CallTimes are how long calls took.
type CallTimes struct {
	HalfWithinMs int64 `json:"halfWithinMs" doc:"Half of the calls took at most this."`
	MostWithinMs int64 `json:"mostWithinMs" doc:"95 of 100 calls took at most this."`
}

// MemberUsage is what one member used of one model.
type MemberUsage struct {
	Subject string `json:"subject"`
	Name    string `json:"name"`
	Model   string `json:"model" doc:"Empty for direct mode."`
	UsageSum
}

// ToolUsage is the calls of one tool.
type ToolUsage struct {
	Tool        string `json:"tool" doc:"As models see it."`
	Calls       int64  `json:"calls"`
	FailedCalls int64  `json:"failedCalls"`
	Members     int64  `json:"members"`
	CallTimes
}

func usageOperations(s Services) []Operation {
	return []Operation{declare(Meta{
		Name: "get_usage", Method: http.MethodGet, Path: tenant + "/usage", Area: AreaAgent,
		Action: capability.ActOwnRead, ReadOnly: true, Summary: "What agents did, took and cost: everyone's for admins, one's own for the others.",
	}, s.usage)}
}

func (s Services) usage(ctx context.Context, who identity.Principal, in getUsage) (Usage, error) {
	if in.Days == 0 {
		in.Days = 30
	}
	report, err := s.Agent.Usage(ctx, who.Actor(), agent.UsageQuery{Days: in.Days, Mine: in.Mine})
	if err != nil {
		return Usage{}, err
	}
	return Usage{
		Everyone: report.Everyone, Total: usageSum(report.Total),
		Days: listOf(report.Days, func(d agent.UsageDay) UsageDay {
			return UsageDay{Day: d.Day, UsageSum: usageSum(d.UsageSum), CallTimes: callTimes(d.P50, d.P95)}
		}).Items,
		Members: listOf(report.Members, func(m agent.MemberUsage) MemberUsage {
			return MemberUsage{Subject: m.Subject, Name: m.Name, Model: m.Model, UsageSum: usageSum(m.UsageSum)}
		}).Items,
		Tools: listOf(report.Tools, func(t agent.ToolUsage) ToolUsage {
			return ToolUsage{Tool: t.Tool, Calls: t.Calls, FailedCalls: t.FailedCalls, Members: t.Members, CallTimes: callTimes(t.P50, t.P95)}
		}).Items,
	}, nil
}

func usageSum(u agent.UsageSum) UsageSum {
	return UsageSum{
		Turns: u.Turns, FailedTurns: u.FailedTurns, Requests: u.Requests, Calls: u.Calls, FailedCalls: u.FailedCalls,
		InputTokens: u.Input, CachedTokens: u.Cached, OutputTokens: u.Output, Cost: u.Cost,
	}
}

func callTimes(half, most time.Duration) CallTimes {
	return CallTimes{HalfWithinMs: half.Milliseconds(), MostWithinMs: most.Milliseconds()}
}
