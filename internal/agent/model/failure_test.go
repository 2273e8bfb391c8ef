package model_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"capstore/internal/agent/model"
	"capstore/internal/agent/model/modeltest"
	"capstore/internal/fault"
	"capstore/internal/netguard"
)

// refusals are the ways in which a provider gives no answer at all. Each
// provider says so in its own words, and some repeat the key.
var refusals = map[string]struct {
	status  int
	body    string
	headers []string
	code    string
	tries   int
	says    string
}{
	"wrong key":       {401, `{"error":{"message":"Incorrect API key provided: ` + key + `","type":"invalid_request_error"}}`, nil, "model_unauthorized", 1, "Incorrect API key provided: [key]"},
	"half of the key": {403, `{"error":"key ` + key[5:20] + `… is not for this model"}`, nil, "model_unauthorized", 1, "key [key]"},
	"no such model":   {404, `{"error":{"message":"model m-1 not found","type":"not_found_error"}}`, nil, "model_not_found", 1, "model m-1 not found"},
	"too long":        {400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 250000 tokens > 200000 maximum"}}`, nil, "model_too_long", 1, "250000"},
	"too long by code": {400, `{"error":{"message":"Please reduce.","type":"invalid_request_error","code":"context_length_exceeded"}}`,
		nil, "model_too_long", 1, "Please reduce."},
	"too large":     {413, `<html><head><title>413 Request Entity Too Large</title></head></html>`, []string{"Content-Type", "text/html"}, "model_too_long", 1, "413 Request Entity"},
	"out of credit": {429, `{"error":{"message":"You exceeded your quota","code":"insufficient_quota"}}`, nil, "model_limited", 1, "You exceeded your quota"},
	"no money":      {402, `{"detail":"Payment required"}`, nil, "model_limited", 1, "Payment required"},
	"too many":      {429, `{"error":{"message":"slow down"}}`, nil, "model_limited", 5, "slow down"},
	"too many, long": {429, `{"error":{"message":"slow down"}}`, []string{"Retry-After", "3600"},
		"model_limited", 1, "slow down"},
	"overloaded":      {529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, nil, "model_unreachable", 5, "Overloaded"},
	"gateway's page":  {502, `<html><title>502 Bad Gateway</title><body>nginx</body></html>`, []string{"Content-Type", "text/html"}, "model_unreachable", 5, "502 Bad Gateway"},
	"time-out":        {408, ``, nil, "model_unreachable", 5, "cannot answer"},
	"server's no":     {503, `{"error":"down for good"}`, []string{"X-Should-Retry", "false"}, "model_unreachable", 1, "down for good"},
	"bad request":     {400, `{"object":"error","message":"m-1 does not support tools","code":400}`, nil, "model_refused", 1, "does not support tools"},
	"a list of words": {422, `{"detail":[{"loc":["body"],"msg":"field required"}]}`, nil, "model_refused", 1, "field required"},
	"redirect":        {301, ``, []string{"Location", "https://elsewhere.example/"}, "model_unreachable", 1, "another address"},
	"a page":          {200, `<html><title>Sign in</title></html>`, []string{"Content-Type", "text/html; charset=utf-8"}, "model_answer_unreadable", 1, "Sign in"},
	"no stream":       {200, `{"id":"x","choices":[]}`, []string{"Content-Type", "application/json"}, "model_answer_unreadable", 1, "application/json"},
	"hidden marks":    {400, "{\"error\":\"bad\\u202e \\u0000thing\\n\\n" + strings.Repeat("x", 500) + "\"}", nil, "model_refused", 1, "bad thing xxx"},
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for name, c := range refusals {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			both(t, func(t *testing.T, p model.Provider) {
				server := modeltest.NewFunc(t, func(modeltest.Request) modeltest.Step {
					return modeltest.Status(c.status, c.body, c.headers...)
				})
				out, deltas, err := stream(newModel(t, config(t, p, server.URL)), ask("Hi"))
				f := wantCode(t, err, c.code)
				if !strings.Contains(f.Message, c.says) || strings.ContainsAny(f.Message, "\u202e\n\x00") || len([]rune(f.Message)) > 450 {
					t.Errorf("the message is %q, want %q in it", f.Message, c.says)
				}
				if server.Asked() != c.tries {
					t.Errorf("asked %d times, want %d", server.Asked(), c.tries)
				}
				if out.Text != "" || len(deltas) > 0 {
					t.Errorf("told %v", deltas)
				}
			})
		})
	}
}

// TestRetryBeforeTheFirstWord has failures that pass, and an answer after them.
func TestRetryBeforeTheFirstWord(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]modeltest.Step{
		"429":                  modeltest.Refuse(429, "slow down"),
		"429 with a pause":     modeltest.Status(429, `{}`, "Retry-After-Ms", "2"),
		"500":                  modeltest.Refuse(500, "oops"),
		"409":                  modeltest.Refuse(409, "again"),
		"death before a word":  modeltest.Say().Die(),
		"death after a header": modeltest.Say().Raw(": hello\n\n").Die(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			both(t, func(t *testing.T, p model.Provider) {
				m, server := scripted(t, p, first, first, modeltest.Say("Here."))
				out, _, err := stream(m, ask("Hi"))
				if err != nil || out.Text != "Here." || server.Asked() != 3 {
					t.Errorf("got %q, %v after %d requests", out.Text, err, server.Asked())
				}
			})
		})
	}
}

