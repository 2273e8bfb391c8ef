package e2e_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"capstore/internal/agent/model/modeltest"
	"capstore/internal/capability"
	"capstore/internal/workspace"
	"capstore/views/browsertest"
)

// thinks lets acme think with a scripted model.
func (s *site) thinks(t *testing.T, script ...modeltest.Step) {
	t.Helper()
	model, boss := modeltest.New(t, script...), s.actor(t, admin, "acme")
	if _, err := s.Workspace.RegisterModel(t.Context(), boss, workspace.ModelInput{
		Name: "scripted", Provider: workspace.ProviderOpenAI, BaseURL: model.URL, Underlying: "scripted-1",
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Workspace.Change(t.Context(), boss, workspace.AnyVersion, "", func(c *capability.AgentConfig) error {
		c.Model = "scripted"
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// shows counts how often the page says a text.
func (r reader) shows(text string) int {
	r.t.Helper()
	return browsertest.Eval[int](r.tab, fmt.Sprintf(`document.querySelector("main").innerText.replace(/\s+/g, " ").split(%q).length - 1`, text))
}

// TestAskingAModel asks, watches a tool run, reloads while the model speaks,
// approves a write on another page, and finds everything once.
func TestAskingAModel(t *testing.T) {
	for name, view := range map[string]browsertest.View{"with script": {}, "without": {NoScript: true}} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, true, "127.0.0.1")
			looking, writing := modeltest.NewGate(), modeltest.NewGate()
			s.thinks(t,
				modeltest.Say("I will convert").Wait(looking).Say(" it first.").
					Call("look", "code__unit_convert", `{"value": 12, "from": "in", "to": "cm"}`),
				modeltest.Say("Now I write it down.").
					Call("write", "capstore__create_skill", `{"name":"twelve-inches","description":"How long a foot is.","spec":{"type":"skill","instructions":"About 30 cm."}}`),
				modeltest.Say("The skill").Wait(writing).Say(" stands in the library."))
			r := reader{t, s, browsertest.Open(t), view}
			s.become(t, r.tab, member)
			r.visit("/acme/chat")
			r.fill("Message", "How long are twelve inches? Write it down.")
			r.press("Send")
			r.until("the conversation is opened", `location.pathname.startsWith("/acme/chat/")`)
			if !view.NoScript {
				r.sees("I will convert")
				chat := browsertest.Eval[string](r.tab, `location.pathname`)
				r.visit(chat)
				r.sees("I will convert")
			}
			looking.Open()
			r.seesAfterReload("Now I write it down.")
			r.seesAfterReload("waits for you")

			other := reader{t, s, browsertest.Open(t), view}
			s.become(t, other.tab, member)
			other.visit("/acme/approvals")
			other.sees("twelve-inches")
			other.press("Run once")
			if !view.NoScript {
				r.sees("The skill")
				r.visit(browsertest.Eval[string](r.tab, `location.pathname`))
				r.sees("The skill")
			}
			writing.Open()
			r.seesAfterReload("The skill stands in the library.")
			r.visit(browsertest.Eval[string](r.tab, `location.pathname`))
			for _, once := range []string{"I will convert it first.", "Now I write it down.", "The skill stands in the library."} {
				if n := r.shows(once); n != 1 {
					t.Errorf("the page says %q %d times", once, n)
				}
			}
			skills, err := s.Workspace.Skills(t.Context(), s.actor(t, member, "acme"))
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(skills, func(k workspace.Skill) bool { return k.Name == "twelve-inches" }) {
				t.Error("the skill was not written")
			}
			for _, trouble := range slices.Concat(r.tab.Troubles(), other.tab.Troubles()) {
				if !strings.Contains(trouble, "ERR_INCOMPLETE_CHUNKED") { // a stream that a reload leaves
					t.Error(trouble)
				}
			}
		})
	}
}
