package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"capstore/internal/fault"
	"capstore/internal/jsonx"
)

func TestAddress(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		provider  Provider
		raw, want string
		own       bool
	}{
		{Anthropic, "", "https://api.anthropic.com/", true},
		{Anthropic, "https://api.anthropic.com/v1/messages", "https://api.anthropic.com/", true},
		{Anthropic, "https://gate.example/anthropic/v1/", "https://gate.example/anthropic/", false},
		{OpenAI, " ", "https://api.openai.com/v1/", true},
		{OpenAI, "http://127.0.0.1:11434", "http://127.0.0.1:11434/v1/", false},
		{OpenAI, "http://127.0.0.1:11434/", "http://127.0.0.1:11434/v1/", false},
		{OpenAI, "http://127.0.0.1:1234/v1", "http://127.0.0.1:1234/v1/", false},
		{OpenAI, "https://gate.example/api/v1/chat/completions?x=1#y", "https://gate.example/api/v1/", false},
		{OpenAI, "https://gate.example/v1beta/openai/", "https://gate.example/v1beta/openai/", false},
	} {
		got, err := addressOf(c.provider, c.raw)
		if err != nil || got.root != c.want || got.own != c.own {
			t.Errorf("%s %q: %+v, %v", c.provider, c.raw, got, err)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, c := range map[string]struct {
		header http.Header
		want   time.Duration
	}{
		"none":         {http.Header{}, 0},
		"seconds":      {http.Header{"Retry-After": {"7"}}, 7 * time.Second},
		"part":         {http.Header{"Retry-After": {"0.5"}}, time.Second / 2},
		"milliseconds": {http.Header{"Retry-After-Ms": {"250"}}, time.Second / 4},
		"date":         {http.Header{"Retry-After": {now.Add(time.Minute).Format(http.TimeFormat)}}, time.Minute},
		"past":         {http.Header{"Retry-After": {now.Add(-time.Minute).Format(http.TimeFormat)}}, 0},
		"negative":     {http.Header{"Retry-After": {"-3"}}, 0},
		"infinite":     {http.Header{"Retry-After": {"Inf"}}, 0},
		"no number":    {http.Header{"Retry-After": {"NaN"}}, 0},
		"words":        {http.Header{"Retry-After": {"soon"}}, 0},
	} {
		if got := retryAfter(c.header, now); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestWaits(t *testing.T) {
	t.Parallel()
	var last failure
	w := waits(0, &last)
	for i := range retries {
		want := firstBackoff << i
		got, stop := w.Next()
		if stop || got > want || got < want*3/4 {
			t.Errorf("pause %d is %s (%t), want up to %s", i, got, stop, want)
		}
	}
	if _, stop := w.Next(); !stop {
		t.Error("a fifth retry")
	}
	last.after = 9 * time.Second
	if got, stop := waits(0, &last).Next(); got != last.after || stop {
		t.Errorf("asked for 9 s, waits %s", got)
	}
	last.after = time.Hour
	if _, stop := waits(0, &last).Next(); !stop {
		t.Error("waits for an hour")
	}
}

// TestHideKey looks for every longer part of a key, wherever it stands.
func TestHideKey(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.StringMatching(`sk-[A-Za-z0-9]{10,40}`).Draw(t, "key")
		var text strings.Builder
		for range rapid.IntRange(1, 5).Draw(t, "pieces") {
			from := rapid.IntRange(0, len(key)-1).Draw(t, "from")
			to := rapid.IntRange(from, len(key)).Draw(t, "to")
			text.WriteString(key[from:to])
			text.WriteString(rapid.StringMatching(`[ .,é"]{1,3}`).Draw(t, "between"))
		}
		got := hideKey(key, text.String())
		for i := 0; i+keyPart <= len(key); i++ {
			if strings.Contains(got, key[i:i+keyPart]) {
				t.Fatalf("%q holds %q of the key", got, key[i:i+keyPart])
			}
		}
	})
	for text, want := range map[string]string{
		"Key ends in j9xy.":  "Key ends in j9xy.",
		"ollama says ollama": "[key] says [key]",
	} {
		key := map[bool]string{true: "ollama", false: "sk-0123456789j9xy"}[strings.Contains(text, "ollama")]
		if got := hideKey(key, text); got != want {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// conversations are in no order: calls without results, results without calls,
// speakers twice in a row, and silence.
func conversations() *rapid.Generator[[]Message] {
	ids := rapid.SampledFrom([]string{"a", "b", "c", "d", "e"})
	return rapid.Custom(func(t *rapid.T) []Message {
		next := 0
		var messages []Message
		for range rapid.IntRange(0, 8).Draw(t, "messages") {
			m := Message{Role: rapid.SampledFrom([]Role{User, Assistant}).Draw(t, "role"), Text: rapid.SampledFrom([]string{"", " ", "x"}).Draw(t, "text")}
			if m.Role == Assistant {
				for range rapid.IntRange(0, 2).Draw(t, "calls") {
					m.Calls = append(m.Calls, Call{ID: string(rune('a' + next)), Name: "n"})
					next++
				}
				if rapid.Bool().Draw(t, "opaque") {
					m.Opaque = json.RawMessage(`{}`)
				}
			} else {
				for _, id := range rapid.SliceOfN(ids, 0, 3).Draw(t, "results") {
					m.Results = append(m.Results, Result{Call: id, Content: []json.RawMessage{json.RawMessage(`{"type":"text","text":"r"}`)}})
				}
			}
			messages = append(messages, m)
		}
		return messages
	})
}

func TestSettle(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		messages := conversations().Draw(t, "conversation")
		before, _ := json.Marshal(messages)
		got := settle(messages)
		if after, _ := json.Marshal(messages); string(after) != string(before) {
			t.Fatal("the caller's messages were changed")
		}
		for i, m := range got {
			if empty(m) {
				t.Fatalf("message %d says nothing", i)
			}
			var want []string
			if i > 0 && m.Role == User {
				for _, call := range got[i-1].Calls {
					want = append(want, call.ID)
				}
			}
			var have []string
			for _, r := range m.Results {
				have = append(have, r.Call)
			}
			if !slices.Equal(have, want) {
				t.Fatalf("message %d answers %v, want %v", i, have, want)
			}
			if len(m.Calls) > 0 && (i+1 == len(got) || got[i+1].Role != User) {
				t.Fatalf("the calls of message %d are not answered", i)
			}
		}
		if diff := cmp.Diff(got, settle(got)); diff != "" {
			t.Fatal("settling twice differs:", diff)
		}
	})
}

// TestLateResults are results that come in a second message.
func TestLateResults(t *testing.T) {
	t.Parallel()
	told := func(s string) []json.RawMessage { return []json.RawMessage{json.RawMessage(s)} }
	got := settle([]Message{
		{Role: Assistant, Calls: []Call{{ID: "a"}, {ID: "b"}}},
		{Role: User, Results: []Result{{Call: "b", Content: told("2")}}},
		{Role: User, Results: []Result{{Call: "a", Content: told("1")}, {Call: "b", Content: told("3")}}, Text: "Go on"},
	})
	want := []Message{
		{Role: Assistant, Calls: []Call{{ID: "a"}, {ID: "b"}}},
		{Role: User, Results: []Result{{Call: "a", Content: told("1")}, {Call: "b", Content: told("2")}}, Text: "Go on"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// FuzzArguments holds that arguments are either the very bytes of one clean
// object or Broken with a reason.
func FuzzArguments(f *testing.F) {
	for _, seed := range []string{"", "null", "{}", `{"a":1}`, `{"a":1,"a":2}`, `"{}"`, "[", "{", "1e999", "\xff", `{"a":"\ud800"}`, " {\"n\":12345678901234567890}\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, written string) {
		c := Call{Name: "n"}
		c.readArguments(written)
		if (c.Broken == "") == (c.Arguments == nil) || (c.Broken == "") != (c.Fault() == nil) {
			t.Fatalf("%q became %+v, %v", written, c, c.Fault())
		}
		if c.Broken != "" && c.Broken != written {
			t.Fatalf("%q is kept as %q", written, c.Broken)
		}
		if c.Arguments != nil && string(c.Arguments) != "{}" && string(c.Arguments) != strings.TrimSpace(written) {
			t.Fatalf("%q is kept as %s", written, c.Arguments)
		}
		if input := inputOf(c); jsonx.Check(input, 0) != nil && len(written) < 1<<20 || input[0] != '{' {
			t.Fatalf("%q is given back as %s", written, input)
		}
	})
}

// tripper answers every request with a body.
type tripper struct{ body string }

func (r tripper) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {eventStream}},
		Body: io.NopCloser(strings.NewReader(r.body)), Request: req}, nil
}

// streams are whole answers of both protocols, with text, thoughts and a call.
var streams = []string{
	`event: message_start
data: {"type":"message_start","message":{"model":"m","usage":{"input_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"a"}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"b"}}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"x","name":"n","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"a\":1}"}}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":3}}

event: message_stop
data: {"type":"message_stop"}

`,
	`data: {"model":"m","choices":[{"index":0,"delta":{"content":"a","reasoning":"z","tool_calls":[{"index":0,"id":"q","function":{"name":"n","arguments":"{}"},"extra_content":{"a":1}}]}}]}

data: {"choices":[{"index":0,"delta":{"content":"b"},"finish_reason":"tool_calls"}]}

data: {"choices":[],"usage":{"prompt_tokens":4,"completion_tokens":2}}

data: [DONE]

`,
}

// checkStream holds that no stream, however bad, does more than end in a
// fault: what is told adds up to the answer, and no call is half there.
func checkStream(t interface{ Fatalf(string, ...any) }, body string) {
	for _, p := range []Provider{Anthropic, OpenAI} {
		c, err := New(Config{Provider: p, BaseURL: "http://model.example", Name: "m", Backoff: 1, HTTP: &http.Client{Transport: tripper{body}}})
		if err != nil {
			t.Fatalf("%v", err)
		}
		var told strings.Builder
		out, err := c.Stream(context.Background(), Request{Messages: []Message{{Role: User, Text: "x"}}}, func(d Delta) { told.WriteString(d.Text) })
		if out.Text != told.String() {
			t.Fatalf("%s: told %q, gave %q", p, told.String(), out.Text)
		}
		if err != nil && (out.Stop != "" || len(out.Calls) > 0) {
			t.Fatalf("%s: %+v beside %v", p, out, err)
		}
		if fault.Is(err, fault.Internal) {
			t.Fatalf("%s: %v is no fault for people", p, err)
		}
		for _, call := range out.Calls {
			if call.ID == "" || (call.Broken == "") == (call.Arguments == nil) {
				t.Fatalf("%s: %+v", p, call)
			}
		}
	}
}

func FuzzStream(f *testing.F) {
	for _, seed := range append(streams, "", "data: [DONE]\n\n", ": x\n\n", "<html>", "event: error\ndata: {}\n\n", "event: error\ndata: no\n\n",
		"data: {\"choices\":[{\"delta\":{\"content\":[{\"text\":1}],\"tool_calls\":[{}]}}]}\n\ndata: {\"error\":5}\n\n") {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) { checkStream(t, body) })
}

