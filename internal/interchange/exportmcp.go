package interchange

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/fault"
)

// Dialect is a client whose configuration is written.
type Dialect string

const (
	// DialectClaude is the mcpServers of Claude Code's .mcp.json, which Cursor
	// and others read too; secrets and settings are variables of the environment.
	DialectClaude Dialect = "claude-code"
	// DialectVSCode is the servers and inputs of VS Code's mcp.json; secrets and
	// settings are asked for.
	DialectVSCode Dialect = "vscode"
)

// ExportServers writes mcp capabilities as the configuration of a client. No
// value of a secret is in it. What the format has no place for stands beside
// each server under "capstore", so that an import of the file gives the same
// digests. The fault is for what is no mcp capability.
func ExportServers(contents []capability.Content, dialect Dialect) ([]byte, error) {
	w := &serversWriter{dialect: dialect, servers: &object{values: map[string]any{}}, asked: map[string]prompt{}, owners: map[string]string{}}
	for _, c := range contents {
		if err := w.add(c); err != nil {
			return nil, err
		}
	}
	doc := &object{values: map[string]any{}}
	switch dialect {
	case DialectVSCode:
		doc.set("inputs", w.inputs())
		doc.set("servers", w.servers)
	case DialectClaude:
		doc.set("mcpServers", w.servers)
	default:
		return nil, fault.New(fault.Invalid, "unknown_dialect", "There is no configuration called %q; take %s or %s.", clip(string(dialect), 40), DialectClaude, DialectVSCode)
	}
	return indented(doc)
}

type serversWriter struct {
	dialect Dialect
	servers *object
	order   []string
	asked   map[string]prompt
	owners  map[string]string // of each name the server that it belongs to
}

// prompt is a question of VS Code.
type prompt struct {
	ID          string `json:"id"`
	Type        string `json:"type"`
	Description string `json:"description"`
	Default     string `json:"default,omitempty"`
	Password    bool   `json:"password,omitempty"`
}

func (w *serversWriter) inputs() []prompt {
	out := []prompt{}
	for _, id := range w.order {
		out = append(out, w.asked[id])
	}
	return out
}

func (w *serversWriter) add(c capability.Content) error {
	spec, err := serverSpec(c)
	if err != nil {
		return err
	}
	key := capability.IDFromName(c.Name)
	for n := 2; w.servers.has(key); n++ {
		key = fmt.Sprintf("%s-%d", capability.IDFromName(c.Name), n)
	}
	entry := &object{values: map[string]any{}}
	if spec.URL != "" {
		w.remote(entry, key, spec)
	} else {
		w.container(entry, key, spec)
	}
	k, err := w.kept(c, key, entry)
	if err != nil {
		return err
	}
	entry.set(keptKey, k)
	w.servers.set(key, entry)
	return nil
}

func serverSpec(c capability.Content) (*capability.MCPSpec, error) {
	spec, ok := c.Spec.(*capability.MCPSpec)
	if !ok {
		return nil, fault.New(fault.Invalid, "not_an_mcp", "Only an mcp capability can be written in this format.")
	}
	return spec, nil
}

// kept reads the entry as an import would, and keeps what that does not give.
func (w *serversWriter) kept(c capability.Content, key string, entry *object) (kept, error) {
	f := &jsonFile{path: "mcp.json", names: map[string]string{}, inputs: map[string]input{}}
	for id, p := range w.asked {
		f.inputs[id] = input{description: p.Description, initial: p.Default, secret: p.Password}
	}
	parsed, err := reparsed(entry)
	if err != nil {
		return kept{}, err
	}
	m, refusal := f.configured(f.path, key, parsed)
	if refusal != nil {
		m = nil
	}
	return keeping(c, m)
}

// reparsed is an object as a reader of its JSON has it.
func reparsed(o *object) (*object, error) {
	raw, err := json.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("export: %w", err)
	}
	v, err := parseOrdered(raw)
	if err != nil {
		return nil, fmt.Errorf("export: %w", err)
	}
	out, _ := v.(*object)
	return out, nil
}

func (w *serversWriter) remote(entry *object, key string, spec *capability.MCPSpec) {
	entry.set("type", "http")
	entry.set("url", bracePart.ReplaceAllStringFunc(spec.URL, func(s string) string {
		return w.settingHole(key, settingOf(spec, s[1:len(s)-1]))
	}))
	headers := &object{values: map[string]any{}}
	for i, c := range spec.Carriers() {
		headers.set(c.Header, c.Value(w.secretHole(key, spec.RequiredSecrets[i])))
	}
	if len(headers.keys) > 0 {
		entry.set("headers", headers)
	}
}

func settingOf(spec *capability.MCPSpec, name string) capability.Setting {
	i := slices.IndexFunc(spec.Settings, func(s capability.Setting) bool { return s.Name == name })
	if i < 0 {
		return capability.Setting{Name: name}
	}
	return spec.Settings[i]
}

func (w *serversWriter) container(entry *object, key string, spec *capability.MCPSpec) {
	args, env := []string{"run", "-i", "--rm"}, &object{values: map[string]any{}}
	for _, s := range spec.RequiredSecrets {
		args = append(args, "-e", s.Variable())
		env.set(s.Variable(), w.secretHole(key, s))
	}
	for _, s := range spec.Settings {
		args = append(args, "-e", s.Name)
		env.set(s.Name, w.settingHole(key, s))
	}
	if w.dialect == DialectVSCode {
		entry.set("type", "stdio")
	}
	entry.set("command", "docker")
	entry.set("args", append(append(args, spec.Image), spec.Args...))
	if len(env.keys) > 0 {
		entry.set("env", env)
	}
}

// secretHole is the placeholder of a secret.
func (w *serversWriter) secretHole(key string, s capability.RequiredSecret) string {
	name := w.holeName(key, s.Name)
	if w.dialect == DialectVSCode {
		return w.ask(prompt{ID: name, Description: s.Description, Password: true})
	}
	return "${" + name + "}"
}

// settingHole is the placeholder of a setting, with its default.
func (w *serversWriter) settingHole(key string, s capability.Setting) string {
	name := w.holeName(key, s.Name)
	switch {
	case w.dialect == DialectVSCode:
		return w.ask(prompt{ID: name, Description: s.Description, Default: s.Default})
	case s.Default != "" && !strings.ContainsAny(s.Default, "{}"):
		return "${" + name + ":-" + s.Default + "}"
	}
	return "${" + name + "}"
}

// holeName is what a value is called in the file. Two servers never share a
// name: what is given to the one would go to the other.
func (w *serversWriter) holeName(key, name string) string {
	out := name
	for n := 1; w.owners[out] != "" && w.owners[out] != key; n++ {
		out = secretName(key) + "_" + name
		if n > 1 {
			out += fmt.Sprintf("_%d", n)
		}
	}
	w.owners[out] = key
	return out
}

// ask adds a question and returns its placeholder.
func (w *serversWriter) ask(p prompt) string {
	p.Type, p.Description = "promptString", cmp.Or(p.Description, p.ID)
	if _, taken := w.asked[p.ID]; !taken {
		w.order = append(w.order, p.ID)
	}
	w.asked[p.ID] = p
	return "${input:" + p.ID + "}"
}

// indented writes a document for people to read, without the escapes that HTML
// would want.
func indented(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("export: %w", err)
	}
	return b.Bytes(), nil
}
