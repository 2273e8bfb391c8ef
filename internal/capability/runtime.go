package capability

import (
	"regexp"
	"slices"
	"strings"
)

// MaxRuntimeName is the length that every model interface accepts.
const MaxRuntimeName = 64

const (
	mcpPrefix    = "mcp__"
	codePrefix   = "code__"
	digestLength = 12
	// maxServerPart keeps room for a tool's own name where a server's is long.
	maxServerPart = 24
)

var (
	// suffixed is what an altered name ends with. A name that came that way is
	// altered too, or it could pose as another one's alteration.
	suffixed = regexp.MustCompile(`_[0-9a-f]{12}$`)
	unfit    = regexp.MustCompile(`[^A-Za-z0-9-]+`)
)

// MCPToolName is the name under which the model calls a tool of an MCP server.
// A name that fits stays as it is; any other is altered and ends with a digest
// of both raw names, so that different pairs differ and one pair stays itself.
// Calls are resolved in a table, never by taking this name apart.
func MCPToolName(server, tool string) string {
	s, fitS := fitting(server)
	t, fitT := fitting(tool)
	name := mcpPrefix + s + "__" + t
	if fitS && fitT && len(name) <= MaxRuntimeName {
		return name
	}
	if s = shorten(s, maxServerPart); s == "" {
		s = "x"
	}
	t = shorten(t, MaxRuntimeName-len(mcpPrefix)-len(s)-len("__")-digestLength-1)
	return joinDigest(mcpPrefix+s+"__", t, server, tool)
}

// CodeToolName is the name under which the model calls a code tool.
func CodeToolName(name string) string { return runtimeName(codePrefix, name) }

// SkillName is the name under which the model asks for a skill. It is an
// argument of use_skill, never a tool.
func SkillName(name string) string { return runtimeName("", name) }

// CommandName is what a person types after the slash.
func CommandName(name string) string { return runtimeName("", name) }

// HookName names a hook where one is reported.
func HookName(name string) string { return runtimeName("", name) }

func runtimeName(prefix, raw string) string {
	name, fits := fitting(raw)
	if fits && len(prefix)+len(name) <= MaxRuntimeName {
		return prefix + name
	}
	return joinDigest(prefix, shorten(name, MaxRuntimeName-len(prefix)-digestLength-1), raw)
}

func joinDigest(prefix, name string, raw ...string) string {
	digest := shortDigest(digestLength, raw...)
	if name == "" {
		return prefix + digest
	}
	return prefix + name + "_" + digest
}

// fitting replaces what a runtime name may not hold, runs of underscores
// included, and reports whether raw was already fit.
func fitting(raw string) (name string, fits bool) {
	name = strings.Trim(unfit.ReplaceAllString(raw, "_"), "_")
	return name, name == raw && name != "" && !suffixed.MatchString(name) && !bareDigest.MatchString(name)
}

// bareDigest is what a name without any fit character becomes.
var bareDigest = regexp.MustCompile(`^[0-9a-f]{12}$`)

func shorten(name string, n int) string { return strings.TrimRight(name[:min(len(name), n)], "_") }

// ToolRefusal is a tool of a server that gets no name, and why.
type ToolRefusal struct {
	Raw    string
	Code   string // empty_name, duplicate or name_collision
	Detail string
}

// ToolNames names a server's tools, raw to runtime. The answer is the same in
// whatever order the server lists them. A nameless tool is refused, a second
// one of the same name is refused and reported, and so is one whose runtime
// name another already has.
func ToolNames(server string, raws []string) (map[string]string, []ToolRefusal) {
	names, taken := make(map[string]string, len(raws)), make(map[string]string, len(raws))
	var refused []ToolRefusal
	for _, raw := range slices.Sorted(slices.Values(raws)) {
		name := MCPToolName(server, raw)
		switch _, again := names[raw]; {
		case strings.TrimSpace(raw) == "":
			refused = append(refused, ToolRefusal{Raw: raw, Code: "empty_name", Detail: "A tool without a name cannot be called."})
		case again:
			refused = append(refused, ToolRefusal{Raw: raw, Code: "duplicate", Detail: "The server lists this tool more than once; the first one is used."})
		case taken[name] != "":
			refused = append(refused, ToolRefusal{Raw: raw, Code: "name_collision", Detail: "Its name cannot be told apart from " + taken[name] + "."})
		default:
			names[raw], taken[name] = name, raw
		}
	}
	return names, refused
}
