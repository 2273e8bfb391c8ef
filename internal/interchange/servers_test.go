package interchange_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/interchange"

	"github.com/google/go-cmp/cmp"
)

// Every client spells the transport in its own way; all ten mean one server.
func TestTransportSpellings(t *testing.T) {
	t.Parallel()
	const address = "https://stub.example/mcp"
	for _, entry := range []string{
		`{"url":"` + address + `"}`,
		`{"type":"http","url":"` + address + `"}`,
		`{"type":"streamable-http","url":"` + address + `"}`,
		`{"transport":"streamableHttp","url":"` + address + `"}`,
		`{"transportType":"streamable_http","baseUrl":"` + address + `"}`,
		`{"type":"sse","url":"` + address + `"}`,
		`{"httpUrl":"` + address + `"}`,
		`{"serverUrl":"` + address + `"}`,
		`{"transport":{"type":"http","url":"` + address + `"}}`,
		`{"type":"remote","endpoint":"` + address + `"}`,
		`{"type":"HTTP","url":" ` + address + ` "}`,
	} {
		item, spec := server(t, `{"mcpServers":{"stub":`+entry+`}}`)
		if spec.URL != address || spec.Image != "" || item.Content.Name != "stub" || item.Path != "mcp.json#stub" {
			t.Errorf("%s became %+v at %s", entry, spec, item.Path)
		}
		if has(item.Notes, "legacy_sse") != strings.Contains(entry, "sse") {
			t.Errorf("%s: notes %s", entry, noteCodes(item.Notes))
		}
	}
}

// The same server stands in the files of many clients.
func TestFilesOfClients(t *testing.T) {
	t.Parallel()
	const entry = `{"url":"https://stub.example/mcp"}`
	for name, raw := range map[string]string{
		"Claude Code, Cursor": `{"mcpServers":{"stub":` + entry + `}}`,
		"VS Code":             `{"inputs":[],"servers":{"stub":` + entry + `}}`,
		"VS Code's settings":  `{"editor.fontSize":12,"mcp":{"inputs":[],"servers":{"stub":` + entry + `}}}`,
		"nested mcpServers":   `{"mcp":{"mcpServers":{"stub":` + entry + `}}}`,
		"one word":            `{"mcp.servers":{"stub":` + entry + `}}`,
		"OpenCode":            `{"$schema":"https://opencode.example/config.json","mcp":{"stub":{"type":"remote","url":"https://stub.example/mcp","enabled":true}}}`,
		"Zed":                 `{"context_servers":{"stub":` + entry + `}}`,
		"a bare map":          `{"stub":` + entry + `}`,
		"a list":              `{"mcpServers":[{"name":"stub","url":"https://stub.example/mcp"}]}`,
		"a server alone":      `{"name":"stub","url":"https://stub.example/mcp"}`,
		"a list of its own":   `[{"name":"stub","url":"https://stub.example/mcp"}]`,
		"an older VS Code":    `{"servers":[{"name":"stub","type":"http","url":"https://stub.example/mcp"}]}`,
		"a list of images":    `{"version":"1","servers":{},"remote_servers":{"stub":` + entry + `}}`,
		"a model's API":       `{"mcp_servers":[{"type":"url","name":"stub","url":"https://stub.example/mcp"}]}`,
		"Docker's catalogue":  `{"name":"docker-mcp","registry":{"stub":{"type":"remote","remote":{"transport_type":"streamable-http","url":"https://stub.example/mcp"}}}}`,
	} {
		item, spec := server(t, raw)
		if item.Content.Name != "stub" || spec.URL != "https://stub.example/mcp" || item.Format != interchange.FormatServers {
			t.Errorf("%s: %s %q %+v", name, item.Format, item.Content.Name, spec)
		}
		if item.Content.Description != "MCP server at stub.example." || !has(item.Notes, "description_plain") {
			t.Errorf("%s: %q, notes %s", name, item.Content.Description, noteCodes(item.Notes))
		}
		if has(item.Notes, "other_settings") != (name == "VS Code's settings" || name == "a list of images") {
			t.Errorf("%s: notes %s", name, noteCodes(item.Notes))
		}
	}
	if item, _ := server(t, `{"registry":{"url":"https://stub.example/mcp"}}`); item.Content.Name != "registry" {
		t.Errorf("a server called registry became %q", item.Content.Name)
	}
	items := readAs(t, `{"mcpServers":{}}`, interchange.Options{})
	if len(items) != 1 || items[0].Status != interchange.Ignored || !has(items[0].Notes, "no_servers") {
		t.Errorf("an empty configuration: %+v", items)
	}
}

