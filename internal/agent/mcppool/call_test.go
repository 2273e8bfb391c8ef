package mcppool_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"capstore/internal/agent/mcppool"
	"capstore/internal/fault"

	"github.com/google/go-cmp/cmp"
)

// on answers one method by f and leaves the rest to the stub.
func on(method string, f func(w http.ResponseWriter, m message)) func(http.ResponseWriter, *http.Request, message) bool {
	return func(w http.ResponseWriter, _ *http.Request, m message) bool {
		if m.Method != method {
			return false
		}
		f(w, m)
		return true
	}
}

func call(t *testing.T, p *mcppool.Pool, s *server, args string) (mcppool.Result, error) {
	t.Helper()
	return p.Call(t.Context(), alice, s.target(), "echo", json.RawMessage(args))
}

func TestNumbersStayAsTheyAreSpelt(t *testing.T) {
	t.Parallel()
	var got json.RawMessage
	structured := `{"id":18446744073709551615,"amount":0.1000000000000000055,"big":1e400}`
	for _, stream := range []bool{false, true} {
		s := serve(t, on("tools/call", func(w http.ResponseWriter, m message) {
			var params struct{ Arguments json.RawMessage }
			_ = json.Unmarshal(m.Params, &params)
			got = bytes.Clone(params.Arguments)
			result := `{"content":[{"type":"text","text":"n"}],"structuredContent":` + structured + `}`
			if stream {
				event(w, "event: message\n", fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result))
				return
			}
			answer(w, m, result)
		}))
		args := `{"order":7312459980021764353,"price":1.10}`
		r, err := call(t, newPool(t, mcppool.Options{}), s, args)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != args {
			t.Errorf("the server got %s", got)
		}
		if string(r.Structured) != structured {
			t.Errorf("stream %v: the answer became %s", stream, r.Structured)
		}
	}
}

