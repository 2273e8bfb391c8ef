package e2e_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"capstore/internal/agent/model/modeltest"
	"capstore/internal/workspace"
	"capstore/views/browsertest"
)

// thinking gives the demo's member a model at the wire that answers by script.
func (s *site) thinking(t *testing.T, steps ...modeltest.Step) {
	t.Helper()
	model := modeltest.New(t, steps...)
	if _, err := s.Workspace.RegisterModel(t.Context(), s.actor(t, admin, "acme"), workspace.ModelInput{
		Name: "scripted", Provider: workspace.ProviderOpenAI, BaseURL: model.URL + "/v1", Underlying: "scripted",
	}); err != nil {
		t.Fatal(err)
	}
	if err := s.Workspace.ChooseModel(t.Context(), s.actor(t, member, "acme"), "scripted"); err != nil {
		t.Fatal(err)
	}
}

// says sends a message from the composer, by the Enter key.
func (r reader) says(text string) {
	r.t.Helper()
	r.fill("Message", text)
	r.tab.Do(chromedp.KeyEvent(kb.Enter))
}

// logs waits until the conversation says each text, once.
func (r reader) logs(texts ...string) {
	r.t.Helper()
	for _, text := range texts {
		r.until("the conversation says once: "+text, fmt.Sprintf(
			`document.querySelector("#chat-log").innerText.replace(/\s+/g, " ").split(%q).length === 2`, text))
	}
}

// clean fails with what the browser complains of and what axe-core finds.
func (r reader) clean(what string) {
	r.t.Helper()
	for _, wrong := range append(append(r.tab.Troubles(), r.tab.Sideways()...), r.tab.Axe()...) {
		r.t.Errorf("%s: %s", what, wrong)
	}
}

// The member asks in the panel, watches tools run, reloads in mid-stream, goes
// on to other pages, approves from another tab and stops: nothing is lost and
// nothing doubled.
func TestTheChatInABrowser(t *testing.T) {
	t.Parallel()
	s := serve(t, true, "127.0.0.1")
	half, long := modeltest.NewGate(), modeltest.NewGate()
	s.thinking(t,
		modeltest.Say("I will ", "convert both.").Call("a", "code__unit_convert", `{"value": 12, "from": "in", "to": "cm"}`).
			Call("b", "code__unit_convert", `{"value": 12, "from": "in", "to": "kg"}`),
		modeltest.Say("Half of **it**, ").Wait(half).Say("and the rest."),
		modeltest.Call("c", "code__route_note", `{"route": "R120", "note": "Depot closed."}`),
		modeltest.Say("Noted."),
		modeltest.Say("A long story ").Wait(long).Say("without an end."),
	)
	r := reader{t: t, site: s, tab: browsertest.Open(t)}
	s.become(t, r.tab, member)
	r.visit("/acme/store")
	r.tab.Do(chromedp.Click(chromedp.CSS("[data-panel-opener]")))
	r.until("the panel is open", `document.querySelector("#chat-panel #chat") !== null`)

	r.says("Convert this.")
	r.until("both calls ended where they were asked for", `[...document.querySelectorAll(".chat-call")].map(e => e.dataset.state).join() === "done,failed"`)
	r.until("the text is being written", `document.querySelector("#chat-live strong")?.textContent === "it"`)
	r.clean("in mid-stream")
	r.visit("/acme/store")
	r.until("the text is there again", `document.querySelector("#chat-live strong")?.textContent === "it"`)
	half.Open()
	r.logs("Convert this.", "I will convert both.", "30.4", "Half of it, and the rest.")
	r.until("nothing is written any more", `document.querySelector("#chat-live").textContent.trim() === "" && !document.querySelector("[data-busy]")`)

	r.fill("Message", "half typed")
	r.follow("Mine")
	r.until("the other page is there", `location.pathname === "/acme/store/mine" && document.title.startsWith("Mine")`)
	r.until("what was typed stays", `document.querySelector("[data-chat-text]").value === "half typed"`)
	r.tab.Do(chromedp.NavigateBack())
	r.until("the way back leads back", `location.pathname === "/acme/store" && document.querySelector("[data-chat-text]").value === "half typed"`)
	r.visit("/acme/store/mine")
	r.until("it survives a reload", `document.querySelector("[data-chat-text]")?.value === "half typed"`)

	other := reader{t: t, site: s, tab: browsertest.Open(t)}
	s.become(t, other.tab, member)
	other.visit("/acme/chat")
	other.follow("Convert this.")
	r.says("Note it.")
	r.until("the call waits", `document.querySelector(".chat-call[data-state=waiting] .approval") !== null && document.querySelector("[data-busy=waiting]") !== null`)
	other.logs("Note it.")
	other.until("the other tab asks too", `document.querySelector(".approval") !== null`)
	other.clean("the page of the conversation")
	other.visit("/acme/approvals")
	other.press("Run once")
	r.logs("You allowed it once.", "Noted.")
	r.until("the call ran", `document.querySelectorAll(".chat-call[data-state=done]").length === 2 && !document.querySelector("[data-busy]")`)

	r.says("Tell me a story.")
	r.until("the story begins", `document.querySelector("#chat-live").textContent.includes("A long story")`)
	r.tab.Do(chromedp.Focus(chromedp.CSS("[data-chat-text]")), chromedp.KeyEvent(kb.Escape))
	r.logs("A long story", "You stopped this.")
	r.until("the panel stays open and at rest", `!document.querySelector("[data-busy]") && document.querySelector("#chat-panel").checkVisibility()`)
	r.clean("at the end")
}

// What begins with a slash is completed by keys, and a tool opens its form.
func TestCompletionInABrowser(t *testing.T) {
	t.Parallel()
	s := serve(t, true)
	r := reader{t: t, site: s, tab: browsertest.Open(t)}
	s.become(t, r.tab, member)
	r.visit("/acme/chat")
	r.fill("Message", "/unit")
	r.until("the tool is offered", `document.querySelector("#chat-completions [aria-selected=true]")?.textContent.includes("unit_convert")`)
	r.clean("with the list open")
	r.tab.Do(chromedp.KeyEvent(kb.Enter))
	r.until("its form is there", `document.querySelector("#chat-composer h2")?.textContent === "code__unit_convert"`)
	for name, value := range map[string]string{"value": "12", "from": "in", "to": "cm"} {
		r.until(name, fmt.Sprintf(`(f => {
			const option = f?.options && [...f.options].find(o => o.textContent.trim() === %[1]q);
			if (f) f.value = option ? option.value : %[1]q;
			return !!f;
		})(document.querySelector("[name='arg.%[2]s']"))`, value, name))
	}
	r.press("Run")
	r.until("the conversation is there", `/chat\/[0-9a-f-]{36}/.test(location.pathname)`)
	r.logs("30.4")
	if text := browsertest.Eval[string](r.tab, `document.querySelector("#chat-log").innerText`); !strings.Contains(text, "done") {
		t.Errorf("the call's state is not said: %s", text)
	}
	r.clean("afterwards")
}
