package interchange

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/fault"
)

const (
	serverSchema   = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
	maxServerWords = 100     // characters of a description in server.json
	maxPublisher   = 4 << 10 // bytes of what a publisher may add
)

// ServerName is how a server is called in a registry of MCP servers.
type ServerName struct {
	Name    string // namespace/name, such as com.example/weather
	Version string
}

var registryName = regexp.MustCompile(`^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$`)

// The parts of a server.json that capstore writes.
type (
	serverDoc struct {
		Schema      string          `json:"$schema"`
		Name        string          `json:"name"`
		Title       string          `json:"title,omitempty"`
		Description string          `json:"description"`
		Version     string          `json:"version"`
		Remotes     []serverRemote  `json:"remotes,omitempty"`
		Packages    []serverPackage `json:"packages,omitempty"`
		Meta        map[string]any  `json:"_meta,omitempty"`
	}
	serverRemote struct {
		Type      string                 `json:"type"`
		URL       string                 `json:"url,omitempty"`
		Headers   []serverInput          `json:"headers,omitempty"`
		Variables map[string]serverInput `json:"variables,omitempty"`
	}
	serverPackage struct {
		RegistryType string           `json:"registryType"`
		Identifier   string           `json:"identifier"`
		RuntimeHint  string           `json:"runtimeHint"`
		Transport    serverRemote     `json:"transport"`
		Arguments    []serverArgument `json:"packageArguments,omitempty"`
		Environment  []serverInput    `json:"environmentVariables,omitempty"`
	}
	serverInput struct {
		Name        string                 `json:"name,omitempty"`
		Description string                 `json:"description,omitempty"`
		Value       string                 `json:"value,omitempty"`
		Default     string                 `json:"default,omitempty"`
		IsRequired  bool                   `json:"isRequired,omitempty"`
		IsSecret    bool                   `json:"isSecret,omitempty"`
		Variables   map[string]serverInput `json:"variables,omitempty"`
	}
	serverArgument struct {
		Type  string `json:"type"`
		Value string `json:"value"`
	}
)

// ExportServerJSON writes an mcp capability as a server.json of the schema of
// December 2025. What the format has no place for is put into _meta, so that an
// import of the file gives the same digest; where that is more than a publisher
// may add there, the largest parts are left out. The faults are for what is no
// mcp capability and for a name that no registry takes.
func ExportServerJSON(c capability.Content, as ServerName) ([]byte, error) {
	spec, err := serverSpec(c)
	if err != nil {
		return nil, err
	}
	if n := len(as.Name); n < 3 || n > 200 || !registryName.MatchString(as.Name) {
		return nil, fault.New(fault.Invalid, "bad_server_name", "%q is no name for a registry, such as com.example/weather.", clip(as.Name, 80))
	}
	if as.Version == "" {
		return nil, fault.New(fault.Invalid, "bad_server_version", "A server.json needs a version.")
	}
	doc := serverDoc{
		Schema: serverSchema, Name: as.Name, Title: c.Name, Version: as.Version,
		Description: shorten(c.Description, maxServerWords),
	}
	if spec.URL != "" {
		doc.Remotes = []serverRemote{remoteOf(spec)}
	} else {
		doc.Packages = []serverPackage{packageFor(spec)}
	}
	if err := doc.keep(c); err != nil {
		return nil, err
	}
	return indented(doc)
}

func remoteOf(spec *capability.MCPSpec) serverRemote {
	out := serverRemote{Type: "streamable-http", URL: spec.URL, Variables: map[string]serverInput{}}
	for _, m := range bracePart.FindAllStringSubmatch(spec.URL, -1) {
		s := settingOf(spec, m[1])
		out.Variables[m[1]] = serverInput{Description: s.Description, Default: s.Default, IsRequired: s.Required}
	}
	for i, c := range spec.Carriers() {
		s := spec.RequiredSecrets[i]
		out.Headers = append(out.Headers, serverInput{
			Name: c.Header, Value: c.Value("{" + s.Name + "}"), IsRequired: true, IsSecret: true,
			Variables: map[string]serverInput{s.Name: {Description: s.Description, IsRequired: true, IsSecret: true}},
		})
	}
	return out
}

func packageFor(spec *capability.MCPSpec) serverPackage {
	out := serverPackage{RegistryType: "oci", Identifier: spec.Image, RuntimeHint: "docker", Transport: serverRemote{Type: "stdio"}}
	for _, s := range spec.RequiredSecrets {
		out.Environment = append(out.Environment, serverInput{Name: s.Variable(), Description: s.Description, IsRequired: true, IsSecret: true})
	}
	for _, s := range spec.Settings {
		out.Environment = append(out.Environment, serverInput{Name: s.Name, Description: s.Description, Default: s.Default, IsRequired: s.Required})
	}
	for _, a := range spec.Args {
		out.Arguments = append(out.Arguments, serverArgument{Type: "positional", Value: a})
	}
	return out
}

// keep reads the document as an import would, and adds what that does not give.
func (d *serverDoc) keep(c capability.Content) error {
	raw, err := json.Marshal(d)
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	v, err := parseOrdered(raw)
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	o, _ := v.(*object)
	f := &jsonFile{path: "server.json", names: map[string]string{}}
	m, refusal := f.fromRegistry(f.path, o)
	if refusal != nil {
		m = nil
	}
	k, err := keeping(c, m)
	if err != nil {
		return err
	}
	publisher, err := fitting(k)
	if err != nil {
		return err
	}
	d.Meta = map[string]any{publisherMeta: publisher}
	return nil
}

// fitting is what is kept within what a publisher may add: the largest fields
// go first, and with them the promise that the whole comes back.
func fitting(k kept) (map[string]any, error) {
	for {
		out := map[string]any{keptKey: k}
		raw, err := json.Marshal(out)
		if err != nil {
			return nil, fmt.Errorf("export: %w", err)
		}
		if len(raw) <= maxPublisher || len(k.Fields) == 0 {
			return out, nil
		}
		largest := ""
		for path, v := range k.Fields {
			if largest == "" || len(v) > len(k.Fields[largest]) || len(v) == len(k.Fields[largest]) && strings.Compare(path, largest) < 0 {
				largest = path
			}
		}
		delete(k.Fields, largest)
		delete(k.Was, largest)
		k.Digest = ""
	}
}
