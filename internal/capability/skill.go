package capability

import (
	"maps"
	"slices"
)

// SameDocument reports whether two skills have the same SKILL.md but for how
// it is spelt: name, description, instructions and every field of the front
// matter. What lies beside it does not count.
func SameDocument(a, b Content) bool {
	s, ok := a.Spec.(*SkillSpec)
	t, ok2 := b.Spec.(*SkillSpec)
	return ok && ok2 && a.Name == b.Name && a.Description == b.Description &&
		s.Instructions == t.Instructions && s.License == t.License && s.Compatibility == t.Compatibility &&
		s.AllowedTools == t.AllowedTools && maps.Equal(s.Metadata, t.Metadata) &&
		slices.Equal(s.Serves, t.Serves) && slices.Equal(s.Requires, t.Requires)
}
