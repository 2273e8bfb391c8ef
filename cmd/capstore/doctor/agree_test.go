package doctor_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"capstore/cmd/capstore/app"
	"capstore/cmd/capstore/doctor"
	"capstore/internal/agent"
	"capstore/internal/capability"
	"capstore/internal/identity"
	"capstore/internal/registry"
)

// world is one member of a running server, asked in every way there is.
type world struct {
	t     *testing.T
	cfg   app.Config
	app   *app.App
	email string
	actor capability.Actor
	pages http.Client
}

// TestEveryAccountAgrees holds what is told of a member's tools to one truth:
// the list of the settings, the search, the door, the health page, the JSON and
// the doctor.
func TestEveryAccountAgrees(t *testing.T) {
	t.Parallel()
	cfg, a := serveWith(t, config(t), app.Options{Demo: true})
	for _, email := range []string{"admin@acme.demo", "member@acme.demo", "viewer@acme.demo"} {
		t.Run(email, func(t *testing.T) {
			t.Parallel()
			w := enter(t, cfg, a, email)
			report, err := a.Agent.Report(t.Context(), w.actor, "")
			if err != nil {
				t.Fatal(err)
			}
			want := standing(report)
			if diff := cmp.Diff(want, standing(w.json())); diff != "" {
				t.Error("the JSON differs:", diff)
			}
			found := doctor.Examine(t.Context(), cfg, doctor.Member{Workspace: "acme", Email: email}, slog.New(slog.DiscardHandler))
			if found.Agent == nil {
				t.Fatalf("the doctor has no report: %+v", found.Findings)
			}
			if diff := cmp.Diff(want, standing(*found.Agent)); diff != "" {
				t.Error("the doctor differs:", diff)
			}
			w.settings(report)
			w.door(report)
		})
	}
}

// standing is what a report comes to: each entry with why it stands as it does,
// and each tool with how it stands before a model.
func standing(r registry.Report) []string {
	out := []string{r.Digest}
	for _, e := range r.Entries {
		line := string(e.Key) + " " + string(e.Standing) + " " + e.Reason + " " + e.Declaration.Version
		for _, tool := range e.Tools {
			line += " " + tool.Name + "=" + string(tool.Loading)
		}
		out = append(out, line)
	}
	return out
}

func enter(t *testing.T, cfg app.Config, a *app.App, email string) *world {
	t.Helper()
	user, err := a.Identity.UserByEmail(t.Context(), email)
	if err != nil {
		t.Fatal(err)
	}
	who, err := a.Identity.PrincipalOf(t.Context(), user.Subject, "acme")
	if err != nil {
		t.Fatal(err)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, cfg: cfg, app: a, email: email, actor: who.Actor(), pages: http.Client{Jar: jar}}
	w.do(http.MethodPost, "/demo/login", url.Values{"email": {email}}.Encode(), "Content-Type", "application/x-www-form-urlencoded", "Origin", "http://"+cfg.Addr)
	return w
}

func (w *world) do(method, path, body string, header ...string) *http.Response {
	w.t.Helper()
	req, err := http.NewRequestWithContext(context.WithoutCancel(w.t.Context()), method, "http://"+w.cfg.Addr+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := w.pages.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { res.Body.Close() })
	if res.StatusCode != http.StatusOK {
		w.t.Fatalf("%s %s: status %d", method, path, res.StatusCode)
	}
	return res
}

func (w *world) json() (out registry.Report) {
	w.t.Helper()
	_, credential, err := w.app.Identity.IssueToken(w.t.Context(), w.email, "acme", identity.NewToken{Name: "test", Scope: capability.ScopeRead, Life: time.Hour})
	if err != nil {
		w.t.Fatal(err)
	}
	res := w.do(http.MethodGet, "/api/v1/workspaces/acme/registry/report", "", "Authorization", "Bearer "+credential)
	if err := json.NewDecoder(res.Body).Decode(&out); err != nil {
		w.t.Fatal(err)
	}
	return out
}

// rows are the rows of a page by where they lead, each with its reason.
func (w *world) rows(path string) map[string]string {
	w.t.Helper()
	doc, err := goquery.NewDocumentFromReader(w.do(http.MethodGet, path, "").Body)
	if err != nil {
		w.t.Fatal(err)
	}
	out := map[string]string{}
	for _, li := range doc.Find("li.row").EachIter() {
		href, _ := li.Find(".row-link").Attr("href")
		out[href] = strings.Join(strings.Fields(li.Find("div.text-xs > p").First().Text()), " ")
	}
	return out
}

// settings compares the list of tools, where they are switched, with the health
// page and the report: the same rows for the same reasons.
func (w *world) settings(r registry.Report) {
	w.t.Helper()
	listed, health := w.rows("/acme/settings/tools"), w.rows("/acme/settings/agent/health")
	if len(listed) == 0 {
		w.t.Fatal("no tools are listed")
	}
	for href, reason := range listed {
		told, ok := health[href]
		if !ok {
			w.t.Errorf("%s is listed and not reported", href)
		}
		if !strings.HasPrefix(reason, told) && !strings.HasPrefix(told, reason) {
			w.t.Errorf("%s: listed as %q, reported as %q", href, reason, told)
		}
	}
	if len(health) == 0 || len(health) > len(r.Entries) {
		w.t.Errorf("%d rows for %d entries", len(health), len(r.Entries))
	}
}

// door compares the report with what a turn can search and call. Arguments that
// fit no schema keep every call from having an effect.
func (w *world) door(r registry.Report) {
	w.t.Helper()
	ctx := w.t.Context()
	snap, err := w.app.Agent.Bind(ctx, w.actor)
	if err != nil {
		w.t.Fatal(err)
	}
	c, err := w.app.Agent.NewConversation(ctx, w.actor)
	if err != nil {
		w.t.Fatal(err)
	}
	surface := snap.Surface(capability.SurfaceWeb, "", registry.SurfaceOptions{})
	var told []string
	for _, e := range r.Entries {
		for _, tool := range e.Tools {
			if tool.Loading != registry.NotHere {
				told = append(told, tool.Name)
			}
			result, err := w.app.Agent.Call(ctx, snap, agent.Request{
				Actor: w.actor, Conversation: c.ID, Turn: uuid.New(), Name: tool.Name, Caller: agent.CallerModel, Arguments: []byte(`[]`),
			})
			if err != nil {
				w.t.Fatal(err)
			}
			if resolved := result.Code == "invalid"; resolved != (tool.Loading != registry.NotHere) {
				w.t.Errorf("%s is %s, and the door says %s", tool.Name, tool.Loading, result.Code)
			}
			if e.Origin == registry.OriginBuiltin || tool.Loading == registry.NotHere {
				continue
			}
			if !slices.ContainsFunc(surface.Find(tool.Name, 10).Tools, func(f registry.FoundTool) bool { return f.Name == tool.Name }) {
				w.t.Errorf("%s is not found by its name", tool.Name)
			}
		}
	}
	for _, name := range snap.ToolNames() {
		if !slices.Contains(told, name) {
			w.t.Errorf("%s can be called and is not told of", name)
		}
	}
}
