package agent

import (
	"encoding/json"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/jsonx"
	"capstore/internal/registry"
	"capstore/internal/toolschema"
)

// resolve finds the name in the snapshot. Unknown names are values: the
// answer names what is near.
func (s *Service) resolve(snap *registry.Snapshot, req Request) (*bound, error) {
	if len(req.Arguments) == 0 {
		req.Arguments = json.RawMessage("{}")
	}
	if entry, tool, ok := snap.Tool(req.Name); ok {
		return &bound{Request: req, entry: entry, tool: tool}, nil
	}
	if b, ok, err := s.resolveBuiltin(snap, req); ok || err != nil {
		return b, err
	}
	if name, ok := snap.Bare(req.Name); ok {
		req.Name = name
		return s.resolve(snap, req)
	}
	if _, ok := snap.Skill(req.Name); ok {
		return nil, fault.New(fault.Invalid, "not_a_tool", "%q is a skill. Load it with use_skill.", req.Name)
	}
	if entry, ok := snap.Withheld(req.Name); ok {
		return nil, fault.New(fault.Denied, "tool_"+string(entry.Standing), "%s cannot be run now (%s).", req.Name, entry.Row.Reason).
			With("reason", string(entry.Row.Reason)).With("key", string(entry.Row.Key)).Do("Its page in Settings, Tools, says why, and who can change it.")
	}
	if entry, ok := snap.HeldTool(req.Name); ok {
		return nil, definitionChanged(req.Name, entry.Row.Key)
	}
	f := fault.New(fault.Invalid, "unknown_tool", "There is no tool named %q here.", req.Name)
	if near := jsonx.Nearest(req.Name, snap.ToolNames()); near != "" {
		f.With("near", near).Do("Did you mean " + near + "?")
	}
	return nil, f
}

// admitted holds the call to what the workspace lets in by the turn's door.
func (b *bound) admitted(snap *registry.Snapshot) error {
	name := b.Name
	if b.entry.Kind == registry.EntrySkill {
		name = capability.SkillName(b.entry.Name())
	}
	if b.surface == nil || b.entry.Always || snap.Config.Admits(b.surface.on, name) {
		return nil
	}
	return fault.New(fault.Denied, "not_admitted", "The workspace lets no %s in by this way (%s).", b.Name, b.surface.on).
		Do("Ask an admin of this workspace.")
}

// checkArguments holds the arguments to the tool's own schema. Nothing is
// coerced: every fault names its path, what was expected and what was found.
func (b *bound) checkArguments() error {
	if err := jsonx.Check(b.Arguments, maxArguments); err != nil {
		return err
	}
	if b.tool.Schema == nil {
		return nil // the server that owns the tool is the one that knows
	}
	schema, err := toolschema.Compile(b.tool.Schema)
	if err != nil {
		return err
	}
	b.schema, b.hints = schema, schema.Hints(b.Arguments)
	return fault.Fields(schema.Validate(b.Arguments))
}
