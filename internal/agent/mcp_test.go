package agent_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"capstore/internal/agent"
	"capstore/internal/capability"
	"capstore/internal/registry"
	"capstore/internal/secret"
)

// mcpServer is a real MCP server that wants a bearer token. Make it before the
// world, so that it outlives the agent's sessions with it. It counts every
// request, those without the token included.
func mcpServer(t *testing.T, token string) (url string, requests *atomic.Int64) {
	t.Helper()
	requests = &atomic.Int64{}
	server := mcp.NewServer(&mcp.Implementation{Name: "stub", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{
		Name: "whoami", Description: "Says who calls.", InputSchema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`),
	}, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{
			&mcp.TextContent{Text: "arguments " + string(r.Params.Arguments)}, &mcp.TextContent{Text: "your token is " + token},
		}}, nil
	})
	server.AddTool(&mcp.Tool{Name: "wipe", Description: "Deletes.", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{}, nil
		})
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
	ts := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		if r.Header.Get("Authorization") != "Bearer "+token {
			http.Error(rw, "who are you", http.StatusUnauthorized)
			return
		}
		handler.ServeHTTP(rw, r)
	}))
	t.Cleanup(func() { // a session keeps its stream open until it is told
		ts.CloseClientConnections()
		ts.Close()
	})
	return ts.URL, requests
}

func TestAnMCPServerIsAskedOnlyOnDemand(t *testing.T) {
	t.Parallel()
	const token = "token-93ab-canary"
	url, requests := mcpServer(t, token)
	w := newWorld(t)
	_, err := w.sec.Set(t.Context(), w.member, secret.NewSecret{Name: "STUB_TOKEN", Value: secret.NewValue(token)})
	if err != nil {
		t.Fatal(err)
	}
	v := w.publish(t, w.member, "stub", map[string]any{
		"type": "mcp", "url": url, "auth": "secret", "provides": []any{"whoami"}, "toolClasses": map[string]any{"whoami": "read"},
		"requiredSecrets": []any{map[string]any{"name": "TOKEN"}},
	})
	w.adopt(t, w.member, v, map[string]string{"TOKEN": "STUB_TOKEN"})

	snap, err := w.agent.Bind(t.Context(), w.member)
	if err != nil {
		t.Fatal(err)
	}
	if _, tool, ok := snap.Tool("mcp__stub__whoami"); !ok || tool.Schema != nil || requests.Load() != 0 {
		t.Fatalf("declared tool %+v, %v; the server was asked %d times", tool, ok, requests.Load())
	}
	learnt, err := w.agent.Learn(t.Context(), w.member, capability.CapabilityKey(v.Source, v.ID))
	if err != nil {
		t.Fatal(err)
	}
	if _, tool, ok := learnt.Tool("mcp__stub__whoami"); !ok || tool.Schema == nil || tool.Write {
		t.Errorf("learnt tool %+v", tool)
	}
	if _, tool, ok := learnt.Tool("mcp__stub__wipe"); !ok || !tool.Write || tool.Allowed {
		t.Errorf("an unclassified tool is a write that nobody opted into: %+v", tool)
	}

	entries := w.say(t, w.member, agent.Ask{Tool: "mcp__stub__whoami", Arguments: json.RawMessage(`{"n":7312459980021764353}`)})
	result := last[agent.ToolResult](t, entries, agent.EntryToolResult)
	text := string(result.Content[0]) + string(result.Content[len(result.Content)-1])
	if result.IsError || !strings.Contains(text, "7312459980021764353") {
		t.Errorf("result %+v", result)
	}
	if strings.Contains(text, token) {
		t.Error("the server's echo of the token is shown")
	}
	refused := last[agent.ToolResult](t, w.say(t, w.member, agent.Ask{Tool: "mcp__stub__wipe"}), agent.EntryToolResult)
	if refused.Code != "write_not_enabled" {
		t.Errorf("a write without opt-in: %+v", refused)
	}
}

func TestAServerThatCannotBeAskedSaysWhy(t *testing.T) {
	t.Parallel()
	url, _ := mcpServer(t, "right")
	w := newWorld(t)
	_, err := w.sec.Set(t.Context(), w.member, secret.NewSecret{Name: "STUB_TOKEN", Value: secret.NewValue("wrong")})
	if err != nil {
		t.Fatal(err)
	}
	for name, spec := range map[string]map[string]any{
		"refuses the token": {"url": url, "auth": "secret", "requiredSecrets": []any{map[string]any{"name": "TOKEN"}}},
		"a container":       {"image": "mcp/postgres"},
	} {
		t.Run(name, func(t *testing.T) {
			spec["type"] = "mcp"
			v := w.publish(t, w.member, strings.ReplaceAll(name, " ", "-"), spec)
			bindings := map[string]string{}
			if spec["requiredSecrets"] != nil {
				bindings["TOKEN"] = "STUB_TOKEN"
			}
			w.adopt(t, w.member, v, bindings)
			key := capability.CapabilityKey(v.Source, v.ID)
			snap, err := w.agent.Learn(t.Context(), w.member, key)
			if err != nil {
				t.Fatal(err)
			}
			entry, ok := snap.Find(key)
			if !ok || entry.Trouble == "" || entry.Standing != registry.Failing {
				t.Errorf("entry %+v", entry)
			}
		})
	}
}
