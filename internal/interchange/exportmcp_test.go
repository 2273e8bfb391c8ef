package interchange_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/interchange"

	"github.com/google/go-cmp/cmp"
	registry "github.com/modelcontextprotocol/registry/pkg/api/v0"
	"github.com/modelcontextprotocol/registry/pkg/model"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"
)

var loopback = interchange.Options{Rules: capability.Rules{AllowLoopbackHTTP: true}}

// contents makes valid mcp capabilities of every shape.
func contents() *rapid.Generator[capability.Content] {
	return rapid.Custom(func(t *rapid.T) capability.Content {
		spec := &capability.MCPSpec{Write: rapid.Bool().Draw(t, "write")}
		remote := rapid.Bool().Draw(t, "remote")
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[A-Z][A-Z0-9_]{0,12}`), 0, 4, rapid.ID[string]).Draw(t, "secrets")
		for i, n := range names {
			s := capability.RequiredSecret{Name: n, Description: phrase(t, "about")}
			switch {
			case remote && i > 0:
				s.Header = "X-" + strings.ReplaceAll(n, "_", "-") + "z"
			case remote && rapid.Bool().Draw(t, "own header"):
				s.Header, s.Scheme = rapid.SampledFrom([]string{"Authorization", "X-Api-Key", "cookie"}).Draw(t, "header"), rapid.SampledFrom([]string{"", "Bearer", "Token"}).Draw(t, "scheme")
			case !remote && rapid.Bool().Draw(t, "own variable"):
				s.Env = "v_" + n
			}
			spec.RequiredSecrets = append(spec.RequiredSecrets, s)
		}
		for _, n := range rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z][A-Za-z0-9_]{0,12}`), 0, 4, rapid.ID[string]).Draw(t, "settings") {
			spec.Settings = append(spec.Settings, capability.Setting{Name: "s" + n, Description: phrase(t, "about"), Default: phrase(t, "default"), Required: rapid.Bool().Draw(t, "required")})
		}
		if remote {
			spec.URL = "https://" + rapid.StringMatching(`[a-z]{1,10}`).Draw(t, "host") + ".example/mcp"
			for _, s := range spec.Settings {
				if rapid.Bool().Draw(t, "in the address") {
					spec.URL += "/{" + s.Name + "}"
				}
			}
			spec.Auth = rapid.SampledFrom([]capability.Auth{"", capability.AuthNone, capability.AuthOAuth}).Draw(t, "auth")
		} else {
			spec.Image = rapid.SampledFrom([]string{"acme/x", "ghcr.io/acme/x:1.2", "localhost:5000/x@sha256:" + sha}).Draw(t, "image")
			spec.Args = rapid.SliceOfN(rapid.SampledFrom([]string{"serve", "--mode", "fast", "--url=https://x.example/?a={b}", "", "-e", "pa$$word", "$HOME", "{x}", "<dir>", "--token", "--", "run"}), 0, 5).Draw(t, "args")
		}
		spec.Provides = rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z_]{1,10}`), 0, 3, rapid.ID[string]).Draw(t, "tools")
		for _, tool := range spec.Provides {
			if spec.ToolClasses == nil {
				spec.ToolClasses = map[string]capability.ToolClass{}
			}
			spec.ToolClasses[tool] = rapid.SampledFrom([]capability.ToolClass{capability.ClassRead, capability.ClassWrite}).Draw(t, "class")
		}
		spec.Serves = rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z]{1,8}`), 0, 2, rapid.ID[string]).Draw(t, "serves")
		return capability.Content{Name: name(t), Description: phrase(t, "description") + ".", Spec: spec}
	}).Filter(func(c capability.Content) bool { return len(c.Validate(loopback.Rules)) == 0 })
}

func name(t *rapid.T) string {
	return strings.TrimSpace(rapid.StringMatching(`[A-Za-z날씨][A-Za-z0-9 ._-]{0,30}x`).Draw(t, "name"))
}

func phrase(t *rapid.T, label string) string {
	return strings.TrimSpace(rapid.SampledFrom([]string{"", "plain", "two words", "a ${HOLE} b", "{x}", "<x>", "50%", "\"quoted\"", "날씨", "info", strings.Repeat("long ", 30), "x}y", "a:-b"}).Draw(t, label))
}

