package mcppool_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"capstore/internal/agent/mcppool"
	"capstore/internal/fault"
	"capstore/internal/lifecycle"
	"capstore/internal/lifecycle/lifecycletest"
	"capstore/internal/netguard"
)

func TestLifecycle(t *testing.T) {
	t.Parallel()
	lifecycletest.Conforms(t, func(t *testing.T) lifecycle.Service {
		g, err := netguard.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		return mcppool.New(g, mcppool.Options{})
	})
}

func TestOneDialForAll(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	p := newPool(t, mcppool.Options{})
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if _, err := call(t, p, s, `{}`); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := s.count("initialize"); n != 1 {
		t.Errorf("%d handshakes", n)
	}
	if n := s.count("tools/call"); n != 20 {
		t.Errorf("%d calls", n)
	}
}

func TestBackoff(t *testing.T) {
	t.Parallel()
	down := true
	s := serve(t, func(w http.ResponseWriter, _ *http.Request, _ message) bool {
		if down {
			w.WriteHeader(http.StatusBadGateway)
		}
		return down
	})
	now := &clock{now: time.Now()}
	p := newPool(t, mcppool.Options{Now: now.Now})
	var tries []int
	for i, pass := range []time.Duration{0, 0, 2 * time.Second, time.Second, 3 * time.Second} {
		now.pass(pass)
		if _, err := call(t, p, s, `{}`); !fault.HasCode(err, "server_failed") {
			t.Fatalf("demand %d: %v", i, err)
		}
		tries = append(tries, s.count("initialize"))
	}
	// The second and the fourth demand come within the backoff: the reason is
	// given again and nobody dials.
	if got := fmt.Sprint(tries); got != "[1 1 2 2 3]" {
		t.Errorf("dials after each demand: %s", got)
	}
	if st := p.States(); len(st) != 1 || st[0].Connected || st[0].Failures != 3 || !fault.HasCode(st[0].Reason, "server_failed") {
		t.Errorf("state: %+v", st)
	}
	down = false
	now.pass(10 * time.Minute)
	if _, err := call(t, p, s, `{}`); err != nil {
		t.Errorf("after the repair: %v", err)
	}
	if st := p.States(); !st[0].Connected || st[0].Failures != 0 || st[0].Reason != nil {
		t.Errorf("state: %+v", st)
	}
}

// Nobody shares a session, with credentials or without.
func TestMembersAreApart(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request, m message) bool {
		if m.Method != "tools/call" {
			return false
		}
		answer(w, m, fmt.Sprintf(`{"content":[{"type":"text","text":%q}]}`, r.Header.Get("Authorization")+" "+r.Header.Get("Mcp-Session-Id")))
		return true
	})
	p := newPool(t, mcppool.Options{})
	seen := map[string]string{}
	for _, who := range []struct {
		key    mcppool.Key
		secret string
	}{
		{alice, "a"}, {mcppool.Key{Workspace: "acme", Subject: "bob", Server: "stub"}, "b"}, {alice, "a"}, {alice, "rotated"},
		{mcppool.Key{Workspace: "globex", Subject: "alice", Server: "stub"}, "a"}, {alice, ""}, {mcppool.Key{Workspace: "acme", Subject: "bob", Server: "stub"}, ""},
	} {
		target := s.target()
		if who.secret != "" {
			target = s.target(header(t, "authorization", "Bearer", who.secret))
		}
		r, err := p.Call(t.Context(), who.key, target, "whoami", nil)
		if err != nil {
			t.Fatal(err)
		}
		got := r.Content[0].Text
		if want := "Bearer " + who.secret; who.secret != "" && !strings.HasPrefix(got, want+" ") || who.secret == "" && got[0] != ' ' {
			t.Errorf("%v with %q was taken for %q", who.key, who.secret, got)
		}
		_, session, _ := strings.Cut(got, "s-")
		id := fmt.Sprint(who.key, who.secret)
		if before, again := seen[session]; again && before != id {
			t.Errorf("%s shares the session of %s", id, before)
		}
		seen[session] = id
	}
	if len(seen) != 6 {
		t.Errorf("%d sessions, want 6", len(seen))
	}
}

