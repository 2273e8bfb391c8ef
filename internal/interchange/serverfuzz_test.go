package interchange_test

import (
	"strings"
	"testing"

	"capstore/internal/capability"
	"capstore/internal/interchange"
)

// Whatever a document holds, what is ready is valid, what is refused says why,
// and what was made of it survives the way out and back.
func checkItems(t *testing.T, raw []byte) {
	t.Helper()
	checkDocument(t, raw, "mcp.json")
}

func checkDocument(t *testing.T, raw []byte, name string) {
	t.Helper()
	i, err := interchange.FromDocument(raw, name, loopback)
	if err != nil {
		return
	}
	paths := map[string]bool{}
	for _, item := range i.Items() {
		if paths[item.Path] {
			t.Fatalf("two items at %q", item.Path)
		}
		paths[item.Path] = true
		switch item.Status {
		case interchange.Ready:
			if f := item.Content.Validate(loopback.Rules); len(f) > 0 {
				t.Fatalf("ready, but %v", f)
			}
			comesBack(t, item.Content)
		case interchange.Refused:
			if item.Fault == nil || item.Fault.Message == "" || len(item.Secrets) > 0 {
				t.Fatalf("refused without a word: %+v", item)
			}
		case interchange.Ignored:
			if len(item.Notes) == 0 {
				t.Fatalf("ignored without a word: %+v", item)
			}
		default:
			t.Fatalf("the status is %q", item.Status)
		}
		for _, s := range item.Secrets {
			if len(s.Value) >= 8 && strings.Contains(everything(t, []interchange.Item{item}), s.Value) {
				t.Fatalf("the value of %s shows", s.Name)
			}
		}
	}
}

func comesBack(t *testing.T, c capability.Content) {
	t.Helper()
	if c.Spec.Kind() != capability.KindMCP {
		return
	}
	for _, d := range []interchange.Dialect{interchange.DialectClaude, interchange.DialectVSCode} {
		raw, err := interchange.ExportServers([]capability.Content{c}, d)
		if err != nil {
			t.Fatal(err)
		}
		i, err := interchange.FromDocument(raw, "mcp.json", loopback)
		if err != nil {
			t.Fatal(err)
		}
		if items := i.Items(); len(items) != 1 || items[0].Content.Digest() != c.Digest() {
			t.Fatalf("%s: it does not come back: %v\n%s", d, items[0].Fault, raw)
		}
	}
	if _, err := interchange.ExportServerJSON(c, interchange.ServerName{Name: "com.example/it", Version: "1.0.0"}); err != nil {
		t.Fatal(err)
	}
}

func FuzzRelaxedJSON(f *testing.F) {
	for _, seed := range []string{
		"\ufeff# where it lives\n{ // main\n \"servers\": { \"box\": { \"command\":\"npx\", /* v */ \"args\":[\"-y\",\"box-mcp\",], }, } }",
		`{"servers":{"a":{"url":"https://x.example//y"}},}`, `"mcpServers": {"a": {"url": "https://x.example"}},`, `{,}`, `{"a":1,,}`, "{/*", "{//", "#", `{"a":"\`, `{"a":"\u0000"}`, "{\"a\":[1,]}",
		`{"mcpServers":{"a":{"url":"https://x.example","timeout":1e400}}}`, strings.Repeat("[", 70),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) { checkItems(t, raw) })
}

func FuzzYAML(f *testing.F) {
	for _, seed := range []string{
		dockerEntry, "mcpServers:\n  - name: x\n    url: https://x.example/mcp\n", "a: &a [1]\nb: *a\n", "<<: {a: b}\n", "? [a]\n: b\n", "a: 0x10\nb: .inf\nc: 2024-01-02\n---\nd: e\n",
		"registry:\n  a:\n    image: acme/x\n    env: [{name: A, value: '{{a.b}}'}]\n", "url: !!binary aHR0cHM6Ly94\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) { checkDocument(t, raw, "servers.yaml") })
}

func FuzzServers(f *testing.F) {
	for _, seed := range []string{
		`{"url":"https://${REGION:-eu}.example/mcp?api_key=${K}&x=1","headers":{"Authorization":"Bearer ${QUILL_KEY}","X-A":"b"},"cwd":"${workspaceFolder}"}`,
		`{"command":"docker","args":["run","-i","--rm","-e","TOK=${TOK}","-v","a:/b","acme/x:1","--api-key","sk_live_ZZZ","--t=$QUILL_KEY","pa$$word","postgres://u:p4ss@h/db"],"env":{"A":"${env:HOME}","B":"${input:pin}"}}`,
		`{"command":"npx","args":["mcp-remote","https://x.example/mcp","--header","Authorization: ${A}"],"env":{"A":"Bearer abc"}}`,
		`{"transport":{"type":"stdio","command":"x"}}`, `{"type":"websocket","url":"wss://x"}`, `{"url":"https://me:pw@x.example/{a-b}/<x>/%Y_Z%"}`, `{"command":["docker","run","x"]}`,
		`{"url":"https://x.example","capstore":{"fields":{"spec/write":true},"was":{"spec/write":""}}}`, `[]`, `7`, `{"image":"acme/x","args":["{{a.b}}"]}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, entry string) {
		checkItems(t, []byte(`{"inputs":[{"id":"pin","password":true}],"mcpServers":{"x":`+entry+`}}`))
	})
}

func FuzzServerJSON(f *testing.F) {
	f.Add(weather)
	for _, seed := range []string{
		`{"name":"com.example/x","description":"X.","version":"1.0.0","packages":[{"registry_type":"oci","identifier":"acme/x","version":"1","runtime_arguments":[{"name":"-e","value":"A={b}"}],"package_arguments":[{"value_hint":"x","is_required":true},{"name":"--k","is_secret":true,"default":"v"}],"environment_variables":[{"name":"K","is_secret":true}]}]}`,
		`{"servers":[{"server":{"name":"a/b","remotes":[{"url":"https://x.example"}]},"_meta":{"io.modelcontextprotocol.registry/official":{"isLatest":true}}},7,null]}`,
		`{"registry":{"a":{"image":"acme/x","secrets":[{"name":"a.b","env":"B"}],"env":[{"name":"C","value":"{{a.c}}"}],"volumes":["x:/y"],"command":["--d={{a.d}}"]}}}`,
		`{"$schema":"server.schema.json"}`, `{"server":{"name":"a","packages":[null,{}],"remotes":[null,{"headers":[null,{"name":"A"}]}]}}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) { checkItems(t, []byte(raw)) })
}