// In a folder, a client's settings are known by the servers that they hold.
// Other documents that speak of servers are none.
func TestSettingsInAFolder(t *testing.T) {
	t.Parallel()
	const one = `{"stub":{"url":"https://stub.example/mcp"}}`
	files := map[string]string{
		".gemini/settings.json": `{"context":{},"mcpServers":` + one + `}`,
		".vscode/settings.json": `{"mcp":{"servers":` + one + `}, // mine
		}`,
		".zed/settings.json":        `{"context_servers":` + one + `}`,
		"opencode.jsonc":            `{"mcp":` + one + `}`,
		"components/stub.json":      `{"mcpServers":` + one + `}`,
		"package.json":              `{"name":"x","contributes":{"mcpServers":` + one + `}}`,
		"schema.json":               `{"properties":{"mcpServers":{"type":"object"}}}`,
		"empty/settings.json":       `{"mcpServers":{}}`,
		"off/settings.json":         `{"mcp":{"enabled":true}}`,
		"api/deploy.json":           `{"servers":` + one + `,"other":"mcp"}`,
		"broken/settings.json":      `{"mcpServers":`,
		"large/settings.json":       `{"mcpServers":` + one + `,"x":"` + strings.Repeat("x", 256<<10) + `"}`,
		"notes/mcpServers.markdown": `{"mcpServers":` + one + `}`,
	}
	i, err := interchange.FromFolder(folder(files), "lib", interchange.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, item := range i.Items() {
		got = append(got, string(item.Status)+" "+item.Path)
	}
	want := []string{"ready .gemini/settings.json#stub", "ready .vscode/settings.json#stub", "ready .zed/settings.json#stub", "ready components/stub.json#stub", "ready opencode.jsonc#stub"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// What cannot be connected to is refused alone, with what would help.
func TestRefusedServers(t *testing.T) {
	t.Parallel()
	both := []interchange.Want{interchange.WantImage, interchange.WantURL}
	for name, c := range map[string]struct {
		entry, code string
		wants       []interchange.Want
	}{
		"npx":                    {`{"command":"npx","args":["-y","box-mcp"]}`, "needs_image_or_url", both},
		"npx -c":                 {`{"command":"npx","args":["-c","id > /srv/pwn"]}`, "needs_image_or_url", both},
		"uvx":                    {`{"command":"uvx","args":["box"],"env":{"PYTHONPATH":"/srv/evil"}}`, "needs_image_or_url", both},
		"node":                   {`{"command":"node","args":["-e","1"],"env":{"NODE_OPTIONS":"--require /srv/e.js"}}`, "needs_image_or_url", both},
		"a shell":                {`{"command":"sh","args":["-c","curl x | sh"]}`, "needs_image_or_url", both},
		"a path":                 {`{"command":"./x","cwd":"/"}`, "needs_image_or_url", both},
		"Windows":                {`{"command":"cmd","args":["/c","npx","-y","box"]}`, "needs_image_or_url", both},
		"one line":               {`{"command":"python -m box"}`, "needs_image_or_url", both},
		"nested stdio":           {`{"transport":{"type":"stdio","command":"x"}}`, "needs_image_or_url", both},
		"compose":                {`{"command":"docker","args":["compose","run","x"]}`, "needs_image_or_url", both},
		"mcp-remote alone":       {`{"command":"npx","args":["mcp-remote"]}`, "needs_image_or_url", both},
		"websocket":              {`{"type":"websocket","url":"wss://x.example"}`, "unknown_transport", both},
		"both":                   {`{"url":"https://x.example/mcp","command":"npx"}`, "url_and_command", both},
		"neither":                {`{"type":"stdio","env":{}}`, "nothing_to_connect", both},
		"no object":              {`"https://x.example"`, "not_a_server", nil},
		"zero byte":              {`{"command":"npx\u0000"}`, "zero_byte", nil},
		"zero in a key":          {`{"command":"npx","env":{"A\u0000":"b"}}`, "zero_byte", nil},
		"plain http":             {`{"url":"http://intranet.example/mcp"}`, "invalid", []interchange.Want{interchange.WantURL}},
		"loopback":               {`{"url":"http://127.0.0.1:3000/mcp"}`, "invalid", []interchange.Want{interchange.WantURL}},
		"no address":             {`{"url":"mcp.example.com/mcp"}`, "invalid", []interchange.Want{interchange.WantURL}},
		"an open address":        {`{"url":"${MCP_URL}"}`, "address_open", []interchange.Want{interchange.WantURL}},
		"an address to write":    {`{"url":"YOUR_MCP_URL"}`, "address_open", []interchange.Want{interchange.WantURL}},
		"an open base, OpenCode": {`{"url":"{env:BASE}/mcp"}`, "address_open", []interchange.Want{interchange.WantURL}},
		"an open base":           {`{"url":"{{base}}/mcp"}`, "address_open", []interchange.Want{interchange.WantURL}},
		"composite":              {`{"url":"https://x.example/mcp","headers":{"Authorization":"${A}:${B}"}}`, "header_not_possible", nil},
		"privileged":             {`{"command":"docker","args":["run","-v","/:/h","--privileged","img"]}`, "container_privileges", []interchange.Want{interchange.WantImage}},
		"the engine's socket":    {`{"command":"podman","args":["run","-v","/var/run/docker.sock:/var/run/docker.sock","img"]}`, "container_privileges", []interchange.Want{interchange.WantImage}},
		"no image":               {`{"command":"docker","args":["run","-i","--rm"]}`, "no_image", []interchange.Want{interchange.WantImage}},
		"odd option":             {`{"command":"docker","args":["run","--frobnicate","img"]}`, "container_option", []interchange.Want{interchange.WantImage}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			items := readAs(t, `{"mcpServers":{"good":{"url":"https://good.example/mcp"},"it":`+c.entry+`}}`, interchange.Options{})
			if items[0].Status != interchange.Ready {
				t.Errorf("the other one: %v", items[0].Fault)
			}
			got := items[1]
			if got.Status != interchange.Refused || !fault.HasCode(got.Fault, c.code) {
				t.Fatalf("got %s %v, want %s", got.Status, got.Fault, c.code)
			}
			if diff := cmp.Diff(c.wants, got.Wants); diff != "" {
				t.Error(diff)
			}
			if got.Content.Spec != nil || len(got.Secrets) > 0 {
				t.Errorf("it has a content: %+v", got)
			}
			if has(got.Notes, "variable_reserved") != (name == "uvx" || name == "node") {
				t.Errorf("notes %s", noteCodes(got.Notes))
			}
		})
	}
	words := readAs(t, `{"mcpServers":{"it":{"type":"carrier-pigeon","url":"https://x.example"}}}`, interchange.Options{})[0].Fault.Message
	for _, w := range []string{"stdio", "http", "streamable-http", "streamableHttp", "streamable_http", "sse"} {
		if !strings.Contains(words, w) {
			t.Errorf("the words do not list %s: %s", w, words)
		}
	}
}

// What is supplied makes a refused one possible, and its variables stay.
func TestSupplied(t *testing.T) {
	t.Parallel()
	const raw = `{"mcpServers":{"box":{"command":"npx","args":["-y","--package","x","box-mcp@1.2","--mode","fast"],
		"env":{"BOX_TOKEN":"${BOX_TOKEN}","OTHER_KEY":"k","REGION":"eu","NODE_OPTIONS":"--inspect"}},
		"py":{"command":"python","args":["-m","box"]},"both":{"url":"https://a.example","command":"x"},
		"odd":{"type":"websocket","url":"wss://x.example"},"lo":{"url":"http://127.0.0.1/mcp"}}}`
	o := interchange.Options{Supply: map[string]interchange.Supply{
		"mcp.json#box": {Image: "ghcr.io/acme/box:1.2"}, "mcp.json#py": {Image: " acme/py:1 "}, "mcp.json#both": {URL: "https://b.example/mcp"},
		"mcp.json#odd": {URL: "https://odd.example/{REGION}"}, "mcp.json#lo": {URL: "https://lo.example/mcp"},
	}}
	items := readAs(t, raw, o)
	for _, item := range items {
		if item.Path == "mcp.json#odd" {
			continue
		}
		if item.Status != interchange.Ready || !has(item.Notes, "image_supplied") && !has(item.Notes, "url_supplied") {
			t.Fatalf("%s: %v, notes %s", item.Path, item.Fault, noteCodes(item.Notes))
		}
	}
	want := &capability.MCPSpec{
		Image: "ghcr.io/acme/box:1.2", Args: []string{"--mode", "fast"},
		RequiredSecrets: []capability.RequiredSecret{{Name: "BOX_TOKEN"}, {Name: "OTHER_KEY"}},
		Settings:        []capability.Setting{{Name: "REGION", Default: "eu"}},
	}
	if diff := cmp.Diff(want, items[0].Content.Spec); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]interchange.FoundSecret{{Name: "OTHER_KEY", Value: "k"}}, items[0].Secrets); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(&capability.MCPSpec{Image: "acme/py:1"}, items[1].Content.Spec); diff != "" || !has(items[1].Notes, "arguments_dropped") {
		t.Errorf("%s, notes %s", diff, noteCodes(items[1].Notes))
	}
	if got := items[2].Content.Spec.(*capability.MCPSpec).URL; got != "https://b.example/mcp" {
		t.Error(got)
	}
	o.Supply = map[string]interchange.Supply{"mcp.json#box": {URL: "https://box.example/{REGION}/mcp"}}
	box := readAs(t, raw, o)[0]
	want = &capability.MCPSpec{
		URL: "https://box.example/{REGION}/mcp", RequiredSecrets: []capability.RequiredSecret{{Name: "BOX_TOKEN"}},
		Settings: []capability.Setting{{Name: "REGION", Default: "eu"}},
	}
	if diff := cmp.Diff(want, box.Content.Spec); diff != "" || !has(box.Notes, "variable_as_header") || !has(box.Notes, "variable_dropped") {
		t.Errorf("%s, notes %s", diff, noteCodes(box.Notes))
	}
}