// What is exported comes back as what it was, by every way out.
func TestServersExportedThenImported(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := contents().Draw(t, "content")
		for format, raw := range exports(t, c) {
			i, err := interchange.FromDocument(raw, "server.json", loopback)
			if err != nil {
				t.Fatal(err)
			}
			items := i.Items()
			if len(items) != 1 || items[0].Status != interchange.Ready {
				t.Fatalf("%s: %v of\n%s", format, items[0].Fault, raw)
			}
			if got := items[0].Content; got.Digest() != c.Digest() {
				t.Fatalf("%s: %s\n%s", format, cmp.Diff(c, got), raw)
			}
			if len(items[0].Notes) > 0 || len(items[0].Secrets) > 0 {
				t.Fatalf("%s: notes %v, secrets %d", format, items[0].Notes, len(items[0].Secrets))
			}
		}
	})
}

func exports(t *rapid.T, c capability.Content) map[string][]byte {
	out := map[string][]byte{}
	for _, d := range []interchange.Dialect{interchange.DialectClaude, interchange.DialectVSCode} {
		raw, err := interchange.ExportServers([]capability.Content{c}, d)
		if err != nil {
			t.Fatal(err)
		}
		out[string(d)] = raw
	}
	raw, err := interchange.ExportServerJSON(c, interchange.ServerName{Name: "com.example/it", Version: "1.0.0"})
	if err != nil {
		t.Fatal(err)
	}
	out["server.json"] = raw
	return out
}

// What is written is a server.json by its official schema, and reads with the
// registry's own types.
func TestServerJSONBySchema(t *testing.T) {
	t.Parallel()
	schema := officialSchema(t)
	rapid.Check(t, func(t *rapid.T) {
		c := contents().Draw(t, "content")
		raw, err := interchange.ExportServerJSON(c, interchange.ServerName{Name: "com.example/it", Version: "1.0.0"})
		if err != nil {
			t.Fatal(err)
		}
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(raw)))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(doc); err != nil {
			t.Fatalf("%v\n%s", err, raw)
		}
		var typed registry.ServerJSON
		if err := json.Unmarshal(raw, &typed); err != nil {
			t.Fatal(err)
		}
		if typed.Schema != model.CurrentSchemaURL || typed.Title != c.Name || len(typed.Remotes)+len(typed.Packages) != 1 {
			t.Fatalf("%+v", typed)
		}
		if n, _ := json.Marshal(typed.Meta); len(n) > 4200 {
			t.Fatalf("_meta has %d bytes", len(n))
		}
	})
}

// officialSchema is the one that the registry's module carries.
func officialSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/modelcontextprotocol/registry").Output()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.Open(filepath.Join(strings.TrimSpace(string(dir)), "internal/validators/schemas/2025-12-11.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = raw.Close() }()
	doc, err := jsonschema.UnmarshalJSON(raw)
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(model.CurrentSchemaURL, doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile(model.CurrentSchemaURL)
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

var quill = capability.Content{Name: "Quill Letters", Description: "Writes letters. " + strings.Repeat("At length. ", 20), Spec: &capability.MCPSpec{
	Image: "ghcr.io/acme/quill:2", Args: []string{"serve"}, Provides: []string{"write"}, Write: true,
	RequiredSecrets: secrets{{Name: "QUILL_KEY", Description: "The key"}, {Name: "PIN", Env: "quillPin"}},
	Settings:        settings{{Name: "QUILL_LANG", Default: "en"}},
}}

var far = capability.Content{Name: "far", Description: "Far away.", Spec: &capability.MCPSpec{
	URL: "https://{region}.far.example/mcp", RequiredSecrets: secrets{{Name: "FAR_KEY"}, {Name: "TEAM", Header: "X-Team"}},
	Settings: settings{{Name: "region", Default: "eu", Description: "Where"}},
}}

func withoutKept(v any) any {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "capstore")
		for k := range v {
			v[k] = withoutKept(v[k])
		}
	case []any:
		for i := range v {
			v[i] = withoutKept(v[i])
		}
	}
	return v
}

