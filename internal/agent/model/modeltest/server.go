package modeltest

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"sync"
)

// TB is what of a test is needed here.
type TB interface {
	Helper()
	Cleanup(func())
	Errorf(format string, args ...any)
}

// Server is a scripted model. Its URL serves both protocols.
type Server struct {
	URL string

	answer func(Request) (Step, bool)
	embed  func(text string) []float64
	offers []string

	server *http.Server
	done   chan struct{} // closed by Close
	ended  chan struct{}
	once   sync.Once

	mu       sync.Mutex
	requests []Request
	asked    int
	left     []Step
}

// New starts a model that answers with the steps, one to a question: the first
// that is left and that admits it. A question without a step is refused and
// fails the test. The server ends with the test.
func New(t TB, script ...Step) *Server {
	t.Helper()
	s := &Server{left: script, done: make(chan struct{})}
	s.answer = func(r Request) (Step, bool) {
		step, ok := s.next(r)
		if !ok {
			t.Errorf("modeltest: no step is left for the question %q", r.Last().Text())
		}
		return step, ok
	}
	s.listenFor(t)
	return s
}

// NewFunc starts a model that answers each question with what the function
// makes of it. The server ends with the test.
func NewFunc(t TB, answer func(Request) Step) *Server {
	t.Helper()
	s := &Server{done: make(chan struct{})}
	s.answer = func(r Request) (Step, bool) { return answer(r), true }
	s.listenFor(t)
	return s
}

func (s *Server) listenFor(t TB) {
	t.Helper()
	if err := s.listen("127.0.0.1:0"); err != nil {
		t.Errorf("%v", err)
		return
	}
	t.Cleanup(s.Close)
}

// listen serves in the background until Close.
func (s *Server) listen(addr string) error {
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("serve a scripted model: %w", err)
	}
	s.URL = "http://" + listener.Addr().String()
	s.server = &http.Server{Handler: s, ErrorLog: log.New(io.Discard, "", 0)}
	s.ended = make(chan struct{})
	go func() {
		defer close(s.ended)
		_ = s.server.Serve(listener)
	}()
	return nil
}

// Serve starts a model at the address, for a demonstration; the caller closes
// it. The error is for an address that cannot be had.
func Serve(addr string, answer func(Request) Step) (*Server, error) {
	s := &Server{done: make(chan struct{}), answer: func(r Request) (Step, bool) { return answer(r), true }}
	if err := s.listen(addr); err != nil {
		return nil, err
	}
	return s, nil
}

// Close ends the server and every answer that waits. It may be called again.
func (s *Server) Close() {
	s.once.Do(func() { close(s.done); _ = s.server.Close() })
	<-s.ended
}

// Requests lists what was asked so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Asked returns how many requests came, those for lists and vectors too.
func (s *Server) Asked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

// Left returns how many steps nobody asked for.
func (s *Server) Left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.left)
}

// Offer sets the models that the server lists.
func (s *Server) Offer(names ...string) *Server { s.offers = names; return s }

// Embed sets the vectors that the server gives; one that is nil fails the
// request.
func (s *Server) Embed(vector func(text string) []float64) *Server { s.embed = vector; return s }

func (s *Server) next(r Request) (Step, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, step := range s.left {
		if step.match == nil || step.match(r) {
			s.left = slices.Delete(slices.Clone(s.left), i, i+1)
			return step, true
		}
	}
	return Step{}, false
}

// ServeHTTP answers both protocols.
func (s *Server) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	s.mu.Lock()
	s.asked++
	s.mu.Unlock()
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return
	}
	switch req.Method + " " + req.URL.Path {
	case "POST /v1/messages":
		s.converse(w, req, body, readMessages, (*teller).tellMessages)
	case "POST /v1/chat/completions":
		s.converse(w, req, body, readChat, (*teller).tellChat)
	case "POST /v1/embeddings":
		s.vectors(w, body)
	case "GET /v1/models":
		s.list(w)
	default:
		refuse(w, http.StatusNotFound, "there is no "+req.URL.Path)
	}
}

func (s *Server) converse(w http.ResponseWriter, req *http.Request, body []byte,
	read func([]byte) (Request, error), tell func(*teller, Request, Step)) {
	r, err := read(body)
	r.Header = req.Header
	s.mu.Lock()
	s.requests = append(s.requests, r)
	s.mu.Unlock()
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	step, ok := s.answer(r)
	if !ok {
		refuse(w, http.StatusBadRequest, "the script is over")
		return
	}
	if step.status != 0 {
		for name, values := range step.header {
			w.Header()[name] = values
		}
		w.WriteHeader(step.status)
		_, _ = io.WriteString(w, step.body)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	tell(&teller{w: w, gone: req.Context().Done(), done: s.done}, r, step)
}

func (s *Server) list(w http.ResponseWriter) {
	data := make([]map[string]any, 0, len(s.offers))
	for _, name := range s.offers {
		data = append(data, map[string]any{"id": name, "type": "model", "object": "model"})
	}
	answer(w, map[string]any{"object": "list", "data": data, "has_more": false})
}

func (s *Server) vectors(w http.ResponseWriter, body []byte) {
	var doc struct {
		Input []string `json:"input"`
		Model string   `json:"model"`
	}
	if json.Unmarshal(body, &doc) != nil || s.embed == nil {
		refuse(w, http.StatusBadRequest, "no vectors here")
		return
	}
	data := make([]map[string]any, 0, len(doc.Input))
	for i, text := range doc.Input {
		if v := s.embed(text); v != nil {
			data = append(data, map[string]any{"object": "embedding", "index": i, "embedding": v})
		}
	}
	slices.Reverse(data) // the order is not promised, the index is
	answer(w, map[string]any{"object": "list", "model": doc.Model, "data": data, "usage": map[string]int{"prompt_tokens": 1, "total_tokens": 1}})
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

func refuse(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `{"type":"error","error":{"type":"invalid_request_error","message":%s}}`, quoted(message))
}

// teller writes a stream.
type teller struct {
	w    http.ResponseWriter
	gone <-chan struct{}
	done <-chan struct{}
}

func (w *teller) event(name, data string) { w.write("event: " + name + "\ndata: " + data + "\n\n") }

func (w *teller) data(data string) { w.write("data: " + data + "\n\n") }

func (w *teller) write(text string) {
	_, _ = io.WriteString(w.w, text)
	if f, ok := w.w.(http.Flusher); ok {
		f.Flush()
	}
}

// happens does what a part asks for besides words; false ends the answer.
func (w *teller) happens(p part) bool {
	switch {
	case p.raw != nil:
		w.write(*p.raw)
	case p.die:
		panic(http.ErrAbortHandler)
	case p.gate != nil:
		select {
		case p.gate.reached <- struct{}{}:
		default:
		}
		select {
		case <-p.gate.open:
		case <-w.gone:
			return false
		case <-w.done:
			return false
		}
	}
	return true
}

func quoted(s string) string {
	raw, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(raw)
}