// An answer that is none either is asked for again.
func TestSuppliedButWrong(t *testing.T) {
	t.Parallel()
	for supply, want := range map[interchange.Supply]interchange.Want{
		{Image: "Not An Image"}: interchange.WantImage, {URL: "http://intranet.example/mcp"}: interchange.WantURL, {URL: "mcp.example.com"}: interchange.WantURL,
	} {
		items := readAs(t, `{"mcpServers":{"box":{"command":"npx","args":["box-mcp"]}}}`, interchange.Options{Supply: map[string]interchange.Supply{"mcp.json#box": supply}})
		if items[0].Status != interchange.Refused || !slices.Contains(items[0].Wants, want) {
			t.Errorf("%+v: %s %v, wants %v", supply, items[0].Status, items[0].Fault, items[0].Wants)
		}
	}
}

// Names of the file become names here, and two that count as one do not both
// go in.
func TestNamesOfServers(t *testing.T) {
	t.Parallel()
	const url = `{"url":"https://x.example/mcp"}`
	long := strings.Repeat("n", 80)
	for key, c := range map[string]struct{ name, note string }{
		"github":     {"github", ""},
		"My Server":  {"My Server", ""},
		" spaced  x": {"spaced x", "name_mended"},
		long:         {long[:63] + "…", "name_mended"},
		"a\u202eb":   {"ab", "name_mended"},
		"날씨":         {"날씨", ""},
		"\\n":        {"x.example", "name_derived"},
		"a/b":        {"a/b", ""},
	} {
		item, _ := server(t, `{"mcpServers":{"`+key+`":`+url+`}}`)
		if item.Content.Name != c.name || c.note != "" && !has(item.Notes, c.note) || (c.note == "name_mended") != item.Repaired {
			t.Errorf("%q became %q, notes %s", key, item.Content.Name, noteCodes(item.Notes))
		}
	}
	items := readAs(t, `{"mcpServers":{"Git Hub":`+url+`,"git_hub":`+url+`,"GIT HUB":`+url+`,"other":`+url+`}}`, interchange.Options{})
	var fates []string
	for _, i := range items {
		fates = append(fates, string(i.Status))
	}
	if !slices.Equal(fates, []string{"ready", "refused", "refused", "ready"}) {
		t.Fatal(fates)
	}
	if f := items[1].Fault; f.Code != "name_repeated" || !strings.Contains(f.Message, "mcp.json#Git Hub") {
		t.Errorf("%v", f)
	}
	paths := map[string]bool{}
	for _, i := range readAs(t, `{"mcpServers":{"a":`+url+`},"servers":{"a":`+url+`,"a~2":`+url+`}}`, interchange.Options{}) {
		paths[i.Path] = true
	}
	if len(paths) != 3 {
		t.Errorf("paths repeat: %v", paths)
	}
}

