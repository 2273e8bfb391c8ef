package interchange_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"capstore/internal/capability"
	"capstore/internal/interchange"

	"github.com/google/go-cmp/cmp"
)

type (
	secrets  = []capability.RequiredSecret
	settings = []capability.Setting
)

// Every placeholder of an environment becomes a declaration; nothing is filled
// in from where capstore runs.
func TestPlaceholdersOfAnEnvironment(t *testing.T) {
	t.Setenv("HOME", "/canary-home")
	t.Setenv("QUILL_KEY", "canary-value")
	for text, c := range map[string]struct {
		name     string
		secrets  secrets
		settings settings
		note     string
	}{
		"${QUILL_KEY}":          {"A", secrets{{Name: "A"}}, nil, ""},
		"$QUILL_KEY":            {"A", secrets{{Name: "A"}}, nil, ""},
		"${env:QUILL_KEY}":      {"A", secrets{{Name: "A"}}, nil, ""},
		"{{ quill.api_key }}":   {"A", secrets{{Name: "A"}}, nil, ""},
		"%QUILL_KEY%":           {"A", secrets{{Name: "A"}}, nil, ""},
		"<YOUR_API_KEY>":        {"A", secrets{{Name: "A"}}, nil, ""},
		"${input:pin}":          {"A", secrets{{Name: "A", Description: "Your PIN"}}, nil, ""},
		"${secret:x}":           {"A", secrets{{Name: "A"}}, nil, ""},
		"":                      {"API_KEY", secrets{{Name: "API_KEY"}}, nil, ""},
		"your-api-key-here":     {"API_KEY", secrets{{Name: "API_KEY"}}, nil, ""},
		"sk-xxxxxxxx":           {"apiKey", secrets{{Name: "API_KEY", Env: "apiKey"}}, nil, ""},
		"ghp_YourTokenHere":     {"GITHUB_PAT", secrets{{Name: "GITHUB_PAT"}}, nil, ""},
		"xoxb-your-bot-token":   {"SLACK_BOT_TOKEN", secrets{{Name: "SLACK_BOT_TOKEN"}}, nil, ""},
		"ghp_...":               {"GITHUB_PERSONAL_ACCESS_TOKEN", secrets{{Name: "GITHUB_PERSONAL_ACCESS_TOKEN"}}, nil, ""},
		"YOUR_TOKEN":            {"GITHUB_TOKEN", secrets{{Name: "GITHUB_TOKEN"}}, nil, ""},
		"${REGION}":             {"A", nil, settings{{Name: "A", Required: true}}, ""},
		"${REGION:-eu}":         {"A", nil, settings{{Name: "A", Default: "eu"}}, ""},
		"${REGION-eu}":          {"A", nil, settings{{Name: "A", Default: "eu"}}, ""},
		"${input:region}":       {"A", nil, settings{{Name: "A", Default: "eu", Description: "Where"}}, ""},
		"${FILE_ROOT:-/data}":   {"A", nil, settings{{Name: "A", Default: "/data"}}, ""},
		"${env:REGION:-eu}":     {"A", nil, settings{{Name: "A", Default: "eu"}}, ""},
		"${REGION:=eu}":         {"A", nil, settings{{Name: "A", Default: "eu"}}, ""},
		"${input:unknown}":      {"A", nil, settings{{Name: "A", Required: true}}, ""},
		"${keychain:github}":    {"A", secrets{{Name: "A"}}, nil, ""},
		"${config:python.path}": {"A", nil, settings{{Name: "A", Required: true}}, "machine_path"},
		"${fileDirname}/x":      {"A", nil, settings{{Name: "A", Required: true}}, "machine_path"},
		"${}":                   {"A", nil, settings{{Name: "A", Default: "${}"}}, ""},
		"<your-project-id>":     {"PROJECT", nil, settings{{Name: "PROJECT", Required: true}}, ""},
		"${env:HOME}":           {"A", nil, settings{{Name: "A", Required: true}}, "machine_path"},
		"${workspaceFolder}/db": {"A", nil, settings{{Name: "A", Required: true}}, "machine_path"},
		"${CLAUDE_PLUGIN_ROOT}": {"A", nil, settings{{Name: "A", Required: true}}, "machine_path"},
		"https://${H:-h}/x":     {"A", nil, settings{{Name: "A", Default: "https://h/x"}}, ""},
		"https://${H}/x":        {"A", nil, settings{{Name: "A", Description: "In the form https://{H}/x", Required: true}}, ""},
		"db://u:${DB_PASSWORD}": {"A", secrets{{Name: "A", Description: "In the form db://u:{DB_PASSWORD}"}}, nil, ""},
		"{env:QUILL_LANG}":      {"LANGUAGE", nil, settings{{Name: "LANGUAGE", Required: true}}, ""},
		"{env:QUILL_KEY}":       {"A", secrets{{Name: "A"}}, nil, ""},
		"info":                  {"LEVEL", nil, settings{{Name: "LEVEL", Default: "info"}}, ""},
		"my-bucket":             {"BUCKET", nil, settings{{Name: "BUCKET", Default: "my-bucket"}}, ""},
		"pa$$word":              {"MODE", nil, settings{{Name: "MODE", Default: "pa$$word"}}, ""},
		"a$B and 100%":          {"MODE", nil, settings{{Name: "MODE", Default: "a$B and 100%"}}, ""},
		"%EA%B0%80":             {"MODE", nil, settings{{Name: "MODE", Default: "%EA%B0%80"}}, ""},
		"a < b > c":             {"MODE", nil, settings{{Name: "MODE", Default: "a < b > c"}}, ""},
		"two\nlines":            {"MODE", nil, settings{{Name: "MODE", Required: true}}, "default_dropped"},
		"x":                     {"NODE_OPTIONS", nil, nil, "variable_reserved"},
		"y":                     {"LD_PRELOAD", nil, nil, "variable_reserved"},
		"z":                     {"DYLD_INSERT_LIBRARIES", nil, nil, "variable_reserved"},
		"w":                     {"no-name", nil, nil, "variable_dropped"},
	} {
		raw, _ := json.Marshal(map[string]any{
			"inputs": []any{map[string]any{"id": "pin", "password": true, "description": "Your PIN"}, map[string]any{"id": "region", "default": "eu", "description": "Where"}},
			"servers": map[string]any{"x": map[string]any{
				"command": "docker", "args": []string{"run", "-i", "--rm", "-e", c.name, "acme/x:1"}, "env": map[string]string{c.name: text},
			}},
		})
		item, spec := server(t, string(raw))
		if diff := cmp.Diff(c.secrets, spec.RequiredSecrets); diff != "" {
			t.Errorf("%s=%s: secrets %s", c.name, text, diff)
		}
		if diff := cmp.Diff(c.settings, spec.Settings); diff != "" {
			t.Errorf("%s=%s: settings %s", c.name, text, diff)
		}
		if c.note != "" && !has(item.Notes, c.note) || len(item.Secrets) > 0 {
			t.Errorf("%s=%s: notes %s, secrets %v", c.name, text, noteCodes(item.Notes), item.Secrets)
		}
		if got := everything(t, []interchange.Item{item}); strings.Contains(got, "canary") {
			t.Errorf("%s: something of the environment came in: %s", text, got)
		}
	}
}

