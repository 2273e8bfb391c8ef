package capability_test

import (
	"testing"

	"capstore/internal/capability"
)

func TestSameDocument(t *testing.T) {
	t.Parallel()
	of := func(change func(*capability.Content, *capability.SkillSpec)) capability.Content {
		spec := &capability.SkillSpec{
			Instructions: "Text.", License: "MIT", Compatibility: "all", AllowedTools: "Read", Metadata: map[string]string{"author": "Ben"},
			Leans: capability.Leans{Serves: []string{"hr"}, Requires: []string{"acme/a"}},
		}
		c := capability.Content{Name: "guide", Description: "A guide.", Spec: spec}
		change(&c, spec)
		return c
	}
	tests := map[string]struct {
		change func(*capability.Content, *capability.SkillSpec)
		same   bool
	}{
		"nothing":       {func(*capability.Content, *capability.SkillSpec) {}, true},
		"files":         {func(_ *capability.Content, s *capability.SkillSpec) { s.Files = []capability.File{{Path: "a"}} }, true},
		"the original":  {func(_ *capability.Content, s *capability.SkillSpec) { s.Raw = "---\n---\n" }, true},
		"name":          {func(c *capability.Content, _ *capability.SkillSpec) { c.Name = "other" }, false},
		"description":   {func(c *capability.Content, _ *capability.SkillSpec) { c.Description = "" }, false},
		"instructions":  {func(_ *capability.Content, s *capability.SkillSpec) { s.Instructions += "\n" }, false},
		"license":       {func(_ *capability.Content, s *capability.SkillSpec) { s.License = "" }, false},
		"compatibility": {func(_ *capability.Content, s *capability.SkillSpec) { s.Compatibility = "" }, false},
		"tools":         {func(_ *capability.Content, s *capability.SkillSpec) { s.AllowedTools = "" }, false},
		"metadata":      {func(_ *capability.Content, s *capability.SkillSpec) { s.Metadata["author"] = "Ada" }, false},
		"domains":       {func(_ *capability.Content, s *capability.SkillSpec) { s.Serves = nil }, false},
		"requirements":  {func(_ *capability.Content, s *capability.SkillSpec) { s.Requires = nil }, false},
		"kind":          {func(c *capability.Content, _ *capability.SkillSpec) { c.Spec = &capability.CommandSpec{} }, false},
	}
	base := of(func(*capability.Content, *capability.SkillSpec) {})
	for name, tt := range tests {
		if got := capability.SameDocument(base, of(tt.change)); got != tt.same {
			t.Errorf("%s: %v", name, got)
		}
	}
}