// TestDamagedStreams cuts, doubles and replaces pieces of good answers.
func TestDamagedStreams(t *testing.T) {
	t.Parallel()
	junk := rapid.SampledFrom([]string{"null", "{}", "[]", "1e999", "-1", `""`, "true", "\n\n", "data: ", "event: ", "{", `\u0000`, "\xff", "99999999999999999999"})
	rapid.Check(t, func(t *rapid.T) {
		body := rapid.SampledFrom(streams).Draw(t, "stream")
		for range rapid.IntRange(1, 4).Draw(t, "damages") {
			at := rapid.IntRange(0, len(body)).Draw(t, "at")
			end := min(len(body), at+rapid.IntRange(0, 12).Draw(t, "length"))
			switch rapid.IntRange(0, 3).Draw(t, "damage") {
			case 0:
				body = body[:at] + body[end:]
			case 1:
				body = body[:at] + junk.Draw(t, "junk") + body[end:]
			case 2:
				body = body[:at] + body[rapid.IntRange(0, at).Draw(t, "again"):]
			case 3:
				body = body[:at]
			}
		}
		checkStream(t, body)
	})
}

// TestBlocksOfOneIndex is a server that numbers two blocks alike.
func TestBlocksOfOneIndex(t *testing.T) {
	t.Parallel()
	events := strings.SplitAfter(streams[0], "\n\n")
	checkStream(t, strings.Join([]string{events[0], events[1], events[1], events[2], events[6]}, ""))
}

