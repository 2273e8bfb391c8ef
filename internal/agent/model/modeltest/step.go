package modeltest

import (
	"net/http"
	"strconv"
)

// Step is one answer of the scripted model. Its methods add to it in the order
// in which it is told, and return a new Step.
type Step struct {
	match  func(Request) bool
	parts  []part
	status int
	header http.Header
	body   string
	stop   string
	usage  Usage
}

// Usage is the count of tokens that an answer claims, the cached ones apart.
type Usage struct{ Input, CachedInput, CacheWrite, Output int64 }

// part is one thing that happens in an answer. One field is set.
type part struct {
	text, thinking string
	call           *call
	gate           *Gate
	raw            *string
	die            bool
}

type call struct {
	id, name string
	pieces   []string
	extra    string // further members of an OpenAI call, as JSON
}

// Say begins an answer with text in chunks as they are given; none at all is
// an answer that says nothing.
func Say(chunks ...string) Step { return Step{}.Say(chunks...) }

// Call begins an answer with a tool call.
func Call(id, name string, arguments ...string) Step { return Step{}.Call(id, name, arguments...) }

// Status is an answer by an HTTP status with a JSON or other body. Headers
// come as pairs of name and value.
func Status(code int, body string, headers ...string) Step {
	s := Step{status: code, body: body, header: http.Header{}}
	for i := 0; i+1 < len(headers); i += 2 {
		s.header.Set(headers[i], headers[i+1])
	}
	return s
}

// Refuse is an error in the protocol's own form, with a message.
func Refuse(code int, message string) Step {
	return Status(code, `{"type":"error","error":{"type":"scripted","message":`+strconv.Quote(message)+`}}`,
		"Content-Type", "application/json")
}

func (s Step) with(p part) Step {
	s.parts = append(s.parts[:len(s.parts):len(s.parts)], p)
	return s
}

// Say adds text in chunks.
func (s Step) Say(chunks ...string) Step {
	for _, text := range chunks {
		s = s.with(part{text: text})
	}
	return s
}

// Think adds thoughts in chunks.
func (s Step) Think(chunks ...string) Step {
	for _, text := range chunks {
		s = s.with(part{thinking: text})
	}
	return s
}

// Call adds a tool call whose arguments are sent in the pieces given, byte for
// byte and whether they are JSON or not.
func (s Step) Call(id, name string, arguments ...string) Step {
	return s.with(part{call: &call{id: id, name: name, pieces: arguments}})
}

// CallWith is Call with further members, which only Chat Completions carries.
func (s Step) CallWith(id, name, extra string, arguments ...string) Step {
	return s.with(part{call: &call{id: id, name: name, pieces: arguments, extra: extra}})
}

// Wait holds the answer at this place until the gate is opened, the client
// goes away or the server closes.
func (s Step) Wait(g *Gate) Step { return s.with(part{gate: g}) }

// Raw adds bytes to the stream as they are.
func (s Step) Raw(text string) Step { return s.with(part{raw: &text}) }

// Die breaks the connection at this place.
func (s Step) Die() Step { return s.with(part{die: true}) }

// Stop sets why the answer says that it ended, in the words of Messages:
// max_tokens, refusal. Chat Completions says length and content_filter.
func (s Step) Stop(reason string) Step { s.stop = reason; return s }

// Costs sets the usage, which is otherwise 10 tokens in and 5 out.
func (s Step) Costs(u Usage) Step { s.usage = u; return s }

// If keeps the step for requests that the function admits.
func (s Step) If(match func(Request) bool) Step { s.match = match; return s }

func (s Step) tokens() Usage {
	if s.usage == (Usage{}) {
		return Usage{Input: 10, Output: 5}
	}
	return s.usage
}

func (s Step) calls() bool {
	for _, p := range s.parts {
		if p.call != nil {
			return true
		}
	}
	return false
}

// Gate is a place in an answer where it waits.
type Gate struct {
	reached chan struct{}
	open    chan struct{}
}

// NewGate returns a closed gate.
func NewGate() *Gate { return &Gate{reached: make(chan struct{}, 1), open: make(chan struct{})} }

// Reached receives once for each time that an answer came to the gate and was
// noticed; it holds one.
func (g *Gate) Reached() <-chan struct{} { return g.reached }

// Open lets through whatever waits, and all that comes later. It may be called
// once.
func (g *Gate) Open() { close(g.open) }
