package agent

import (
	"context"
	"encoding/json"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/registry"
	"capstore/internal/workspace"
)

// The built-in tools through which skills are read. A skill is a document,
// never a tool name.
const (
	UseSkill      = "use_skill"
	ReadSkillFile = "read_skill_file"
)

// Bind takes the snapshot that a turn of the actor holds from start to end. It
// reads the database and what demand has taught already; it asks no server.
func (s *Service) Bind(ctx context.Context, actor capability.Actor) (*registry.Snapshot, error) {
	carried, err := s.workspace.Carried(ctx, actor)
	if err != nil {
		return nil, err
	}
	return registry.Build(carried, int64(carried.ConfigVersion), func(row workspace.Row) (registry.Observation, bool) {
		return s.observed(actor, row)
	}), nil
}

// skillTools are the built-ins for what the snapshot holds. The admitted names
// are the only ones that use_skill takes.
func skillTools(snap *registry.Snapshot) []registry.Tool {
	names := snap.SkillNames()
	if len(names) == 0 {
		return nil
	}
	name := map[string]any{"type": "string", "enum": names}
	return []registry.Tool{
		{Name: UseSkill, Raw: UseSkill, Allowed: true, Description: "Loads the instructions of a skill.",
			Schema: objectSchema(map[string]any{"name": name}, "name")},
		{Name: ReadSkillFile, Raw: ReadSkillFile, Allowed: true, Description: "Reads one file that lies beside a skill.",
			Schema: objectSchema(map[string]any{"name": name, "path": map[string]any{"type": "string"}}, "name", "path")},
	}
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

// resolveSkill binds a call of a skill built-in to the skill that it names, so
// that authority is asked for that skill and its admitted digest is read.
func resolveSkill(snap *registry.Snapshot, req Request) (*bound, bool) {
	for _, tool := range skillTools(snap) {
		if tool.Name != req.Name {
			continue
		}
		b := &bound{Request: req, tool: tool}
		var args struct{ Name string }
		if json.Unmarshal(req.Arguments, &args) == nil {
			b.entry, _ = snap.Skill(strings.TrimSpace(args.Name))
		}
		return b, true // a name that is not there fails the schema's enum
	}
	return nil, false
}
