package interchange_test

import (
	"encoding/json"
	"strings"
	"testing"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/interchange"

	"github.com/google/go-cmp/cmp"
)

const weather = `{
  "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
  "name": "com.example/weather", "title": "Weather", "description": "Forecasts for any place on earth.", "version": "1.4.0-rc.1",
  "websiteUrl": "https://weather.example", "repository": {"url": "https://git.example/acme/weather", "source": "gitlab", "subfolder": "mcp"},
  "icons": [{"src": "https://weather.example/icon.png"}],
  "remotes": [
    {"type": "sse", "url": "https://weather.example/sse"},
    {"type": "streamable-http", "url": "https://{region}.weather.example/mcp?units={units}",
     "variables": {"region": {"description": "Where you are", "isRequired": true, "choices": ["eu", "us"]}, "units": {"default": "metric"}},
     "headers": [
       {"name": "Authorization", "value": "Bearer {token}", "isRequired": true, "isSecret": true, "variables": {"token": {"description": "From your account page", "isSecret": true}}},
       {"name": "X-Weather-Team", "description": "The team's key"}]}],
  "packages": [
    {"registryType": "npm", "identifier": "@acme/weather", "version": "1.4.0", "transport": {"type": "stdio"}},
    {"registryType": "oci", "identifier": "ghcr.io/acme/weather:1.4.0", "transport": {"type": "stdio"}}]
}`

func TestServerJSON(t *testing.T) {
	t.Parallel()
	item, spec := server(t, weather)
	if item.Format != interchange.FormatServer || item.Path != "mcp.json" || item.Content.Name != "Weather" || item.Content.Description != "Forecasts for any place on earth." || item.As.Version != "1.4.0-rc.1" {
		t.Errorf("%+v", item)
	}
	want := &capability.MCPSpec{
		URL:             "https://{region}.weather.example/mcp?units={units}",
		RequiredSecrets: secrets{{Name: "TOKEN", Description: "From your account page"}, {Name: "WEATHER_X_WEATHER_TEAM", Header: "X-Weather-Team", Description: "The team's key"}},
		Settings:        settings{{Name: "region", Description: "Where you are (eu, us)", Required: true}, {Name: "units", Default: "metric"}},
	}
	if diff := cmp.Diff(want, spec); diff != "" {
		t.Error(diff)
	}
	var from map[string]string
	if err := json.Unmarshal(item.Provenance, &from); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{
		"format": "server-json", "file": "mcp.json", "name": "com.example/weather", "version": "1.4.0-rc.1",
		"homepage": "https://weather.example", "repository": "https://git.example/acme/weather", "folder": "mcp",
	}, from); diff != "" {
		t.Error(diff)
	}
	for _, n := range item.Notes {
		if n.Code == "other_ways" && !strings.Contains(n.Message, "sse weather.example, npm @acme/weather, oci ghcr.io/acme/weather:1.4.0") {
			t.Error(n.Message)
		}
	}
	if !has(item.Notes, "other_ways") || !has(item.Notes, "keys_not_used") {
		t.Errorf("notes %s", noteCodes(item.Notes))
	}
}