// The files are what their clients read.
func TestExportedShapes(t *testing.T) {
	t.Parallel()
	for dialect, want := range map[interchange.Dialect]string{
		interchange.DialectClaude: `{"mcpServers":{
			"quill-letters":{"command":"docker","args":["run","-i","--rm","-e","QUILL_KEY","-e","quillPin","-e","QUILL_LANG","ghcr.io/acme/quill:2","serve"],"env":{"QUILL_KEY":"${QUILL_KEY}","quillPin":"${PIN}","QUILL_LANG":"${QUILL_LANG:-en}"}},
			"far":{"type":"http","url":"https://${region:-eu}.far.example/mcp","headers":{"Authorization":"Bearer ${FAR_KEY}","X-Team":"${TEAM}"}}}}`,
		interchange.DialectVSCode: `{"inputs":[{"id":"QUILL_KEY","type":"promptString","description":"The key","password":true},{"id":"PIN","type":"promptString","description":"PIN","password":true},{"id":"QUILL_LANG","type":"promptString","description":"QUILL_LANG","default":"en"},
				{"id":"region","type":"promptString","description":"Where","default":"eu"},{"id":"FAR_KEY","type":"promptString","description":"FAR_KEY","password":true},{"id":"TEAM","type":"promptString","description":"TEAM","password":true}],
			"servers":{"quill-letters":{"type":"stdio","command":"docker","args":["run","-i","--rm","-e","QUILL_KEY","-e","quillPin","-e","QUILL_LANG","ghcr.io/acme/quill:2","serve"],"env":{"QUILL_KEY":"${input:QUILL_KEY}","quillPin":"${input:PIN}","QUILL_LANG":"${input:QUILL_LANG}"}},
			"far":{"type":"http","url":"https://${input:region}.far.example/mcp","headers":{"Authorization":"Bearer ${input:FAR_KEY}","X-Team":"${input:TEAM}"}}}}`,
	} {
		raw, err := interchange.ExportServers([]capability.Content{quill, far}, dialect)
		if err != nil {
			t.Fatal(err)
		}
		var got, wanted any
		if err := json.Unmarshal(raw, &got); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(want), &wanted); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(wanted, withoutKept(got)); diff != "" {
			t.Errorf("%s: %s", dialect, diff)
		}
		items := readAs(t, string(raw), interchange.Options{})
		if len(items) != 2 || items[0].Content.Digest() != quill.Digest() || items[1].Content.Digest() != far.Digest() {
			t.Errorf("%s: it does not come back: %v", dialect, items)
		}
	}
	skill := capability.Content{Name: "x", Description: "y", Spec: &capability.SkillSpec{Instructions: "z"}}
	if _, err := interchange.ExportServers([]capability.Content{skill}, interchange.DialectClaude); !fault.HasCode(err, "not_an_mcp") {
		t.Error(err)
	}
	if _, err := interchange.ExportServers(nil, "emacs"); !fault.HasCode(err, "unknown_dialect") {
		t.Error(err)
	}
	for _, as := range []interchange.ServerName{{Name: "weather", Version: "1.0.0"}, {Name: "a/b/c", Version: "1.0.0"}, {Version: "1.0.0"}, {Name: "com.example/x"}} {
		if _, err := interchange.ExportServerJSON(far, as); !fault.Is(err, fault.Invalid) {
			t.Errorf("%+v: %v", as, err)
		}
	}
}

// Two servers that call a secret alike are not given the same one.
func TestExportedServersShareNoSecret(t *testing.T) {
	t.Parallel()
	one, two := far, far
	one.Name, two.Name = "one", "two"
	for dialect, says := range map[interchange.Dialect]string{interchange.DialectClaude: "Bearer ${TWO_FAR_KEY}", interchange.DialectVSCode: "Bearer ${input:TWO_FAR_KEY}"} {
		raw, err := interchange.ExportServers([]capability.Content{one, two}, dialect)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(raw), says) || strings.Count(string(raw), "${FAR_KEY}")+strings.Count(string(raw), "${input:FAR_KEY}") != 1 {
			t.Errorf("%s: %s", dialect, raw)
		}
		items := readAs(t, string(raw), interchange.Options{})
		if items[0].Content.Digest() != one.Digest() || items[1].Content.Digest() != two.Digest() {
			t.Errorf("%s: it does not come back: %v", dialect, items)
		}
	}
}

