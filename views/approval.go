package views

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"

	"capstore/internal/i18n"
	"capstore/views/ui"
)

// Approval is the card of a call that waits for its member's word, with
// everything that the word is about.
type Approval struct {
	Workspace   string
	ID          string
	Title       string // of the conversation that asks
	Href        string // of the conversation
	Model       string // that asks; "" when the member runs it by hand
	Tool        string // as the model sees it
	RawName     string // at its origin, where that is another
	Label       string // of the capability: source/id, or what stands for it
	LabelHref   string // "" where there is no page
	Version     string
	Digest      string
	Description string // of the tool, by its author
	Arguments   string // JSON in full, indented
	Writes      bool
	Secrets     []string
	Hosts       []string
	Why         string   // code
	Detail      string   // the rule's note, or the hook's reason
	Answers     []string // that may be given; none once it is closed
	Asked       time.Time
	Expires     time.Time
	Answer      string // once, conversation, always, deny, expired, withdrawn; "" while open
	Reason      string // of the denial
	Answered    time.Time
	// Next is where the answer leads without script.
	Next string
	// Problem says why an answer was not taken.
	Problem string
	// Focus moves the reader to the card: he has just answered it.
	Focus bool
}

// Open reports whether the card can be answered.
func (a Approval) Open() bool { return a.Answer == "" }

// CardID is the id of the card's element.
func (a Approval) CardID() string { return "approval-" + a.ID }

func (a Approval) titleID() string { return a.CardID() + "-title" }

func (a Approval) attrs() templ.Attributes {
	return ui.Merge(
		templ.Attributes{"id": a.CardID(), "class": "approval", "tabindex": "-1", "aria-labelledby": a.titleID()},
		attrsIf(a.Focus, templ.Attributes{"autofocus": true}), attrsIf(a.Open(), templ.Attributes{"data-open": true}))
}

func attrsIf(on bool, attrs templ.Attributes) templ.Attributes {
	if on {
		return attrs
	}
	return nil
}

// formAttrs answer in place where there is script.
func (a Approval) formAttrs() templ.Attributes {
	return ui.Merge(templ.Attributes{"method": "post"},
		ui.Hx{Post: ApprovalPath(a.Workspace, a.ID), Target: "#" + a.CardID(), Swap: "outerHTML"}.Attrs())
}

func (a Approval) who(ctx context.Context) string {
	if a.Model == "" {
		return i18n.T(ctx, "approval.asks_hand")
	}
	return i18n.T(ctx, "approval.asks_model", "model", a.Model)
}

// yes are the answers that let the call run, narrow to wide.
func (a Approval) yes() []string {
	var out []string
	for _, answer := range a.Answers {
		if answer != "deny" {
			out = append(out, answer)
		}
	}
	return out
}

func (a Approval) buttonOf(ctx context.Context, answer string) ui.ButtonArgs {
	b := ui.ButtonArgs{
		Label: i18n.T(ctx, "approval.answer_"+answer), Name: "answer", Value: answer,
		Attrs: templ.Attributes{"title": i18n.T(ctx, "approval.answer_"+answer+"_help"), "aria-describedby": a.titleID()},
	}
	if answer == "once" {
		b.Variant, b.Icon = ui.Primary, ui.IconCheck
	}
	return b
}

// effects say in words what the call does, as far as it is known.
func (a Approval) effects(ctx context.Context) []ui.Point {
	points := []ui.Point{{Tone: ui.Info, Text: i18n.T(ctx, "approval.reads", "name", a.Label)}}
	switch {
	case a.Writes && a.builtIn():
		points[0] = ui.Point{Tone: ui.Warning, Text: i18n.T(ctx, "approval.writes_here")}
	case a.Writes:
		points[0] = ui.Point{Tone: ui.Warning, Text: i18n.T(ctx, "approval.writes", "name", a.Label)}
	}
	if len(a.Secrets) > 0 {
		points = append(points, ui.Point{Tone: ui.Warning, Text: i18n.T(ctx, "approval.secrets", "names", strings.Join(a.Secrets, ", "))})
	}
	if len(a.Hosts) > 0 {
		points = append(points, ui.Point{Tone: ui.Info, Text: i18n.T(ctx, "approval.hosts", "names", strings.Join(a.Hosts, ", "))})
	}
	return points
}

// builtIn reports whether the call is of something that ships with capstore.
func (a Approval) builtIn() bool { return strings.HasPrefix(a.Label, "builtin:") }

func (a Approval) outcomeBadge(ctx context.Context) ui.BadgeArgs {
	tone := ui.Success
	switch a.Answer {
	case "deny":
		tone = ui.Danger
	case "expired", "withdrawn":
		tone = ui.Neutral
	}
	return ui.BadgeArgs{Label: i18n.T(ctx, "approval.was_"+a.Answer), Tone: tone}
}

func (a Approval) facts(ctx context.Context) []ui.Fact {
	capability := ui.Fact{Label: i18n.T(ctx, "approval.capability"), Body: approvalLabel(a)}
	facts := []ui.Fact{capability}
	if a.Digest != "" && !a.builtIn() {
		facts = append(facts, ui.Fact{Label: i18n.T(ctx, "approval.digest"), Body: ui.Digest(i18n.T(ctx, "approval.digest"), a.Digest)})
	}
	if a.RawName != "" {
		facts = append(facts, ui.Fact{Label: i18n.T(ctx, "approval.raw"), Text: a.RawName, Mono: true})
	}
	return append(facts, ui.Fact{Label: i18n.T(ctx, "approval.asked"), Body: ui.Time(a.Asked)})
}

// Approvals is the page of what waits for the member's word, of what did, and
// of his standing permissions.
type Approvals struct {
	Workspace string
	Tab       string
	Cards     []Approval
	Grants    []GrantRow
	More      string // address of the next page, "" at the end
}

// GrantRow is a standing permission.
type GrantRow struct {
	ID      string
	Tool    string
	Label   string
	Href    string
	Version string
	Title   string // of the conversation; "" for always
	Chat    string // address of the conversation
	Since   time.Time
}

func (v Approvals) tabs(ctx context.Context) []ui.Tab {
	var tabs []ui.Tab
	for _, tab := range []string{TabApprovalsOpen, TabApprovalsClosed, TabApprovalsGrants} {
		tabs = append(tabs, ui.Tab{Label: i18n.T(ctx, "approval.tab_"+tab), Href: ApprovalsPath(v.Workspace, tab, ""), Current: tab == v.Tab})
	}
	return tabs
}

func grantColumns(ctx context.Context) []ui.Column {
	return []ui.Column{
		{Label: i18n.T(ctx, "approval.tool")}, {Label: i18n.T(ctx, "approval.holds")}, {Label: i18n.T(ctx, "approval.since")},
		{Label: i18n.T(ctx, "common.actions"), Hidden: true},
	}
}

// countText is a count as it stands in a narrow place.
func countText(n int) string {
	if n >= 100 {
		return "99+"
	}
	return strconv.Itoa(n)
}
