package agent

import (
	"context"
	"encoding/json"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/registry"
)

// The built-in tools through which skills are read. A skill is a document,
// never a tool name.
const (
	UseSkill      = registry.UseSkill
	ReadSkillFile = registry.ReadSkillFile
)

// Bind returns what the actor's agent carries now, as a page or a draft looks
// at it. It reads the database and what demand has taught already; it asks no
// server.
func (s *Service) Bind(ctx context.Context, actor capability.Actor) (*registry.Snapshot, error) {
	bound, err := s.registry.Bind(ctx, actor, capability.SurfaceWeb)
	if err != nil {
		return nil, err
	}
	defer bound.Release()
	return bound.Snapshot, nil
}

// resolveSkill binds a call of a skill built-in to the skill that it names, so
// that authority is asked for that skill and its admitted digest is read.
func resolveSkill(snap *registry.Snapshot, req Request) (*bound, bool) {
	if req.Name != UseSkill && req.Name != ReadSkillFile {
		return nil, false
	}
	tool, ok := snap.Builtin(req.Name)
	if !ok {
		return nil, false
	}
	b := &bound{Request: req, tool: tool}
	var args struct{ Name string }
	if json.Unmarshal(req.Arguments, &args) == nil {
		b.entry, _ = snap.Skill(strings.TrimSpace(args.Name))
	}
	return b, true // a name that is not there fails the schema's enum
}
