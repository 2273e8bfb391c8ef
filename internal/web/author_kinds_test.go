package web_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"capstore/internal/capability"
	"capstore/views"
)

func TestEveryKindIsWrittenByItsForm(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	member := s.as(max)
	leans := capability.Leans{Serves: []string{"finance"}, Requires: []string{"acme/other"}}
	for kind, tt := range map[string]struct {
		sent []string
		want capability.Spec
	}{
		"hook": {
			[]string{"spec.event", "before_tool", "spec.matcher", "mcp__*", "spec.language", "bash", "spec.code", "exit 2", "spec.failureMode", "fail-closed",
				"spec.timeoutSec", "5", "spec.serves", "finance", "spec.requires", "acme/other"},
			&capability.HookSpec{Event: "before_tool", Matcher: "mcp__*", Language: "bash", Code: "exit 2", FailureMode: "fail-closed", TimeoutSec: 5, Leans: leans},
		},
		"command": {
			[]string{"spec.template", "Explain $ARGUMENTS.", "spec.argumentHint", "[topic]", "spec.allowedTools", "Bash(git add:*)\r\nRead", "spec.serves", "finance", "spec.requires", "acme/other"},
			&capability.CommandSpec{Template: "Explain $ARGUMENTS.", ArgumentHint: "[topic]", AllowedTools: []string{"Bash(git add:*)", "Read"}, Leans: leans},
		},
		"environment": {
			[]string{"spec.image", "docker.io/library/python:3.13", "spec.preset", `{"cpu": 2.0}`, "spec.instructions", "# Lab", "spec.benchmark", "swe"},
			&capability.EnvironmentSpec{Image: "docker.io/library/python:3.13", Preset: []byte(`{"cpu":2.0}`), Instructions: "# Lab", Benchmark: "swe"},
		},
		"delegation": {
			[]string{"spec.harness", "claude-code", "spec.image", "ghcr.io/acme/worker:1", "spec.model", "big", "spec.workDir", "/work", "spec.instructions", "Be brief.",
				"spec.instructionsFile", "AGENTS.md", "spec.ttlSec", "600", "spec.env.0.name", "LOG", "spec.env.0.from", "literal", "spec.env.0.value", "debug",
				"spec.env.1.name", "KEY", "spec.env.1.from", "secret", "spec.env.1.secretRef", "API_KEY", "spec.env.1.scope", "personal",
				"spec.env.2.name", "", "spec.env.2.from", "literal"},
			&capability.DelegationSpec{
				Harness: "claude-code", Image: "ghcr.io/acme/worker:1", Model: "big", WorkDir: "/work", Instructions: "Be brief.", InstructionsFile: "AGENTS.md", TTLSec: 600,
				Env: map[string]capability.EnvValue{"LOG": {Literal: "debug"}, "KEY": {SecretRef: "API_KEY", Scope: "personal"}},
			},
		},
	} {
		member.get("/acme/store/new?kind=" + kind).status(200)
		sent := append([]string{"op", "publish", "name", "my-" + kind, "description", "One."}, tt.sent...)
		member.post("/acme/store/new?kind="+kind, sent...).leadsTo("/acme/store/acme/my-" + kind)
		got := s.latest(max, "acme", "my-"+kind)
		if diff := cmp.Diff(tt.want, got.Content.Spec); diff != "" {
			t.Errorf("%s (-want +got):\n%s", kind, diff)
		}
		// Sent back untouched it is the same; with a note it still is.
		edit := member.get("/acme/store/acme/my-" + kind + "/edit").status(200)
		member.post("/acme/store/acme/my-"+kind+"/edit", append(edit.fields("#author"), "op", "publish")...).leadsTo("/acme/store/acme/my-" + kind)
		if again := s.latest(max, "acme", "my-"+kind); again.Version != "1.0.0" || again.Digest != got.Digest {
			t.Errorf("%s: nothing was changed, yet there is %s", kind, again.Version)
		}
	}
}