// The format has been spelt in several ways over its life; they mean the same.
func TestDialectsOfServerJSON(t *testing.T) {
	t.Parallel()
	want := &capability.MCPSpec{
		Image: "ghcr.io/acme/quill:2.1.0", Args: []string{"serve", "--level", "info", "--quiet"},
		RequiredSecrets: secrets{{Name: "QUILL_KEY", Description: "The key"}, {Name: "PIN"}},
		Settings:        settings{{Name: "QUILL_LIMIT", Default: "10", Required: true}, {Name: "MODE", Default: "fast"}},
	}
	const camel = `{"$schema":"https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json","name":"com.example/quill","description":"Writes.","version":"2.1.0","packages":[
		{"registryType":"oci","identifier":"ghcr.io/acme/quill:2.1.0","runtimeHint":"docker","transport":{"type":"stdio"},
		"runtimeArguments":[{"type":"named","name":"-e","value":"MODE={mode}","variables":{"mode":{"default":"fast"}}}],
		"packageArguments":[{"type":"positional","value":"serve"},{"type":"named","name":"--level","default":"info","description":"How much"},{"type":"named","name":"--pin","isRequired":true,"isSecret":true},{"type":"named","name":"--quiet"},{"type":"positional","valueHint":"more","description":"more"}],
		"environmentVariables":[{"name":"QUILL_KEY","description":"The key","isRequired":true,"isSecret":true},{"name":"QUILL_LIMIT","isRequired":true,"default":"10","format":"number"}]}]}`
	older := strings.Replace(camel, "2025-12-11", "2025-09-29", 1)
	older = strings.Replace(older, `"ghcr.io/acme/quill:2.1.0"`, `"acme/quill","registryBaseUrl":"https://ghcr.io","version":"2.1.0"`, 1)
	snake := older
	for from, to := range map[string]string{
		"registryType": "registry_type", "registryBaseUrl": "registry_base_url", "runtimeHint": "runtime_hint", "runtimeArguments": "runtime_arguments", "packageArguments": "package_arguments",
		"environmentVariables": "environment_variables", "isRequired": "is_required", "isSecret": "is_secret", "valueHint": "value_hint", "2025-09-29": "2025-07-09",
	} {
		snake = strings.ReplaceAll(snake, from, to)
	}
	oldest := strings.ReplaceAll(snake, `"registry_type":"oci","identifier":"acme/quill"`, `"registry_name":"docker","name":"acme/quill"`)
	oldest = strings.Replace(oldest, `"version":"2.1.0","packages"`, `"version_detail":{"version":"2.1.0"},"packages"`, 1)
	oldest = strings.ReplaceAll(oldest, `,"transport":{"type":"stdio"}`, "")
	for name, raw := range map[string]string{"2025-12-11": camel, "2025-09-29": older, "2025-07-09": snake, "the first": oldest} {
		item, spec := server(t, raw)
		if diff := cmp.Diff(want, spec); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if item.As.Version != "2.1.0" || item.Content.Name != "quill" {
			t.Errorf("%s: %q %q", name, item.Content.Name, item.As.Version)
		}
	}
	for base, image := range map[string]string{"https://docker.io": "acme/quill:2", "https://registry-1.docker.io": "acme/quill:2", "https://ghcr.io": "ghcr.io/acme/quill:2"} {
		_, spec := server(t, `{"name":"com.example/quill","description":"Writes.","version":"2.0.0","packages":[{"registryType":"oci","registryBaseUrl":"`+base+`","identifier":"acme/quill","version":"2",
			"environmentVariables":[{"name":"LANG_TO","description":"Into","required":true}]}]}`)
		if diff := cmp.Diff(&capability.MCPSpec{Image: image, Settings: settings{{Name: "LANG_TO", Description: "Into", Required: true}}}, spec); diff != "" {
			t.Errorf("%s: %s", base, diff)
		}
	}
	_, spec := server(t, `{"name":"com.example/quill","description":"Writes.","version_detail":{"version":"0.1.0"},"packages":[{"registry_name":"docker","name":"acme/quill","version":"2","runtime_hint":"docker",
		"runtime_arguments":[{"type":"positional","value":"run","value_hint":"docker_cmd"},{"type":"named","value":"-i"},{"type":"named","value":"-e"},{"type":"named","value":"QUILL_KEY={key}","variables":{"key":{"description":"Yours"}}},{"type":"positional","value":"acme/quill"}]}]}`)
	if diff := cmp.Diff(&capability.MCPSpec{Image: "acme/quill:2", RequiredSecrets: secrets{{Name: "QUILL_KEY", Description: "Yours"}}}, spec); diff != "" {
		t.Error(diff)
	}
	for _, kind := range []string{"transport_type", "type"} {
		_, spec := server(t, `{"name":"com.example/far","description":"Far.","version":"1.0.0","remotes":[{"`+kind+`":"streamable-http","url":"https://far.example/mcp","headers":[{"name":"X-Key","is_secret":true,"value":"{key}"}]}]}`)
		if diff := cmp.Diff(&capability.MCPSpec{URL: "https://far.example/mcp", RequiredSecrets: secrets{{Name: "KEY", Header: "X-Key"}}}, spec); diff != "" {
			t.Error(diff)
		}
	}
}

func TestServerJSONThatIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ packages, code string }{
		"only npm":            {`"packages":[{"registryType":"npm","identifier":"@acme/x","version":"1.0.0","transport":{"type":"stdio"}}]`, "needs_image_or_url"},
		"nothing":             {`"packages":[]`, "needs_image_or_url"},
		"a bundle":            {`"packages":[{"registryType":"mcpb","identifier":"https://x.example/x.mcpb","fileSha256":"` + sha + `","transport":{"type":"stdio"}}]`, "needs_image_or_url"},
		"an image over HTTP":  {`"packages":[{"registryType":"oci","identifier":"acme/x:1","transport":{"type":"streamable-http","url":"http://localhost:{port}/mcp"}}]`, "needs_image_or_url"},
		"privileged":          {`"packages":[{"registryType":"oci","identifier":"acme/x:1","transport":{"type":"stdio"},"runtimeArguments":[{"type":"named","name":"--privileged"}]}]`, "container_privileges"},
		"a mount of the root": {`"packages":[{"registryType":"oci","identifier":"acme/x:1","transport":{"type":"stdio"},"runtimeArguments":[{"type":"named","name":"--mount","value":"type=bind,src={dir},dst=/d","variables":{"dir":{}}},{"type":"named","name":"-v","value":"/:/h"}]}]`, "container_privileges"},
		"plain http":          {`"remotes":[{"type":"streamable-http","url":"http://x.example/mcp"}]`, "invalid"},
		"no image":            {`"packages":[{"registryType":"oci","identifier":"Not An Image","transport":{"type":"stdio"}}]`, "invalid"},
	} {
		raw := `{"name":"com.example/x","description":"X.","version":"1.0.0",` + c.packages + `}`
		items := readAs(t, raw, interchange.Options{})
		if len(items) != 1 || !fault.HasCode(items[0].Fault, c.code) || len(items[0].Wants) == 0 {
			t.Errorf("%s: %v, wants %v", name, items[0].Fault, items[0].Wants)
		}
		items = readAs(t, raw, interchange.Options{Supply: map[string]interchange.Supply{"mcp.json": {URL: "https://mine.example/mcp"}}})
		if items[0].Status != interchange.Ready {
			t.Errorf("%s with an address: %v", name, items[0].Fault)
		}
	}
}

