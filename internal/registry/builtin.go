package registry

import (
	"encoding/json"
	"slices"

	"capstore/internal/capability"
	"capstore/internal/workspace"
)

// The built-in ways to find and to read what a turn may use. They are loaded
// in every turn.
const (
	FindTools     = "find_tools"
	UseSkill      = "use_skill"
	ReadSkillFile = "read_skill_file"
	ReadResult    = "read_result"
	Broker        = "mcp"
)

// Builtin is an entry that ships with capstore: one function, allowed to
// whoever may run tools.
func Builtin(t Tool) Entry {
	t.Allowed = true
	if t.Raw == "" {
		t.Raw = t.Name
	}
	row := workspace.Row{Description: t.Description, Digest: "builtin"}
	row.Candidate = capability.Candidate{
		Key: capability.BuiltinKey(t.Name), Channel: capability.ChannelTool, Name: t.Name,
		Origin: capability.OriginBuiltin, Baseline: true,
	}
	row.Scope, row.Wanted, row.Enabled, row.Reason = capability.ScopeBuiltin, true, true, capability.OnBuiltin
	return Entry{Kind: EntryTool, Origin: OriginBuiltin, Standing: Usable, Row: row, Tools: []Tool{t}}
}

// Control is the entry of an operation of capstore itself.
func Control(t Tool) Entry {
	e := Builtin(t)
	e.Serves = []string{ControlPlane}
	return e
}

// orientation are the built-ins for what the entries hold.
func orientation(entries []Entry) []Entry {
	var skills, servers []string
	for i := range entries {
		switch e := &entries[i]; {
		case !e.Standing.Callable():
		case e.Kind == EntrySkill:
			skills = append(skills, e.Row.Name)
		case e.Kind == EntryMCP:
			servers = append(servers, e.Row.Name)
		}
	}
	out := []Entry{Builtin(findTools), Builtin(readResult)}
	if len(skills) > 0 {
		name := oneOf(skills)
		out = append(out,
			Builtin(Tool{Name: UseSkill, Description: "Loads the instructions of a skill.",
				Schema: objectSchema(map[string]any{"name": name}, "name")}),
			Builtin(Tool{Name: ReadSkillFile, Description: "Reads one file that lies beside a skill.",
				Schema: objectSchema(map[string]any{"name": name, "path": map[string]any{"type": "string"}}, "name", "path")}))
	}
	if len(servers) > 0 {
		out = append(out, Builtin(Tool{Name: Broker,
			Description: "Reaches an MCP server whose tools are not listed: without a tool it lists what the server has, with one it calls that tool.",
			Schema: objectSchema(map[string]any{
				"server":    oneOf(servers),
				"tool":      map[string]any{"type": "string", "description": "The tool's own name at the server."},
				"arguments": map[string]any{"type": "object", "description": "What the tool takes."},
			}, "server")}))
	}
	for i := range out {
		out[i].Always, out[i].guide = true, true
	}
	return out
}

var findTools = Tool{
	Name:        FindTools,
	Description: "Finds tools by what you need and makes them ready to call. Answers with their schemas.",
	Schema: objectSchema(map[string]any{
		"query": map[string]any{"type": "string", "description": "What the tool should do, or its name."},
		"limit": map[string]any{"type": "integer", "minimum": 1, "maximum": maxFound},
	}, "query"),
}

var readResult = Tool{
	Name:        ReadResult,
	Description: "Reads on in a result of this conversation that was cut because of its length.",
	Schema: objectSchema(map[string]any{
		"handle": map[string]any{"type": "string", "description": "The handle that the cut result gave."},
		"offset": map[string]any{"type": "integer", "minimum": 0, "description": "Where to begin, in bytes."},
	}, "handle"),
}

func oneOf(names []string) map[string]any {
	slices.Sort(names)
	return map[string]any{"type": "string", "enum": slices.Compact(names)}
}

func objectSchema(properties map[string]any, required ...string) json.RawMessage {
	raw, err := json.Marshal(map[string]any{
		"type": "object", "properties": properties, "required": required, "additionalProperties": false,
	})
	if err != nil {
		return nil // plain data always encodes
	}
	return raw
}

// maxFound is how many tools one find_tools answers with at most.
const maxFound = 20