func TestFaultsOfRowsStandInTheirRow(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	page := s.as(max).post("/acme/store/new?kind=delegation", "op", "publish", "name", "w", "description", "d", "spec.harness", "x", "spec.image", "ghcr.io/a/b:1",
		"spec.env.0.name", "OK", "spec.env.0.value", "1", "spec.env.1.name", "KEY", "spec.env.1.from", "secret", "spec.env.1.secretRef", "not a name",
		"spec.env.2.name", "OK", "spec.env.2.value", "2", "spec.env.3.value", "no name").status(http.StatusUnprocessableEntity)
	for _, field := range []string{"spec-env-1-secretref", "spec-env-2-name", "spec-env-3-name"} {
		page.find("#field-" + field + "[aria-invalid=true]")
	}
	page = s.as(max).post("/acme/store/new?kind=code", append(with(codeForm, "spec.parametersSchema", ""), "schema.mode", "rows",
		"schema.rows.0.name", "a", "schema.rows.0.type", "string", "schema.rows.1.name", "", "schema.rows.1.description", "x", "schema.rows.1.type", "string",
		"schema.rows.2.name", "b", "schema.rows.2.type", "any", "schema.rows.2.rest", `{"$ref": "https://example.com/x"}`,
		"schema.rows.3.name", "c", "schema.rows.3.type", "enum", "schema.rows.3.values", "")...).status(http.StatusUnprocessableEntity)
	for _, field := range []string{"schema-rows-1-name", "schema-rows-3-values"} {
		page.find("#field-" + field + "[aria-invalid=true]")
	}
}

func TestParametersAsAListAndAsJSON(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	member := s.as(max)
	rows := append(with(codeForm, "spec.parametersSchema", ""), "schema.mode", "rows", "schema.rest", `{"additionalProperties": false}`,
		"schema.rows.0.name", "city", "schema.rows.0.type", "string", "schema.rows.0.description", "Where", "schema.rows.0.required", "on", "schema.rows.0.default", "Berlin",
		"schema.rows.1.name", "unit", "schema.rows.1.type", "enum", "schema.rows.1.values", "c\r\nf", "schema.rows.1.rest", `{"title": "Unit"}`,
		"schema.rows.2.name", "days", "schema.rows.2.type", "array", "schema.rows.2.items", "integer",
	)
	const want = `{"additionalProperties":false,"properties":{"city":{"default":"Berlin","description":"Where","type":"string"},"days":{"items":{"type":"integer"},"type":"array"},"unit":{"enum":["c","f"],"title":"Unit","type":"string"}},"required":["city"],"type":"object"}`
	page := member.post("/acme/store/new?kind=code", with(rows, "op", "add:schema.rows")...).status(200)
	page.find("input[name='schema.rows.3.name']")
	asJSON := member.post("/acme/store/new?kind=code", with(rows, "op", "schema:json")...).status(200)
	asJSON.find("textarea[name='spec.parametersSchema'][data-editor=json]")
	asJSON.none("[name^='schema.rows']")
	back := member.post("/acme/store/new?kind=code", append(asJSON.fields("#author"), "op", "schema:rows")...).status(200)
	if got := back.find("input[name='schema.rows.0.default']").AttrOr("value", ""); got != "Berlin" {
		t.Errorf("the default became %q", got)
	}
	member.post("/acme/store/new?kind=code", append(with(back.fields("#author"), "spec.examples.0.input", `{"city": "x"}`), "op", "publish")...).leadsTo("/acme/store/acme/shout")
	if got := string(s.latest(max, "acme", "shout").Content.Spec.(*capability.CodeSpec).ParametersSchema); got != want {
		t.Errorf("the schema is %s", got)
	}
	// What no list shows stays as it is, and is not lost by asking.
	odd := `{"type": "object", "properties": {"a": true}}`
	stays := member.post("/acme/store/new?kind=code", with(codeForm, "spec.parametersSchema", odd, "op", "schema:rows")...).status(http.StatusUnprocessableEntity)
	stays.find("#field-spec-parametersschema[aria-invalid=true]")
	stays.says("textarea[name='spec.parametersSchema']", `"a": true`)
}

