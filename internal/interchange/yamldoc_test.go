package interchange_test

import (
	"strings"
	"testing"

	"capstore/internal/capability"
	"capstore/internal/interchange"

	"github.com/google/go-cmp/cmp"
)

func readYAML(t testing.TB, raw string) []interchange.Item {
	t.Helper()
	i, err := interchange.FromDocument([]byte(raw), "servers.yaml", interchange.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return i.Items()
}

// What YAML says is what JSON of the same shape would say.
func TestConfigurationInYAML(t *testing.T) {
	t.Parallel()
	items := readYAML(t, `# mine
mcpServers:
  - name: quill
    url: https://quill.example/mcp
    headers: {Authorization: "Bearer ${QUILL_KEY}"}
    enabled: false
  - name: box
    command: docker
    args: [run, -i, --rm, -e, SINCE, -e, DEPTH, -e, ON, acme/box:1]
    env: {SINCE: 2024-01-02, DEPTH: 0x10, ON: true}
`)
	if len(items) != 2 || items[0].Status != interchange.Ready || items[1].Status != interchange.Ready || !has(items[0].Notes, "disabled") {
		t.Fatalf("%+v", items)
	}
	want := []*capability.MCPSpec{
		{URL: "https://quill.example/mcp", RequiredSecrets: secrets{{Name: "QUILL_KEY"}}},
		{Image: "acme/box:1", Settings: settings{{Name: "SINCE", Default: "2024-01-02"}, {Name: "DEPTH", Default: "0x10"}, {Name: "ON", Default: "true"}}},
	}
	for i, item := range items {
		if diff := cmp.Diff(want[i], item.Content.Spec.(*capability.MCPSpec)); diff != "" {
			t.Errorf("%s: %s", item.Path, diff)
		}
	}
}

func TestYAMLThatIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ raw, code, says string }{
		"broken":      {"mcpServers:\n  a: [", "bad_yaml", ""},
		"another":     {"on: push\njobs: {}\n", "unknown_yaml", ""},
		"a list":      {"- a\n- b\n", "unknown_yaml", ""},
		"empty":       {"# nothing\n", "bad_yaml", ""},
		"an alias":    {"a: &x {url: https://a.example}\nmcpServers:\n  a: *x\n", "yaml_alias", "line 3"},
		"key twice":   {"mcpServers:\n  a: {url: https://a.example}\n  a: {url: https://b.example}\n", "", ""},
		"a key of it": {"mcpServers:\n  ? [a]\n  : b\n", "bad_yaml", "line 2"},
		"deep":        {strings.Repeat("[", 100) + strings.Repeat("]", 100), "bad_yaml", ""},
		"a zero byte": {"mcpServers: \x00", "", ""},
	} {
		items := readYAML(t, c.raw)
		if len(items) != 1 || items[0].Status != interchange.Refused || items[0].Fault.Action == "" {
			t.Errorf("%s: %+v", name, items)
			continue
		}
		if f := items[0].Fault; c.code != "" && f.Code != c.code || !strings.Contains(f.Message, c.says) {
			t.Errorf("%s: %v", name, f)
		}
	}
}

const dockerEntry = `name: quill
image: mcp/quill
type: server
meta: {category: writing, tags: [text]}
about: {title: Quill, description: Writes letters., icon: https://quill.example/i.png}
source: {project: https://git.example/quill, commit: abc}
run:
  command: ["--tone={{quill.tone}}"]
  env: {QUILL_LANG: "{{quill.lang}}"}
  user: "{{quill.user}}"
config:
  secrets:
    - {name: quill.key, env: QUILL_KEY, example: not-a-key}
  env:
    - {name: QUILL_HOME, example: https://example.com, value: "{{quill.home}}"}
  parameters:
    properties:
      home: {type: string, description: Where it keeps them}
      lang: {type: string, description: In which language, default: en}
      tone: {type: string, default: dry}
`

// An entry of Docker's registry is read as one of its catalogue. In a folder
// it is told from what other programs keep in a server.yaml.
func TestEntryOfDockersRegistry(t *testing.T) {
	t.Parallel()
	i, err := interchange.FromFolder(folder(map[string]string{
		"servers/quill/server.yaml": dockerEntry,
		"servers/far/server.yaml":   "name: far\ntype: remote\nabout: {description: Far away.}\nremote: {transport_type: streamable-http, url: https://far.example/mcp}\noauth: [{provider: far}]\n",
		"deploy/server.yaml":        "name: web\nport: 80\n",
		"broken/server.yaml":        "about: [",
		"other.yaml":                dockerEntry,
	}), "registry", interchange.Options{})
	if err != nil {
		t.Fatal(err)
	}
	items := i.Items()
	if len(items) != 2 || items[0].Path != "servers/far/server.yaml" || items[1].Path != "servers/quill/server.yaml" {
		t.Fatalf("%+v", items)
	}
	want := []capability.Content{
		{Name: "far", Description: "Far away.", Spec: &capability.MCPSpec{URL: "https://far.example/mcp", Auth: capability.AuthOAuth}},
		{Name: "quill", Description: "Writes letters.", Spec: &capability.MCPSpec{
			Image: "mcp/quill", Args: []string{"--tone=dry"},
			RequiredSecrets: secrets{{Name: "QUILL_KEY"}},
			Settings:        settings{{Name: "QUILL_HOME", Description: "Where it keeps them", Required: true}, {Name: "QUILL_LANG", Description: "In which language", Default: "en"}},
		}},
	}
	for i, item := range items {
		if diff := cmp.Diff(want[i], item.Content); diff != "" {
			t.Errorf("%s: %s", item.Path, diff)
		}
	}
	if !has(items[1].Notes, "keys_not_used") {
		t.Errorf("the user of the container is dropped without a word: %s", noteCodes(items[1].Notes))
	}
}
