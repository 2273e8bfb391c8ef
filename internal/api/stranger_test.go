package api_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"capstore/internal/capability"
	"capstore/internal/ops"
	"capstore/internal/workspace"
)

// hidden are things that Mia may not see: Ada's and Gus's private ones, and
// what they are called in a path.
type hidden struct{ source, id, version, skill, token, subject string }

func (s *site) hide() hidden {
	s.t.Helper()
	secretTool := codeTool("Hidden", with("visibility", "private"))
	s.as(max).post(acme+"/capabilities", secretTool).want(http.StatusCreated)
	s.with(gus, "globex", capability.ScopeAgent).post(globex+"/capabilities", secretTool).want(http.StatusCreated)
	skill := map[string]any{"name": "Hidden skill", "description": "x", "draft": true, "spec": map[string]any{"type": "skill", "instructions": "x"}}
	made := s.as(max).post(acme+"/skills", skill).want(http.StatusCreated).object()
	boss, err := s.Identity.PrincipalOf(s.t.Context(), s.subject(gus), "globex")
	must(s.t, err)
	_, err = s.Workspace.RegisterModel(s.t.Context(), boss.Actor(), workspace.ModelInput{Name: "hidden-model", Provider: workspace.ProviderOpenAI, Underlying: "x"})
	must(s.t, err)
	token, _, err := s.Identity.IssueToken(s.t.Context(), max, "acme", newToken())
	must(s.t, err)
	return hidden{source: "acme", id: "hidden", version: "1.0.0", skill: made["id"].(string), token: token.ID, subject: s.subject(gus)}
}

// names fills a path and query with hidden things of one source, or with
// missing ones.
func (h hidden) names(source string, there bool) map[string]string {
	id, skill, token, subject, model := h.id, h.skill, h.token, h.subject, "hidden-model"
	if !there {
		model = "mislaid-model"
		id, skill, token, subject = "mislaid", "mislaid-skill", "01890000-0000-7000-8000-000000000000", "01890000-0000-7000-8000-000000000001"
	}
	return map[string]string{
		"workspace": "acme", "source": source, "version": h.version, "base": h.version, "candidate": h.version,
		"id": id, "skill": skill, "token": token, "subject": subject, "key": string(capability.CapabilityKey(source, id)), "name": model,
	}
}

// TestStranger asks for every operation that names something by what may not
// be seen and by what does not exist: status, headers, body and the statements
// that the database ran are the same.
func TestStranger(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	h := s.hide()
	who, err := s.Identity.PrincipalOf(t.Context(), s.subject(ada), "acme")
	must(t, err)
	_, err = s.Agent.Bind(t.Context(), who.Actor()) // the first look at a world writes it down
	must(t, err)
	asked := 0
	for _, source := range []string{"acme", "globex"} {
		for _, op := range ops.All(s.Services) {
			if !names(op) {
				continue
			}
			t.Run(source+" "+op.Name, func(t *testing.T) {
				c := *s.as(ada)
				c.t = t
				seen := c.ask(op, h.names(source, true))
				gone := c.ask(op, h.names(source, false))
				if diff := cmp.Diff(gone, seen); diff != "" {
					t.Errorf("what is hidden differs from what is missing (-missing +hidden):\n%s", diff)
				}
				if seen.Status != http.StatusNotFound {
					t.Errorf("status %d: %s", seen.Status, seen.Body)
				}
			})
			asked++
		}
	}
	if asked < 40 {
		t.Errorf("only %d operations name anything", asked)
	}
}

// names reports whether the operation addresses one thing. What is addressed
// by a person's own choice of name (a secret) is nobody else's to see, and
// what an admin addresses among members is no secret to him.
func names(op ops.Operation) bool {
	if strings.HasPrefix(op.Path, "/workspaces/{workspace}/secrets") || op.Area == ops.AreaMembers {
		return false
	}
	return strings.Count(op.Path, "{") > 1 || bodyNames[op.Name] != ""
}

// bodyNames are bodies that name something.
var bodyNames = map[string]string{
	"adopt_capability": `{"source":"SOURCE","id":"ID","version":"1.0.0"}`,
	"copy_capability":  `{"source":"SOURCE","id":"ID"}`,
	"create_skill":     `{"from":{"source":"SOURCE","id":"ID"}}`,
	"try_code_tool":    `{"source":"SOURCE","id":"ID","version":"1.0.0","input":{}}`,
}

type masked struct {
	Status     int
	Header     http.Header
	Body       string
	Statements []string
}

var (
	reference = regexp.MustCompile(`"reference":"[A-Z0-9]+"`)
	nonce     = regexp.MustCompile(`nonce-[A-Z0-9]+`)
)

func (c *client) ask(op ops.Operation, names map[string]string) masked {
	c.t.Helper()
	if op.Area == ops.AreaSkills {
		names["id"] = names["skill"]
	} else if op.Area == ops.AreaTokens {
		names["id"] = names["token"]
	}
	path, query := "/api/v1"+op.Path, url.Values{}
	for _, p := range op.Params() {
		switch {
		case p.Place == ops.InPath:
			path = strings.ReplaceAll(path, "{"+p.Name+"}", url.PathEscape(names[p.Name]))
		case p.Place == ops.InQuery && (p.Required || p.Name == "source"):
			query.Set(p.Name, names[p.Name])
		}
	}
	path = strings.ReplaceAll(path, "{workspace}", names["workspace"])
	var body any
	if text, ok := bodyNames[op.Name]; ok {
		body = strings.NewReplacer("SOURCE", names["source"], `"ID"`, `"`+names["id"]+`"`).Replace(text)
	} else if op.Example != "" {
		body = op.Example
	}
	a := c.send(op.Method, path+"?"+query.Encode(), body)
	a.Header.Set("Content-Security-Policy", nonce.ReplaceAllString(a.Header.Get("Content-Security-Policy"), "nonce"))
	return masked{a.Status, a.Header, reference.ReplaceAllString(a.Body, ""), a.Statements}
}

// TestForeignWorkspace asks for a workspace of others as for one that does not
// exist, in every operation.
func TestForeignWorkspace(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	h := s.hide()
	for _, op := range ops.All(s.Services) {
		if !strings.Contains(op.Path, "{workspace}") {
			continue
		}
		c := s.as(ada)
		theirs, none := h.names("globex", true), h.names("globex", true)
		theirs["workspace"], none["workspace"] = "globex", "nowhere"
		seen, gone := c.ask(op, theirs), c.ask(op, none)
		if diff := cmp.Diff(gone, seen); diff != "" || seen.Status != http.StatusNotFound {
			t.Errorf("%s: status %d (-missing +foreign):\n%s", op.Name, seen.Status, diff)
		}
	}
}
