package capability_test

import (
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"capstore/internal/capability"
)

// Different parts make different marks, also where their texts run together.
func TestMarkTellsPartsApart(t *testing.T) {
	t.Parallel()
	mark := func(lists [][]string) string {
		var m capability.Mark
		m.Number(len(lists))
		for _, l := range lists {
			m.List(l)
		}
		return m.Sum()
	}
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.SampledFrom([]string{"", "a", "aa", "b"})
		draw := rapid.SliceOfN(rapid.SliceOfN(text, 0, 3), 0, 3)
		one, two := draw.Draw(rt, "one"), draw.Draw(rt, "two")
		same := len(one) == len(two)
		for i := range one {
			same = same && len(one[i]) == len(two[i]) && (len(one[i]) == 0 || reflect.DeepEqual(one[i], two[i]))
		}
		if (mark(one) == mark(two)) != same {
			rt.Fatalf("%q and %q are the same: %v", one, two, same)
		}
	})
}

// Every field of an adoption counts but who adopted, and when.
func TestMarkOfGrant(t *testing.T) {
	t.Parallel()
	of := func(a capability.Adoption) string {
		var m capability.Mark
		m.Grant(&a)
		return m.Sum()
	}
	seen := map[string]string{"": of(capability.Adoption{})}
	add := func(name string, a capability.Adoption) {
		got := of(a)
		for other, mark := range seen {
			if mark == got {
				t.Errorf("%s makes the mark of %q", name, other)
			}
		}
		seen[name] = got
	}
	pairs := map[string]string{"A": "B"}
	add("source", capability.Adoption{Ref: capability.Ref{Source: "x"}})
	add("id", capability.Adoption{Ref: capability.Ref{ID: "x"}})
	add("version", capability.Adoption{Ref: capability.Ref{Version: "x"}})
	add("consent", capability.Adoption{ConsentDigest: "x"})
	add("bindings", capability.Adoption{SecretBindings: pairs})
	add("settings", capability.Adoption{Settings: pairs})
	add("egress", capability.Adoption{Egress: []string{"A"}})
	add("classes", capability.Adoption{ToolClasses: map[string]capability.ToolClass{"A": "read"}})
	add("write", capability.Adoption{EnableWrite: true})
	add("write tools", capability.Adoption{WriteTools: []string{"A"}})
	if of(capability.Adoption{AdoptedBy: "x", AdoptedAt: time.Unix(1, 0)}) != seen[""] {
		t.Error("who adopted, and when, counts")
	}
	if n := reflect.TypeFor[capability.Adoption]().NumField(); n != 10 {
		t.Errorf("an adoption has %d fields: say here whether the new one counts", n)
	}
}