func TestPlaceholdersOfHeaders(t *testing.T) {
	t.Parallel()
	for text, c := range map[string]struct {
		header  string
		secrets secrets
		found   string
		note    string
	}{
		"Bearer ${QUILL_KEY}":       {"Authorization", secrets{{Name: "QUILL_KEY"}}, "", ""},
		"bearer  $QUILL_KEY":        {"authorization", secrets{{Name: "QUILL_KEY"}}, "", ""},
		"Bearer ${env:QUILL_KEY}":   {"Authorization", secrets{{Name: "QUILL_KEY"}}, "", ""},
		"Bearer <YOUR_TOKEN>":       {"Authorization", secrets{{Name: "X_TOKEN"}}, "", ""},
		"Bearer {env:QUILL_KEY}":    {"Authorization", secrets{{Name: "QUILL_KEY"}}, "", ""},
		"Bearer {ВАШ_ТОКЕН}":        {"Authorization", secrets{{Name: "X_TOKEN"}}, "", ""},
		"{file:~/.keys/quill}":      {"X-Api-Key", secrets{{Name: "X_API_KEY", Header: "X-Api-Key"}}, "", ""},
		"Bearer <token (hub:full)>": {"Authorization", secrets{{Name: "TOKEN_HUB"}}, "", ""},
		"Bearer <발급받은 키>":           {"Authorization", secrets{{Name: "X_SECRET"}}, "", ""},
		"Bearer YOUR_TOKEN_HERE":    {"Authorization", secrets{{Name: "X_TOKEN"}}, "", ""},
		"Token ${QUILL_KEY}":        {"Authorization", secrets{{Name: "QUILL_KEY", Scheme: "Token"}}, "", ""},
		"${AUTH}":                   {"Authorization", secrets{{Name: "AUTH"}}, "", "scheme_assumed"},
		"Bearer abc.def":            {"Authorization", secrets{{Name: "X_TOKEN"}}, "abc.def", "literal_secret"},
		"Basic dXNlcjpwYXNz":        {"Authorization", secrets{{Name: "X_TOKEN", Scheme: "Basic"}}, "dXNlcjpwYXNz", "literal_secret"},
		"abc.def.ghi":               {"Authorization", secrets{{Name: "X_TOKEN"}}, "abc.def.ghi", "scheme_assumed"},
		"Bearer ${K:-sk_live_Z}":    {"Authorization", secrets{{Name: "K"}}, "sk_live_Z", "literal_secret"},
		"${QUILL_KEY}":              {"X-Api-Key", secrets{{Name: "QUILL_KEY", Header: "X-Api-Key"}}, "", ""},
		"Bearer  ${QUILL_KEY}":      {"X-Api-Key", secrets{{Name: "QUILL_KEY", Header: "X-Api-Key", Scheme: "Bearer"}}, "", ""},
		"{{token}}":                 {"x-auth", secrets{{Name: "TOKEN", Header: "x-auth"}}, "", ""},
		"k-123456789":               {"X-Api-Key", secrets{{Name: "X_API_KEY", Header: "X-Api-Key"}}, "k-123456789", "literal_secret"},
		"session=${SID}; theme=ink": {"Cookie", secrets{{Name: "X_COOKIE", Header: "Cookie", Description: "The whole value of the header Cookie, in the form session={SID}; theme=ink"}}, "", "header_whole"},
		"eu":                        {"X-Region", secrets{{Name: "X_REGION", Header: "X-Region"}}, "eu", "header_as_secret"},
		"${TENANT}":                 {"X-Tenant", secrets{{Name: "TENANT", Header: "X-Tenant"}}, "", "header_as_secret"},
		"application/json":          {"Content-Type", nil, "", "header_dropped"},
		"2025-06-18":                {"MCP-Protocol-Version", nil, "", "header_dropped"},
	} {
		item, spec := server(t, fmt.Sprintf(`{"mcpServers":{"x":{"url":"https://x.example/mcp","headers":{%q:%q}}}}`, c.header, text))
		if diff := cmp.Diff(c.secrets, spec.RequiredSecrets); diff != "" {
			t.Errorf("%s: %s: %s", c.header, text, diff)
		}
		found := ""
		for _, s := range item.Secrets {
			found += s.Value
		}
		if found != c.found || c.note != "" && !has(item.Notes, c.note) {
			t.Errorf("%s: %s: found %q, notes %s", c.header, text, found, noteCodes(item.Notes))
		}
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	for address, c := range map[string]struct {
		url      string
		secrets  secrets
		settings settings
		found    string
		note     string
	}{
		"https://${REGION:-eu}.example.com/mcp":            {"https://{REGION}.example.com/mcp", nil, settings{{Name: "REGION", Default: "eu"}}, "", ""},
		"${URL:-https://x.example}/mcp":                    {"https://x.example/mcp", nil, nil, "", "address_filled"},
		"https://{{host}}/mcp":                             {"https://{host}/mcp", nil, settings{{Name: "host", Required: true}}, "", ""},
		"https://x.example/{tenant-id}/mcp":                {"https://x.example/{tenant_id}/mcp", nil, settings{{Name: "tenant_id", Required: true}}, "", ""},
		"https://x.example/mcp?tenant=${TENANT}&p=1":       {"https://x.example/mcp?tenant={TENANT}&p=1", nil, settings{{Name: "TENANT", Required: true}}, "", ""},
		"https://x.example/%EA%B0%80?q=a%20b":              {"https://x.example/%EA%B0%80?q=a%20b", nil, nil, "", ""},
		"https://x.example/mcp?api_key=${KEY}&p=1":         {"https://x.example/mcp?p=1", secrets{{Name: "KEY"}}, nil, "", "secret_moved"},
		"https://x.example/mcp?api_key={KEY}":              {"https://x.example/mcp", secrets{{Name: "KEY"}}, nil, "", "secret_moved"},
		"https://x.example/mcp?api_key=abc123":             {"https://x.example/mcp", secrets{{Name: "X_API_KEY"}}, nil, "abc123", "secret_moved"},
		"https://x.example/mcp?k=ghp_abcdefghijklmno12":    {"https://x.example/mcp", secrets{{Name: "X_K"}}, nil, "ghp_abcdefghijklmno12", "secret_moved"},
		"https://me:s3cret@x.example/mcp":                  {"https://x.example/mcp", secrets{{Name: "X_BASIC_CREDENTIALS", Scheme: "Basic", Description: "user:password, encoded as base64"}}, nil, "bWU6czNjcmV0", "secret_moved"},
		"https://${USER}:${PASS}@x.example/mcp":            {"https://x.example/mcp", secrets{{Name: "X_BASIC_CREDENTIALS", Scheme: "Basic", Description: "user:password, encoded as base64"}}, nil, "", "secret_moved"},
		"https://x.example/s/9f8a7b6c5d4e3f2a1b0c9d8e/mcp": {"https://x.example/s/{ADDRESS_KEY}/mcp", nil, settings{{Name: "ADDRESS_KEY", Required: true, Description: "The part of the address that lets its bearer in"}}, "", "secret_in_address"},
		"https://YOUR_DOMAIN/mcp":                          {"https://{YOUR_DOMAIN}/mcp", nil, settings{{Name: "YOUR_DOMAIN", Required: true}}, "", ""},
		"https://YOUR_ORG.x.example:8443/t/YOUR_TEAM?r=YOUR_REGION": {"https://{YOUR_ORG}.x.example:8443/t/{YOUR_TEAM}?r={YOUR_REGION}", nil,
			settings{{Name: "YOUR_ORG", Required: true}, {Name: "YOUR_TEAM", Required: true}, {Name: "YOUR_REGION", Required: true}}, "", ""},
		"https://x.example/YOUR_API_KEY/mcp":               {"https://x.example/{YOUR_API_KEY}/mcp", nil, settings{{Name: "YOUR_API_KEY", Required: true}}, "", "secret_in_address"},
		"https://x.example/mcp?api_key=YOUR_API_KEY":       {"https://x.example/mcp", secrets{{Name: "X_API_KEY"}}, nil, "", "secret_moved"},
		"https://x.example/IN_YOUR_NAME/your_own/{YOUR_A}": {"https://x.example/IN_YOUR_NAME/your_own/{YOUR_A}", nil, settings{{Name: "YOUR_A", Required: true}}, "", ""},
		"https://x.example/${API_TOKEN}/mcp":               {"https://x.example/{API_TOKEN}/mcp", nil, settings{{Name: "API_TOKEN", Required: true}}, "", "secret_in_address"},
	} {
		item, spec := server(t, fmt.Sprintf(`{"mcpServers":{"x":{"url":%q}}}`, address))
		if spec.URL != c.url {
			t.Errorf("%s became %s, want %s", address, spec.URL, c.url)
		}
		if diff := cmp.Diff(c.secrets, spec.RequiredSecrets); diff != "" {
			t.Errorf("%s: secrets %s", address, diff)
		}
		if diff := cmp.Diff(c.settings, spec.Settings); diff != "" {
			t.Errorf("%s: settings %s", address, diff)
		}
		found := ""
		for _, s := range item.Secrets {
			found += s.Value
		}
		if found != c.found || c.note != "" && !has(item.Notes, c.note) {
			t.Errorf("%s: found %q, notes %s", address, found, noteCodes(item.Notes))
		}
	}
}

// everything is all that an import shows or publishes: what it found out as
// values of secrets is not among it.
func everything(t testing.TB, items []interchange.Item) string {
	t.Helper()
	var b strings.Builder
	for _, i := range items {
		values := i.Secrets
		i.Secrets = nil
		fmt.Fprintf(&b, "%+v\n", i)
		if i.Content.Spec != nil {
			raw, err := i.Content.Canonical()
			if err != nil {
				t.Fatal(err)
			}
			b.Write(raw)
		}
		if i.Fault != nil {
			fmt.Fprintln(&b, i.Fault.Error(), i.Fault.Action, i.Fault.Detail)
		}
		fmt.Fprintln(&b, string(i.Provenance))
		for _, s := range values {
			fmt.Fprintln(&b, s.Name)
		}
	}
	return b.String()
}

// A secret in any place of a file comes out as a value to keep or to drop, and
// nowhere else.
func TestLiteralSecretsAreTakenOut(t *testing.T) {
	t.Parallel()
	const canary = "sk_live_CANARY00"
	for place, entry := range map[string]string{
		"header":            `{"url":"https://x.example","headers":{"Authorization":"Bearer %s"}}`,
		"bare header":       `{"url":"https://x.example","headers":{"X-Api-Key":"%s"}}`,
		"odd header":        `{"url":"https://x.example","headers":{"X-Thing":"%s"}}`,
		"composite header":  `{"url":"https://x.example","headers":{"X-Thing":"%s and ${MORE}"}}`,
		"query":             `{"url":"https://x.example/mcp?token=%s&x=1"}`,
		"odd parameter":     `{"url":"https://x.example/mcp?v=%s"}`,
		"user":              `{"url":"https://me:%s@x.example/mcp"}`,
		"path":              `{"url":"https://x.example/%s/mcp"}`,
		"default of a hole": `{"url":"https://${KEY:-%s}.example/mcp"}`,
		"env":               `{"command":"docker","args":["run","-e","API_KEY","img"],"env":{"API_KEY":"%s"}}`,
		"odd variable":      `{"command":"docker","args":["run","-e","VALUE","img"],"env":{"VALUE":"%s"}}`,
		"composite":         `{"command":"docker","args":["run","-e","VALUE","img"],"env":{"VALUE":"${A} %s"}}`,
		"option -e":         `{"command":"docker","args":["run","-e","TOK=%s","img"]}`,
		"argument":          `{"command":"docker","args":["run","img","--api-key","%s"]}`,
		"joined argument":   `{"command":"docker","args":["run","img","--api-key=%s"]}`,
		"argument alone":    `{"command":"docker","args":["run","img","%s"]}`,
		"DSN":               `{"command":"docker","args":["run","img","postgres://u:%s@h/db"]}`,
		"image":             `{"command":"docker","args":["run","%s"]}`,
		"bare command":      `{"command":"npx","args":["box","--key","%s"],"env":{"API_KEY":"%s"}}`,
		"the command":       `{"command":"%s"}`,
		"the transport":     `{"type":"%s"}`,
		"mcp-remote":        `{"command":"npx","args":["mcp-remote","https://x.example/mcp","--header","Authorization: Bearer ${T}"],"env":{"T":"%s"}}`,
		"description":       `{"url":"https://x.example","description":"Use %s to enter","headers":{"Authorization":"Bearer %s"}}`,
		"description alone": `{"url":"https://x.example","description":"Use %s to enter"}`,
		"tool":              `{"url":"https://x.example","provides":["%s"]}`,
		"an unknown key":    `{"url":"https://x.example","x":"%s"}`,
		"a key":             `{"url":"https://x.example","%s":1}`,
		"server.json":       `{"name":"com.example/x","title":"%s","description":"d %s","version":"%s","websiteUrl":"https://x.example/%s","repository":{"url":"https://u:%s@x.example"},"remotes":[{"type":"http","url":"https://x.example/{k}?v=%s","variables":{"k":{"default":"%s"}},"headers":[{"name":"X-A","default":"%s","description":"%s"},{"name":"X-B","value":"{b}","variables":{"b":{"default":"%s"}}}]}]}`,
		"its packages":      `{"name":"com.example/x","description":"d","version":"1.0.0","packages":[{"registryType":"oci","identifier":"acme/x","transport":{"type":"stdio"},"runtimeArguments":[{"type":"named","name":"-e","value":"A=%s"}],"packageArguments":[{"type":"positional","value":"%s"},{"type":"named","name":"--k","default":"%s"},{"type":"named","name":"--j","value":"{z}","variables":{"z":{"default":"%s"}}}],"environmentVariables":[{"name":"B","default":"%s"},{"name":"C","value":"%s"}]}]}`,
		"a package of npm":  `{"name":"com.example/x","description":"d","version":"1.0.0","packages":[{"registryType":"npm","identifier":"%s"}]}`,
		"oauth":             `{"url":"https://x.example","oauth":{"clientSecret":"%s"}}`,
	} {
		if strings.Contains(entry, `"packages"`) || strings.Contains(entry, `"remotes"`) {
			items := readAs(t, strings.ReplaceAll(entry, "%s", canary), interchange.Options{})
			if got := everything(t, items); strings.Contains(got, "CANARY") {
				t.Errorf("%s: it shows in %s", place, got)
			}
			continue
		}
		raw := `{"mcpServers":{"x":` + strings.ReplaceAll(entry, "%s", canary) + `}}`
		items := readAs(t, raw, interchange.Options{})
		if got := everything(t, items); strings.Contains(got, canary) || strings.Contains(got, "CANARY") {
			t.Errorf("%s: it shows in %s", place, got)
		}
	}
}
