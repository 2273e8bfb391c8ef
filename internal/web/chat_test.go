package web_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/google/uuid"

	"capstore/internal/agent"
	"capstore/internal/capability"
	"capstore/internal/workspace"
)

// conversation is a new one of the member's, with its path.
func (s *site) conversation(email string) (uuid.UUID, string) {
	s.t.Helper()
	c, err := s.Agent.NewConversation(s.t.Context(), s.actor(email, "acme"))
	must(s.t, err)
	return c.ID, "/acme/chat/" + c.ID.String()
}

// A message is said with script and without, and what was wrong is said beside
// the text that was typed.
func TestSayingSomething(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	member := s.as(max)
	start := member.get("/acme/chat").status(200)
	start.find("form[action='/acme/chat'] textarea[name=text][role=combobox]")
	start.none("aside#chat-panel") // the composer is on the page
	if text := start.text("#chat-composer"); !strings.Contains(text, "An admin can add one.") {
		t.Errorf("direct mode does not say what to do: %s", text)
	}
	s.as(ada).get("/acme/chat").status(200).find("#chat-composer a[href='/acme/settings/models']")

	at := member.post("/acme/chat", "text", hostileText).status(303).Header.Get("Location")
	page := member.get(at).status(200)
	page.harmless()
	page.find("#chat[data-chat][hx-sse\\:connect*='/events?after=2'] #chat-log > li.chat-item")
	if got := page.find("#chat-log > li").Length(); got != 2 {
		t.Errorf("%d items, want what was said and the answer", got)
	}

	for name, c := range map[string]*client{"without script": member, "with": member.htmx()} {
		refused := c.post(at, "text", "/nonsense x").status(422)
		if got := refused.find("textarea[name=text]").Text(); got != "/nonsense x" {
			t.Errorf("%s: the text is %q", name, got)
		}
		refused.find("#chat-composer [role=alert], #chat-composer [role=status]")
		refused.find("textarea[aria-invalid=true]")
	}
	empty := member.htmx().post("/acme/chat", "text", " ").status(422)
	empty.none("main")
	empty.find("section#chat-composer form")
	if list, err := s.Agent.Conversations(t.Context(), s.actor(max, "acme")); err != nil || len(list) != 1 {
		t.Errorf("%d conversations, %v: nothing stays of what was not said", len(list), err)
	}
	member.htmx().post(at, "text", "again").status(200).find("section#chat-composer:not(:has([aria-invalid]))")
	member.post(at + "/stop").leadsTo(at)
	member.post(at + "/delete").leadsTo("/acme/chat")
	member.get(at).status(404)
}

// The panel shows the conversation that was looked at last, in each workspace,
// and begins another one about something.
func TestThePanel(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	member := s.as(max)
	fresh := member.get("/acme/chat/panel").status(200)
	fresh.find("#chat[data-in-panel] form[hx-post*='in=panel'][hx-target='#chat-composer']")
	fresh.none("#chat[hx-sse\\:connect]")

	said := member.htmx().post("/acme/chat?in=panel", "text", "hello there").status(200)
	if got := said.Header.Get("HX-Retarget"); got != "#chat-panel-body" {
		t.Errorf("the answer goes to %q", got)
	}
	id := said.find("#chat").AttrOr("data-chat", "")
	said.find(".chat-head summary:contains('hello there')")
	if got := member.get("/acme/chat/panel").find("#chat").AttrOr("data-chat", ""); got != id {
		t.Errorf("the panel shows %q, want %q", got, id)
	}
	if got := member.get("/globex/chat/panel").find("#chat").AttrOr("data-chat", ""); got != "" {
		t.Errorf("the other workspace's shows %q", got)
	}
	about := member.get("/acme/chat/panel?new=1&ref=capability:acme/tool&ref=skill:month-end&ref=javascript:x&text=Change+it").status(200)
	if got := about.find("input[name=ref]").Length(); got != 2 {
		t.Errorf("it is about %d things", got)
	}
	about.find("textarea:contains('Change it')")
	member.get("/acme/chat/panel?id=" + uuid.NewString()).status(200).find("#chat[data-chat='']")
	s.as(ada).get("/acme/chat/panel?id=" + id).status(200).find("#chat[data-chat='']") // as one that is not there
}

