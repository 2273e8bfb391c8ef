// Package sample makes believable stores of any size, and questions whose right
// answers are known, always the same ones for a seed. Tests and load
// measurements share it.
package sample

import (
	"encoding/json"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"capstore/internal/capability"
	"capstore/internal/catalog"
)

func split(s string) []string { return strings.Fields(s) }

func pick(r *rand.Rand, words []string) string { return words[r.IntN(len(words))] }

// skewed prefers the first words, as people do.
func skewed(r *rand.Rand, words []string) string {
	return words[int(float64(len(words))*r.Float64()*r.Float64())]
}

// Store describes a store to make.
type Store struct {
	Seed    uint64
	N       int
	Sources []string // the owners; they must exist
	Creator uuid.UUID
}

// All makes the capabilities of the store, in the order of their creation. The
// i-th is the same in every store with its seed, however large.
func (s Store) All() iter.Seq[catalog.Loaded] {
	return func(yield func(catalog.Loaded) bool) {
		for i := range s.N {
			if !yield(s.At(i)) {
				return
			}
		}
	}
}

// oldest is when the first capability was made; each follows within a minute.
var oldest = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

// At makes the i-th capability.
func (s Store) At(i int) catalog.Loaded {
	r := rand.New(rand.NewPCG(s.Seed, uint64(i)))
	m := maker{r: r, product: skewed(r, products), object: skewed(r, objects), action: skewed(r, actions), qualifier: pick(r, qualifiers)}
	name := m.name()
	spec := m.spec()
	return catalog.Loaded{
		Source: s.Sources[i%len(s.Sources)], ID: fmt.Sprintf("%s-%d", capability.IDFromName(name), i), Reach: reach(i),
		Tags: m.tags(), Creator: s.Creator, CreatedAt: oldest.Add(time.Duration(i) * time.Minute).Add(time.Duration(r.IntN(60)) * time.Second),
		Adopters: adopters(r), Content: capability.Content{Name: name, Description: m.description(), Spec: spec},
	}
}

// reach makes ninety-seven of a hundred public.
func reach(i int) capability.Reach {
	switch i % 100 {
	case 0, 1:
		return capability.ReachWorkspace
	case 2:
		return capability.ReachPrivate
	}
	return capability.ReachPublic
}

// adopters are few for most and many for some.
func adopters(r *rand.Rand) int {
	if r.IntN(4) > 0 {
		return 0
	}
	return int(1 / (r.Float64() + 0.002))
}

// maker is one capability in the making.
type maker struct {
	r                                  *rand.Rand
	product, object, action, qualifier string
}

// title spells a word as names have it.
func title(w string) string { return strings.ToUpper(w[:1]) + w[1:] }

func (m maker) name() string {
	switch m.r.IntN(8) {
	case 0:
		return fmt.Sprintf("%s %s %s", title(m.product), m.object, m.action)
	case 1:
		return fmt.Sprintf("%s %s from %s", title(m.action), m.object, title(m.product))
	case 2:
		return fmt.Sprintf("%s-%s-%s", m.product, m.action, m.object)
	case 3:
		return fmt.Sprintf("%s %s for %s", title(m.product), m.object, m.qualifier)
	case 4:
		return fmt.Sprintf("%s %s %s for %s", title(m.product), m.object, m.action, m.qualifier)
	case 5:
		return fmt.Sprintf("%s %s %s", title(m.qualifier), m.object, m.action)
	case 6:
		return fmt.Sprintf("%s %s %s", title(m.action), m.qualifier, m.object)
	}
	return fmt.Sprintf("%s %s %s %s", title(m.product), m.qualifier, m.object, m.action)
}

func (m maker) tags() []string {
	out := []string{}
	for range 1 + m.r.IntN(3) {
		if t := skewed(m.r, tags); !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	if m.r.IntN(3) == 0 {
		out = append(out, m.product)
	}
	return out
}

func (m maker) description() string {
	return m.sentence() + " " + m.sentence()
}

func (m maker) sentence() string {
	return fmt.Sprintf("%s %s of %s and %s the %s %s, %s.", title(pick(m.r, verbs)), m.object+" "+pick(m.r, nouns), title(m.product),
		pick(m.r, verbs), pick(m.r, nouns), "of a "+pick(m.r, qualifiers)+" team", pick(m.r, endings))
}

func (m maker) text(sentences int) string {
	var b strings.Builder
	for range sentences {
		b.WriteString(m.sentence() + "\n")
	}
	return b.String()
}

// tools are those that a server provides: its own with the product's name, and
// some that any server of its sort has.
func (m maker) tools() []string {
	out := []string{m.action + "_" + m.object}
	for range 2 + m.r.IntN(5) {
		tool := skewed(m.r, actions) + "_" + skewed(m.r, objects)
		if m.r.IntN(2) == 0 {
			tool = m.product + "_" + tool
		}
		if !slices.Contains(out, tool) {
			out = append(out, tool)
		}
	}
	return out
}

func (m maker) leans() capability.Leans {
	if m.r.IntN(2) == 0 {
		return capability.Leans{}
	}
	return capability.Leans{Serves: []string{skewed(m.r, domains)}}
}

var readOnly = true

func (m maker) spec() capability.Spec {
	switch m.r.IntN(10) {
	case 0, 1, 2:
		spec := &capability.MCPSpec{Provides: m.tools(), Auth: capability.AuthNone, Leans: m.leans()}
		if m.r.IntN(3) == 0 {
			spec.Image = "registry.example.com/" + m.product + "/mcp:1"
		} else {
			spec.URL = "https://" + m.product + ".example.com/mcp"
		}
		return spec
	case 3, 4:
		language := capability.Python
		if m.r.IntN(3) == 0 {
			language = capability.Node
		}
		return &capability.CodeSpec{Language: language, Code: "print(1)", ParametersSchema: json.RawMessage(`{"type":"object"}`), IsReadOnly: &readOnly, Leans: m.leans()}
	case 5, 6:
		return &capability.SkillSpec{Instructions: m.text(12), Leans: m.leans()}
	case 7:
		return &capability.CommandSpec{Template: m.text(3) + "$ARGUMENTS", Leans: m.leans()}
	case 8:
		return &capability.HookSpec{Event: capability.EventBeforeTool, Language: capability.Bash, Code: "exit 0", FailureMode: capability.Advisory, Leans: m.leans()}
	}
	if m.r.IntN(2) == 0 {
		return &capability.EnvironmentSpec{Image: m.product + ":1", Instructions: m.text(4)}
	}
	return &capability.DelegationSpec{Harness: "claude-code", Image: m.product + ":1", Instructions: m.text(4)}
}
