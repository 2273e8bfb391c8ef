package capability_test

import (
	"fmt"
	"slices"
	"testing"

	"capstore/internal/capability"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestKeysComeApartAgain(t *testing.T) {
	t.Parallel()
	for key, want := range map[capability.Key]capability.ParsedKey{
		capability.DefaultKey("web_search"):        {Kind: capability.KeyDefault, ID: "web_search"},
		capability.CapabilityKey("acme", "tax"):    {Kind: capability.KeyCapability, Source: "acme", ID: "tax"},
		capability.CapabilityKey("_capstore", "a"): {Kind: capability.KeyCapability, Source: "_capstore", ID: "a"},
		capability.RawServerKey("my: server/1"):    {Kind: capability.KeyMCP, ID: "my: server/1"},
		capability.SkillKey("review"):              {Kind: capability.KeySkill, ID: "review"},
	} {
		got, ok := capability.ParseKey(string(key))
		if !ok || got != want {
			t.Errorf("%s: %+v %v", key, got, ok)
		}
	}
	for _, s := range []string{"", "tool", "tool:x", "default:", "capability:acme", "capability:/x", "capability:acme/", "capability:acme/a/b", "capability:acme/A"} {
		if got, ok := capability.ParseKey(s); ok {
			t.Errorf("%q is a key: %+v", s, got)
		}
	}
}

func tool(key capability.Key, name string, origin capability.Origin, baseline bool) capability.Candidate {
	return capability.Candidate{Key: key, Channel: capability.ChannelTool, Name: name, Origin: origin, Baseline: baseline}
}

func TestSelectForMember(t *testing.T) {
	t.Parallel()
	adopted := tool("capability:acme/a", "Search", capability.OriginAdopted, true)
	published := tool("capability:acme/p", "search", capability.OriginPublished, false)
	personal := tool("capability:acme/m", "SEARCH", capability.OriginPersonal, false)
	raw := tool("mcp:search", "search", capability.OriginRaw, true)
	builtin := tool("default:search", "search", capability.OriginBuiltin, true)
	skill := tool("skill:search", "search", capability.OriginLibrary, true)
	skill.Channel = capability.ChannelSkill
	held := adopted
	held.Held = capability.HeldSetup
	blocked := adopted
	blocked.Held = capability.HeldBlocked
	hook := capability.Candidate{Key: "capability:acme/h", Channel: capability.ChannelHook, Name: "guard", Origin: capability.OriginAdopted, Baseline: true, Required: true}
	own := capability.Candidate{Key: "capability:acme/o", Channel: capability.ChannelHook, Name: "Guard", Origin: capability.OriginPersonal}
	all := []capability.Candidate{builtin, raw, published, adopted, personal, skill}

	for name, tc := range map[string]struct {
		of      []capability.Candidate
		overlay capability.Overlay
		want    []string
	}{
		"nothing said": {all, nil, []string{
			"capability:acme/m off_personal", "capability:acme/a ON on_adopted", "capability:acme/p off_not_adopted",
			"mcp:search shadowed by capability:acme/a", "skill:search ON on_workspace", "default:search shadowed by capability:acme/a",
		}},
		"the member's own wins": {all, capability.Overlay{personal.Key: true, published.Key: true}, []string{
			"capability:acme/m ON on_you", "capability:acme/a shadowed by capability:acme/m", "capability:acme/p shadowed by capability:acme/m",
			"mcp:search shadowed by capability:acme/m", "skill:search ON on_workspace", "default:search shadowed by capability:acme/m",
		}},
		"published beats builtin only": {all, capability.Overlay{adopted.Key: false, raw.Key: false, published.Key: true}, []string{
			"capability:acme/m off_personal", "capability:acme/a off_you", "capability:acme/p ON on_you",
			"mcp:search off_you", "skill:search ON on_workspace", "default:search shadowed by capability:acme/p",
		}},
		"what needs setup shadows nothing": {[]capability.Candidate{held, builtin}, nil, []string{
			"capability:acme/a needs_setup", "default:search ON on_builtin",
		}},
		"off says so before its setup": {[]capability.Candidate{held}, capability.Overlay{held.Key: false}, []string{"capability:acme/a off_you"}},
		"blocked whatever one wants":   {[]capability.Candidate{blocked}, capability.Overlay{held.Key: false}, []string{"capability:acme/a blocked"}},
		"a no that agrees is no news":  {[]capability.Candidate{published}, capability.Overlay{published.Key: false}, []string{"capability:acme/p off_not_adopted"}},
		"disabled default, taken back": {[]capability.Candidate{tool("default:x", "x", capability.OriginBuiltin, false)}, capability.Overlay{"default:x": true}, []string{"default:x ON on_you"}},
		"disabled default":             {[]capability.Candidate{tool("default:x", "x", capability.OriginBuiltin, false)}, nil, []string{"default:x off_workspace"}},
		"a required hook stays on":     {[]capability.Candidate{hook}, capability.Overlay{hook.Key: false}, []string{"capability:acme/h ON on_required"}},
		"a name does not hide it": {[]capability.Candidate{own, hook}, capability.Overlay{own.Key: true}, []string{
			"capability:acme/o shadowed by capability:acme/h", "capability:acme/h ON on_required",
		}},
		"a key given twice": {[]capability.Candidate{adopted, adopted}, nil, []string{"capability:acme/a ON on_adopted"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, outcomes(capability.SelectForMember(tc.of, tc.overlay))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func outcomes(rows []capability.Row) []string {
	var out []string
	for _, r := range rows {
		switch {
		case r.Enabled:
			out = append(out, fmt.Sprintf("%s ON %s", r.Key, r.Reason))
		case r.ShadowedBy != "":
			out = append(out, fmt.Sprintf("%s %s by %s", r.Key, r.Reason, r.ShadowedBy))
		default:
			out = append(out, fmt.Sprintf("%s %s", r.Key, r.Reason))
		}
	}
	return out
}

var genCandidates = rapid.Custom(func(t *rapid.T) []capability.Candidate {
	origins := []capability.Origin{capability.OriginPersonal, capability.OriginAdopted, capability.OriginLibrary, capability.OriginRaw, capability.OriginPublished, capability.OriginBuiltin}
	held := []capability.Reason{"", "", "", capability.HeldSetup, capability.HeldPolicy, capability.HeldGone}
	out := make([]capability.Candidate, rapid.IntRange(0, 12).Draw(t, "n"))
	for i := range out {
		out[i] = capability.Candidate{
			Key:      capability.SkillKey(fmt.Sprint(i)),
			Channel:  rapid.SampledFrom([]capability.Channel{capability.ChannelTool, capability.ChannelSkill, capability.ChannelHook}).Draw(t, "channel"),
			Name:     rapid.SampledFrom([]string{"a", "A", "a b", "a_b", "A.B", "c", "날씨"}).Draw(t, "name"),
			Origin:   rapid.SampledFrom(origins).Draw(t, "origin"),
			Baseline: rapid.Bool().Draw(t, "baseline"),
			Required: rapid.Float64().Draw(t, "required") < 0.1,
			Held:     rapid.SampledFrom(held).Draw(t, "held"),
		}
	}
	return out
})

func TestSelectionLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		candidates := genCandidates.Draw(t, "candidates")
		overlay := capability.Overlay{}
		for _, c := range candidates {
			if rapid.Bool().Draw(t, "said") {
				overlay[c.Key] = rapid.Bool().Draw(t, "choice")
			}
		}
		rows := capability.SelectForMember(candidates, overlay)
		if len(rows) != len(candidates) {
			t.Fatalf("%d candidates, %d rows", len(candidates), len(rows))
		}
		type name struct {
			channel capability.Channel
			folded  string
		}
		runnable, winners, byKey := map[name]bool{}, map[name]int{}, map[capability.Key]capability.Row{}
		for _, r := range rows {
			byKey[r.Key] = r
			n := name{r.Channel, capability.FoldName(r.Name)}
			if r.Wanted && r.Held == "" {
				runnable[n] = true
			}
			if r.Enabled {
				winners[n]++
			}
			checkRow(t, r, overlay)
		}
		for n := range runnable {
			if winners[n] != 1 {
				t.Fatalf("%v is carried %d times", n, winners[n])
			}
		}
		for _, r := range rows {
			if by := byKey[r.ShadowedBy]; r.ShadowedBy != "" && (!by.Enabled || r.Required && !by.Required) {
				t.Fatalf("%s is shadowed by %s, which is off or may be", r.Key, r.ShadowedBy)
			}
		}
		shuffled := slices.Clone(candidates)
		slices.Reverse(shuffled)
		if diff := cmp.Diff(rows, capability.SelectForMember(rapid.Permutation(shuffled).Draw(t, "order"), overlay)); diff != "" {
			t.Fatalf("the order of the candidates counts:\n%s", diff)
		}
	})
}

func checkRow(t *rapid.T, r capability.Row, overlay capability.Overlay) {
	choice, said := overlay[r.Key]
	switch {
	case said != (r.Override != nil), said && *r.Override != choice:
		t.Fatalf("%s: override %v for %v %v", r.Key, r.Override, said, choice)
	case !said && !r.Required && r.Wanted != r.Baseline:
		t.Fatalf("%s does not follow the workspace", r.Key)
	case r.Enabled && (!r.Wanted || r.Held != "" || r.ShadowedBy != ""):
		t.Fatalf("%s is carried against %+v", r.Key, r)
	case (r.Reason == capability.Shadowed) != (r.ShadowedBy != ""):
		t.Fatalf("%s: %s by %q", r.Key, r.Reason, r.ShadowedBy)
	case !slices.Contains(capability.Reasons, r.Reason):
		t.Fatalf("%s: reason %q is not in the list", r.Key, r.Reason)
	}
}

// Another member's choice, or one about another name, changes nothing here.
func TestAnOverrideTouchesItsNameOnly(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		candidates := genCandidates.Draw(t, "candidates")
		if len(candidates) == 0 {
			return
		}
		c := rapid.SampledFrom(candidates).Draw(t, "switched")
		before := capability.SelectForMember(candidates, nil)
		after := capability.SelectForMember(candidates, capability.Overlay{c.Key: !c.Baseline})
		for i := range before {
			same := before[i].Channel == c.Channel && capability.FoldName(before[i].Name) == capability.FoldName(c.Name)
			if diff := cmp.Diff(before[i], after[i]); diff != "" && !same {
				t.Fatalf("switching %s moved %s:\n%s", c.Key, before[i].Key, diff)
			}
		}
		if diff := cmp.Diff(before, capability.SelectForMember(candidates, capability.Overlay{"skill:elsewhere": true})); diff != "" {
			t.Fatal(diff)
		}
	})
}
