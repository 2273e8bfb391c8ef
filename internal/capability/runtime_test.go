package capability_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"capstore/internal/capability"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var runtimeName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

func TestNamesThatFitStayAsTheyAre(t *testing.T) {
	t.Parallel()
	for got, want := range map[string]string{
		capability.MCPToolName("github", "create_issue"):    "mcp__github__create_issue",
		capability.MCPToolName("mail-prod", "send_message"): "mcp__mail-prod__send_message",
		capability.MCPToolName("mail-test", "send_message"): "mcp__mail-test__send_message",
		capability.MCPToolName("a", "get_conversation"):     "mcp__a__get_conversation",
		capability.CodeToolName("tax"):                      "code__tax",
		capability.SkillName("review-pr"):                   "review-pr",
		capability.CommandName("fix"):                       "fix",
		capability.CodeToolName(strings.Repeat("x", 58)):    "code__" + strings.Repeat("x", 58),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// Stored grants, approvals and prompts carry these names: they may not move.
func TestAlteredNamesStayWhatTheyWere(t *testing.T) {
	t.Parallel()
	long := "field-operations-scheduling-eu-west"
	for got, want := range map[string]string{
		capability.MCPToolName(long, "synchronise_all_customer_addresses_v2"): "mcp__field-operations-schedul__synchronise_all_cust_cffa51345768",
		capability.MCPToolName(long, "synchronise_all_customer_addresses_v3"): "mcp__field-operations-schedul__synchronise_all_cust_5d97b1324ad2",
		capability.MCPToolName("s", "files.read"):                             "mcp__s__files_read_826598e61b2c",
		capability.MCPToolName("s", "工具"):                                     "mcp__s__7b2931dc46d7",
		capability.MCPToolName("공구", "x"):                                     "mcp__x__x_456c7f6731cb",
		capability.MCPToolName("s", "__proto__"):                              "mcp__s__proto_108dfd18be19",
		capability.CodeToolName("Tax: EU"):                                    "code__Tax_EU_49137d6bc124",
		capability.SkillName("날씨 보기"):                                         "5efe0d17ca4a",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestHostileToolNames(t *testing.T) {
	t.Parallel()
	raws := []string{
		"files.read", "user/update", "Create Share", "süchen", "工具", "a:b", "-x", "__proto__", "wipe.all", "wipe_all",
		"synchronise_all_customer_addresses_v2" + strings.Repeat("x", 23), "synchronise_all_customer_addresses_v2" + strings.Repeat("x", 24),
		strings.Repeat("t", 80), "a__b", "_a", "a_", "Echo", "echo", "a b", "a  b", "a\x00b",
	}
	names, refused := capability.ToolNames("srv", append(slices.Clone(raws), "", "echo"))
	if diff := cmp.Diff([]string{"empty_name ", "duplicate echo"}, refusals(refused)); diff != "" {
		t.Error(diff)
	}
	seen := map[string]string{}
	for _, raw := range raws {
		name := names[raw]
		if !runtimeName.MatchString(name) {
			t.Errorf("%q became %q", raw, name)
		}
		if other, taken := seen[name]; taken {
			t.Errorf("%q and %q are both %s", raw, other, name)
		}
		seen[name] = raw
	}
	slices.Reverse(raws)
	again, _ := capability.ToolNames("srv", raws)
	if diff := cmp.Diff(names, again); diff != "" {
		t.Errorf("the order of the list moved a name:\n%s", diff)
	}
}

func refusals(list []capability.ToolRefusal) []string {
	var out []string
	for _, r := range list {
		out = append(out, r.Code+" "+r.Raw)
	}
	return out
}

// genRaw draws names that sanitise alike, and ones that pose as the altered
// form of another.
func genRaw() *rapid.Generator[string] {
	plain := rapid.StringMatching(`[ab_.-]{0,4}`)
	return rapid.OneOf(plain, rapid.String(), rapid.Custom(func(t *rapid.T) string {
		name := capability.MCPToolName(plain.Draw(t, "server"), plain.Draw(t, "posed"))
		return strings.TrimPrefix(name[strings.LastIndex(name, "__"):], "__")
	}), rapid.StringMatching(`[a-b]{40}[a-b]{0,30}`), rapid.StringMatching(`[ab]_[0-9a-f]{12}`))
}

func TestRuntimeNamesAreFitStableAndApart(t *testing.T) {
	t.Parallel()
	gen := genRaw()
	rapid.Check(t, func(t *rapid.T) {
		s1, t1 := gen.Draw(t, "server 1"), gen.Draw(t, "tool 1")
		s2, t2 := gen.Draw(t, "server 2"), gen.Draw(t, "tool 2")
		a, b := capability.MCPToolName(s1, t1), capability.MCPToolName(s2, t2)
		for _, name := range []string{a, b, capability.CodeToolName(s1), capability.SkillName(s1), capability.CommandName(s1)} {
			if !runtimeName.MatchString(name) {
				t.Fatalf("%q is not fit", name)
			}
		}
		if rest := strings.TrimPrefix(a, "mcp__"); strings.Count(rest, "__") != 1 {
			t.Fatalf("%q holds __ beside its separators", a)
		}
		if strings.Contains(strings.TrimPrefix(capability.CodeToolName(s1), "code__"), "__") {
			t.Fatalf("%q holds __", capability.CodeToolName(s1))
		}
		if (s1 == s2 && t1 == t2) != (a == b) {
			t.Fatalf("(%q, %q) and (%q, %q): %s, %s", s1, t1, s2, t2, a, b)
		}
		if (s1 == s2) != (capability.CodeToolName(s1) == capability.CodeToolName(s2)) {
			t.Fatalf("%q and %q share %s", s1, s2, capability.CodeToolName(s1))
		}
		if (s1 == s2) != (capability.SkillName(s1) == capability.SkillName(s2)) {
			t.Fatalf("%q and %q share %s", s1, s2, capability.SkillName(s1))
		}
	})
}
