package mcppool

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"capstore/internal/fault"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// session is one connection to a server, in use by one member.
type session struct {
	mcp    *mcp.ClientSession
	client *http.Client
	ctx    context.Context // ends when the session is closed, with the calls in it
	cancel context.CancelFunc
	ended  chan struct{} // closed when the connection is over, whoever ended it

	users   int  // calls in it; the pool's lock guards both
	retired bool // closed once the last of them is done

	mu        sync.Mutex
	catalogue *Catalogue        // nil until it is listed
	progress  map[string]func() // by token: resets a call's idle limit
	tokens    atomic.Int64
	revision  int // moves with every list_changed
	limits    struct{ idle, total time.Duration }
}

// connect opens a session within ctx. legacy skips the question for the newest
// revision, which a server that is known not to speak it need not be asked.
func (p *Pool) connect(ctx context.Context, key Key, t Target, legacy bool) (*session, error) {
	origin, err := p.guard.ParseURL(ctx, t.URL, true)
	if err != nil {
		return nil, err
	}
	client := p.guard.Client(clientOptions)
	client.Transport = &wire{next: client.Transport, origin: origin, headers: t.Headers}
	s := &session{client: client, progress: map[string]func(){}, ended: make(chan struct{})}
	s.limits.idle, s.limits.total = p.opts.CallIdle, p.opts.CallTotal
	s.ctx, s.cancel = context.WithCancel(context.Background())
	sdk := mcp.NewClient(&mcp.Implementation{Name: "capstore", Version: p.opts.Version}, &mcp.ClientOptions{
		Capabilities:           &mcp.ClientCapabilities{},
		MultiRoundTrip:         &mcp.MultiRoundTripOptions{Disabled: true},
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { s.forget(); p.opts.Changed(key) },
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			s.progressed(r.Params.ProgressToken)
		},
	})
	var opts *mcp.ClientSessionOptions
	if legacy {
		opts = &mcp.ClientSessionOptions{ProtocolVersion: legacyVersion}
	}
	ctx, x := withExchange(ctx)
	s.mcp, err = sdk.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: origin.String(), HTTPClient: client, MaxRetries: 1}, opts)
	if err != nil {
		s.cancel()
		client.CloseIdleConnections()
		return nil, connectFault(ctx, err, x.read())
	}
	go func() { // until close at the latest
		_ = s.mcp.Wait()
		close(s.ended)
	}()
	return s, nil
}

// broken reports whether the connection is over.
func (s *session) broken() bool {
	select {
	case <-s.ended:
		return true
	default:
		return false
	}
}

func (s *session) legacy() bool {
	r := s.mcp.InitializeResult()
	return r != nil && r.ProtocolVersion <= legacyVersion
}

// close ends the session and every call in it. It may wait some seconds for the
// server's answer.
func (s *session) close() {
	s.cancel()
	_ = s.mcp.Close() // the server is told as a courtesy
	s.client.CloseIdleConnections()
}

func (s *session) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.catalogue = nil
	s.revision++
}

func (s *session) progressed(token any) {
	s.mu.Lock()
	reset := s.progress[fmt.Sprint(token)]
	s.mu.Unlock()
	if reset != nil {
		reset()
	}
}

// alive asks the server for a sign of life. The newest revision has no
// sessions, so that there is nothing to ask for.
func (s *session) alive(ctx context.Context) bool {
	if !s.legacy() {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	return s.mcp.Ping(ctx, nil) == nil
}

// callTool sends the arguments as they are spelt.
func (s *session) callTool(ctx context.Context, tool string, args json.RawMessage) (Result, outcome, error) {
	if given(args) == nil {
		args = json.RawMessage("{}")
	}
	limit := newLimit(ctx, s.ctx, s.limits.idle, s.limits.total)
	defer limit.stop()
	token := strconv.FormatInt(s.tokens.Add(1), 10)
	s.mu.Lock()
	s.progress[token] = limit.reset
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.progress, token)
		s.mu.Unlock()
	}()
	callCtx, x := withExchange(limit.ctx)
	params := &mcp.CallToolParams{Name: tool, Arguments: args}
	params.SetProgressToken(token)
	_, err := s.mcp.CallTool(callCtx, params)
	o := x.read()
	switch {
	case o.result != nil: // whatever became of the connection since
		r, err := parseResult(o.result)
		return r, o, err
	case err != nil:
		return Result{}, o, callFault(limit.ctx, err, o)
	}
	return Result{}, o, badResult(nil)
}

// list reads every page of the server's tools, or gives the list that it knows.
func (s *session) list(ctx context.Context) (Catalogue, outcome, error) {
	s.mu.Lock()
	known, revision := s.catalogue, s.revision
	s.mu.Unlock()
	if known != nil {
		return *known, outcome{}, nil
	}
	limit := newLimit(ctx, s.ctx, s.limits.idle, s.limits.idle)
	defer limit.stop()
	c, o, err := s.pages(limit.ctx)
	if err != nil {
		return Catalogue{}, o, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.revision == revision { // else it changed while it was read
		s.catalogue = &c
	}
	return c, o, nil
}

func (s *session) pages(ctx context.Context) (Catalogue, outcome, error) {
	l := &collector{seen: map[string]string{}}
	l.describe(s.mcp.InitializeResult())
	cursors := map[string]bool{}
	cursor := ""
	for {
		pageCtx, x := withExchange(ctx)
		_, err := s.mcp.ListTools(pageCtx, &mcp.ListToolsParams{Cursor: cursor})
		o := x.read()
		if err != nil {
			return Catalogue{}, o, callFault(ctx, err, o)
		}
		if o.result == nil {
			return Catalogue{}, o, fault.New(fault.Unavailable, "bad_list", "The server's list of tools cannot be read.")
		}
		next, err := l.page(o.result)
		switch {
		case err != nil:
			return Catalogue{}, o, err
		case next == "" || l.full():
			return l.finish(next, false), o, nil
		case cursors[next]:
			return l.finish(next, true), o, nil
		}
		cursors[next], cursor = true, next
	}
}

func (l *collector) describe(r *mcp.InitializeResult) {
	if r == nil {
		return
	}
	l.c.Protocol, l.c.Instructions = r.ProtocolVersion, clip(r.Instructions, maxDescription)
	if r.ServerInfo != nil {
		l.c.Server, l.c.Version = clip(r.ServerInfo.Name, 200), clip(r.ServerInfo.Version, 100)
	}
}