// TestWatched ends an answer that is larger than any, and takes every piece of
// it for a sign of life.
func TestWatched(t *testing.T) {
	t.Parallel()
	heard := 0
	b := &watched{ReadCloser: io.NopCloser(iotest.OneByteReader(strings.NewReader(strings.Repeat("x", 100)))),
		ctx: t.Context(), heard: func() { heard++ }, stop: func() {}, left: 64}
	got, err := io.ReadAll(b)
	if len(got) != 64 || heard != 64 || !errors.Is(err, errEndless) {
		t.Errorf("read %d, heard %d, %v", len(got), heard, err)
	}
}

func TestSafeID(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{"toolu_01-A": "toolu_01-A", "functions.add:0": "", strings.Repeat("x", 65): ""} {
		got := safeID(id, strictID)
		if want != "" && got != want || !strictID.MatchString(got) || got != safeID(id, strictID) {
			t.Errorf("%q became %q", id, got)
		}
	}
	if got := safeID("functions.add:0", looseID); got != "functions.add:0" {
		t.Error(got)
	}
}

// TestForms holds that the memory of forms is bounded and gives what it took.
func TestForms(t *testing.T) {
	t.Parallel()
	c := newFormCache(10)
	schema := func(i int) json.RawMessage {
		return json.RawMessage(fmt.Sprintf(`{"type":"object","properties":{"a":{"type":"string","maxLength":%d}}}`, i))
	}
	for i := range 25 {
		first := string(c.form(schema(i)))
		if again := string(c.form(schema(i))); again != first || !strings.Contains(first, fmt.Sprint(i)) {
			t.Errorf("%s became %s", first, again)
		}
		if len(c.of) > 10 {
			t.Errorf("%d forms are kept", len(c.of))
		}
	}
}

// BenchmarkSchemas derives the forms of 200 tools.
func BenchmarkSchemas(b *testing.B) {
	var tools []Tool
	for i := range 200 {
		tools = append(tools, Tool{Name: fmt.Sprintf("t%d", i), Schema: json.RawMessage(fmt.Sprintf(
			`{"type":"object","properties":{"id%d":{"type":"integer","description":"Which one."},"deep":{"type":"object","properties":{"x":{"type":"string"},"y":{"type":"array","items":{"type":"string"}}}}},"required":["id%d"]}`, i, i))})
	}
	for name, cold := range map[string]bool{"cold": true, "warm": false} {
		b.Run(name, func(b *testing.B) {
			c := newFormCache(1000)
			for b.Loop() {
				if cold {
					clear(c.of)
				}
				for _, t := range tools {
					c.form(t.Schema)
				}
			}
		})
	}
}
