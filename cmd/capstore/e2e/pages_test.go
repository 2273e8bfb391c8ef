package e2e_test

import (
	"fmt"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"capstore/internal/agent"
	"capstore/internal/capability"
	"capstore/internal/interchange"
	"capstore/internal/interchange/intake"
	"capstore/internal/workspace"
	"capstore/views/browsertest"
)

// shotsVariable names a folder for a picture of every page in every view, for
// people to look at.
const shotsVariable = "CAPSTORE_SHOTS"

// values fill the wildcards of a route with something that the demo has.
type values map[string]string

// look is one address to look at. Status is 200 unless told.
type look struct {
	as     string
	path   string
	status int
}

// usual fills every wildcard that special does not, and makes what the demo has
// none of.
func usual(t *testing.T, s *site) values {
	t.Helper()
	mara, tom := s.actor(t, admin, "acme"), s.actor(t, viewer, "acme")
	_, invitation, err := s.Identity.Invite(t.Context(), mara, capability.RoleMember, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Workspace.Change(t.Context(), mara, workspace.AnyVersion, "", func(c *capability.AgentConfig) error {
		c.MCPServers = append(c.MCPServers, capability.RawServer{Name: "handbook", URL: "https://mcp.example.com/handbook"})
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	waiting, err := intake.NewStaging(s.Store.DB, s.Secrets).Put(t.Context(), mara, []interchange.Upload{{Name: "mcp.json", Data: []byte(sentConfiguration)}}, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Workspace.RegisterModel(t.Context(), mara, workspace.ModelInput{
		Name: "house", Provider: workspace.ProviderAnthropic, Underlying: "claude-sonnet-4-5", Secret: "ANTHROPIC_API_KEY", Price: workspace.Price{Input: "3", Output: "15"},
	}); err != nil {
		t.Fatal(err)
	}
	return values{
		"import": waiting, "workspace": "acme", "source": "acme", "id": "parcel-label", "subject": tom.Subject, "token": invitation,
		"name": "INVOICE_SIGNING_KEY", "key": "capability:globex/invoice-check",
	}
}

// sentConfiguration waits to be imported: a server that is fine, with a secret
// in it, and one that needs an answer.
const sentConfiguration = `{"mcpServers": { // by hand
	"board": {"url": "https://board.example.com/mcp", "headers": {"Authorization": "Bearer ghp_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}},
	"notes": {"command": "npx", "args": ["-y", "notes-mcp"]},
}}`

// special are the routes whose usual values do not show what they have, with
// the queries that show more. A route that is no page has none.
func special(conversation, turn, asked string) map[string][]values {
	id := func(source, id string, queries ...string) (all []values) {
		for _, q := range append([]string{""}, queries...) {
			all = append(all, values{"source": source, "id": id, "?": q})
		}
		return all
	}
	skill := func(queries ...string) []values { return id("", "month-end-close", queries...) }
	return map[string][]values{
		"/login":                      {{"as": "nobody"}},
		"/invite/{token}":             {{}, {"as": "nobody"}},
		"/setup":                      nil, // only there while nobody has an account
		"/{$}":                        {{"as": member}},
		"/{workspace}/store":          {{}, {"?": "q=invoice&kind=code"}, {"?": "q=nothing+has+this"}, {"as": viewer}},
		"/{workspace}/store/mine":     {{}, {"as": member}},
		"/{workspace}/store/{source}": {{"source": "globex"}, {"source": "globex", "?": "kind=skill"}},
		"/{workspace}/store/{source}/{id}/manage/version": {
			{"id": "tracking", "?": "op=withdraw&version=1.0.0"}, {"id": "tracking", "?": "op=block&version=1.0.0"},
		},
		"/{workspace}/store/{source}/{id}/manage/deprecation":        append(id("acme", "tracking"), values{"id": "tracking", "?": "q=parcel"}),
		"/{workspace}/store/{source}/{id}":                           append(append(id("globex", "invoice-check", "tab=functions", "tab=source", "tab=versions", "tab=try", "tab=versions&base=1.1.0&candidate=1.2.0"), id("acme", "route-note", "tab=files")...), id("acme", "tracking")...),
		"/{workspace}/store/{source}/{id}/file":                      nil, // a download
		"/{workspace}/store/{source}/{id}/export":                    nil, // a download
		"/{workspace}/imports/{import}":                              {{}, {"?": "show=wants"}},
		"/{workspace}/store/steps":                                   nil, // a fragment
		"/{workspace}/store/left/{id}":                               nil, // nobody has left
		"/{workspace}/store/{source}/{id}/adopt":                     append(id("globex", "invoice-check"), values{"source": "globex", "id": "iban-check", "as": viewer}),
		"/{workspace}/store/{source}/{id}/copy":                      id("globex", "month-end-close"),
		"/{workspace}/store/new":                                     {{}, {"?": "kind=code"}, {"?": "kind=skill"}, {"?": "kind=mcp"}, {"?": "kind=hook"}, {"?": "kind=delegation"}, {"as": viewer, "?": "kind=code"}},
		"/{workspace}/chat":                                          {{"as": member}, {"as": member, "?": "pick=1"}},
		"/{workspace}/chat/panel":                                    nil, // a fragment
		"/{workspace}/chat/{id}":                                     {{"as": member, "id": conversation}, {"as": member, "id": conversation, "?": "pick=1"}},
		"/{workspace}/chat/composer":                                 nil, // a fragment
		"/{workspace}/chat/complete":                                 nil, // a fragment
		"/{workspace}/chat/{id}/events":                              nil, // a stream
		"/{workspace}/chat/{id}/older":                               nil, // a fragment
		"/{workspace}/chat/{id}/artifacts/{artifact}/images/{block}": nil, // a download
		"/{workspace}/chat/{id}/artifacts/{artifact}":                nil, // a download
		"/{workspace}/approvals":                                     {{"as": member}, {"as": member, "?": "tab=answered"}, {"as": member, "?": "tab=standing"}},
		"/{workspace}/approvals/{id}":                                {{"as": member, "id": asked}},
		"/{workspace}/settings/policies":                             {{}, {"as": viewer}},
		"/{workspace}/settings/policies/{number}":                    {{"number": "1"}},
		"/{workspace}/settings/tools":                                {{"as": member}, {"as": viewer}},
		"/{workspace}/settings/tools/{key}":                          {{}, {"key": "capability:acme/tracking"}, {"key": "capability:acme/workday", "as": viewer}},
		"/{workspace}/settings/agent/health":                         {{"as": member}, {}, {"?": "standing=usable&kind=mcp"}},
		"/{workspace}/settings/agent/health/turns/{turn}":            {{"as": member, "turn": turn}, {"turn": turn}},
		"/{workspace}/chat/{id}/turns/{turn}":                        {{"as": member, "id": conversation, "turn": turn}},
		"/{workspace}/settings/agent/history":                        {{}, {"?": "base=1&candidate=3"}},
		"/{workspace}/settings/agent/adoptions/{source}/{id}/remove": id("globex", "invoice-check"),
		"/{workspace}/settings/agent/servers/{name}/remove":          {{"name": "handbook"}},
		"/{workspace}/settings/models":                               {{}, {"as": viewer}},
		"/{workspace}/settings/models/new":                           {{}, {"?": "preset=anthropic"}},
		"/{workspace}/settings/models/{name}":                        {{"name": "house"}, {"name": "house", "as": viewer}},
		"/{workspace}/settings/models/{name}/edit":                   {{"name": "house"}},
		"/{workspace}/settings/models/{name}/remove":                 {{"name": "house"}},
		"/{workspace}/settings/usage":                                {{}, {"as": member}},
		"/{workspace}/settings/skills/{id}":                          skill("tab=files", "tab=stamps", "tab=diff"),
		"/{workspace}/settings/skills/{id}/export":                   nil, // a download
		"/{workspace}/settings/skills/{id}/file":                     nil, // a download
		"/{workspace}/staged/{digest}":                               nil, // a download
		"/{workspace}/settings/skills/{id}/edit":                     skill(),
		"/{workspace}/settings/skills/{id}/stamp":                    skill(),
		"/{workspace}/settings/skills/{id}/publish":                  skill(),
		"/{workspace}/settings/skills/{id}/delete":                   skill(),
	}
}

// everyPage lists an address or more for each GET route, and what no route has.
func everyPage(t *testing.T, s *site) []look {
	t.Helper()
	conversation, turn := talk(t, s)
	base, extra := usual(t, s), special(conversation, turn, asks(t, s))
	looks := []look{{as: admin, path: "/acme/nothing-here", status: 404}, {as: admin, path: "/acme/store/acme/nothing", status: 404}}
	for _, route := range s.routes() {
		if route.Method != "GET" {
			continue
		}
		variants, isSpecial := extra[route.Pattern]
		if !isSpecial {
			variants = []values{{}}
		}
		for _, v := range variants {
			as := v["as"]
			if as == "" {
				as = admin
			}
			looks = append(looks, look{as: as, path: fill(route.Pattern, base, v)})
		}
	}
	// One person after the other, so that each signs in once.
	slices.SortStableFunc(looks, func(a, b look) int { return strings.Compare(a.as, b.as) })
	return looks
}

var wildcard = regexp.MustCompile(`\{([a-z]+)\}`)

func fill(pattern string, base, own values) string {
	path := wildcard.ReplaceAllStringFunc(strings.TrimSuffix(pattern, "{$}"), func(m string) string {
		name := m[1 : len(m)-1]
		if own[name] != "" {
			return url.PathEscape(own[name])
		}
		return url.PathEscape(base[name])
	})
	if own["?"] != "" {
		path += "?" + own["?"]
	}
	return path
}

// talk makes a conversation in which a tool ran and one failed, and returns it
// with its last turn.
func talk(t *testing.T, s *site) (conversation, turn string) {
	t.Helper()
	jun := s.actor(t, member, "acme")
	c, err := s.Agent.NewConversation(t.Context(), jun)
	if err != nil {
		t.Fatal(err)
	}
	for _, arguments := range []string{`{"value": 12, "from": "in", "to": "cm"}`, `{"value": 12, "from": "in", "to": "kg"}`} {
		id, done, err := s.Agent.Begin(t.Context(), jun, c.ID, agent.Ask{Tool: "code__unit_convert", Arguments: []byte(arguments)})
		if err != nil {
			t.Fatal(err)
		}
		<-done
		turn = id.String()
	}
	return c.ID.String(), turn
}

// asks leaves one call waiting for its member's word and one refused.
func asks(t *testing.T, s *site) string {
	t.Helper()
	if _, err := s.Workspace.Change(t.Context(), s.actor(t, admin, "acme"), workspace.AnyVersion, "", func(c *capability.AgentConfig) error {
		c.Policy = append(c.Policy, capability.PolicyRule{Effect: capability.PolicyAsk, Match: "code__unit_convert", Note: "Large amounts are looked at twice.",
			Arguments: []capability.ArgumentCondition{{Path: "/value", Op: capability.OpGreater, Value: []byte("200")}}})
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	jun := s.actor(t, member, "acme")
	var open []agent.Approval
	for range 2 {
		c, err := s.Agent.NewConversation(t.Context(), jun)
		if err != nil {
			t.Fatal(err)
		}
		_, done, err := s.Agent.Begin(t.Context(), jun, c.ID, agent.Ask{
			Tool: "code__unit_convert", Arguments: []byte(`{"value": 250, "from": "kg", "to": "lb"}`),
		})
		if err != nil {
			t.Fatal(err)
		}
		<-done
		if open, err = s.Agent.Approvals(t.Context(), jun, agent.ApprovalsOpen, nil, 2); err != nil {
			t.Fatal(err)
		}
	}
	if len(open) != 2 {
		t.Fatalf("%d calls wait", len(open))
	}
	if _, err := s.Agent.Answer(t.Context(), jun, open[0].ID, agent.Word{Answer: capability.AnswerDeny, Reason: "Not this one."}); err != nil {
		t.Fatal(err)
	}
	return open[1].ID.String()
}

// looks are the ways in which a page is looked at after it was loaded.
var looks = []struct {
	name string
	view browsertest.View
}{
	{"1280-light", browsertest.View{}},
	{"1280-dark", browsertest.View{Dark: true}},
	{"375-dark", browsertest.View{Width: 375, Height: 812, Dark: true}},
	{"375-light", browsertest.View{Width: 375, Height: 812}},
}

// TestPages looks at every page of the route table in both languages, widths
// and themes: no serious finding of axe-core, no sideways scrolling, nothing
// that the browser complains of, and a sensible order of the focus.
func TestPages(t *testing.T) {
	s := serve(t, true)
	all := everyPage(t, s)
	for _, language := range []string{"en", "ko"} {
		// A browser lives for some minutes at most: each gets a part.
		for part := range slices.Chunk(all, (len(all)+7)/8) {
			t.Run(language, func(t *testing.T) {
				tab := browsertest.Open(t)
				as := ""
				for _, l := range part {
					if l.as != as {
						s.become(t, tab, strings.TrimSuffix(l.as, "nobody"))
						as = l.as
					}
					s.audit(t, tab, l, language)
				}
			})
		}
	}
}

// TestSetupPage is the one page that a server with people does not have.
func TestSetupPage(t *testing.T) {
	s, tab := serve(t, false), browsertest.Open(t)
	for _, language := range []string{"en", "ko"} {
		s.audit(t, tab, look{path: "/setup"}, language)
	}
}

func (s *site) audit(t *testing.T, tab *browsertest.Tab, l look, language string) {
	t.Helper()
	began := time.Now()
	desk := browsertest.View{Language: language}
	tab.Visit(s.url+l.path, desk)
	want := l.status
	if want == 0 {
		want = 200
	}
	if got := browsertest.Eval[int](tab, `performance.getEntriesByType("navigation")[0].responseStatus`); got != want {
		t.Errorf("%s as %s: status %d, want %d: give the route an example in special", l.path, l.as, got, want)
		tab.Troubles()
		return
	}
	if want != 200 {
		tab.Troubles() // the browser logs the status itself
	}
	for i, v := range looks {
		v.view.Language = language
		tab.Look(v.view)
		findings := append(tab.Sideways(), tab.Troubles()...)
		if i%2 == 0 { // the width is new: everything may differ
			findings = append(findings, tab.Axe()...)
		} else {
			findings = append(findings, tab.Contrast()...)
		}
		for _, f := range findings {
			t.Errorf("%s as %s, %s %s: %s", l.path, l.as, language, v.name, f)
		}
		name := strings.Trim(regexp.MustCompile(`[^a-z0-9-]+`).ReplaceAllString(l.path, "_"), "_")
		if len(name) > 80 {
			name = name[:80]
		}
		tab.Screenshot(os.Getenv(shotsVariable), fmt.Sprintf("%s@%s-%s-%s", name, strings.TrimSuffix(l.as, ".demo"), v.name, language))
	}
	if language == "en" {
		tab.Look(desk)
		for _, f := range focusOrder(tab) {
			t.Errorf("%s as %s: %s", l.path, l.as, f)
		}
	}
	t.Logf("%s as %s in %v", l.path, l.as, time.Since(began).Round(time.Millisecond))
}

// stops describes where the focus is: its place in the document and whether
// the reader can see it there.
const stops = `(() => {
	const e = document.activeElement;
	if (!e || e === document.body) return {at: -1};
	const all = [...document.querySelectorAll("*")], box = e.getBoundingClientRect();
	const outlined = e => e && e !== document.body && (getComputedStyle(e).outlineStyle !== "none" || outlined(e.parentElement));
	const ring = outlined(e) || getComputedStyle(e).boxShadow !== "none"; // a row shows the focus of its link
	return {at: all.indexOf(e), name: e.outerHTML.slice(0, 90), seen: box.width > 0 && box.height > 0, ring,
		skip: e.classList.contains("skip-link"), editor: e.shadowRoot !== null};
})()`

type stop struct {
	At   int    `json:"at"`
	Name string `json:"name"`
	Seen bool   `json:"seen"`
	Ring bool   `json:"ring"`
	Skip bool   `json:"skip"`
	// Editor says that Tab indents here, and leaves after Escape.
	Editor bool `json:"editor"`
}

// focusOrder goes through the page by the Tab key: the way past the frame comes
// first, the order is the document's, and the focus can be seen.
func focusOrder(tab *browsertest.Tab) (wrong []string) {
	if n := browsertest.Eval[int](tab, `document.querySelectorAll("[tabindex]:not([tabindex='0']):not([tabindex='-1'])").length`); n > 0 {
		wrong = append(wrong, fmt.Sprintf("%d elements have an order of their own (tabindex)", n))
	}
	framed := browsertest.Eval[bool](tab, `document.activeElement.blur?.(), window.scrollTo(0, 0), document.querySelector("nav") !== null && !document.querySelector("[autofocus]")`)
	last := stop{At: -1}
	for i := range 25 {
		tab.Do(chromedp.KeyEvent(kb.Tab))
		now := browsertest.Eval[stop](tab, stops)
		if now.At < 0 || i > 0 && now.Skip {
			break // past the end
		}
		if now.At == last.At {
			wrong = append(wrong, "the focus is caught in "+now.Name)
			break
		}
		if now.Editor {
			tab.Do(chromedp.KeyEvent(kb.Escape))
		}
		if i == 0 && framed && !now.Skip {
			wrong = append(wrong, "the first stop is not the way past the frame: "+now.Name)
		}
		if now.At < last.At {
			wrong = append(wrong, fmt.Sprintf("the focus goes back from %s to %s", last.Name, now.Name))
			break
		}
		if !now.Seen || !now.Ring {
			wrong = append(wrong, "the focus cannot be seen on "+now.Name)
		}
		last = now
	}
	return wrong
}
