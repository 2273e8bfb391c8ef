package web_test

import (
	"encoding/json"
	"strings"
	"testing"

	"capstore/internal/agent"
	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/workspace"
)

// question has somebody of acme run a tool by hand that a rule asks about, and
// returns what waits for him.
func (s *site) question(email, arguments string) agent.Approval {
	s.t.Helper()
	actor, admin := s.actor(email, "acme"), s.actor(ada, "acme")
	v := s.publish(ada, "acme", catalog.Publication{
		ID: "board", Name: "board", Description: "Posts to the board.", Visibility: capability.ReachWorkspace,
		Spec: []byte(`{"type":"code","language":"python","isReadOnly":true,"code":"print('{}')","parametersSchema":{"type":"object"}}`),
	})
	_, err := s.Workspace.Adopt(s.t.Context(), admin, workspace.AdoptInput{Source: v.Source, ID: v.ID, Version: v.Version, ConsentDigest: v.Digest})
	must(s.t, err)
	s.policy(capability.PolicyRule{Effect: capability.PolicyAsk, Match: "code__board", Note: hostile})
	conv, err := s.Agent.NewConversation(s.t.Context(), actor)
	must(s.t, err)
	_, done, err := s.Agent.Begin(s.t.Context(), actor, conv.ID, agent.Ask{Tool: "code__board", Arguments: json.RawMessage(arguments)})
	must(s.t, err)
	<-done
	open, err := s.Agent.Approvals(s.t.Context(), actor, agent.ApprovalsOpen, nil, 1)
	must(s.t, err)
	if len(open) != 1 {
		s.t.Fatalf("%d questions stand", len(open))
	}
	return open[0]
}

func (s *site) policy(rules ...capability.PolicyRule) {
	s.t.Helper()
	_, err := s.Workspace.Change(s.t.Context(), s.actor(ada, "acme"), workspace.AnyVersion, "", func(c *capability.AgentConfig) error {
		c.Policy = rules
		return nil
	})
	must(s.t, err)
}

// TestTheCardHidesNothing asks with arguments that are long, deep, padded and
// deceptive: all of them stand on the card.
func TestTheCardHidesNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	args := map[string]any{
		"note": "ok" + strings.Repeat(" ", 4000) + "and to everybody", "body": map[string]string{"sql": "select 1;\u202e--"},
		"script": strings.Repeat("x", 60_000) + "rm -rf", "order": json.Number("7312459980021764353"), "html": hostile,
	}
	for i := range 300 {
		args["key"+strings.Repeat("k", i)] = i
	}
	raw, err := json.Marshal(args)
	must(t, err)
	a := s.question(max, string(raw))
	page := s.as(max).get("/acme/approvals").status(200)

	card := page.find("article#approval-" + a.ID.String() + "[data-open]")
	code := card.Find("pre code")
	text := code.Text()
	for _, want := range []string{"7312459980021764353", "rm -rf", "and to everybody", `"key` + strings.Repeat("k", 299) + `": 299`, hostile[:20]} {
		if !strings.Contains(text, want) {
			t.Errorf("the card does not show %q", want)
		}
	}
	for _, mark := range []string{"U+202E", "4000×U+0020"} {
		if code.Find("bdi.invisible-mark[data-code='"+mark+"']").Length() != 1 {
			t.Errorf("%s is not marked", mark)
		}
	}
	if got := card.Find(".code-scroll[data-wrap]").Length(); got != 1 {
		t.Error("long lines run out of sight")
	}
	if card.Find("script, img").Length() > 0 || !strings.Contains(card.Find("blockquote").Text(), hostile) {
		t.Errorf("the rule's note: %s", card.Find("blockquote").Text())
	}
	if got := page.text("#approval-count .count"); got != "1" {
		t.Errorf("the side bar counts %q", got)
	}
	if n := len(page.Statements); n > 4 {
		t.Errorf("%d statements: %q", n, page.Statements)
	}
	card.Find("a[href='/acme/chat/" + a.Conversation.String() + "']")
	if answers := card.Find("button[name=answer]"); answers.Length() != 1 || answers.AttrOr("value", "") != "once" {
		t.Error("a rule that asks takes a standing answer")
	}
}

func TestAnsweringWithoutScript(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	a := s.question(max, `{}`)
	member, path := s.as(max), "/acme/approvals/"+a.ID.String()
	member.get(path).status(200).find("form[action='" + path + "'][method=post] input[name=reason]")
	member.post(path, "answer", "always").status(422).find(".callout[data-tone=danger]")
	next := "/acme/chat/" + a.Conversation.String()
	member.post(path, "answer", "deny", "reason", "No.", "next", next).leadsTo(next)
	member.get(path).status(200).none("article[data-open]")
	if got := member.get("/acme/approvals?tab=answered").status(200).text("article"); !strings.Contains(got, "No.") {
		t.Errorf("the reason is lost: %s", got)
	}
	member.get("/acme/approvals").none("article")
	late := member.post(path, "answer", "once").status(409)
	late.find("article .callout[data-tone=danger]")
	late.none("article button[name=answer]")
	member.post(path, "answer", "once", "next", "https://evil.example").status(409)
	s.as(ada).post(path, "answer", "once").status(404)
}

func TestAnsweringInPlace(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	a := s.question(max, `{}`)
	path := "/acme/approvals/" + a.ID.String()
	done := s.as(max).htmx().post(path, "answer", "once").status(200)
	done.find("article#approval-" + a.ID.String() + "[autofocus]:not([data-open]) [role=status]")
	done.find("#approval-count[hx-swap-oob]")
	done.none("main")
	s.as(max).htmx().post(path, "answer", "deny").status(409).find("article .callout[role=alert]")
}

func TestStandingPermissionsAreTakenBack(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	a := s.question(max, `{}`)
	s.policy(capability.PolicyRule{Effect: capability.PolicyGuard, Match: "code__board"})
	max1 := s.actor(max, "acme")
	_, done, err := s.Agent.Begin(t.Context(), max1, s.talk(max1), agent.Ask{Tool: "code__board"})
	must(t, err)
	<-done
	open, err := s.Agent.Approvals(t.Context(), max1, agent.ApprovalsOpen, &a, 1)
	must(t, err)
	member := s.as(max)
	member.post("/acme/approvals/"+open[0].ID.String(), "answer", "conversation").leadsTo("/acme/approvals")
	page := member.get("/acme/approvals?tab=standing").status(200)
	form := page.find("form[action^='/acme/grants/']")
	if got := page.text(".data-table tbody"); !strings.Contains(got, "acme/board") {
		t.Errorf("the list says %s", got)
	}
	s.as(ada).post(form.AttrOr("action", "")).status(404)
	member.post(form.AttrOr("action", "")).leadsTo("/acme/approvals?tab=standing")
	member.get("/acme/approvals?tab=standing").none("form[action^='/acme/grants/']")
}

// talk is a new conversation of somebody.
func (s *site) talk(actor capability.Actor) (id [16]byte) {
	s.t.Helper()
	conv, err := s.Agent.NewConversation(s.t.Context(), actor)
	must(s.t, err)
	return conv.ID
}
