package views

import "strings"

// AgentPath is what the workspace's agent is given.
func AgentPath(ws string) string { return SettingsPath(ws, "agent") }

// AgentInstructionsPath is where the agent's instructions and permission mode
// are changed.
func AgentInstructionsPath(ws string) string { return join(ws, "settings", "agent", "instructions") }

// NewServerPath is where an MCP server is wired by hand.
func NewServerPath(ws string) string { return join(ws, "settings", "agent", "servers", "new") }

// RemoveServerPath asks before a hand-wired server is removed; the same takes
// the POST.
func RemoveServerPath(ws, name string) string {
	return join(ws, "settings", "agent", "servers", name, "remove")
}

// EndAdoptionPath asks before an adoption ends; the same takes the POST.
func EndAdoptionPath(ws, source, id string) string {
	return join(ws, "settings", "agent", "adoptions", source, id, "remove")
}

// AgentHistoryPath compares two versions of the agent's settings; both "" is
// the newest change.
func AgentHistoryPath(ws, base, candidate, before string) string {
	return withQuery(join(ws, "settings", "agent", "history"), "base", base, "candidate", candidate, "before", before)
}

// ToolsPath lists the tools of the member's agent; query may be empty.
func ToolsPath(ws, query string) string { return withQuery(SettingsPath(ws, "tools"), "q", query) }

// ToolPath is one row of what the member's agent carries. It takes the POST of
// the member's own choice.
func ToolPath(ws, key string) string { return join(ws, "settings", "tools", key) }

// ToolSecretsPath takes the POST of what a tool's secrets are bound to.
func ToolSecretsPath(ws, key string) string { return join(ws, "settings", "tools", key, "secrets") }

// ToolProbePath takes the POST that asks an MCP server for its functions.
func ToolProbePath(ws, key string) string { return join(ws, "settings", "tools", key, "probe") }

// ToolDefinitionPath takes the POST that accepts what an MCP server says of a
// tool now.
func ToolDefinitionPath(ws, key string) string {
	return join(ws, "settings", "tools", key, "definitions")
}

// SkillsPath is the workspace's skill library.
func SkillsPath(ws string) string { return SettingsPath(ws, "skills") }

// NewSkillPath is where a skill of the library is written.
func NewSkillPath(ws string) string { return join(ws, "settings", "skills", "new") }

// SkillPath is one skill of the library.
func SkillPath(ws, id string) string { return join(ws, "settings", "skills", id) }

// Tabs of a skill of the library.
const (
	TabSkillText   = "text"
	TabSkillFiles  = "files"
	TabSkillStamps = "stamps"
)

// WorkingCopy stands for a skill's working copy where a stamp's number could.
const WorkingCopy = "working"

const ofOrigin = "origin:"

// OfOrigin names a version of what a skill was copied from where a stamp's
// number could stand.
func OfOrigin(version string) string { return ofOrigin + version }

// OriginVersion is the version that OfOrigin names; false for any other name.
func OriginVersion(name string) (version string, ok bool) { return strings.CutPrefix(name, ofOrigin) }

// SkillTabPath is one tab of a skill.
func SkillTabPath(ws, id, tab string) string {
	if tab == TabSkillText {
		tab = ""
	}
	return withQuery(SkillPath(ws, id), "tab", tab)
}

// SkillFilePath is one file of a skill's working copy, shown in its tab; plain
// shows it as it is written.
func SkillFilePath(ws, id, file string, plain bool) string {
	return withQuery(SkillPath(ws, id), "tab", TabSkillFiles, "file", file, "view", viewOf(plain))
}

// SkillRawPath hands one file of a skill's working copy over as a download.
func SkillRawPath(ws, id, file string) string {
	return withQuery(join(ws, "settings", "skills", id, "file"), "path", file)
}

// StagedFilePath hands over a content that a form of the reader's holds, under
// the name of its file.
func StagedFilePath(ws, digest, name string) string {
	return withQuery(join(ws, "staged", digest), "name", name)
}

// SkillDiffPath is a skill's stamps with two versions of it compared.
func SkillDiffPath(ws, id, base, candidate string) string {
	return SkillComparisonPath(ws, id, ComparisonLens{Base: base, Candidate: candidate})
}

// SkillComparisonPath is SkillDiffPath as the lens shows it.
func SkillComparisonPath(ws, id string, l ComparisonLens) string {
	view := ""
	if l.Split {
		view = "split"
	}
	pairs := []string{"tab", TabSkillStamps, "base", l.Base, "candidate", l.Candidate, "view", view}
	for _, part := range l.Parts {
		pairs = append(pairs, "part", part.String())
	}
	return withQuery(SkillPath(ws, id), pairs...)
}

// EditSkillPath is where a skill's working copy is edited.
func EditSkillPath(ws, id string) string { return join(ws, "settings", "skills", id, "edit") }

// StampSkillPath is where a skill's working copy is frozen.
func StampSkillPath(ws, id string) string { return join(ws, "settings", "skills", id, "stamp") }

// ShareSkillPath takes the POST that turns a draft into a skill of the
// workspace.
func ShareSkillPath(ws, id string) string { return join(ws, "settings", "skills", id, "share") }

// PublishSkillPath is where a skill's newest stamp goes to the store.
func PublishSkillPath(ws, id string) string { return join(ws, "settings", "skills", id, "publish") }

// DeleteSkillPath asks before a skill is deleted; the same takes the POST.
func DeleteSkillPath(ws, id string) string { return join(ws, "settings", "skills", id, "delete") }

// ExportSkillPath hands a skill's working copy over as a zip of its folder.
func ExportSkillPath(ws, id string) string { return join(ws, "settings", "skills", id, "export") }

// ImportSkillPath takes the POST of a file that holds a skill.
func ImportSkillPath(ws string) string { return join(ws, "settings", "skills", "import") }
