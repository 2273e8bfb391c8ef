package model

import (
	"encoding/json"
	"strings"
)

// interrupted is the result of a call that has none: its turn was stopped, or
// its server died. The model must not take it for one that did not run.
var interrupted = []json.RawMessage{json.RawMessage(
	`{"type":"text","text":"There is no result: the call was interrupted. It may or may not have had its effect."}`)}

// settle makes of a conversation one that every provider takes: each call is
// answered once, in the message after it and in the order of the calls; no
// result is without its call; speakers alternate and nobody says nothing.
func settle(messages []Message) []Message {
	var out []Message
	for _, m := range messages {
		if n := len(out); n > 0 && out[n-1].Role == Assistant && len(out[n-1].Calls) > 0 {
			out = append(out, answers(out[n-1].Calls, m))
			if m.Role == User {
				continue
			}
		}
		m.Results = late(out, m)
		if empty(m) {
			continue
		}
		if n := len(out); n > 0 && joins(out[n-1], m) {
			out[n-1] = joined(out[n-1], m)
			continue
		}
		out = append(out, m)
	}
	if n := len(out); n > 0 && len(out[n-1].Calls) > 0 {
		out = append(out, answers(out[n-1].Calls, Message{Role: User}))
	}
	return out
}

// answers returns the user's message after the calls, with what next has.
func answers(calls []Call, next Message) Message {
	given := map[string]Result{}
	if next.Role == User {
		for _, r := range next.Results {
			if _, twice := given[r.Call]; !twice {
				given[r.Call] = r
			}
		}
	} else {
		next = Message{}
	}
	m := Message{Role: User, Text: next.Text}
	for _, call := range calls {
		r, ok := given[call.ID]
		if !ok {
			r = Result{Call: call.ID, Content: interrupted, IsError: true}
		}
		m.Results = append(m.Results, r)
	}
	return m
}

// late puts the results of a message that follows another user's message into
// that one, where they stand in for the missing, and returns none: what is
// left answers no call.
func late(out []Message, m Message) []Result {
	n := len(out)
	if m.Role != User || n == 0 || out[n-1].Role != User {
		return nil
	}
	for _, r := range m.Results {
		for i, have := range out[n-1].Results {
			if have.Call == r.Call && len(have.Content) > 0 && &have.Content[0] == &interrupted[0] {
				out[n-1].Results[i] = r
			}
		}
	}
	return nil
}

func empty(m Message) bool {
	return strings.TrimSpace(m.Text) == "" && len(m.Calls) == 0 && len(m.Results) == 0 && len(m.Opaque) == 0
}

// joins reports whether two messages in a row are one: local servers' templates
// want the speakers to alternate.
func joins(before, m Message) bool {
	return before.Role == m.Role && len(before.Calls) == 0 && len(before.Opaque) == 0 && len(m.Opaque) == 0
}

func joined(before, m Message) Message {
	texts := make([]string, 0, 2)
	for _, text := range []string{before.Text, m.Text} {
		if strings.TrimSpace(text) != "" {
			texts = append(texts, text)
		}
	}
	before.Text = strings.Join(texts, "\n\n")
	before.Calls = m.Calls
	return before
}