func TestStepsKeepWhatWasTyped(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	member := s.as(max)
	page := member.get("/acme/store/new?kind=code").status(200)
	page.find("#author button[aria-current=step][value='step:write']")
	bad := member.post("/acme/store/new?kind=code", append(page.fields("#author"), "op", "step:check")...).status(http.StatusUnprocessableEntity)
	bad.find("button[aria-current=step][value='step:write']")
	bad.find("#field-name[aria-invalid=true]")
	check := member.post("/acme/store/new?kind=code", append(with(codeForm, "op", "step:check"), bad.draftFields()...)...).status(200)
	check.find("button[aria-current=step][value='step:check']")
	check.says("#author-live", "Nothing in it needs correcting.")
	last := member.post("/acme/store/new?kind=code", append(check.fields("#author"), "op", "step:publish")...).status(200)
	last.find("button[aria-current=step][value='step:publish']")
	last.says("main", "(3 people)")
	again := member.post("/acme/store/new?kind=code", append(last.fields("#author"), "op", "step:write")...).status(200)
	again.says("textarea[name='spec.code']", "print('A') print('B')")
	away := member.post("/acme/store/new?kind=code", append(again.fields("#author"), "op", "step:kind")...)
	away.leadsTo("/acme/store/new")
	if list := s.drafts(max, "acme"); len(list) != 1 || list[0].Name != "Shout" {
		t.Errorf("kept %+v", list)
	}
	// A fault of the last step is shown there, with nothing in the way.
	faulty := member.post("/acme/store/new?kind=code", append(codeForm[:len(codeForm):len(codeForm)], "version", "one")...).status(http.StatusUnprocessableEntity)
	faulty.find("button[aria-current=step][value='step:publish']")
	member.post("/acme/store/new?kind=code", codeForm...).status(http.StatusSeeOther)
	twin := member.post("/acme/store/new?kind=code", with(append(codeForm, "step", "publish"), "op", "step:publish", "name", "Shoutt")...).status(200)
	twin.find(`main a[href="/acme/store/acme/shout"]`)
}

func TestTheNextNumberIsSuggested(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	member := s.as(max)
	member.post("/acme/store/new?kind=code", codeForm...).status(http.StatusSeeOther)
	edit := member.get("/acme/store/acme/shout/edit").status(200)
	harder := with(edit.fields("#author"), "schema.mode", "json", "spec.parametersSchema", `{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"string"}},"required":["b"]}`,
		"spec.examples.0.input", `{"b": "x"}`)
	last := member.post("/acme/store/acme/shout/edit", append(harder, "op", "step:publish")...).status(200)
	if got := last.find("input[name=bump][checked]").AttrOr("value", ""); got != "major" {
		t.Errorf("%q is chosen", got)
	}
	last.says("main", "2.0.0")
	// A choice that was made stays.
	chosen := with(last.fields("#author"), "bump", "minor")
	again := member.post("/acme/store/acme/shout/edit", append(chosen, "op", "step:publish")...).status(200)
	if got := again.find("input[name=bump][checked]").AttrOr("value", ""); got != "minor" {
		t.Errorf("%q is chosen", got)
	}
}

func TestTryingEachKindBeforeItIsPublished(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	member := s.as(max)
	hook := []string{"op", "try", "name", "h", "description", "d", "spec.event", "before_tool", "spec.language", "bash", "spec.code", "cat >&2; exit 2", "tryInput", `{"tool":"wipe"}`}
	denied := member.post("/acme/store/new?kind=hook", hook...).status(200)
	denied.says("#author-outcome", "It denies")
	denied.says("#author-outcome", "wipe")
	failed := member.post("/acme/store/new?kind=hook", with(hook, "spec.code", "echo hello")...).status(200)
	failed.says("#author-outcome", "It gave no answer of its own")
	command := member.post("/acme/store/new?kind=command", "op", "step:check", "name", "c", "description", "d", "spec.template", "Say $1 to $2.", "tryArguments", `"good day" Kim`).status(200)
	command.says("#author-preview", "Say good day to Kim.")
	preview := member.htmx().post("/acme/store/new?kind=command", "op", "preview", "spec.template", "Say $1.", "tryArguments", "<b>").status(200)
	preview.says("figure", "Say <b>.")
	for _, kind := range []string{"skill", "environment", "delegation", "command"} {
		member.post("/acme/store/new?kind="+kind, "op", "try").status(http.StatusNotFound)
		member.htmx().post("/acme/store/new?kind="+kind, "op", "try").status(http.StatusNotFound)
	}
	s.as(vera).post("/acme/store/new?kind=hook", hook...).status(http.StatusForbidden)
}

