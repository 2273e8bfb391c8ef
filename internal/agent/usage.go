package agent

import (
	"context"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/google/uuid"

	"capstore/db"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/pg"
)

// MaxUsageDays is how far back figures of usage can be asked for.
const MaxUsageDays = 366

// maxUsageRows bounds the members and the tools of an answer: those who used
// most, and those that were used most.
const maxUsageRows = 200

// UsageQuery says whose usage is asked for, and over how many days up to
// today, in UTC.
type UsageQuery struct {
	Days int
	// Mine keeps it to the actor's own. Whoever is no admin gets no other.
	Mine bool
}

// UsageReport is what agents did and took.
type UsageReport struct {
	Everyone bool // of all members, not of the actor alone
	Total    UsageSum
	Days     []UsageDay // oldest first, every day of the span
	Members  []MemberUsage
	Tools    []ToolUsage
}

// UsageSum is figures added up. Tokens of Cached are not in Input. Cost is US
// dollars as a decimal, "" where no model had a price.
type UsageSum struct {
	Turns, FailedTurns    int64
	Requests              int64 // to models
	Calls, FailedCalls    int64 // of tools, those refused before their start left out
	Input, Cached, Output int64 // tokens
	Cost                  string
}

// UsageDay is one day. P50 and P95 are how long half of its calls, and 95 in a
// hundred, took at most.
type UsageDay struct {
	Day time.Time // its beginning
	UsageSum
	P50, P95 time.Duration
}

// MemberUsage is what one member used of one model; Model "" is direct mode.
type MemberUsage struct {
	Subject, Name, Model string
	UsageSum
}

// ToolUsage is the calls of one tool, by the name that models see.
type ToolUsage struct {
	Tool               string
	Calls, FailedCalls int64
	Members            int64
	P50, P95           time.Duration
}

// Usage returns figures of the actor's workspace: everyone's for an admin, his
// own for anybody else. It takes three statements.
func (s *Service) Usage(ctx context.Context, actor capability.Actor, q UsageQuery) (UsageReport, error) {
	if err := capability.May(actor, capability.ActOwnRead, capability.Ownership{}); err != nil {
		return UsageReport{}, err
	}
	subject, err := uuid.Parse(actor.Subject)
	if err != nil {
		return UsageReport{}, fault.Missing()
	}
	if q.Days < 1 || q.Days > MaxUsageDays {
		return UsageReport{}, fault.Fields([]fault.Field{{
			Path: "/days", Code: "out_of_range", Message: fmt.Sprintf("Figures are of the last 1 to %d days.", MaxUsageDays),
		}})
	}
	out := UsageReport{Everyone: !q.Mine && actor.Role == capability.RoleAdmin}
	days, err := queries.UsageDays(ctx, s.db, db.UsageDaysParams{
		Workspace: actor.Workspace, Everyone: out.Everyone, Subject: subject, Back: int32(q.Days - 1),
	})
	if err != nil {
		return out, pg.Fault(fmt.Errorf("read usage by day: %w", err))
	}
	members, err := queries.UsageMembers(ctx, s.db, db.UsageMembersParams{
		Workspace: actor.Workspace, Everyone: out.Everyone, Subject: subject, Back: int32(q.Days - 1), Count: maxUsageRows,
	})
	if err != nil {
		return out, pg.Fault(fmt.Errorf("read usage by member: %w", err))
	}
	tools, err := queries.UsageTools(ctx, s.db, db.UsageToolsParams{
		Workspace: actor.Workspace, Everyone: out.Everyone, Subject: subject, Back: int32(q.Days - 1), Count: maxUsageRows,
	})
	if err != nil {
		return out, pg.Fault(fmt.Errorf("read usage by tool: %w", err))
	}
	out.add(days, members, tools)
	return out, nil
}

// add turns the rows into the report.
func (u *UsageReport) add(days []db.UsageDaysRow, members []db.UsageMembersRow, tools []db.UsageToolsRow) {
	for _, d := range days {
		sum := UsageSum{
			Turns: d.Turns, FailedTurns: d.FailedTurns, Requests: d.Requests, Calls: d.Calls, FailedCalls: d.FailedCalls,
			Input: d.Input, Cached: d.Cached, Output: d.Output, Cost: d.Cost,
		}
		u.Days = append(u.Days, UsageDay{Day: d.Day.UTC(), UsageSum: sum, P50: millis(d.P50), P95: millis(d.P95)})
		u.Total = u.Total.plus(sum)
	}
	for _, m := range members {
		u.Members = append(u.Members, MemberUsage{Subject: m.Subject.String(), Name: m.Name, Model: m.Model, UsageSum: UsageSum{
			Turns: m.Turns, FailedTurns: m.FailedTurns, Requests: m.Requests, Calls: m.Calls, FailedCalls: m.FailedCalls,
			Input: m.Input, Cached: m.Cached, Output: m.Output, Cost: m.Cost,
		}})
	}
	for _, t := range tools {
		u.Tools = append(u.Tools, ToolUsage{
			Tool: t.Tool, Calls: t.Calls, FailedCalls: t.FailedCalls, Members: t.Members, P50: millis(t.P50), P95: millis(t.P95),
		})
	}
}

func millis(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

func (a UsageSum) plus(b UsageSum) UsageSum {
	return UsageSum{
		Turns: a.Turns + b.Turns, FailedTurns: a.FailedTurns + b.FailedTurns, Requests: a.Requests + b.Requests,
		Calls: a.Calls + b.Calls, FailedCalls: a.FailedCalls + b.FailedCalls,
		Input: a.Input + b.Input, Cached: a.Cached + b.Cached, Output: a.Output + b.Output, Cost: plusDecimal(a.Cost, b.Cost),
	}
}

// plusDecimal adds two decimals, "" being none at all.
func plusDecimal(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	x, ok := new(big.Rat).SetString(a)
	y, ok2 := new(big.Rat).SetString(b)
	if !ok || !ok2 {
		return ""
	}
	sum := strings.TrimRight(x.Add(x, y).FloatString(12), "0")
	return strings.TrimSuffix(sum, ".")
}
