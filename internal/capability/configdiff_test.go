package capability

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestDiffConfigs(t *testing.T) {
	t.Parallel()
	pin := func(version string) Adoption {
		return Adoption{Ref: Ref{"globex", "x", version}, AdoptedBy: "s", AdoptedAt: time.Unix(int64(len(version)), 0)}
	}
	writing := pin("1.0.0")
	writing.EnableWrite, writing.AdoptedBy = true, "other"
	server := RawServer{Name: "docs", URL: "https://docs.test/mcp"}
	moved := RawServer{Name: "docs", URL: "https://new.test/mcp"}
	for name, tc := range map[string]struct {
		base, candidate AgentConfig
		want            []string // op and path
	}{
		"nothing":             {AgentConfig{}, AgentConfig{}.WithDefaults(), nil},
		"adopted":             {AgentConfig{}, AgentConfig{Capabilities: []Adoption{pin("1.0.0")}}, []string{"added /capabilities/globex~1x"}},
		"ended":               {AgentConfig{Capabilities: []Adoption{pin("1.0.0")}}, AgentConfig{}, []string{"removed /capabilities/globex~1x"}},
		"re-pinned":           {AgentConfig{Capabilities: []Adoption{pin("1.0.0")}}, AgentConfig{Capabilities: []Adoption{pin("1.1.0")}}, []string{"changed /capabilities/globex~1x/version"}},
		"only by another":     {AgentConfig{Capabilities: []Adoption{pin("1.0.0")}}, AgentConfig{Capabilities: []Adoption{writing}}, []string{"added /capabilities/globex~1x/enableWrite"}},
		"server moved":        {AgentConfig{MCPServers: []RawServer{server}}, AgentConfig{MCPServers: []RawServer{moved}}, []string{"changed /mcpServers/docs/url"}},
		"mode and its policy": {AgentConfig{}, AgentConfig{PermissionMode: ModePlan, Policy: []PolicyRule{{Effect: PolicyDeny, Match: "x"}}}, []string{"changed /permissionMode", "added /policy"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, c := range DiffConfigs(tc.base, tc.candidate) {
				got = append(got, string(c.Op)+" "+c.Path)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
