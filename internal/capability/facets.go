package capability

import (
	"encoding/json"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"capstore/internal/jsonx"
)

// facets is what matters of a content to whoever uses it.
type facets struct {
	kind    Kind
	name    string
	code    string // digest of what the server runs
	writes  bool
	matcher string // hooks only; "*" watches everything
	failure string
	timeout string
	address string
	image   string
	args    []string

	declaresHooks bool
	expands       bool

	events, tools, writeTools, secrets, hosts, settings facet
	scripts, allowed, variables, requires               facet
	parameters, required                                facet
}

// facet is a set of names, each with something that changes when it is edited.
type facet map[string]string

func (f facet) minus(g facet) []string {
	var out []string
	for _, name := range sortedKeys(f) {
		if _, there := g[name]; !there {
			out = append(out, name)
		}
	}
	return out
}

func (f facet) edited(g facet) []string {
	var out []string
	for _, name := range sortedKeys(f) {
		if old, there := g[name]; there && old != f[name] {
			out = append(out, name)
		}
	}
	return out
}

func setOf(names []string) facet {
	out := facet{}
	for _, n := range names {
		out[n] = ""
	}
	return out
}

// facetsOf reads a content; a zero one has no kind and no facets.
func facetsOf(c Content) facets {
	f := facets{name: c.Name}
	switch s := c.Spec.(type) {
	case nil:
		return facets{}
	case *MCPSpec:
		f.ofMCP(s)
	case *CodeSpec:
		f.ofCode(s)
	case *SkillSpec:
		f.ofSkill(s)
	case *HookSpec:
		f.ofHook(s)
	case *CommandSpec:
		f.allowed, f.requires = setOf(s.AllowedTools), setOf(s.Requires)
		f.expands = expands(s.Template)
	case *EnvironmentSpec:
		f.image = s.Image
	case *DelegationSpec:
		f.ofDelegation(s)
	}
	f.kind = c.Spec.Kind()
	return f
}

func (f *facets) ofMCP(s *MCPSpec) {
	f.writes, f.image, f.args = s.Write, s.Image, s.Args
	f.address = addressHost(s.URL)
	f.tools, f.requires = setOf(s.Provides), setOf(s.Requires)
	f.writeTools, f.secrets, f.settings = facet{}, secretSet(s.RequiredSecrets), facet{}
	for _, tool := range s.Provides {
		if s.ToolClasses[tool] != ClassRead {
			f.writeTools[tool] = ""
		}
	}
	for tool, class := range s.ToolClasses {
		f.tools[tool] = ""
		if class != ClassRead {
			f.writeTools[tool] = ""
		}
	}
	for _, setting := range s.Settings {
		if setting.Required && setting.Default == "" {
			f.settings[setting.Name] = ""
		}
	}
}

// addressHost is where a server is, without its path; the whole address where
// it cannot be read.
func addressHost(address string) string {
	u, err := url.Parse(placeholder.ReplaceAllString(address, "1"))
	if err != nil || strings.Contains(address, "{") {
		return address
	}
	return u.Host
}

func secretSet(list []RequiredSecret) facet {
	out := facet{}
	for _, s := range list {
		out[s.Name] = ""
	}
	return out
}

func (f *facets) ofCode(s *CodeSpec) {
	f.code = shortDigest(64, string(s.Language), s.Code)
	f.writes = s.IsReadOnly == nil || !*s.IsReadOnly
	f.image, f.timeout = s.Image, seconds(s.TimeoutSec)
	f.secrets, f.hosts, f.requires = secretSet(s.RequiredSecrets), setOf(s.Egress), setOf(s.Requires)
	f.parameters, f.required = parametersOf(s.ParametersSchema)
}

func seconds(n int) string {
	if n == 0 {
		n = DefaultTimeoutSec
	}
	return strconv.Itoa(n)
}

// parametersOf reads the top-level properties of a schema.
func parametersOf(schema json.RawMessage) (parameters, required facet) {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	parameters = facet{}
	if json.Unmarshal(schema, &s) != nil {
		return parameters, facet{}
	}
	for name, property := range s.Properties {
		canonical, err := jsonx.Canonical(property)
		if err != nil {
			canonical = property
		}
		parameters[name] = string(canonical)
	}
	return parameters, setOf(s.Required)
}

func (f *facets) ofSkill(s *SkillSpec) {
	f.scripts = scriptsOf(s.Files)
	f.allowed = setOf(strings.Fields(s.AllowedTools))
	f.requires = setOf(s.Requires)
	f.declaresHooks = frontMatterHas(s.Raw, "hooks")
	f.expands = expands(s.Instructions)
}

// scriptEndings are of files that an agent is likely to run.
var scriptEndings = []string{".sh", ".bash", ".zsh", ".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".ps1", ".bat", ".cmd", ".exe", ".php", ".lua", ".jar", ".so", ".wasm"}

func scriptsOf(files []File) facet {
	out := facet{}
	for _, file := range files {
		ending := strings.ToLower(path.Ext(file.Path))
		if file.Executable || strings.HasPrefix(file.Path, "scripts/") ||
			slices.Contains(scriptEndings, ending) || strings.HasPrefix(file.Content, "#!") {
			out[file.Path] = shortDigest(64, file.Encoding, file.Content)
		}
	}
	return out
}

// frontMatterHas looks for a top-level key by its line alone: a false alarm
// costs a reader one glance, so no YAML is parsed for it.
func frontMatterHas(raw, key string) bool {
	raw = strings.TrimPrefix(raw, "\ufeff")
	lines := strings.Split(strings.ReplaceAll(raw, "\r", "\n"), "\n")
	if len(lines) == 0 || strings.TrimSpace(lines[0]) != "---" {
		return false
	}
	for _, l := range lines[1:] {
		if strings.TrimSpace(l) == "---" {
			return false
		}
		if name, _, ok := strings.Cut(l, ":"); ok && strings.Trim(strings.TrimRight(name, " \t"), `"'`) == key {
			return true
		}
	}
	return false
}

// expands reports whether the text asks a host to run a command while it is
// being loaded, as some do for !`…`.
func expands(text string) bool { return strings.Contains(text, "!`") }

func (f *facets) ofHook(s *HookSpec) {
	parts := []string{string(s.Language), s.Code}
	for _, file := range s.Files {
		parts = append(parts, file.Path, file.Encoding, file.Content)
	}
	f.code = shortDigest(64, parts...)
	f.events = setOf([]string{string(s.Event)})
	f.matcher, f.timeout, f.failure = s.Matcher, seconds(s.TimeoutSec), string(Advisory)
	if s.Matcher == "" {
		f.matcher = "*"
	}
	if s.FailsClosed() {
		f.failure = string(FailClosed)
	}
	f.requires = setOf(s.Requires)
}

func (f *facets) ofDelegation(s *DelegationSpec) {
	f.image = s.Image
	f.variables, f.secrets = facet{}, facet{}
	for name, value := range s.Env {
		if value.SecretRef != "" {
			f.secrets[value.SecretRef] = ""
			continue
		}
		f.variables[name] = ""
	}
}