func TestArgumentsMayBeAbsent(t *testing.T) {
	t.Parallel()
	var got []string
	s := serve(t, on("tools/call", func(w http.ResponseWriter, m message) {
		var params struct {
			Name      string
			Arguments json.RawMessage
			Meta      struct{ ProgressToken any } `json:"_meta"`
		}
		_ = json.Unmarshal(m.Params, &params)
		got = append(got, fmt.Sprintf("%s %s %v", params.Name, params.Arguments, params.Meta.ProgressToken != nil))
		answer(w, m, `{"content":[]}`)
	}))
	p := newPool(t, mcppool.Options{})
	for _, args := range []string{"", "null", "{}"} {
		if _, err := call(t, p, s, args); err != nil {
			t.Error(err)
		}
	}
	if diff := cmp.Diff([]string{"echo {} true", "echo {} true", "echo {} true"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestContentBlocks(t *testing.T) {
	t.Parallel()
	const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
	s := serve(t, on("tools/call", func(w http.ResponseWriter, m message) {
		answer(w, m, `{"isError":true,"content":[{"type":"text","text":"ok"},{"type":"image","mimeType":"image/png","data":"`+png+`"},
			{"type":"resource","resource":{"uri":"mem://1","blob":"AAAA"}},{"type":"resource","resource":{"uri":"mem://2","mimeType":"text/plain","text":"T"}},
			{"type":"hologram","data":7},{"type":"image","mimeType":"text/html","data":"PGI+"},{"type":"image","mimeType":"image/png","data":"PHNjcmlwdD4="},
			{"type":"image","mimeType":"image/png","data":"%%"},{"type":"resource_link","uri":"file:///x","name":"x"},7,{"type":"text","text":["no"]}]}`)
	}))
	r, err := call(t, newPool(t, mcppool.Options{}), s, `{}`)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, b := range r.Content {
		got = append(got, fmt.Sprintf("%s %s %q %d %s", b.Type, b.MediaType, b.Text, len(b.Data), b.URI))
	}
	hidden := func(what string) string {
		return fmt.Sprintf("%q", "(The answer holds "+what+", which cannot be shown.)")
	}
	want := []string{
		`text text/plain "ok" 0 `, `image image/png "" 70 `, `resource application/octet-stream "" 3 mem://1`, `resource text/plain "T" 0 mem://2`,
		`hologram  ` + hidden(`a part of the type "hologram"`) + ` 0 `, `image application/octet-stream "" 3 `, `image application/octet-stream "" 8 `,
		`image  ` + hidden(`a part of the type "image" whose bytes are broken`) + ` 0 `, `resource_link  "" 0 file:///x`,
		`  ` + hidden("a part that cannot be read") + ` 0 `, `text  ` + hidden("a part that cannot be read") + ` 0 `,
	}
	if diff := cmp.Diff(want, got); diff != "" || !r.IsError {
		t.Error(diff)
	}
}

func TestAnswersThatAreNone(t *testing.T) {
	t.Parallel()
	status := func(code int, body string) func(http.ResponseWriter, message) {
		return func(w http.ResponseWriter, _ message) { w.WriteHeader(code); _, _ = io.WriteString(w, body) }
	}
	for name, c := range map[string]struct {
		answer func(w http.ResponseWriter, m message)
		code   string
	}{
		"401":      {status(401, ""), "server_unauthorized"},
		"403":      {status(403, "no"), "server_forbidden"},
		"429":      {status(429, ""), "server_busy"},
		"502 HTML": {status(502, "<html>bad gateway</html>"), "server_failed"},
		"500":      {status(500, ""), "server_failed"},
		"HTML":     {func(w http.ResponseWriter, _ message) { _, _ = io.WriteString(w, "<html>Sign in</html>") }, "not_mcp"},
		"no JSON":  {func(w http.ResponseWriter, m message) { answer(w, m, `{"content":[`) }, "not_mcp"},
		"no RPC": {func(w http.ResponseWriter, _ message) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, "[]")
		}, "not_mcp"},
		"RPC error": {func(w http.ResponseWriter, m message) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"no such tool"}}`, m.ID)
		}, "server_error"},
		"odd result": {func(w http.ResponseWriter, m message) { answer(w, m, `{"content":"text"}`) }, "bad_result"},
		"empty":      {func(w http.ResponseWriter, m message) { answer(w, m, `{}`) }, "bad_result"},
		"asks back": {func(w http.ResponseWriter, m message) {
			answer(w, m, `{"resultType":"input_required","inputRequests":{}}`)
		}, "input_required"},
		"17 MiB": {func(w http.ResponseWriter, m message) {
			answer(w, m, `{"content":[{"type":"text","text":"`+strings.Repeat("x", 17<<20)+`"}]}`)
		}, "answer_too_large"},
		"17 MiB in one line": {func(w http.ResponseWriter, m message) {
			event(w, "", `{"x":"`+strings.Repeat("x", 17<<20))
		}, "answer_too_large"},
		"garbage in a stream": {func(w http.ResponseWriter, m message) { event(w, "", "{nonsense") }, "not_mcp"},
		"stream ends": {func(w http.ResponseWriter, m message) {
			event(w, "", `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}`)
		}, "disconnected"},
		"stream that could resume ends": {func(w http.ResponseWriter, m message) {
			event(w, "id: 1\n", `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}`)
		}, "disconnected"},
		"connection dies": {func(w http.ResponseWriter, m message) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":7,"resu`)
			panic(http.ErrAbortHandler)
		}, "disconnected"},
		"dies before a word": {func(http.ResponseWriter, message) { panic(http.ErrAbortHandler) }, "disconnected"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bad := true
			s := serve(t, on("tools/call", func(w http.ResponseWriter, m message) {
				if bad {
					bad = false
					c.answer(w, m)
					return
				}
				answer(w, m, `{"content":[]}`)
			}))
			p := newPool(t, mcppool.Options{})
			_, err := call(t, p, s, `{}`)
			if !fault.HasCode(err, c.code) {
				t.Errorf("got %v, want %s", err, c.code)
			}
			if n := s.count("tools/call"); n != 1 {
				t.Errorf("the call was sent %d times", n)
			}
			if _, err := call(t, p, s, `{}`); err != nil {
				t.Errorf("the next call: %v", err)
			}
		})
	}
}

func TestFirstContact(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script func(w http.ResponseWriter, r *http.Request, m message) bool
		code   string
	}{
		"404": {func(w http.ResponseWriter, _ *http.Request, _ message) bool { w.WriteHeader(404); return true }, "wrong_address"},
		"405": {func(w http.ResponseWriter, _ *http.Request, _ message) bool { w.WriteHeader(405); return true }, "wrong_address"},
		"401": {func(w http.ResponseWriter, _ *http.Request, _ message) bool { w.WriteHeader(401); return true }, "server_unauthorized"},
		"page": {func(w http.ResponseWriter, _ *http.Request, _ message) bool {
			_, _ = io.WriteString(w, "<html>")
			return true
		}, "not_mcp"},
		"502":  {func(w http.ResponseWriter, _ *http.Request, _ message) bool { w.WriteHeader(502); return true }, "server_failed"},
		"ends": {func(http.ResponseWriter, *http.Request, message) bool { panic(http.ErrAbortHandler) }, "no_handshake"},
		"metadata": {func(w http.ResponseWriter, r *http.Request, _ message) bool {
			http.Redirect(w, r, "http://169.254.169.254/latest", http.StatusTemporaryRedirect)
			return true
		}, "address_refused"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := call(t, newPool(t, mcppool.Options{}), serve(t, c.script), `{}`)
			if !fault.HasCode(err, c.code) {
				t.Errorf("got %v, want %s", err, c.code)
			}
		})
	}
	p := newPool(t, mcppool.Options{})
	for url, code := range map[string]string{"http://mcp.example/": "tls_required", "http://10.0.0.1/": "address_refused", "ftp://x/": "scheme_refused", "http://127.0.0.1:1/": "unreachable"} {
		if _, err := p.Call(t.Context(), alice, mcppool.Target{URL: url}, "x", nil); !fault.HasCode(err, code) {
			t.Errorf("%s: %v, want %s", url, err, code)
		}
	}
}

func TestSilentServer(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	s := serve(t, func(http.ResponseWriter, *http.Request, message) bool { <-release; return true })
	defer close(release) // before the servers are closed
	p := newPool(t, mcppool.Options{ConnectTime: 50 * time.Millisecond})
	if _, err := call(t, p, s, `{}`); !fault.HasCode(err, "connect_timed_out") {
		t.Errorf("handshake: %v", err)
	}
	quiet := serve(t, on("tools/call", func(http.ResponseWriter, message) { <-release }))
	p = newPool(t, mcppool.Options{CallIdle: 50 * time.Millisecond})
	if _, err := call(t, p, quiet, `{}`); !fault.HasCode(err, "timed_out") {
		t.Errorf("call: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	hang := serve(t, on("tools/call", func(http.ResponseWriter, message) { cancel(); <-release }))
	if _, err := newPool(t, mcppool.Options{}).Call(ctx, alice, hang.target(), "echo", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// Progress keeps a call alive up to its whole time, and silence ends it.
func TestLimit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		every time.Duration // of progress, 0 for none
		after time.Duration // when the call ends
		says  string
	}{
		"silent":              {0, time.Minute, "was silent for 1m0s"},
		"progress for ever":   {5 * time.Second, 10 * time.Minute, "took longer than 10m0s"},
		"progress too seldom": {2 * time.Minute, time.Minute, "was silent"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				l := mcppool.NewLimit(t.Context(), t.Context(), time.Minute, 10*time.Minute)
				defer l.Stop()
				for c.every > 0 && l.Context().Err() == nil {
					select {
					case <-l.Context().Done():
					case <-time.After(c.every):
						l.Reset()
					}
				}
				<-l.Context().Done()
				if took := time.Since(begun); took != c.after {
					t.Errorf("ended after %v, want %v", took, c.after)
				}
				if cause := context.Cause(l.Context()); !strings.Contains(cause.Error(), c.says) {
					t.Errorf("cause: %v", cause)
				}
			})
		})
	}
}

func TestLostSession(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	p := newPool(t, mcppool.Options{})
	if _, err := call(t, p, s, `{}`); err != nil {
		t.Fatal(err)
	}
	s.forget()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if _, err := call(t, p, s, `{}`); err != nil {
				t.Errorf("after the restart: %v", err)
			}
		})
	}
	wg.Wait()
	if n := s.count("initialize"); n != 2 {
		t.Errorf("%d handshakes, want 2", n)
	}
	// One that is lost again and again is not asked for ever.
	always := serve(t, func(w http.ResponseWriter, _ *http.Request, m message) bool {
		if m.Method != "tools/call" {
			return false
		}
		w.WriteHeader(http.StatusNotFound)
		return true
	})
	if _, err := call(t, p, always, `{}`); !fault.HasCode(err, "session_lost") || always.count("tools/call") != 2 {
		t.Errorf("lost twice: %v after %d calls", err, always.count("tools/call"))
	}
	// Some say it with another status.
	first := true
	odd := serve(t, on("tools/call", func(w http.ResponseWriter, m message) {
		if first {
			first = false
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: Server not initialized"}}`)
			return
		}
		answer(w, m, `{"content":[]}`)
	}))
	if _, err := call(t, p, odd, `{}`); err != nil || odd.count("initialize") != 2 {
		t.Errorf("400 not initialized: %v, %d handshakes", err, odd.count("initialize"))
	}
}
