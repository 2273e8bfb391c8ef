package capability_test

import (
	"encoding/json"
	"strings"
	"testing"

	"capstore/internal/capability"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestConfigValidation(t *testing.T) {
	t.Parallel()
	ref := func(source, id, v string) capability.Adoption {
		return capability.Adoption{Ref: capability.Ref{Source: source, ID: id, Version: v}}
	}
	bound := ref("acme", "a", "1.0.0")
	bound.SecretBindings = map[string]string{"TOKEN": "lower", "bad": "X", "LATER": ""}
	bound.Egress = []string{"https://x"}
	bound.ToolClasses = map[string]capability.ToolClass{"t": "maybe"}
	for name, tc := range map[string]struct {
		config capability.AgentConfig
		want   []string
	}{
		"nothing": {capability.AgentConfig{}, []string{}},
		"sound": {capability.AgentConfig{
			Capabilities: []capability.Adoption{ref("acme", "a", "1.0.0"), ref("_capstore", "a", "1.0.0-rc.1")},
			MCPServers:   []capability.RawServer{{Name: "mine", URL: "https://example.com/mcp", AuthSecret: "TOKEN", Serves: []string{"web"}}},
			Policy:       []capability.PolicyRule{{Effect: capability.PolicyDeny, Match: "mcp__crm__*"}},
			Channels:     map[capability.Surface]capability.ChannelRule{capability.SurfaceGateway: {Deny: []string{"code__*"}}},
			Slice:        capability.SliceOff, PermissionMode: capability.ModePlan,
			ToolSecretBindings: map[string]map[string]string{"default:web_search": {"KEY": "SEARCH_KEY"}},
		}, []string{}},
		"pins": {capability.AgentConfig{Capabilities: []capability.Adoption{ref("Acme", "A", "latest"), ref("acme", "a", "1.0.0"), ref("acme", "a", "1.1.0")}}, []string{
			"/capabilities/0/source bad_slug", "/capabilities/0/id bad_id", "/capabilities/0/version bad_version", "/capabilities/2 repeated"}},
		"bindings": {capability.AgentConfig{Capabilities: []capability.Adoption{bound}}, []string{
			"/capabilities/0/secretBindings/TOKEN bad_secret_name", "/capabilities/0/secretBindings/bad bad_secret_name",
			"/capabilities/0/toolClasses/t not_allowed", "/capabilities/0/egress/0 bad_host"}},
		"raw servers": {capability.AgentConfig{MCPServers: []capability.RawServer{{Name: "Mail Prod", URL: "https://a.com"}, {Name: "mail_prod", URL: "http://a.com", AuthSecret: "x"}}}, []string{
			"/mcpServers/1/name name_taken", "/mcpServers/1/url https_required", "/mcpServers/1/authSecret bad_secret_name"}},
		"a zero byte": {capability.AgentConfig{Instructions: "a\x00b"}, []string{"/instructions zero_byte"}},
		"the rest": {capability.AgentConfig{
			PermissionMode: "yolo", Slice: "on", Model: "a\nb",
			Policy:             []capability.PolicyRule{{Effect: "maybe", Match: ""}},
			Channels:           map[capability.Surface]capability.ChannelRule{"fax": {Allow: []string{"x", "x"}}},
			ToolSecretBindings: map[string]map[string]string{"nonsense": {"A": "B"}},
			Instructions:       strings.Repeat("x", 1<<20+1),
		}, []string{
			"/toolSecretBindings/nonsense bad_key", "/model not_plain_text", "/instructions too_long", "/permissionMode not_allowed",
			"/policy/0/effect not_allowed", "/policy/0/match required", "/channels/fax not_allowed", "/channels/fax/allow/1 repeated", "/slice not_allowed"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, marks(tc.config.WithDefaults().Validate(capability.Rules{}))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAnEmptyConfigEncodesListsAndAsks(t *testing.T) {
	t.Parallel()
	raw, err := json.Marshal(capability.AgentConfig{}.WithDefaults())
	if err != nil {
		t.Fatal(err)
	}
	want := `{"capabilities":[],"mcpServers":[],"disabledDefaults":[],"toolSecretBindings":{},"permissionMode":"ask"}`
	if string(raw) != want {
		t.Errorf("got %s", raw)
	}
}

func TestAdopted(t *testing.T) {
	t.Parallel()
	c := capability.AgentConfig{Capabilities: []capability.Adoption{{Ref: capability.Ref{Source: "acme", ID: "a", Version: "1.0.0"}}}}
	if a := c.Adopted("acme", "a"); a == nil || a.Version != "1.0.0" || a.Key() != "capability:acme/a" {
		t.Errorf("%+v", a)
	}
	if a := c.Adopted("beta", "a"); a != nil {
		t.Errorf("%+v", a)
	}
}

func TestConsentIsForOtherPeoplesCode(t *testing.T) {
	t.Parallel()
	for _, kind := range capability.Kinds {
		runs := kind == capability.KindCode || kind == capability.KindHook
		for source, foreign := range map[string]bool{"acme": false, "beta": true, capability.FirstPartyOwner: true} {
			if got := capability.NeedsConsent(kind, source, "acme"); got != (runs && foreign) {
				t.Errorf("%s of %s: %v", kind, source, got)
			}
		}
	}
}

func TestMissingSecrets(t *testing.T) {
	t.Parallel()
	spec := sample(t, capability.KindMCP).Spec
	have := func(name string) bool { return name == "STORED" || name == "ORG" }
	names := func(bindings map[string]string) []string {
		out := []string{}
		for _, s := range capability.MissingSecrets(spec, bindings, have) {
			out = append(out, s.Name)
		}
		return out
	}
	for name, tc := range map[string]struct {
		bindings map[string]string
		want     []string
	}{
		"nothing bound, though one is called so": {nil, []string{"API_TOKEN", "ORG"}},
		"bound":                                  {map[string]string{"API_TOKEN": "STORED", "ORG": "ORG"}, []string{}},
		"bound to what is missing":               {map[string]string{"API_TOKEN": "GONE", "ORG": "STORED"}, []string{"API_TOKEN"}},
		"bound to nothing":                       {map[string]string{"API_TOKEN": "", "ORG": "STORED"}, []string{"API_TOKEN"}},
		"by name":                                {capability.BindByName(spec, map[string]string{"API_TOKEN": "STORED"}), []string{}},
		"by name, no override":                   {capability.BindByName(spec, nil), []string{"API_TOKEN"}},
	} {
		if diff := cmp.Diff(tc.want, names(tc.bindings)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if got := capability.MissingSecrets(&capability.CommandSpec{}, nil, have); got != nil {
		t.Errorf("a command wants %v", got)
	}
}

func TestReadOnlyUntilOptedIn(t *testing.T) {
	t.Parallel()
	classes := map[string]capability.ToolClass{"list": capability.ClassRead, "drop": capability.ClassWrite}
	for name, tc := range map[string]struct {
		adoption capability.Adoption
		want     string // of list, drop and an unclassified tool
	}{
		"as adopted":                  {capability.Adoption{ToolClasses: classes}, "list"},
		"opted in":                    {capability.Adoption{ToolClasses: classes, EnableWrite: true}, "list drop new"},
		"narrowed":                    {capability.Adoption{ToolClasses: classes, EnableWrite: true, WriteTools: []string{"drop"}}, "list drop"},
		"narrowed without the opt-in": {capability.Adoption{ToolClasses: classes, WriteTools: []string{"drop"}}, "list"},
		"unclassified":                {capability.Adoption{}, ""},
	} {
		var got []string
		for _, tool := range []string{"list", "drop", "new"} {
			if tc.adoption.Allows(tool) {
				got = append(got, tool)
			}
		}
		if strings.Join(got, " ") != tc.want {
			t.Errorf("%s allows %v, want %q", name, got, tc.want)
		}
	}
}

func TestSuggestedClasses(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	for _, tc := range []struct {
		content capability.Content
		want    map[string]capability.ToolClass
	}{
		{capability.Content{Name: "r", Spec: &capability.CodeSpec{IsReadOnly: &yes}}, map[string]capability.ToolClass{"r": capability.ClassRead}},
		{capability.Content{Name: "w", Spec: &capability.CodeSpec{IsReadOnly: &no}}, map[string]capability.ToolClass{"w": capability.ClassWrite}},
		{capability.Content{Name: "u", Spec: &capability.CodeSpec{}}, map[string]capability.ToolClass{"u": capability.ClassWrite}},
		{sample(t, capability.KindMCP), map[string]capability.ToolClass{"search": capability.ClassRead, "create": capability.ClassWrite}},
		{sample(t, capability.KindCommand), nil},
	} {
		if diff := cmp.Diff(tc.want, tc.content.SuggestedClasses()); diff != "" {
			t.Errorf("%s: %s", tc.content.Name, diff)
		}
	}
}

func TestAdoptionFitsWhatItPins(t *testing.T) {
	t.Parallel()
	mcp, code := sample(t, capability.KindMCP), sample(t, capability.KindCode)
	for name, tc := range map[string]struct {
		content  capability.Content
		adoption capability.Adoption
		want     []string
	}{
		"nothing bound": {mcp, capability.Adoption{}, []string{}},
		"all of it": {mcp, capability.Adoption{SecretBindings: map[string]string{"API_TOKEN": "T"}, Settings: map[string]string{"region": "us"},
			EnableWrite: true, WriteTools: []string{"create"}, ToolClasses: map[string]capability.ToolClass{"new": capability.ClassRead}}, []string{}},
		"undeclared": {mcp, capability.Adoption{SecretBindings: map[string]string{"OTHER": "T"}, Settings: map[string]string{"zone": "1"},
			Egress: []string{"api.example.com"}, WriteTools: []string{"create"}}, []string{
			"/secretBindings/OTHER not_declared", "/settings/zone not_declared", "/egress/0 not_declared", "/writeTools not_allowed"}},
		"approved hosts": {code, capability.Adoption{Egress: []string{"api.example.com"}}, []string{}},
		"other hosts":    {code, capability.Adoption{Egress: []string{"evil.example.com"}}, []string{"/egress/0 not_declared"}},
	} {
		if diff := cmp.Diff(tc.want, marks(tc.adoption.Check(tc.content))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestMissingSettings(t *testing.T) {
	t.Parallel()
	spec := &capability.MCPSpec{Settings: []capability.Setting{
		{Name: "region", Required: true}, {Name: "zone", Required: true, Default: "a"}, {Name: "note"},
	}}
	if got := capability.MissingSettings(spec, nil); len(got) != 1 || got[0].Name != "region" {
		t.Errorf("%v", got)
	}
	if got := capability.MissingSettings(spec, map[string]string{"region": "eu"}); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

func TestPoliciesTakeTheStrictest(t *testing.T) {
	t.Parallel()
	c := capability.AgentConfig{
		Policy: []capability.PolicyRule{
			{Effect: capability.PolicyAsk, Match: "mcp__*"}, {Effect: capability.PolicyDeny, Match: "mcp__crm__delete_*"},
			{Effect: capability.PolicyDeny, Match: "default:web_search"}, {Effect: capability.PolicyAllow, Match: "*"},
		},
		Channels: map[capability.Surface]capability.ChannelRule{
			capability.SurfaceGateway: {Allow: []string{"mcp__*"}, Deny: []string{"*delete*"}}, capability.SurfaceAPI: {Deny: []string{"code__*"}},
		},
	}
	for name, want := range map[string]capability.PolicyEffect{
		"mcp__crm__list": capability.PolicyAsk, "mcp__crm__delete_all": capability.PolicyDeny, "code__x": capability.PolicyAllow, "default:web_search": capability.PolicyDeny,
	} {
		if got := c.PolicyFor(name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := c.PolicyFor("web_search", "default:web_search"); got != capability.PolicyDeny {
		t.Errorf("a second name did not count: %q", got)
	}
	for _, tc := range []struct {
		on   capability.Surface
		name string
		want bool
	}{
		{capability.SurfaceGateway, "mcp__a__b", true}, {capability.SurfaceGateway, "code__x", false},
		{capability.SurfaceGateway, "mcp__a__delete", false}, {capability.SurfaceAPI, "code__x", false},
		{capability.SurfaceAPI, "mcp__a__b", true}, {capability.SurfaceWeb, "code__x", true},
	} {
		if got := c.Admits(tc.on, tc.name); got != tc.want {
			t.Errorf("%s on %s: %v", tc.name, tc.on, got)
		}
	}
}

func TestGlob(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		pattern, name string
		want          bool
	}{
		{"", "", true}, {"", "a", false}, {"*", "", true}, {"*", "abc", true}, {"a*c", "abbc", true}, {"a*c", "abcd", false},
		{"?", "a", true}, {"?", "", false}, {"*a*b*", "xxaxxbxx", true}, {"[a]", "a", false}, {"[a]", "[a]", true}, {"A", "a", false},
		{"**a", "ba", true}, {strings.Repeat("a*", 50) + "b", strings.Repeat("a", 5000), false},
	} {
		if got := capability.Glob(tc.pattern, tc.name); got != tc.want {
			t.Errorf("%q against %.20q: %v", tc.pattern, tc.name, got)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		pattern, name := rapid.StringMatching(`[ab?*]{0,6}`).Draw(t, "pattern"), rapid.StringMatching(`[ab]{0,6}`).Draw(t, "name")
		if got, want := capability.Glob(pattern, name), slowGlob(pattern, name); got != want {
			t.Fatalf("%q against %q: %v", pattern, name, got)
		}
	})
}

func slowGlob(p, n string) bool {
	switch {
	case p == "":
		return n == ""
	case p[0] == '*':
		return slowGlob(p[1:], n) || n != "" && slowGlob(p, n[1:])
	}
	return n != "" && (p[0] == '?' || p[0] == n[0]) && slowGlob(p[1:], n[1:])
}

func TestAConversationOnlyNarrowsItsMode(t *testing.T) {
	t.Parallel()
	for _, tc := range [][3]capability.PermissionMode{
		{capability.ModeAsk, capability.ModeBypass, capability.ModeAsk}, {capability.ModeAuto, capability.ModePlan, capability.ModePlan},
		{capability.ModeAuto, capability.ModeAuto, capability.ModeAuto}, {capability.ModeBypass, "yolo", capability.ModePlan}, {"", capability.ModeAsk, capability.ModePlan},
	} {
		if got := capability.StricterOf(tc[0], tc[1]); got != tc[2] {
			t.Errorf("%s and %s: %s", tc[0], tc[1], got)
		}
		if got := capability.StricterOf(tc[1], tc[0]); got != tc[2] {
			t.Errorf("%s and %s: %s", tc[1], tc[0], got)
		}
	}
}