// Nothing that a file says is dropped without a word.
func TestKeysOfClients(t *testing.T) {
	t.Parallel()
	item, spec := server(t, `{"mcpServers":{"x":{"type":"http","url":"https://x.example/mcp","description":"Boxes, counted.","disabled":true,"autoApprove":["a"],"alwaysAllow":[],
		"timeout":60000,"headersHelper":"/opt/token.sh","cwd":"${workspaceFolder}","envFile":".env","icon":"x.png","provides":["count","list"],"oauth":{"clientId":"abc"}}},"theme":"dark"}`)
	for _, code := range []string{"disabled", "approvals_dropped", "headers_helper", "working_folder", "env_file", "keys_not_used", "other_settings"} {
		if !has(item.Notes, code) {
			t.Errorf("no note %s among %s", code, noteCodes(item.Notes))
		}
	}
	for _, n := range item.Notes {
		if n.Code == "keys_not_used" && n.Message != "These keys of the file are not used here: timeout, icon." {
			t.Error(n.Message)
		}
		if n.Code == "other_settings" && !strings.Contains(n.Message, "theme") {
			t.Error(n.Message)
		}
	}
	if spec.Auth != capability.AuthOAuth || !slices.Equal(spec.Provides, []string{"count", "list"}) || item.Content.Description != "Boxes, counted." {
		t.Errorf("%+v %q", spec, item.Content.Description)
	}
}

