package workspace

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"

	"capstore/db"
	"capstore/internal/capability"
	"capstore/internal/pg"
)

// knowledge remembers what never changes: the content of versions and the
// agent configs, by their immutable keys. Nothing in it can be stale; it is
// bounded by being emptied when full.
type knowledge struct {
	mu      sync.Mutex
	facts   map[int64]facts
	configs map[configKey]capability.AgentConfig
	// adoptions are decoded once per text. Nobody changes what he is given.
	adoptions map[string]*capability.Adoption
}

type configKey struct {
	workspace string
	version   int
}

const (
	maxFacts   = 20_000
	maxConfigs = 2_000
	// maxAdoptions of a few hundred bytes each.
	maxAdoptions = 50_000
)

func newKnowledge() *knowledge {
	return &knowledge{facts: map[int64]facts{}, configs: map[configKey]capability.AgentConfig{}, adoptions: map[string]*capability.Adoption{}}
}

// facts is a version's content without its bulk: no code, instructions, files
// or template. Broken content was stored by another version of capstore.
type facts struct {
	capability.Content
	broken bool
	plugin string // that it was imported as a part of
}

func (k *knowledge) config(workspace string, version int, read func() (capability.AgentConfig, error)) (capability.AgentConfig, error) {
	key := configKey{workspace, version}
	k.mu.Lock()
	c, ok := k.configs[key]
	k.mu.Unlock()
	if ok {
		return c, nil
	}
	c, err := read()
	if err != nil {
		return c, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.configs) >= maxConfigs {
		clear(k.configs)
	}
	k.configs[key] = c
	return c, nil
}

// adoption is the adoption that was stored as raw.
func (k *knowledge) adoption(raw []byte) (*capability.Adoption, error) {
	k.mu.Lock()
	a, ok := k.adoptions[string(raw)]
	k.mu.Unlock()
	if ok {
		return a, nil
	}
	a, err := decodeAdoption(raw)
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.adoptions) >= maxAdoptions {
		clear(k.adoptions)
	}
	k.adoptions[string(raw)] = a
	return a, nil
}

// factsOf returns the facts of the versions; those never seen before cost one
// statement together.
func (s *Service) factsOf(ctx context.Context, h db.DBTX, pks []int64) (map[int64]facts, error) {
	out := make(map[int64]facts, len(pks))
	var unknown []int64
	s.known.mu.Lock()
	for _, pk := range pks {
		if f, ok := s.known.facts[pk]; ok {
			out[pk] = f
		} else {
			unknown = append(unknown, pk)
		}
	}
	s.known.mu.Unlock()
	if len(unknown) == 0 {
		return out, nil
	}
	rows, err := queries.VersionContents(ctx, h, unknown)
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("read contents: %w", err))
	}
	s.known.mu.Lock()
	defer s.known.mu.Unlock()
	if len(s.known.facts)+len(rows) > maxFacts {
		clear(s.known.facts)
	}
	for _, r := range rows {
		f := factsIn(r.Content)
		f.plugin = r.Plugin
		out[r.Pk], s.known.facts[r.Pk] = f, f
	}
	return out, nil
}

func factsIn(raw string) facts {
	c, err := decodeContent(raw)
	if err != nil {
		return facts{Content: capability.Content{Spec: brokenHook(raw)}, broken: true}
	}
	c.Spec = slim(c.Spec)
	return facts{Content: c}
}

// brokenHook is what can be told of a hook whose content this server cannot
// read: what it watches and whether it then denies it. What it says unreadably
// counts as the widest. Nil for other kinds.
func brokenHook(raw string) capability.Spec {
	var c struct {
		Spec struct {
			Type                        capability.Kind
			Event, Matcher, FailureMode json.RawMessage
		}
	}
	if json.Unmarshal([]byte(raw), &c) != nil || c.Spec.Type != capability.KindHook {
		return nil
	}
	text := func(member json.RawMessage) (s string) {
		_ = json.Unmarshal(member, &s) // "" where it is no text
		return s
	}
	spec := &capability.HookSpec{
		Event: capability.Event(text(c.Spec.Event)), Matcher: text(c.Spec.Matcher), FailureMode: capability.FailureMode(text(c.Spec.FailureMode)),
	}
	if !slices.Contains(capability.Events, spec.Event) {
		spec.Event = capability.EventBeforeTool
	}
	return spec
}

// watch is all of a hook that stays known when the hook is gone: what it
// watches, and whether what it cannot judge is denied. Nil for other kinds.
func watch(spec capability.Spec) capability.Spec {
	h, ok := spec.(*capability.HookSpec)
	if !ok {
		return nil
	}
	return &capability.HookSpec{Event: h.Event, Matcher: h.Matcher, FailureMode: h.FailureMode}
}

// slim returns the spec without its bulk.
func slim(spec capability.Spec) capability.Spec {
	switch s := spec.(type) {
	case *capability.CodeSpec:
		out := *s
		out.Code = ""
		return &out
	case *capability.SkillSpec:
		out := *s
		out.Instructions, out.Raw, out.Files = "", "", nil
		return &out
	case *capability.HookSpec:
		out := *s
		out.Code, out.Files = "", nil
		return &out
	case *capability.CommandSpec:
		out := *s
		out.Template = ""
		return &out
	}
	return spec
}

// toolsOf lists the raw names of the functions that the content is known to
// bring, sorted: the author's word for an mcp server, which may bring others.
func toolsOf(c capability.Content) []string {
	switch s := c.Spec.(type) {
	case *capability.CodeSpec:
		return []string{c.Name}
	case *capability.MCPSpec:
		set := make(map[string]bool, len(s.Provides))
		for _, tool := range s.Provides {
			set[tool] = true
		}
		for tool := range s.ToolClasses {
			set[tool] = true
		}
		return slices.Sorted(maps.Keys(set))
	}
	return nil
}

func secretNames(spec capability.Spec) []string {
	var out []string
	for _, s := range capability.SecretsOf(spec) {
		out = append(out, s.Name)
	}
	return out
}

func settingNames(spec capability.Spec) []string {
	m, ok := spec.(*capability.MCPSpec)
	if !ok {
		return nil
	}
	out := make([]string, len(m.Settings))
	for i, s := range m.Settings {
		out[i] = s.Name
	}
	return out
}

// hostsOf lists the hosts that the content asks to reach.
func hostsOf(spec capability.Spec) []string {
	if s, ok := spec.(*capability.CodeSpec); ok {
		return s.Egress
	}
	return nil
}

// required reports whether members may not switch the adopted content off.
func required(spec capability.Spec) bool {
	h, ok := spec.(*capability.HookSpec)
	return ok && h.FailsClosed()
}

// Leans is what the row serves and needs beside itself, nothing where its
// content cannot be read.
func (r *Row) Leans() capability.Leans { return leansOf(r.Spec) }

// leansOf is what the content serves and needs beside itself.
func leansOf(spec capability.Spec) capability.Leans {
	switch s := spec.(type) {
	case *capability.MCPSpec:
		return s.Leans
	case *capability.CodeSpec:
		return s.Leans
	case *capability.SkillSpec:
		return s.Leans
	case *capability.HookSpec:
		return s.Leans
	case *capability.CommandSpec:
		return s.Leans
	}
	return capability.Leans{}
}