// TestErrorInStream has the errors that come as events, by provider.
func TestErrorInStream(t *testing.T) {
	t.Parallel()
	events := map[model.Provider]string{
		model.Anthropic: "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n",
		model.OpenAI:    "data: {\"error\":{\"message\":\"Overloaded\",\"code\":503}}\n\n",
	}
	both(t, func(t *testing.T, p model.Provider) {
		m, server := scripted(t, p, modeltest.Say().Raw(events[p]), modeltest.Say("Here."))
		if out, _, err := stream(m, ask("Hi")); err != nil || out.Text != "Here." || server.Asked() != 2 {
			t.Errorf("got %q, %v after %d requests", out.Text, err, server.Asked())
		}
	})
	both(t, func(t *testing.T, p model.Provider) {
		m, server := scripted(t, p, modeltest.Say("Once ").Raw(events[p]))
		out, _, err := stream(m, ask("Hi"))
		if f := wantCode(t, err, "provider_died"); !strings.Contains(f.Message, "Overloaded") {
			t.Error(f.Message)
		}
		if out.Text != "Once " || server.Asked() != 1 {
			t.Errorf("got %q after %d requests", out.Text, server.Asked())
		}
	})
}

// TestDeathInMidStream keeps the words and asks for no second answer. A call
// whose end nobody saw is not there to be run.
func TestDeathInMidStream(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		step modeltest.Step
		code string
	}{
		"the connection breaks": {modeltest.Say("Once ", "upon").Die(), "provider_died"},
		"in a thought":          {modeltest.Step{}.Think("hm").Say("Once upon").Die(), "provider_died"},
		"in a call":             {modeltest.Say("Once upon").Call("c", "add", `{"id":1}`).Die(), "provider_died"},
		"garbage": {modeltest.Say("Once upon").Raw("event: content_block_delta\ndata: {\"type\": <<<\n\n"),
			"model_answer_unreadable"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			both(t, func(t *testing.T, p model.Provider) {
				m, server := scripted(t, p, c.step)
				out, deltas, err := stream(m, ask("Hi"))
				wantCode(t, err, c.code)
				if out.Text != "Once upon" || len(out.Calls) != 0 || out.Stop != "" || server.Asked() != 1 {
					t.Errorf("got %+v after %d requests, told %v", out, server.Asked(), deltas)
				}
			})
		})
	}
}

func TestGarbageFromTheStart(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, p model.Provider) {
		m, server := scripted(t, p, modeltest.Say().Raw("event: message_delta\ndata: not json at all\n\n"))
		_, _, err := stream(m, ask("Hi"))
		wantCode(t, err, "model_answer_unreadable")
		if server.Asked() != 1 {
			t.Errorf("asked %d times", server.Asked())
		}
	})
}

// TestCancel stops an answer in its middle: the words stay, the connection is
// closed, and the error is the context's own.
func TestCancel(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, p model.Provider) {
		gate := modeltest.NewGate()
		server := modeltest.New(t, modeltest.Say("Once ").Wait(gate).Say("upon"))
		closed := make(chan struct{})
		c := config(t, p, server.URL)
		c.HTTP.Transport.(*http.Transport).DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := (&net.Dialer{}).DialContext(ctx, network, addr)
			return &watchedConn{Conn: conn, closed: closed}, err
		}
		m := newModel(t, c)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		out, err := m.Stream(ctx, ask("Hi"), func(model.Delta) {
			<-gate.Reached()
			cancel()
		})
		if !errors.Is(err, context.Canceled) || out.Text != "Once " {
			t.Errorf("got %q, %v", out.Text, err)
		}
		<-closed
		if server.Asked() != 1 {
			t.Errorf("asked %d times", server.Asked())
		}
	})
	both(t, func(t *testing.T, p model.Provider) {
		gate := modeltest.NewGate()
		m, _ := scripted(t, p, modeltest.Say().Wait(gate))
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() { <-gate.Reached(); cancel() }()
		if _, err := m.Stream(ctx, ask("Hi"), func(model.Delta) {}); !errors.Is(err, context.Canceled) {
			t.Errorf("before the first word: %v", err)
		}
	})
	both(t, func(t *testing.T, p model.Provider) {
		server := modeltest.NewFunc(t, func(modeltest.Request) modeltest.Step { return modeltest.Refuse(500, "oops") })
		c := config(t, p, server.URL)
		c.Backoff = time.Minute
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if _, err := newModel(t, c).Stream(ctx, ask("Hi"), func(model.Delta) {}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("in a pause: %v", err)
		}
	})
}

// watchedConn says when it is closed.
type watchedConn struct {
	net.Conn
	closed chan struct{}
	once   sync.Once
}