// Lists and lines are read where objects and lists are usual.
func TestOtherShapesOfAnEntry(t *testing.T) {
	t.Parallel()
	for entry, want := range map[string]*capability.MCPSpec{
		`{"url":"https://x.example","headers":["Authorization: Bearer ${K}","X-A: ${B}"]}`:               {URL: "https://x.example", RequiredSecrets: secrets{{Name: "K"}, {Name: "B", Header: "X-A"}}},
		`{"url":"https://x.example","headers":[{"name":"X-Key","value":"${K}"}]}`:                        {URL: "https://x.example", RequiredSecrets: secrets{{Name: "K", Header: "X-Key"}}},
		`{"url":"https://x.example","authorization_token":"${K}"}`:                                       {URL: "https://x.example", RequiredSecrets: secrets{{Name: "K"}}},
		`{"url":"https://x.example","bearerToken":"${K}","headers":{"authorization":"Bearer ${OTHER}"}}`: {URL: "https://x.example", RequiredSecrets: secrets{{Name: "OTHER"}}},
		`{"command":"docker","args":"run -i --rm acme/x serve"}`:                                         {Image: "acme/x", Args: []string{"serve"}},
		`{"image":"acme/x","transport":"stdio","env_vars":[{"name":"ACME_PIN","description":"Yours","secret":true},{"name":"LANG_TO","required":true},{"name":"TONE","default":"dry"}]}`: {
			Image: "acme/x", RequiredSecrets: secrets{{Name: "ACME_PIN", Description: "Yours"}}, Settings: settings{{Name: "LANG_TO", Required: true}, {Name: "TONE", Default: "dry"}}},
		`{"command":["docker","run","acme/x"],"environment":{}}`:                         {Image: "acme/x"},
		`{"command":{"path":"docker","args":["run","-e","A","acme/x"],"env":{"A":"b"}}}`: {Image: "acme/x", Settings: settings{{Name: "A", Default: "b"}}},
		`{"command":"docker","args":["run","-e","A","acme/x"],"env":["A=b=c"]}`:          {Image: "acme/x", Settings: settings{{Name: "A", Default: "b=c"}}},
		`{"command":"docker","args":["run","-e","A","-e","B","-e","C","acme/x"],"env":{"A":1.50,"B":true,"C":null}}`: {
			Image: "acme/x", Settings: settings{{Name: "A", Default: "1.50"}, {Name: "B", Default: "true"}, {Name: "C"}}},
	} {
		_, spec := server(t, `{"mcpServers":{"x":`+entry+`}}`)
		if diff := cmp.Diff(want, spec); diff != "" {
			t.Errorf("%s: %s", entry, diff)
		}
	}
	_, spec := server(t, `{"inputs":[{"id":"at","type":"pickString","description":"Where","options":["eu","us"],"default":"eu"},{"id":"pin","title":"Your PIN","password":true}],
		"servers":{"x":{"url":"https://${input:at}.x.example","headers":{"X-Pin":"${input:pin}"}}}}`)
	if diff := cmp.Diff(&capability.MCPSpec{URL: "https://{at}.x.example", RequiredSecrets: secrets{{Name: "PIN", Description: "Your PIN", Header: "X-Pin"}},
		Settings: settings{{Name: "at", Description: "Where (eu, us)", Default: "eu"}}}, spec); diff != "" {
		t.Error(diff)
	}
	item, _ := server(t, `{"mcpServers":{"x":{"url":"https://x.example","headers":"X-A: b","env":7}}}`)
	if !has(item.Notes, "keys_not_used") {
		t.Errorf("notes %s", noteCodes(item.Notes))
	}
}