// A package that cannot run here gives its variables to the image that is
// supplied for it.
func TestSuppliedForServerJSON(t *testing.T) {
	t.Parallel()
	const raw = `{"name":"com.example/x","description":"X.","version":"1.0.0","packages":[{"registryType":"pypi","identifier":"x","version":"1.0.0","transport":{"type":"stdio"},
		"packageArguments":[{"type":"positional","value":"serve"}],"environmentVariables":[{"name":"X_TOKEN","isSecret":true},{"name":"X_MODE","default":"a"}]}]}`
	for supply, want := range map[interchange.Supply]*capability.MCPSpec{
		{Image: "acme/x:1"}:                 {Image: "acme/x:1", Args: []string{"serve"}, RequiredSecrets: secrets{{Name: "X_TOKEN"}}, Settings: settings{{Name: "X_MODE", Default: "a"}}},
		{URL: "https://x.example/{X_MODE}"}: {URL: "https://x.example/{X_MODE}", RequiredSecrets: secrets{{Name: "X_TOKEN"}}, Settings: settings{{Name: "X_MODE", Default: "a"}}},
	} {
		items := readAs(t, raw, interchange.Options{Supply: map[string]interchange.Supply{"mcp.json": supply}})
		if diff := cmp.Diff(want, items[0].Content.Spec); diff != "" {
			t.Errorf("%+v: %v %s", supply, items[0].Fault, diff)
		}
	}
}

// Of a list of the registry each server comes once, in its latest version.
func TestRegistryList(t *testing.T) {
	t.Parallel()
	entry := func(name, version, meta string) string {
		return `{"server":{"name":"` + name + `","description":"X.","version":"` + version + `","remotes":[{"type":"streamable-http","url":"https://x.example/mcp"}]},"_meta":{"io.modelcontextprotocol.registry/official":{` + meta + `}}}`
	}
	raw := `{"servers":[` + strings.Join([]string{
		entry("com.example/a", "1.0.0", `"status":"active","isLatest":false`),
		entry("com.example/a", "1.10.0", `"status":"active","isLatest":true`),
		entry("com.example/a", "1.9.0", `"status":"active"`),
		entry("com.other/a", "2025.1", `"status":"deprecated"`),
		entry("com.example/gone", "1.0.0", `"status":"deleted"`),
		entry("com.example/b", "1.2.0", ``), entry("com.example/b", "1.11.0", ``),
		`{"hello":1}`, `7`,
		`{"name":"com.example/flat","description":"Old list.","version_detail":{"version":"0.1.0"},"remotes":[{"transport_type":"sse","url":"https://flat.example/sse"}]}`,
	}, ",") + `],"metadata":{"count":9,"nextCursor":"x"}}`
	got := map[string]string{}
	items := readAs(t, raw, interchange.Options{})
	for _, i := range items {
		text := string(i.Status) + " " + i.Content.Name + " " + i.As.Version
		for _, n := range i.Notes {
			if n.Code != "legacy_sse" {
				text += " " + n.Code
			}
		}
		if i.Fault != nil {
			text += " " + i.Fault.Code
		}
		got[i.Path] = text
	}
	if diff := cmp.Diff(map[string]string{
		"mcp.json#com.example/a@1.0.0":    "ignored   older_version",
		"mcp.json#com.example/a@1.10.0":   "ready a 1.10.0",
		"mcp.json#com.example/a@1.9.0":    "ignored   older_version",
		"mcp.json#com.other/a@2025.1":     "ready com.other/a  name_full version_not_semver deprecated_upstream",
		"mcp.json#com.example/gone@1.0.0": "ignored   deleted_upstream",
		"mcp.json#com.example/b@1.2.0":    "ignored   older_version",
		"mcp.json#com.example/b@1.11.0":   "ready b 1.11.0",
		"mcp.json#8":                      "refused   not_a_server",
		"mcp.json#9":                      "refused   not_a_server",
		"mcp.json#com.example/flat@0.1.0": "ready flat 0.1.0",
	}, got); diff != "" {
		t.Error(diff)
	}
}
