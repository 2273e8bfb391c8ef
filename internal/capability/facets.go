package capability

import (
	"cmp"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
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
	address string // where it is served from, without the path
	image   string
	args    []string

	endpoint, auth, licence, harness, model string

	declaresHooks bool
	expands       bool

	events, tools, writeTools, secrets, hosts     facet
	scripts, allowed, variables, requires, serves facet
	// settings are all of them, needed those that wait for a value.
	settings, needed facet
	// parameters change with their meaning, parameterWords with any letter;
	// rules are what the schema says beside them.
	parameters, parameterWords, required facet
	rules                                string
	modelText                            string
	hidden                               map[string]int // unseen characters, by part
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
		f.allowed, f.expands = setOf(s.AllowedTools), expands(s.Template)
		f.leans(s.Leans)
	case *EnvironmentSpec:
		f.image = s.Image
	case *DelegationSpec:
		f.ofDelegation(s)
	}
	f.kind, f.modelText, f.hidden = c.Spec.Kind(), c.ModelText(), hiddenIn(c)
	return f
}

func (f *facets) leans(l Leans) { f.requires, f.serves = setOf(l.Requires), setOf(l.Serves) }

func (f *facets) ofMCP(s *MCPSpec) {
	f.writes, f.image, f.args = s.Write, s.Image, s.Args
	f.address, f.endpoint, f.auth = addressHost(s.URL), s.URL, string(cmp.Or(s.Auth, AuthNone))
	f.tools, f.writeTools, f.secrets = setOf(s.Provides), facet{}, secretSet(s.RequiredSecrets)
	f.leans(s.Leans)
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
	f.settings, f.needed = facet{}, facet{}
	for _, setting := range s.Settings {
		f.settings[setting.Name] = setting.Default + "\x00" + strconv.FormatBool(setting.Required)
		if setting.Required && setting.Default == "" {
			f.needed[setting.Name] = ""
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
		out[s.Name] = s.Header + "\x00" + s.Scheme + "\x00" + s.Variable()
	}
	return out
}

func (f *facets) ofCode(s *CodeSpec) {
	f.code = shortDigest(64, string(s.Language), s.Code)
	f.writes = s.IsReadOnly == nil || !*s.IsReadOnly
	f.image, f.timeout = s.Image, seconds(s.TimeoutSec)
	f.secrets, f.hosts = secretSet(s.RequiredSecrets), setOf(s.Egress)
	f.leans(s.Leans)
	f.ofSchema(s.ParametersSchema)
}

func seconds(n int) string {
	if n == 0 {
		n = DefaultTimeoutSec
	}
	return strconv.Itoa(n)
}

func (f *facets) ofSkill(s *SkillSpec) {
	f.scripts = scriptsOf(s.Files)
	f.allowed = setOf(strings.Fields(s.AllowedTools))
	f.declaresHooks, f.expands = frontMatterHas(s.Raw, "hooks"), expands(s.Instructions)
	f.licence = s.License
	f.leans(s.Leans)
}

// scriptEndings are of files that an agent is likely to run.
var scriptEndings = []string{".sh", ".bash", ".zsh", ".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".ps1", ".bat", ".cmd", ".exe", ".php", ".lua", ".jar", ".so", ".wasm"}

func scriptsOf(files []File) facet {
	out := facet{}
	for _, file := range files {
		ending := strings.ToLower(path.Ext(file.Path))
		if file.Executable || strings.HasPrefix(file.Path, "scripts/") ||
			slices.Contains(scriptEndings, ending) || strings.HasPrefix(file.Content, "#!") {
			out[file.Path] = shortDigest(64, file.Encoding, file.Content, strconv.FormatBool(file.Executable))
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
	f.leans(s.Leans)
}

func (f *facets) ofDelegation(s *DelegationSpec) {
	f.image, f.harness, f.model = s.Image, s.Harness, s.Model
	f.variables, f.secrets = facet{}, facet{}
	for name, value := range s.Env {
		if value.SecretRef != "" {
			f.secrets[value.SecretRef] = ""
			continue
		}
		f.variables[name] = value.Literal
	}
}