// What a conversation chooses is kept, and only what is stricter can be.
func TestPickingModelAndMode(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	_, err := s.Workspace.RegisterModel(t.Context(), s.actor(ada, "acme"), workspace.ModelInput{
		Name: "deep", Provider: workspace.ProviderOpenAI, BaseURL: "http://127.0.0.1:9/v1", Underlying: "deep",
	})
	must(t, err)
	member := s.as(max)
	id, at := s.conversation(max)
	member.get(at).find("select[name=model] option[value='']:contains('No model')")
	// Nobody answers at that address, and the turn says so; the choice holds.
	member.post(at, "text", "hello", "model", "deep", "permission", "plan").status(303)
	conv, err := s.Agent.Conversation(t.Context(), s.actor(max, "acme"), id)
	must(t, err)
	if conv.Model != "deep" || conv.Mode != capability.ModePlan {
		t.Errorf("chose %q and %q", conv.Model, conv.Mode)
	}
	must(t, s.Agent.StopTurn(t.Context(), s.actor(max, "acme"), id))
	page := member.get(at).status(200)
	page.find("select[name=model] option[value=deep][selected]")
	page.find("select[name=permission] option[value=plan][selected]:not([disabled])")
	page.find("select[name=permission] option[value=bypass][disabled]:contains('looser')")
	page.find("select[name=permission] option[value=auto][disabled]")
}

func TestCompleting(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.pin(max, "acme", s.greeter(nil))
	member := s.as(max)
	list := member.get("/acme/chat/complete?q=/&in=panel").status(200)
	list.find("li[role=option][data-pick*='tool=code__greeter'][data-pick*='in=panel']")
	list.none("main")
	if n := member.get("/acme/chat/complete?q=hello").status(200).Doc.Find("li").Length(); n != 0 {
		t.Errorf("%d things for what begins with no slash", n)
	}
	member.get("/acme/chat/complete?q=/%3Cb%3E%00").status(200).none("b")
}

// ledgerOf fills a conversation with turns of three entries each.
func (s *site) fillLedger(id uuid.UUID, turns int) {
	s.t.Helper()
	_, err := s.db.Exec(s.t.Context(), `
		INSERT INTO ledger (conversation, seq, turn, kind, call, payload)
		SELECT $1, 3 * t + k, gen_random_uuid(), (ARRAY['message', 'model_output', 'model_output'])[k], NULL,
			(ARRAY['{"text": "question"}', '{"model": "m", "text": "half", "usage": {"input": 1, "output": 1}}', '{"model": "m", "text": "answer", "stop": "end"}'])[k]::json
		FROM generate_series(0, $2::int - 1) t, generate_series(1, 3) k`, id, turns)
	must(s.t, err)
	_, err = s.db.Exec(s.t.Context(), `UPDATE conversations SET last_seq = 3 * $2::int WHERE id = $1`, id, turns)
	must(s.t, err)
}

// A long conversation is shown in parts, each entry in one of them.
func TestALongConversationPages(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id, at := s.conversation(max)
	s.fillLedger(id, 700)
	member := s.as(max)
	page := member.get(at).status(200)
	if n := len(page.Statements); n > 20 {
		t.Errorf("%d statements for one page", n)
	}
	var seen []int
	take := func(sel *goquery.Selection) {
		var part []int
		sel.Each(func(_ int, li *goquery.Selection) {
			n, err := strconv.Atoi(strings.TrimPrefix(li.AttrOr("id", ""), "chat-"))
			must(t, err)
			part = append(part, n)
		})
		if len(part) == 0 || len(part) > 150 {
			t.Fatalf("a part of %d entries", len(part))
		}
		seen = append(part, seen...)
	}
	take(page.Doc.Find("#chat-log > li.chat-item"))
	page.find("#chat[hx-sse\\:connect$='after=2100']")
	older := page.find("#chat-older a")
	for href := older.AttrOr("hx-get", ""); href != ""; {
		part := member.htmx().get(href).status(200)
		take(part.Doc.Find("li.chat-item"))
		href = part.Doc.Find("#chat-older a").AttrOr("hx-get", "")
	}
	if len(seen) != 2100 || !slices.IsSorted(seen) || seen[0] != 1 || len(slices.Compact(seen)) != 2100 {
		t.Errorf("%d entries from %d", len(seen), seen[0])
	}
	past := member.get(older.AttrOr("href", "")).status(200)
	past.none("#chat-composer")
	past.none("#chat[hx-sse\\:connect]")
	past.find("a[href='" + at + "']:contains('newest')")
}