// Far more than may be declared is refused without being worked through.
func TestEntriesOfVeryMuch(t *testing.T) {
	t.Parallel()
	many := func(format string, n int) string {
		var b strings.Builder
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	const n = 20_000
	for name, entry := range map[string]string{
		"variables":    `{"command":"docker","args":["run",` + many(`"-e","V%d"`, n) + `,"acme/x"]}`,
		"reserved":     `{"command":"docker","args":["run",` + many(`"-e","LD_%d=x"`, n) + `,"acme/x:B A D"]}`,
		"headers":      `{"url":"https://x.example","headers":{` + many(`"X-%d":"y"`, n) + `}}`,
		"odd headers":  `{"url":"http://x.example","headers":{` + many(`"X %d":"y"`, n) + `}}`,
		"placeholders": `{"url":"https://x.example/` + strings.ReplaceAll(many("{s%d}", n), ",", "") + `"}`,
		"parameters":   `{"url":"https://x.example/?` + strings.ReplaceAll(many("token%d=$A", n), ",", "&") + `"}`,
		"arguments":    `{"command":"docker","args":["run","acme/x",` + many(`"--token","${T%d}"`, n) + `,"` + strings.Repeat("a\",\"", 101) + `"]}`,
		"tools":        `{"url":"https://x.example","provides":[` + many(`"t%d"`, n) + `]}`,
		"keys":         `{"url":"http://x.example",` + many(`"k%d":1`, n) + `}`,
	} {
		items := readAs(t, `{"mcpServers":{"x":`+strings.ReplaceAll(entry, `\"`, `"`)+`}}`, interchange.Options{})
		if len(items) != 1 || items[0].Status != interchange.Refused {
			t.Errorf("%s: %s", name, items[0].Status)
		}
		if len(items[0].Notes) > 110 {
			t.Errorf("%s: %d notes", name, len(items[0].Notes))
		}
	}
}

// A file of very many servers costs what its size does.
func TestManyServers(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(`{"mcpServers":{`)
	for i := range 5000 {
		fmt.Fprintf(&b, `"server-%d":{"url":"https://s%d.example/mcp","headers":{"Authorization":"Bearer ${KEY_%d}"}},`, i, i, i)
	}
	b.WriteString("}}")
	items := readAs(t, b.String(), interchange.Options{})
	if n := interchange.Count(items, interchange.Ready); n != 5000 || len(items) != 5000 {
		t.Errorf("%d of %d are ready", n, len(items))
	}
}