// Whatever was exported, an address or an image that a person puts in its place
// is all that changes.
func TestEditsKeepTheRest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := contents().Draw(t, "content")
		want := c
		spec := *c.Spec.(*capability.MCPSpec)
		spec.URL = strings.Replace(spec.URL, ".example/mcp", ".other.example/mcp", 1)
		if spec.Image != "" {
			spec.Image = "acme/edited:9"
		}
		want.Spec = &spec
		old, edited := ".example/mcp", ".other.example/mcp"
		if spec.Image != "" {
			old, edited = `"`+c.Spec.(*capability.MCPSpec).Image+`"`, `"acme/edited:9"`
		}
		for format, raw := range exports(t, c) {
			i, err := interchange.FromDocument([]byte(strings.Replace(string(raw), old, edited, 1)), "mcp.json", loopback)
			if err != nil {
				t.Fatal(err)
			}
			items := i.Items()
			if items[0].Status != interchange.Ready || items[0].Content.Digest() != want.Digest() {
				t.Fatalf("%s: %v %s\n%s", format, items[0].Fault, cmp.Diff(want, items[0].Content), raw)
			}
			if !has(items[0].Notes, "edited_since_export") {
				t.Fatalf("%s: notes %v", format, items[0].Notes)
			}
		}
	})
}

// What a person edits in an exported file counts, and all else stays.
func TestEditedExports(t *testing.T) {
	t.Parallel()
	for _, dialect := range []interchange.Dialect{interchange.DialectClaude, interchange.DialectVSCode} {
		raw, err := interchange.ExportServers([]capability.Content{quill}, dialect)
		if err != nil {
			t.Fatal(err)
		}
		item, spec := server(t, strings.ReplaceAll(string(raw), "acme/quill:2", "acme/quill:3"))
		if spec.Image != "ghcr.io/acme/quill:3" || item.Content.Name != quill.Name || item.Content.Description != quill.Description || !spec.Write || !has(item.Notes, "edited_since_export") {
			t.Errorf("%s: %+v, notes %s", dialect, item.Content, noteCodes(item.Notes))
		}
		item, _ = server(t, strings.Replace(string(raw), `"quill-letters"`, `"quills"`, 1))
		if item.Content.Name != "quills" {
			t.Errorf("%s: the new name is %q", dialect, item.Content.Name)
		}
	}
	raw, err := interchange.ExportServerJSON(quill, interchange.ServerName{Name: "com.example/quill", Version: "1.0.0"})
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	doc["description"] = "Mine."
	edited, _ := json.Marshal(doc)
	item, spec := server(t, string(edited))
	if item.Content.Description != "Mine." || !spec.Write || item.Content.Name != "Quill Letters" || !has(item.Notes, "edited_since_export") {
		t.Errorf("%+v, notes %s", item.Content, noteCodes(item.Notes))
	}
	for _, junk := range []string{`7`, `"x"`, `{"fields":{"spec/url":7}}`, `{"fields":{"spec/url":"http://x"},"was":{}}`, `{"hello":1}`} {
		items := readAs(t, `{"mcpServers":{"x":{"url":"https://x.example/mcp","capstore":`+junk+`}}}`, interchange.Options{})
		if items[0].Status != interchange.Ready || items[0].Content.Spec.(*capability.MCPSpec).URL != "https://x.example/mcp" {
			t.Errorf("%s: %v", junk, items[0].Fault)
		}
	}
}

// Where more would have to be kept than a publisher may add, the file is
// written without it.
func TestServerJSONOfMuch(t *testing.T) {
	t.Parallel()
	c := far
	spec := *far.Spec.(*capability.MCPSpec)
	for i := range 2000 {
		spec.Provides = append(spec.Provides, "tool_"+strings.Repeat("x", i%7)+string(rune('a'+i%26))+strings.Repeat("y", i/26))
	}
	spec.Provides = spec.Provides[:60]
	for i := range spec.Provides {
		spec.Provides[i] += strings.Repeat("z", 100-len(spec.Provides[i])%50)
	}
	spec.Write = true
	c.Spec = &spec
	raw, err := interchange.ExportServerJSON(c, interchange.ServerName{Name: "com.example/far", Version: "1.0.0"})
	if err != nil {
		t.Fatal(err)
	}
	var typed registry.ServerJSON
	if err := json.Unmarshal(raw, &typed); err != nil {
		t.Fatal(err)
	}
	if n, _ := json.Marshal(typed.Meta.PublisherProvided); len(n) > 4096 {
		t.Errorf("the publisher adds %d bytes", len(n))
	}
	item, got := server(t, string(raw))
	if !got.Write || got.URL != spec.URL || len(got.Provides) != 0 || item.Content.Name != "far" {
		t.Errorf("%+v", got)
	}
}