func TestAnExampleIsTried(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	member := s.as(max)
	code := with(codeForm, "spec.code", "import sys\nprint(sys.stdin.read())", "spec.parametersSchema", `{"type":"object","properties":{"a":{"type":"integer"}}}`)
	page := member.post("/acme/store/new?kind=code", with(code, "op", "step:check")...).status(200)
	page.find("button[value='try:0']")
	out := member.post("/acme/store/new?kind=code", with(code, "op", "try:0")...).status(200)
	out.says("#author-outcome", "One")
	out.says("#author-outcome", `"a"`)
	out.find(`#author-outcome a[href^="/acme/settings/secrets/new?name=API_KEY"]`)
	bad := member.post("/acme/store/new?kind=code", with(code, "op", "try:0", "spec.examples.0.input", "{")...).status(http.StatusUnprocessableEntity)
	bad.find("#field-spec-examples-0-input[aria-invalid=true]")
	wrong := member.post("/acme/store/new?kind=code", with(code, "op", "step:check", "spec.examples.0.input", `{"a": "x"}`)...).status(http.StatusUnprocessableEntity)
	wrong.find("#field-spec-examples-0-input[aria-invalid=true]")
	member.post("/acme/store/new?kind=code", with(code, "op", "try:7")...).status(http.StatusNotFound)
}

func TestATryIsStreamed(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	member := s.as(max)
	sent := with(codeForm, "op", "try", "spec.code", "import sys\nprint('working\\rdata: on', file=sys.stderr)\nprint('{\"n\": 1.0}')")
	stream := member.htmx().post("/acme/store/new?kind=code", sent...).status(200)
	if got := stream.Header.Get("Content-Type"); got != "text/event-stream" {
		t.Fatalf("answered %s: %s", got, stream.Body)
	}
	stream.says("body", "1.0")
	stream.fragments().says("body", "working")
	if strings.Contains(stream.Body, "\r") {
		t.Errorf("a printed carriage return ends a line of the stream: %q", stream.Body)
	}
	faulty := member.htmx().post("/acme/store/new?kind=code", append(with(sent), "tryInput", "{")...).status(200)
	faulty.find(`a[href="#field-tryinput"]`)
	for _, path := range []string{views.StopTryPath("acme", "x"), views.StopTryPath("acme", "1d7a835f-0000-4000-8000-000000000000")} {
		member.post(path).status(http.StatusNotFound)
	}
	member.post("/acme/store/new?kind=code", with(codeForm, "op", "publish", "spec.code", "print('{}')")...).status(http.StatusSeeOther)
	published := member.htmx().post("/acme/store/acme/shout/try?version=1.0.0", "mode", "json", "arguments", "{}").status(200)
	published.says("body", "{}")
	published.find(`a[href^="/acme/settings/secrets/new?name=API_KEY"]`)
}

func TestAPublishedHookIsTried(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	member := s.as(max)
	member.post("/acme/store/new?kind=hook", "op", "publish", "name", "guard", "description", "d", "spec.event", "before_tool", "spec.language", "python",
		"spec.code", "import json\nprint(json.dumps({'decision': 'ask'}))").status(http.StatusSeeOther)
	tab := member.get("/acme/store/acme/guard?tab=try").status(200)
	tab.says("textarea[name=arguments]", "before_tool")
	member.post("/acme/store/acme/guard/try?version=1.0.0", tab.fields("#try form")...).status(200).says("#try-result", "It asks the person")
}

func TestADraftServerIsAskedForItsTools(t *testing.T) {
	t.Parallel()
	server := mcp.NewServer(&mcp.Implementation{Name: "stub", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: "look_up", Description: "Looks <b>up</b>.", InputSchema: json.RawMessage(`{"type":"object"}`), Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}}, nil)
	server.AddTool(&mcp.Tool{Name: "wipe", InputSchema: json.RawMessage(`{"type":"object"}`)}, nil)
	ts := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil))
	t.Cleanup(func() {
		ts.CloseClientConnections()
		ts.Close()
	})
	s := newSite(t)
	member := s.as(max)
	sent := []string{"op", "try", "name", "m", "description", "d", "transport", "url", "spec.url", ts.URL, "spec.provides", "wipe write"}
	said := member.post("/acme/store/new?kind=mcp", sent...).status(200)
	said.says("#author-outcome", "It has 2 tools")
	said.says("#author-outcome", "Looks <b>up</b>.")
	taken := member.post("/acme/store/new?kind=mcp", with(sent, "op", "take")...).status(200)
	taken.says("textarea[name='spec.provides']", "wipe write look_up read")
	member.htmx().post("/acme/store/new?kind=mcp", with(sent, "spec.url", "https://no.example.invalid/mcp")...).status(200).says("body", "It did not say what it has")
}