func TestIdleSessions(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	now := &clock{now: time.Now()}
	p := newPool(t, mcppool.Options{Now: now.Now})
	demand := func() {
		t.Helper()
		if _, err := call(t, p, s, `{}`); err != nil {
			t.Fatal(err)
		}
	}
	demand()
	now.pass(30 * time.Second)
	demand()
	if n := s.count("ping"); n != 0 {
		t.Errorf("%d pings within a minute", n)
	}
	now.pass(2 * time.Minute)
	p.Reap()
	demand()
	if n := s.count("ping"); n != 1 || s.count("initialize") != 1 {
		t.Errorf("%d pings, %d handshakes", n, s.count("initialize"))
	}
	// A session that the server forgot meanwhile is renewed before the call.
	now.pass(2 * time.Minute)
	s.forget()
	demand()
	if n := s.count("initialize"); n != 2 || s.count("tools/call") != 4 {
		t.Errorf("%d handshakes, %d calls", n, s.count("tools/call"))
	}
	now.pass(11 * time.Minute)
	p.Reap()
	if st := p.States(); len(st) != 0 {
		t.Errorf("idle: %+v", st)
	}
	p.Stop() // waits for the closing
	if n := s.count("DELETE"); n != 1 {
		t.Errorf("the server was told %d times", n)
	}
	if _, err := call(t, p, s, `{}`); !fault.HasCode(err, "not_running") {
		t.Errorf("after the stop: %v", err)
	}
}

// A revocation ends what is under way.
func TestClose(t *testing.T) {
	t.Parallel()
	arrived, release := make(chan struct{}), make(chan struct{})
	s := serve(t, on("tools/call", func(http.ResponseWriter, message) { close(arrived); <-release }))
	defer close(release)
	p := newPool(t, mcppool.Options{})
	ended := make(chan error)
	go func() {
		_, err := p.Call(t.Context(), alice, s.target(), "slow", nil)
		ended <- err
	}()
	<-arrived
	p.Close(func(k mcppool.Key) bool { return k.Subject == "bob" })
	if len(p.States()) != 1 {
		t.Error("somebody else's session was closed")
	}
	p.Close(func(k mcppool.Key) bool { return k.Server == "stub" })
	if err := lifecycletest.Wait(t, ended); !fault.HasCode(err, "disconnected") {
		t.Errorf("the call: %v", err)
	}
	if len(p.States()) != 0 {
		t.Error("the session is still there")
	}
}

func TestListChanged(t *testing.T) {
	t.Parallel()
	tell := make(chan struct{})
	lists := 0
	s := serve(t, func(w http.ResponseWriter, r *http.Request, m message) bool {
		switch {
		case r.Method == http.MethodGet:
			w.Header().Set("Content-Type", "text/event-stream")
			w.(http.Flusher).Flush()
			select {
			case <-tell:
				event(w, "", `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
			case <-r.Context().Done():
			}
			<-r.Context().Done()
			return true
		case m.Method == "tools/list":
			lists++
			answer(w, m, fmt.Sprintf(`{"tools":[{"name":"v%d"}]}`, lists))
			return true
		}
		return false
	})
	changed := make(chan mcppool.Key, 1)
	p := newPool(t, mcppool.Options{Changed: func(k mcppool.Key) { changed <- k }})
	tools := func() string {
		t.Helper()
		c, err := p.Tools(t.Context(), alice, s.target())
		if err != nil {
			t.Fatal(err)
		}
		return c.Tools[0].Name
	}
	if a, b := tools(), tools(); a != "v1" || b != "v1" {
		t.Errorf("a list that did not change was asked for again: %s, %s", a, b)
	}
	close(tell)
	if k := lifecycletest.Wait(t, changed); k != alice {
		t.Errorf("told of %v", k)
	}
	if got := tools(); got != "v2" {
		t.Errorf("after the change: %s", got)
	}
}

// A server without a stream of its own, or one that never begins it, is as good
// as any.
func TestHangingStream(t *testing.T) {
	t.Parallel()
	s := serve(t, func(_ http.ResponseWriter, r *http.Request, _ message) bool {
		if r.Method == http.MethodGet {
			<-r.Context().Done()
			return true
		}
		return false
	})
	p := newPool(t, mcppool.Options{})
	if _, err := call(t, p, s, `{}`); err != nil {
		t.Error(err)
	}
	p.Stop()
}