func (c *watchedConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// TestSilence ends an answer that neither goes on nor ends.
func TestSilence(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, p model.Provider) {
		m := func(step modeltest.Step) *model.Client {
			server := modeltest.NewFunc(t, func(modeltest.Request) modeltest.Step { return step })
			c := config(t, p, server.URL)
			c.Silence = 40 * time.Millisecond
			return newModel(t, c)
		}
		out, _, err := stream(m(modeltest.Say("Once ").Wait(modeltest.NewGate())), ask("Hi"))
		if f := wantCode(t, err, "provider_died"); out.Text != "Once " || !strings.Contains(f.Message, "nothing came for 40ms") {
			t.Errorf("got %q, %s", out.Text, f.Message)
		}
		_, _, err = stream(m(modeltest.Say().Wait(modeltest.NewGate())), ask("Hi"))
		wantCode(t, err, "model_unreachable")
	})
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, p model.Provider) {
		m, server := scripted(t, p)
		server.Close()
		_, _, err := stream(m, ask("Hi"))
		wantCode(t, err, "model_unreachable")
	})
	both(t, func(t *testing.T, p model.Provider) {
		guard, err := netguard.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		server := modeltest.New(t)
		c := config(t, p, server.URL)
		c.HTTP = guard.Client(netguard.ClientOptions{})
		t.Cleanup(c.HTTP.CloseIdleConnections)
		_, _, err = stream(newModel(t, c), ask("Hi"))
		wantCode(t, err, "model_unreachable")
		if server.Asked() != 0 {
			t.Error("the guard let the request through")
		}
	})
}

func TestNew(t *testing.T) {
	t.Parallel()
	client := &http.Client{}
	for name, c := range map[string]struct {
		config model.Config
		code   string
	}{
		"no key at Anthropic": {model.Config{Provider: model.Anthropic, HTTP: client, Name: "m"}, "model_key_missing"},
		"no key at OpenAI":    {model.Config{Provider: model.OpenAI, BaseURL: "https://api.openai.com", HTTP: client, Name: "m"}, "model_key_missing"},
		"no key at home":      {model.Config{Provider: model.OpenAI, BaseURL: "http://127.0.0.1:11434", HTTP: client}, ""},
		"unknown provider":    {model.Config{Provider: "acme", HTTP: client}, "model_provider_unknown"},
		"no address":          {model.Config{Provider: model.OpenAI, BaseURL: "localhost:11434", HTTP: client}, "model_address_invalid"},
		"a name in it":        {model.Config{Provider: model.OpenAI, BaseURL: "https://me:secret@host", HTTP: client}, "model_address_invalid"},
	} {
		_, err := model.New(c.config)
		if c.code == "" && err != nil || c.code != "" && !fault.HasCode(err, c.code) {
			t.Errorf("%s: %v, want %q", name, err, c.code)
		}
	}
	if _, err := model.New(model.Config{Provider: model.OpenAI, Key: "k"}); err == nil {
		t.Error("a client without its way out was made")
	}
}

// TestKey stands where its provider looks for it.
func TestKey(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, p model.Provider) {
		m, server := scripted(t, p, modeltest.Say("Hi."))
		if _, _, err := stream(m, ask("Hi")); err != nil {
			t.Fatal(err)
		}
		r := server.Requests()[0]
		if got := r.Header.Get("Authorization"); got != "Bearer "+key {
			t.Errorf("Authorization: %q", got)
		}
		if got := r.Header.Get("X-Api-Key"); p == model.Anthropic && got != key {
			t.Errorf("X-Api-Key: %q", got)
		}
		if strings.Contains(string(r.Raw), key) {
			t.Error("the body holds the key")
		}
	})
}

// TestEnvironment proves that nothing of the server's own environment reaches
// an address that a member chose.
func TestEnvironment(t *testing.T) {
	for name, value := range map[string]string{
		"ANTHROPIC_API_KEY": "sk-operator", "ANTHROPIC_AUTH_TOKEN": "sk-operator", "ANTHROPIC_CUSTOM_HEADERS": "X-Operator: sk-operator",
		"OPENAI_API_KEY": "sk-operator", "OPENAI_ORG_ID": "sk-operator", "OPENAI_PROJECT_ID": "sk-operator", "OPENAI_CUSTOM_HEADERS": "X-Operator: sk-operator",
		"ANTHROPIC_BASE_URL": "http://127.0.0.1:1", "OPENAI_BASE_URL": "http://127.0.0.1:1",
	} {
		t.Setenv(name, value)
	}
	for _, p := range providers {
		server := modeltest.New(t, modeltest.Say("Hi."))
		c := config(t, p, server.URL)
		c.Key = ""
		if _, _, err := stream(newModel(t, c), ask("Hi")); err != nil {
			t.Fatal(err)
		}
		for name, values := range server.Requests()[0].Header {
			if strings.Contains(strings.Join(values, " "), "sk-operator") || name == "Authorization" || name == "X-Api-Key" {
				t.Errorf("%s: %s: %v", p, name, values)
			}
		}
	}
}
