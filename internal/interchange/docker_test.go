package interchange_test

import (
	"encoding/json"
	"testing"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/interchange"

	"github.com/google/go-cmp/cmp"
)

func containerFile(t *testing.T, command string, args []string, env map[string]string) string {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"x": map[string]any{"command": command, "args": args, "env": env}}})
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// A container that a client would start becomes the image, with its variables
// declared.
func TestContainerCommands(t *testing.T) {
	t.Parallel()
	type env = map[string]string
	for name, c := range map[string]struct {
		command string
		args    []string
		env     env
		want    capability.MCPSpec
		notes   []string
	}{
		"plain":    {"docker", []string{"run", "-i", "--rm", "acme/x"}, nil, capability.MCPSpec{Image: "acme/x"}, nil},
		"podman":   {"/usr/bin/podman", []string{"run", "-it", "--init", "ghcr.io/acme/x:1.2"}, nil, capability.MCPSpec{Image: "ghcr.io/acme/x:1.2"}, nil},
		"nerdctl":  {"nerdctl.exe", []string{"container", "run", "-i", "acme/x"}, nil, capability.MCPSpec{Image: "acme/x"}, nil},
		"one line": {"docker run -i --rm acme/x serve", nil, nil, capability.MCPSpec{Image: "acme/x", Args: []string{"serve"}}, nil},
		"Windows":  {"cmd", []string{"/c", "docker", "run", "acme/x"}, nil, capability.MCPSpec{Image: "acme/x"}, nil},
		"context":  {"docker", []string{"--context", "far", "run", "acme/x"}, nil, capability.MCPSpec{Image: "acme/x"}, nil},
		"digest": {"docker", []string{"run", "acme/x@sha256:" + sha}, nil,
			capability.MCPSpec{Image: "acme/x@sha256:" + sha}, nil},
		"arguments": {"docker", []string{"run", "acme/x", "--mode", "fast", "-e", "x", "run"}, nil,
			capability.MCPSpec{Image: "acme/x", Args: []string{"--mode", "fast", "-e", "x", "run"}}, nil},
		"passed on": {"docker", []string{"run", "-e", "TOK", "--env", "MODE", "acme/x"}, env{"TOK": "${TOK}", "MODE": "fast", "LOST": "1"},
			capability.MCPSpec{Image: "acme/x", RequiredSecrets: secrets{{Name: "TOK"}}, Settings: settings{{Name: "MODE", Default: "fast"}}}, []string{"variable_dropped"}},
		"in the option": {"docker", []string{"run", "-e", "TOK=${TOK}", "-eMODE=fast", "--env=SIZE=1", "acme/x"}, nil,
			capability.MCPSpec{Image: "acme/x", RequiredSecrets: secrets{{Name: "TOK"}}, Settings: settings{{Name: "MODE", Default: "fast"}, {Name: "SIZE", Default: "1"}}}, nil},
		"only named": {"docker", []string{"run", "-ie", "LEVEL", "acme/x"}, nil, capability.MCPSpec{Image: "acme/x", Settings: settings{{Name: "LEVEL"}}}, nil},
		"reserved":   {"docker", []string{"run", "-e", "NODE_OPTIONS=--inspect", "acme/x"}, nil, capability.MCPSpec{Image: "acme/x"}, []string{"variable_reserved"}},
		"options": {"docker", []string{"run", "--name", "x", "-p", "3000:3000", "--platform=linux/amd64", "-m", "1g", "--network", "none", "-u", "1000:1000", "--read-only", "--cap-drop=ALL", "--security-opt", "no-new-privileges", "acme/x"}, nil,
			capability.MCPSpec{Image: "acme/x"}, []string{"container_options"}},
		"mounts": {"docker", []string{"run", "-v", "data:/data", "--mount", "type=bind,src=/srv/docs,dst=/docs", "--env-file", ".env", "acme/x"}, nil,
			capability.MCPSpec{Image: "acme/x"}, []string{"mount_dropped", "env_file"}},
		"options end": {"docker", []string{"run", "--", "acme/x", "--privileged"}, nil, capability.MCPSpec{Image: "acme/x", Args: []string{"--privileged"}}, nil},
		"a default":   {"docker", []string{"run", "acme/x:${TAG:-3}"}, nil, capability.MCPSpec{Image: "acme/x:3"}, nil},
		"secret arguments": {"docker", []string{"run", "acme/x", "--t=$QUILL_KEY", "--api-key", "${API_KEY}", "--dir", "${DIR:-/data}", "--lvl=${LVL:-1}", "--id", "${ID}", "pa$$word"}, nil,
			capability.MCPSpec{Image: "acme/x", Args: []string{"--dir", "/data", "--lvl=1", "pa$$word"}, RequiredSecrets: secrets{{Name: "QUILL_KEY"}, {Name: "API_KEY"}}, Settings: settings{{Name: "ID", Required: true}}},
			[]string{"argument_secret", "argument_filled", "argument_setting"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			item, spec := server(t, containerFile(t, c.command, c.args, c.env))
			if diff := cmp.Diff(&c.want, spec); diff != "" {
				t.Error(diff)
			}
			for _, n := range c.notes {
				if !has(item.Notes, n) {
					t.Errorf("no note %s among %s", n, noteCodes(item.Notes))
				}
			}
			if len(c.notes) == 0 && noteCodes(item.Notes) != "description_plain" {
				t.Errorf("notes %s", noteCodes(item.Notes))
			}
		})
	}
}

