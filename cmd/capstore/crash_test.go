package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// client speaks JSON to a server with a token.
type client struct {
	base, token string
}

// send returns the status and the body; the error is the connection's.
func (c client) send(ctx context.Context, method, path string, body any) (int, string, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return 0, "", err
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+"/api/v1/workspaces/acme"+path, strings.NewReader(string(raw)))
	if err != nil {
		return 0, "", err
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	return res.StatusCode, string(text), err
}

// tool is a publication of a code tool.
func tool(id string) map[string]any {
	return map[string]any{"id": id, "name": id, "description": "Answers nothing.", "spec": map[string]any{
		"type": "code", "language": "python", "isReadOnly": true, "code": "print('{}')", "parametersSchema": map[string]any{"type": "object"},
	}}
}

// acknowledged collects what writers were told is kept.
type acknowledged struct {
	mu  sync.Mutex
	ids []string
}

func (a *acknowledged) add(id string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ids = append(a.ids, id)
	return len(a.ids)
}

// TestKilledInMidUse kills the server while several writers publish: whatever
// was acknowledged is there after the next start, and the killed server's
// database lets go of the folder.
func TestKilledInMidUse(t *testing.T) {
	t.Parallel()
	folder := dataFolder(t)
	s := startServer(t, folder, "--demo")
	c := client{s.url, s.command("token", "create", "--email", "admin@acme.demo", "--workspace", "acme", "--scope", "write")}

	const writers, enough = 6, 60
	var kept acknowledged
	var all sync.WaitGroup
	mid := make(chan struct{})
	for w := range writers {
		all.Go(func() {
			for n := 0; ; n++ {
				id := fmt.Sprintf("kept-%d-%d", w, n)
				status, body, err := c.send(t.Context(), http.MethodPost, "/capabilities", tool(id))
				if err != nil {
					return // the server is gone
				}
				if status != http.StatusCreated {
					t.Errorf("%s: status %d: %s", id, status, body)
					s.kill()
					return
				}
				if kept.add(id) == enough {
					close(mid)
				}
			}
		})
	}
	select {
	case <-mid:
	case <-s.ended:
	}
	s.kill()
	all.Wait()

	again := startServer(t, folder, "--demo")
	c.base = again.url
	for _, id := range kept.ids {
		if status, body, err := c.send(t.Context(), http.MethodGet, "/capabilities/"+id, nil); status != http.StatusOK {
			t.Errorf("%s was acknowledged and is gone: status %d %s (%v)", id, status, body, err)
		}
	}
	if status, body, err := c.send(t.Context(), http.MethodPost, "/capabilities", tool("after")); status != http.StatusCreated {
		t.Errorf("after the restart: status %d %s (%v)", status, body, err)
	}
	t.Logf("%d acknowledged writes survived", len(kept.ids))
}

// TestSecondServer holds that a data folder has one server, that commands work
// beside it, and that it goes when it is asked to.
func TestSecondServer(t *testing.T) {
	t.Parallel()
	folder := dataFolder(t)
	s := startServer(t, folder)

	second := command("", "serve", "--data", folder, "--addr", freeAddress(t))
	for _, part := range []string{folder, fmt.Sprintf("process %d (capstore serve)", s.cmd.Process.Pid), "--data"} {
		if second.Code != 1 || !strings.Contains(second.Err, part) {
			t.Errorf("the second server: %+v, want code 1 and %q", second, part)
		}
	}
	s.command("user", "create", "--email", "ada@example.com", "--name", "Ada")
	if out := s.command("doctor", "--addr", strings.TrimPrefix(s.url, "http://")); !strings.Contains(out, "is ready.") || !strings.Contains(out, "of the running server") {
		t.Errorf("doctor does not see the server:\n%s", out)
	}
	if err := s.stop(); err != nil {
		t.Errorf("asked to end: %v\n%s", err, s.said())
	}
	if out := s.command("doctor", "--addr", freeAddress(t)); !strings.Contains(out, "started for this look") {
		t.Errorf("doctor without the server:\n%s", out)
	}
}
