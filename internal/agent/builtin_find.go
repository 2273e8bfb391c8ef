package agent

import (
	"context"
	"encoding/json"
	"sync"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/jsonx"
	"capstore/internal/registry"
)

// surface is what a turn has loaded, for its calls, which run side by side.
type surface struct {
	mu sync.Mutex
	on capability.Surface
	*registry.Surface
}

// find searches what there is now of the turn's tools, and loads what it finds
// for the rest of it.
func (s *surface) find(now *registry.Snapshot, query string, limit int) registry.Found {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.FindAmong(now.Set, query, limit)
}

// promote loads what a search of this turn found before.
func (s *surface) promote(names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Promote(names...)
}

// misread reports, once, that the tool was not foreseen.
func (s *surface) misread(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Misread(name)
}

// surfaceOf is the turn's surface, or for a call outside a turn one of its own.
func surfaceOf(snap *registry.Snapshot, req Request) *surface {
	if req.surface != nil {
		return req.surface
	}
	return &surface{on: capability.SurfaceWeb, Surface: snap.Surface(capability.SurfaceWeb, "", registry.SurfaceOptions{})}
}

// findTools answers with tools that are loaded from then on. What was revoked
// since the turn began is not among them.
func (s *Service) findTools(ctx context.Context, b *bound) ToolResult {
	var args struct {
		Query string
		Limit int
	}
	if err := json.Unmarshal(b.Arguments, &args); err != nil {
		return failed(fault.New(fault.Invalid, "bad_arguments", "The arguments could not be read.").Because(err))
	}
	now, err := s.Bind(ctx, b.Actor)
	if err != nil {
		return failed(stoppedOr(ctx, err))
	}
	found := b.on.find(now, args.Query, args.Limit)
	raw, err := json.Marshal(found)
	if err != nil {
		return failed(err)
	}
	out := dataResult(raw)
	for _, t := range found.Tools {
		out.Loads = append(out.Loads, t.Name)
	}
	return out
}

// resolveBuiltin binds a call of the ways to find and to read the rest. A skill
// that is read is what authority is asked for, and so is the tool that the
// broker reaches.
func (s *Service) resolveBuiltin(snap *registry.Snapshot, req Request) (*bound, bool, error) {
	tool, ok := snap.Builtin(req.Name)
	if !ok {
		return nil, false, nil
	}
	switch req.Name {
	case UseSkill, ReadSkillFile:
		b, ok := resolveSkill(snap, req)
		return b, ok, nil
	case registry.Broker:
		b, err := resolveBroker(snap, req, tool)
		return b, true, err
	}
	entry, _ := snap.Find(capability.BuiltinKey(req.Name))
	return &bound{Request: req, entry: entry, tool: tool, on: surfaceOf(snap, req)}, true, nil
}

// resolveBroker binds a call through the broker: without a tool it lists what
// the server has, with one it is that tool's call, under the tool's own name
// and rights. A tool that nobody has heard of yet is a write unless whoever
// adopted the server said otherwise.
func resolveBroker(snap *registry.Snapshot, req Request, broker registry.Tool) (*bound, error) {
	var args struct {
		Server    string
		Tool      string
		Arguments json.RawMessage
	}
	b := &bound{Request: req, tool: broker}
	b.entry, _ = snap.Find(capability.BuiltinKey(registry.Broker))
	if json.Unmarshal(req.Arguments, &args) != nil {
		return b, nil // the schema says what is wrong
	}
	entry, ok := serverNamed(snap, args.Server)
	if !ok {
		return b, nil
	}
	b.server = entry
	if args.Tool == "" {
		return b, nil
	}
	b.entry, b.Arguments = entry, orEmpty(args.Arguments)
	var raws []string
	for _, t := range entry.Tools {
		if t.Raw == args.Tool || t.Name == args.Tool {
			if t.Refused != "" {
				return nil, fault.New(fault.Denied, "tool_refused", "%s cannot be used: %s", t.Raw, t.Refused)
			}
			b.tool, b.Name = t, t.Name
			return b, nil
		}
		raws = append(raws, t.Raw)
	}
	if entry.Asked {
		f := fault.New(fault.Invalid, "unknown_tool", "The server %s has no tool %q.", args.Server, args.Tool)
		if near := jsonx.Nearest(args.Tool, raws); near != "" {
			f.With("near", near).Do("Did you mean " + near + "?")
		}
		return nil, f
	}
	b.tool = registry.Tool{Name: capability.MCPToolName(entry.Name(), args.Tool), Raw: args.Tool,
		Write: entry.Row.Grant.IsWrite(args.Tool), Allowed: entry.Row.Grant.Allows(args.Tool)}
	if entry.Row.Origin == capability.OriginRaw {
		b.tool.Write, b.tool.Allowed = true, entry.Row.Grant.EnableWrite
	}
	b.Name = b.tool.Name
	return b, nil
}

func serverNamed(snap *registry.Snapshot, name string) (registry.Entry, bool) {
	for _, e := range snap.Entries {
		if e.Kind == registry.EntryMCP && e.Standing.Callable() && e.Name() == name {
			return e, true
		}
	}
	return registry.Entry{}, false
}

// listed is one tool of a server as the broker lists it.
type listed struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"inputSchema,omitempty"`
	Refused     string          `json:"refused,omitempty"`
}

// listServer asks a server for its tools. What it says is kept for the next
// turn, which has them by name; in this one the broker calls them.
func (s *Service) listServer(ctx context.Context, b *bound) ToolResult {
	snap, err := s.Learn(ctx, b.Actor, b.server.Row.Key)
	if err != nil {
		return failed(stoppedOr(ctx, err))
	}
	entry, _ := snap.Find(b.server.Row.Key)
	if entry.Trouble != "" {
		return failed(fault.New(fault.Unavailable, "server_failing", "The server %s could not be asked: %s", entry.Name(), entry.Trouble))
	}
	tools := make([]listed, 0, len(entry.Tools))
	for _, t := range entry.Tools {
		tools = append(tools, listed{Name: t.Raw, Description: t.Description, InputSchema: t.Schema, Refused: t.Refused})
	}
	raw, err := json.Marshal(map[string]any{"server": entry.Name(), "tools": tools})
	if err != nil {
		return failed(err)
	}
	return dataResult(raw)
}
