package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"capstore/cmd/capstore/app"
	"capstore/internal/capability"
	"capstore/internal/identity"
	"capstore/internal/registry"
)

// Member is whose agent is looked at too; the zero value is nobody's.
type Member struct{ Workspace, Email string }

// tokenLife is how long the token that the server is asked with would live if
// it could not be revoked.
const tokenLife = time.Minute

// maxReport bounds what a server answers.
const maxReport = 64 << 20

// member asks the running server for the member's report, and says what is wrong
// in it. What the member or his workspace can mend is worth knowing and no more:
// the operator mends the loop.
func (e *examination) member(ctx context.Context, m Member) {
	if m == (Member{}) {
		return
	}
	e.area = "Agent of " + m.Email + " in " + m.Workspace
	if m.Workspace == "" || m.Email == "" {
		e.add(Wrong, "report", "A member is named by both --workspace and --email.", "Name both, or neither.")
		return
	}
	if e.ready == "" {
		e.add(Notice, "report", "No server runs that could tell.", "Start it, and ask again.")
		return
	}
	report, err := e.report(ctx, m)
	if err != nil {
		e.failed("report", err)
		return
	}
	e.agent = &report
	e.loop(report.Loop)
	e.entries(report)
}

// report asks as the member, with a token that is gone afterwards.
func (e *examination) report(ctx context.Context, m Member) (out registry.Report, err error) {
	store, err := app.OpenStore(ctx, e.cfg, "doctor", e.log)
	if err != nil {
		return out, err
	}
	defer store.Close()
	people := identity.New(store.DB)
	token, credential, err := people.IssueToken(ctx, m.Email, m.Workspace, identity.NewToken{Name: "doctor", Scope: capability.ScopeRead, Life: tokenLife})
	if err != nil {
		return out, err
	}
	defer func() {
		user, failed := people.UserByEmail(ctx, m.Email)
		if failed == nil {
			failed = people.RevokeToken(ctx, user.Subject, token.ID)
		}
		if err == nil {
			err = failed
		}
	}()
	return fetch(ctx, e.ready+"/api/v1/workspaces/"+url.PathEscape(m.Workspace)+"/registry/report", e.cfg.PublicURL().Host, credential)
}

func fetch(ctx context.Context, at, host, credential string) (out registry.Report, err error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return out, err
	}
	req.Host = host
	req.Header.Set("Authorization", "Bearer "+credential)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		return out, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxReport))
	if err != nil {
		return out, err
	}
	if res.StatusCode != http.StatusOK {
		return out, fmt.Errorf("the server answered with status %d", res.StatusCode)
	}
	return out, json.Unmarshal(body, &out)
}

// loop says whether what agents have is kept current.
func (e *examination) loop(h registry.Health) {
	switch {
	case !h.FailingSince.IsZero():
		e.add(Wrong, "loop", fmt.Sprintf("Keeping agents current has been failing since %s: %s", h.FailingSince.Format(time.RFC3339), h.LastError),
			"See the server's log; most often the database cannot be reached.")
	case h.LastSuccess.IsZero():
		e.add(OK, "loop", "No pass has run since the start.", "")
	default:
		e.add(OK, "loop", fmt.Sprintf("Agents are kept current; last checked at %s.", h.LastSuccess.Format(time.RFC3339)), "")
	}
}

// remedies says by standing who can do something about an entry.
var remedies = map[registry.Standing]string{
	registry.Failing:    "The server's publisher, or whoever runs it, can mend it; a call tries again.",
	registry.NeedsSetup: "The member or an admin gives it what is missing, on the page of the tool.",
	registry.Held:       "A member or admin of the workspace decides, on the agent's page.",
}

func (e *examination) entries(r registry.Report) {
	usable := 0
	for i := range r.Entries {
		if r.Entries[i].Standing.Callable() {
			usable++
		}
	}
	e.add(OK, "entries", fmt.Sprintf("%d of %d can be used, at epoch %d (%s).", usable, len(r.Entries), r.Epoch, r.Digest), "")
	for i := range r.Entries {
		entry := &r.Entries[i]
		action, trouble := remedies[entry.Standing]
		if !trouble {
			continue
		}
		text := fmt.Sprintf("%s %s: %s (%s)", entry.Kind, entry.Name, entry.Standing, entry.Reason)
		if len(entry.Missing) > 0 {
			text += ", missing " + strings.Join(entry.Missing, ", ")
		}
		if entry.Detail != "" {
			text += ": " + entry.Detail
		}
		e.add(Notice, string(entry.Standing), text, action)
	}
}
