package modeltest_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"capstore/internal/agent/model/modeltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// heard is a test that fails for somebody else.
type heard struct {
	testing.TB
	errors []string
}

func (h *heard) Errorf(format string, args ...any) {
	h.errors = append(h.errors, fmt.Sprintf(format, args...))
}

const (
	messages = `{"model":"m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"%s"}]}`
	chat     = `{"model":"m","stream":true,"messages":[{"role":"user","content":"%s"}]}`
)

// post returns the status and the body of an answer.
func post(t *testing.T, url, body string) (int, string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		text = append(text, " broken"...)
	}
	return res.StatusCode, string(text)
}

// TestScript takes the first step that is left and admits the question, and
// tells the test of a question too many.
func TestScript(t *testing.T) {
	t.Parallel()
	h := &heard{TB: t}
	server := modeltest.New(h,
		modeltest.Say("for Bo").If(func(r modeltest.Request) bool { return r.Last().Text() == "Bo" }),
		modeltest.Say("for anybody"))
	for _, c := range []struct{ path, body, want string }{
		{"/v1/chat/completions", fmt.Sprintf(chat, "Al"), "for anybody"},
		{"/v1/messages", fmt.Sprintf(messages, "Bo"), "for Bo"},
	} {
		if status, got := post(t, server.URL+c.path, c.body); status != 200 || !strings.Contains(got, c.want) {
			t.Errorf("%s: %d %s", c.path, status, got)
		}
	}
	if server.Left() != 0 || len(h.errors) != 0 {
		t.Errorf("%d steps left, %v", server.Left(), h.errors)
	}
	if status, _ := post(t, server.URL+"/v1/messages", fmt.Sprintf(messages, "Bo")); status != 400 || len(h.errors) != 1 {
		t.Errorf("a question too many: %d, %v", status, h.errors)
	}
	if got := server.Requests(); len(got) != 3 || server.Asked() != 3 || got[1].Provider != "anthropic" {
		t.Errorf("recorded %+v", got)
	}
}

// TestRefusesWhatProvidersRefuse keeps the double as strict as its originals.
func TestRefusesWhatProvidersRefuse(t *testing.T) {
	t.Parallel()
	const use = `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"n","input":{}}]}`
	const asked = `{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"n","arguments":"{}"}}]}`
	for name, c := range map[string]struct{ path, body, says string }{
		"no number of tokens":        {"/v1/messages", `{"stream":true,"messages":[]}`, "max_tokens"},
		"no stream":                  {"/v1/messages", `{"max_tokens":1,"messages":[]}`, "stream"},
		"call without result":        {"/v1/messages", `{"stream":true,"max_tokens":1,"messages":[` + use + `]}`, "without tool_result"},
		"text before the result":     {"/v1/messages", `{"stream":true,"max_tokens":1,"messages":[` + use + `,{"role":"user","content":[{"type":"text","text":"x"},{"type":"tool_result","tool_use_id":"a"}]}]}`, "before text"},
		"result without call":        {"/v1/messages", `{"stream":true,"max_tokens":1,"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}]}`, "without tool_use"},
		"blank text":                 {"/v1/messages", `{"stream":true,"max_tokens":1,"messages":[{"role":"user","content":" "}]}`, "non-empty"},
		"input that is no object":    {"/v1/messages", `{"stream":true,"max_tokens":1,"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"n","input":"{}"}]}]}`, "object"},
		"only deferred tools":        {"/v1/messages", `{"stream":true,"max_tokens":1,"messages":[],"tools":[{"name":"n","defer_loading":true,"input_schema":{"type":"object"}}]}`, "defer_loading"},
		"alternatives at the top":    {"/v1/messages", `{"stream":true,"max_tokens":1,"messages":[],"tools":[{"name":"n","input_schema":{"type":"object","anyOf":[]}}]}`, "anyOf"},
		"reference to no tool":       {"/v1/messages", `{"stream":true,"max_tokens":1,"messages":[` + use + `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"tool_reference","tool_name":"x"}]}]}]}`, "no deferred tool"},
		"reference beside text":      {"/v1/messages", `{"stream":true,"max_tokens":1,"messages":[` + use + `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"x"},{"type":"tool_reference","tool_name":"x"}]}]}]}`, "stand alone"},
		"five marks":                 {"/v1/messages", `{"stream":true,"max_tokens":1,"messages":[],"system":[` + strings.TrimSuffix(strings.Repeat(`{"type":"text","text":"x","cache_control":{}},`, 5), ",") + `]}`, "at most 4"},
		"chat call without result":   {"/v1/chat/completions", `{"stream":true,"messages":[` + asked + `]}`, "without tool_result"},
		"chat arguments that are no": {"/v1/chat/completions", `{"stream":true,"messages":[{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"n","arguments":"{"}}]}]}`, "no JSON"},
		"system message in between":  {"/v1/chat/completions", `{"stream":true,"messages":[{"role":"user","content":"x"},{"role":"system","content":"y"}]}`, "the first"},
		"chat schema of a string":    {"/v1/chat/completions", `{"stream":true,"messages":[],"tools":[{"function":{"name":"n","parameters":{"type":"string"}}}]}`, "no object"},
		"no JSON":                    {"/v1/chat/completions", `{`, "unexpected end"},
		"another address":            {"/v2/messages", `{}`, "there is no"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := modeltest.New(t)
			status, got := post(t, server.URL+c.path, c.body)
			if status < 400 || !strings.Contains(got, c.says) {
				t.Errorf("%d %s, want %q", status, got, c.says)
			}
		})
	}
}

// TestGate holds an answer at its place, and a death breaks it there.
func TestGate(t *testing.T) {
	t.Parallel()
	gate := modeltest.NewGate()
	server := modeltest.New(t, modeltest.Say("Once ").Wait(gate).Say("upon").Die())
	go func() {
		<-gate.Reached()
		gate.Open()
	}()
	_, got := post(t, server.URL+"/v1/chat/completions", fmt.Sprintf(chat, "Hi"))
	if !strings.Contains(got, "upon") || strings.Contains(got, "[DONE]") || !strings.HasSuffix(got, " broken") {
		t.Error(got)
	}
}

// TestCloseFreesWhatWaits ends a server whose answer waits for ever.
func TestCloseFreesWhatWaits(t *testing.T) {
	t.Parallel()
	gate := modeltest.NewGate()
	server := modeltest.New(t, modeltest.Say().Wait(gate))
	go func() {
		<-gate.Reached()
		server.Close()
	}()
	_, got := post(t, server.URL+"/v1/messages", fmt.Sprintf(messages, "Hi"))
	if strings.Contains(got, "message_stop") {
		t.Error(got)
	}
}

func TestServe(t *testing.T) {
	t.Parallel()
	server, err := modeltest.Serve("127.0.0.1:0", func(r modeltest.Request) modeltest.Step {
		return modeltest.Say("You said " + r.Last().Text())
	})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	if _, got := post(t, server.URL+"/v1/messages", fmt.Sprintf(messages, "hello")); !strings.Contains(got, "You said hello") {
		t.Error(got)
	}
	if _, err := modeltest.Serve(strings.TrimPrefix(server.URL, "http://"), nil); err == nil {
		t.Error("a taken address was had")
	}
}
