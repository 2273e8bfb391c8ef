package views

import "testing"

func TestSettingsPaths(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ got, want string }{
		{AgentInstructionsPath("acme"), "/acme/settings/agent/instructions"},
		{NewServerPath("acme"), "/acme/settings/agent/servers/new"},
		{RemoveServerPath("acme", "a b"), "/acme/settings/agent/servers/a%20b/remove"},
		{EndAdoptionPath("acme", "globex", "x"), "/acme/settings/agent/adoptions/globex/x/remove"},
		{AgentHistoryPath("acme", "", "", ""), "/acme/settings/agent/history"},
		{AgentHistoryPath("acme", "1", "3", ""), "/acme/settings/agent/history?base=1&candidate=3"},
		{ToolsPath("acme", ""), "/acme/settings/tools"},
		{ToolsPath("acme", "a&b"), "/acme/settings/tools?q=a%26b"},
		{ToolPath("acme", "capability:globex/x"), "/acme/settings/tools/capability:globex%2Fx"},
		{ToolSecretsPath("acme", "mcp:x"), "/acme/settings/tools/mcp:x/secrets"},
		{ToolProbePath("acme", "mcp:x"), "/acme/settings/tools/mcp:x/probe"},
		{ExportSkillPath("acme", "x"), "/acme/settings/skills/x/export"},
		{ImportSkillPath("acme"), "/acme/settings/skills/import"},
		{NewSkillPath("acme"), "/acme/settings/skills/new"},
		{SkillTabPath("acme", "x", TabSkillText), "/acme/settings/skills/x"},
		{SkillTabPath("acme", "x", TabSkillStamps), "/acme/settings/skills/x?tab=stamps"},
		{SkillFilePath("acme", "x", "a/b.md", false), "/acme/settings/skills/x?tab=files&file=a%2Fb.md"},
		{SkillDiffPath("acme", "x", "1.0.0", WorkingCopy), "/acme/settings/skills/x?tab=stamps&base=1.0.0&candidate=working"},
		{EditSkillPath("acme", "x"), "/acme/settings/skills/x/edit"},
		{StampSkillPath("acme", "x"), "/acme/settings/skills/x/stamp"},
		{ShareSkillPath("acme", "x"), "/acme/settings/skills/x/share"},
		{PublishSkillPath("acme", "x"), "/acme/settings/skills/x/publish"},
		{DeleteSkillPath("acme", "x"), "/acme/settings/skills/x/delete"},
	} {
		if tc.got != tc.want {
			t.Errorf("got %q, want %q", tc.got, tc.want)
		}
	}
}