const sha = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// What would open the machine to a container refuses it.
func TestContainersThatAreRefused(t *testing.T) {
	t.Parallel()
	for _, options := range [][]string{
		{"--privileged"}, {"--privileged=true"}, {"-v", "/:/host"}, {"-v", "/srv/../:/host"}, {"-v", "//etc/.:/e"}, {"-v/etc:/etc:ro"}, {"--volume=/var/run/docker.sock:/s"}, {"-v", "/run/user/1000/podman/podman.sock:/s"},
		{"--mount", "type=bind,source=/,target=/h"}, {"--network", "host"}, {"--net=host"}, {"--network", "container:db"}, {"--pid=host"}, {"--pid", "host"}, {"--ipc", "host"}, {"--uts=host"}, {"--userns", "host"},
		{"-u", "root"}, {"--user=0:0"}, {"--cap-add", "SYS_ADMIN"}, {"--cap-add=ALL"}, {"--device", "/dev/sda"}, {"--security-opt", "seccomp=unconfined"}, {"--volumes-from", "other"}, {"--entrypoint", "sh"},
		{"-itv", "/:/x"},
	} {
		items := readAs(t, containerFile(t, "docker", append(append([]string{"run", "-i"}, options...), "acme/x"), nil), interchange.Options{})
		if !fault.HasCode(items[0].Fault, "container_privileges") {
			t.Errorf("%v: %s %v", options, items[0].Status, items[0].Fault)
		}
		o := interchange.Options{Supply: map[string]interchange.Supply{"mcp.json#x": {Image: "acme/tame:1"}}}
		items = readAs(t, containerFile(t, "docker", append(append([]string{"run", "-e", "TOK"}, options...), "acme/x", "serve"), map[string]string{"TOK": ""}), o)
		want := &capability.MCPSpec{Image: "acme/tame:1", Args: []string{"serve"}, RequiredSecrets: secrets{{Name: "TOK"}}}
		if diff := cmp.Diff(want, items[0].Content.Spec); diff != "" {
			t.Errorf("%v with an image: %v %s", options, items[0].Fault, diff)
		}
	}
}

// mcp-remote is a command only on the outside.
func TestBridges(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		env  map[string]string
		want capability.MCPSpec
	}{
		"plain":   {[]string{"-y", "mcp-remote", "https://x.example/mcp"}, nil, capability.MCPSpec{URL: "https://x.example/mcp"}},
		"version": {[]string{"mcp-remote@latest", "https://x.example/sse", "--transport", "sse-only", "3334", "--allow-http"}, nil, capability.MCPSpec{URL: "https://x.example/sse"}},
		"header": {[]string{"mcp-remote", "https://x.example/mcp", "--header", "Authorization:${AUTH}"}, map[string]string{"AUTH": "Bearer ${TOKEN}"},
			capability.MCPSpec{URL: "https://x.example/mcp", RequiredSecrets: secrets{{Name: "TOKEN"}}}},
		"two headers": {[]string{"mcp-remote", "https://x.example/mcp", "--header", "X-Api-Key: ${KEY}", "--header", "X-Team: ${TEAM}"}, nil,
			capability.MCPSpec{URL: "https://x.example/mcp", RequiredSecrets: secrets{{Name: "KEY", Header: "X-Api-Key"}, {Name: "TEAM", Header: "X-Team"}}}},
	} {
		item, spec := server(t, containerFile(t, "npx", c.args, c.env))
		if diff := cmp.Diff(&c.want, spec); diff != "" || !has(item.Notes, "bridge") {
			t.Errorf("%s: %s, notes %s", name, diff, noteCodes(item.Notes))
		}
	}
}

// An entry of Docker's catalogue is an image with what it is given, or an
// address.
func TestDockerCatalogue(t *testing.T) {
	t.Parallel()
	items := readAs(t, `{"name":"acme","displayName":"Acme","registry":{
		"quill":{"title":"Quill","description":"Writes letters.","type":"server","image":"acme/quill@sha256:`+sha+`","command":["--lang={{quill.lang}}","serve"],"tools":[{"name":"write"},{"name":"send"}],
			"secrets":[{"name":"quill.api_key","env":"QUILL_KEY","description":"The key","example":"q-1"}],"env":[{"name":"QUILL_HOST","value":"{{quill.host}}"}],
			"volumes":["{{quill.dir}}:/data"],"allowHosts":["x.example:443"]},
		"far":{"type":"remote","remote":{"transport_type":"sse","url":"https://far.example/sse","headers":{"Authorization":"Bearer ${FAR_KEY}"}}},
		"root":{"image":"acme/root","volumes":["/:/host"]},"none":{"type":"poci"}}}`, interchange.Options{})
	want := &capability.MCPSpec{
		Image: "acme/quill@sha256:" + sha, Args: []string{"serve"}, Provides: []string{"write", "send"},
		RequiredSecrets: secrets{{Name: "QUILL_KEY", Description: "The key"}}, Settings: settings{{Name: "QUILL_HOST", Required: true}, {Name: "QUILL_LANG", Required: true}},
	}
	if items[0].Status != interchange.Ready {
		t.Fatal(items[0].Fault)
	}
	if diff := cmp.Diff(want, items[0].Content.Spec); diff != "" {
		t.Error(diff)
	}
	if items[0].Content.Description != "Writes letters." || !has(items[0].Notes, "keys_not_used") || !has(items[0].Notes, "mount_dropped") {
		t.Errorf("%q, notes %s", items[0].Content.Description, noteCodes(items[0].Notes))
	}
	if diff := cmp.Diff(&capability.MCPSpec{URL: "https://far.example/sse", RequiredSecrets: secrets{{Name: "FAR_KEY"}}}, items[1].Content.Spec); diff != "" || !has(items[1].Notes, "legacy_sse") {
		t.Error(diff)
	}
	if !fault.HasCode(items[2].Fault, "container_privileges") || !fault.HasCode(items[3].Fault, "nothing_to_connect") {
		t.Errorf("%v, %v", items[2].Fault, items[3].Fault)
	}
}