// Pictures of a stored result are shown only when they are what they say.
func TestPicturesOfAStoredResult(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id, at := s.conversation(max)
	const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	artifact := uuid.New()
	_, err := s.db.Exec(t.Context(), `INSERT INTO artifacts (id, conversation, media_type, content) VALUES ($1, $2, 'application/json', $3)`,
		artifact, id, []byte(`{"content":[{"type":"text","text":"x"},{"type":"image","mimeType":"image/png","data":"`+png+`"},{"type":"image","mimeType":"text/html","data":"`+png+`"}]}`))
	must(t, err)
	member, from := s.as(max), at+"/artifacts/"+artifact.String()
	shown := member.get(from + "/images/1").status(200)
	for header, want := range map[string]string{"Content-Type": "image/png", "X-Content-Type-Options": "nosniff", "Cache-Control": "private, no-store"} {
		if got := shown.Header.Get(header); got != want {
			t.Errorf("%s is %q, want %q", header, got, want)
		}
	}
	whole := member.get(from).status(200)
	if got := whole.Header.Get("Content-Disposition"); !strings.HasPrefix(got, "attachment") || !json.Valid([]byte(whole.Body)) {
		t.Errorf("the whole result comes as %q", got)
	}
	for _, at := range []string{"0", "2", "3", "-1", "x"} {
		member.get(from + "/images/" + at).status(404)
	}
	s.as(ada).get(from + "/images/1").status(404)
}

// stream reads the events of a conversation from a real server.
type stream struct {
	t     *testing.T
	lines *bufio.Scanner
}

// follow opens the stream after an entry; last is what a browser says that it
// was told last, "" for nothing.
func (s *site) follow(ctx context.Context, member *client, at, after, last string) *stream {
	s.t.Helper()
	server := httptest.NewServer(s.handler)
	s.t.Cleanup(server.Close)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+at+"/events?after="+after, nil)
	must(s.t, err)
	for _, cookie := range member.http.Jar.Cookies(must1(http.NewRequest(http.MethodGet, base+"/", nil)).URL) {
		req.AddCookie(cookie)
	}
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	res, err := server.Client().Do(req)
	must(s.t, err)
	s.t.Cleanup(func() { _ = res.Body.Close() })
	if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "text/event-stream" {
		s.t.Fatalf("status %d, %s", res.StatusCode, res.Header.Get("Content-Type"))
	}
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 1<<20)
	return &stream{t: s.t, lines: lines}
}

func must1[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// next is the next event: its id, "" for none, and the fragment.
func (st *stream) next() (id, data string) {
	st.t.Helper()
	for st.lines.Scan() {
		switch line := st.lines.Text(); {
		case line == "" && (id != "" || data != ""):
			return id, data
		case strings.HasPrefix(line, "id: "):
			id = line[4:]
		case strings.HasPrefix(line, "data: "):
			data += line[6:] + "\n"
		}
	}
	st.t.Fatalf("the stream ended: %v", st.lines.Err())
	return "", ""
}

// A page is told of each entry once, wherever it was interrupted.
func TestFollowingAConversation(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	member := s.as(max)
	id, at := s.conversation(max)
	ctx, leave := context.WithTimeout(t.Context(), 30*time.Second)
	defer leave()
	told := s.follow(ctx, member, at, "0", "")
	say := func(text string) {
		_, done, err := s.Agent.Begin(t.Context(), s.actor(max, "acme"), id, agent.Ask{Text: text})
		must(t, err)
		<-done
	}
	say("first " + hostileText)
	var ids []string
	var all strings.Builder
	for len(ids) < 2 {
		id, data := told.next()
		all.WriteString(data)
		if id != "" {
			ids = append(ids, id)
		}
	}
	if fmt.Sprint(ids) != "[1 2]" || strings.Count(all.String(), `hx-target="#chat-log"`) != 2 || strings.Contains(all.String(), "<svg/onload") {
		t.Errorf("told %v:\n%s", ids, all.String())
	}
	say("second")
	again := s.follow(ctx, member, at, "0", "2")
	for {
		id, data := again.next()
		if strings.Contains(data, "first") {
			t.Fatalf("what the page had is told again: %s", data)
		}
		if id == "3" {
			if !strings.Contains(data, "second") || !strings.Contains(data, `id="chat-3"`) {
				t.Errorf("entry 3 is told as %s", data)
			}
			return
		}
	}
}
