package web_test

import (
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/web"
	"capstore/internal/workspace"
)

var wildcard = regexp.MustCompile(`\{([a-z]+)\}`)

// fill puts values into a route's wildcards.
func fill(pattern string, values map[string]string) string {
	return wildcard.ReplaceAllStringFunc(pattern, func(m string) string { return url.PathEscape(values[m[1:len(m)-1]]) })
}

// sameAnswer asks for the route with the one and the other values and fails
// unless status, headers, body and statements are equal, once the reference
// number and the names asked for are masked.
func sameAnswer(t *testing.T, c *client, route web.Route, hidden, missing map[string]string) {
	t.Helper()
	ask := func(values map[string]string) *answer {
		if route.Method == "GET" {
			return c.get(fill(route.Pattern, values))
		}
		return c.post(fill(route.Pattern, values))
	}
	there, gone := ask(hidden), ask(missing)
	if there.Status != gone.Status {
		t.Fatalf("status %d for what is hidden, %d for what is missing", there.Status, gone.Status)
	}
	if there.Status < 300 {
		t.Fatalf("answered %d for what may not be seen", there.Status)
	}
	mask := func(text string, values map[string]string) string {
		for _, v := range values {
			text = strings.NewReplacer(v, "NAME", url.QueryEscape(v), "NAME", url.PathEscape(v), "NAME").Replace(text)
		}
		return text
	}
	if diff := cmp.Diff(mask(gone.Body, missing), mask(there.Body, hidden), ignoreReference); diff != "" {
		t.Errorf("the pages differ:\n%s", diff)
	}
	for name := range there.Header {
		if diff := cmp.Diff(mask(gone.Header.Get(name), missing), mask(there.Header.Get(name), hidden)); diff != "" && name != "Content-Length" {
			t.Errorf("%s differs:\n%s", name, diff)
		}
	}
	if diff := cmp.Diff(gone.Statements, there.Statements); diff != "" {
		t.Errorf("the statements differ:\n%s", diff)
	}
}

// TestWhatIsNotYoursIsNotThere asks every route that names something for
// another member's private things, and for things that do not exist.
func TestWhatIsNotYoursIsNotThere(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	tool := catalog.Publication{
		ID: "zz-kept", Name: "zz-kept", Description: "Hidden.", Visibility: capability.ReachPrivate,
		Spec: []byte(`{"type":"code","language":"python","isReadOnly":true,"code":"print({})","parametersSchema":{"type":"object"}}`),
	}
	s.publish(ada, "acme", tool)
	s.publish(gus, "globex", tool)
	skill, err := s.Workspace.CreateSkill(t.Context(), s.actor(ada, "acme"), workspace.SkillInput{
		Name: "zz-kept-skill", Description: "Hidden.", Spec: &capability.SkillSpec{Instructions: "x"}, Draft: true,
	})
	must(t, err)
	conv, err := s.Agent.NewConversation(t.Context(), s.actor(ada, "acme"))
	must(t, err)
	asked := s.question(ada, `{"kept":"zz-kept"}`)
	nothing := uuid.Must(uuid.NewV7()).String()
	_, err = s.Agent.Bind(t.Context(), s.actor(max, "acme")) // the first one writes his epoch
	must(t, err)
	reader := s.as(max)
	for _, route := range (&web.Site{Parts: s.Parts}).Routes() {
		cases := map[string][2]string{}
		switch {
		case strings.Contains(route.Pattern, "/store/{source}/{id}"), strings.Contains(route.Pattern, "/adoptions/{source}/{id}"):
			cases["id"] = [2]string{"zz-kept", "zz-lost"}
		case strings.Contains(route.Pattern, "/settings/skills/{id}"):
			cases["own"] = [2]string{skill.ID, "zz-lost"}
		case strings.Contains(route.Pattern, "/chat/{id}"):
			cases["own"] = [2]string{conv.ID.String(), nothing}
		case strings.Contains(route.Pattern, "/approvals/{id}"), strings.Contains(route.Pattern, "/grants/{id}"):
			cases["own"] = [2]string{asked.ID.String(), nothing}
		case strings.Contains(route.Pattern, "/settings/tools/{key}"):
			cases["key"] = [2]string{"zz-kept", "zz-lost"}
		default:
			continue
		}
		for _, names := range cases {
			for _, source := range []string{"acme", "globex"} {
				values := func(id string) map[string]string {
					return map[string]string{
						"workspace": "acme", "source": source, "id": id, "artifact": nothing, "version": "1.0.0",
						"key": string(capability.CapabilityKey(source, id)),
					}
				}
				t.Run(route.Method+" "+route.Pattern+" "+source, func(t *testing.T) {
					c := *reader
					c.t = t
					sameAnswer(t, &c, route, values(names[0]), values(names[1]))
				})
			}
		}
	}
}

// TestAnothersWorkspaceIsNotThere asks every page of a workspace as somebody
// who does not belong to it, and as nobody, and for one that does not exist.
func TestAnothersWorkspaceIsNotThere(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	v := s.publish(ada, "acme", catalog.Publication{
		ID: "shared", Name: "shared", Description: "For acme.", Visibility: capability.ReachWorkspace,
		Spec: []byte(`{"type":"command","template":"x"}`),
	})
	values := func(slug string) map[string]string {
		return map[string]string{
			"workspace": slug, "source": "acme", "id": v.ID, "name": "KEY", "subject": s.subject(ada), "artifact": v.ID,
			"key": "default:web_search", "version": v.Version,
		}
	}
	asked := 0
	for _, route := range (&web.Site{Parts: s.Parts}).Routes() {
		if route.Access != web.Member {
			continue
		}
		asked++
		for who, browser := range map[string]*client{"outsider": s.as(gus), "nobody": s.stranger()} {
			t.Run(who+" "+route.Method+" "+route.Pattern, func(t *testing.T) {
				c := *browser
				c.t = t
				sameAnswer(t, &c, route, values("acme"), values("nowhere"))
			})
		}
	}
	if asked < 30 {
		t.Errorf("only %d routes were asked for", asked)
	}
}
