package interchange_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"capstore/internal/capability"
	"capstore/internal/interchange"

	"pgregory.net/rapid"
)

// anySpec draws a valid spec of any of the kinds, as JSON.
func anySpec(t *rapid.T) json.RawMessage {
	text := rapid.StringMatching(`[a-z<>&"'\\ 한:{}$#\n\t]{1,40}x`)
	quoted := func(label string) string {
		raw, err := json.Marshal(text.Draw(t, label))
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	number := rapid.SampledFrom([]string{"1", "7312459980021764353", "0.1000000000000000055", "1e3"}).Draw(t, "number")
	kind := rapid.SampledFrom(capability.Kinds).Draw(t, "kind")
	spec := map[capability.Kind]string{
		capability.KindMCP:         `"url":"https://tools.example.com/mcp","provides":["a","b"],"write":true,"requiredSecrets":[{"name":"KEY","description":"The key."}]`,
		capability.KindCode:        `"language":"python","code":` + quoted("code") + `,"isReadOnly":true,"parametersSchema":{"type":"object","properties":{"n":{"type":"number","maximum":` + number + `}}}`,
		capability.KindSkill:       `"instructions":` + quoted("instructions") + `,"files":[{"path":"a/한.bin","mediaType":"application/x-odd","encoding":"base64","content":"AAEC/w==","executable":true}],"metadata":{"k":` + quoted("metadata") + `}`,
		capability.KindEnvironment: `"image":"ghcr.io/example/box:1.2","preset":{"cpu":` + number + `},"instructions":` + quoted("contract"),
		capability.KindDelegation:  `"harness":"claude-code","image":"ghcr.io/example/box:1.2","env":{"A":` + quoted("literal") + `,"B":{"secretRef":"TOKEN","scope":"personal"}},"ttlSec":60`,
		capability.KindHook:        `"event":"before_tool","matcher":"mcp__*","language":"bash","code":` + quoted("hook") + `,"failureMode":"fail-closed"`,
		capability.KindCommand:     `"template":` + quoted("template") + `,"argumentHint":"[x]","serves":["mail"]`,
	}[kind]
	return json.RawMessage(fmt.Sprintf(`{"type":%q,%s}`, kind, spec))
}

// Whatever is exported is imported as what it was: content, number, note,
// labels, in the order of the versions, whatever order they stood in.
func TestExportThenImportIsTheSame(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		line := interchange.Exported{Source: "acme", ID: "thing", Tags: []string{"a", "나"}}
		want := map[string]string{}
		n := rapid.IntRange(1, 4).Draw(t, "versions")
		for i := range n {
			spec, faults := capability.DecodeSpec(anySpec(t))
			c := capability.Content{Name: fmt.Sprintf("Thing %d", i), Description: "Does <things> & more.", Spec: spec}
			if faults = append(faults, c.Validate(capability.Rules{})...); len(faults) > 0 {
				t.Fatal(faults)
			}
			version := fmt.Sprintf("1.%d.0", n-i)
			want[version] = c.Digest()
			line.Versions = append(line.Versions, interchange.ExportedVersion{
				Version: version, Name: c.Name, Description: c.Description, Spec: capability.EncodeSpec(spec), Note: "note " + version,
				Tags: []string{"t"}, Digest: c.Digest(), Provenance: json.RawMessage(`{"from":"elsewhere"}`),
			})
		}
		found, err := interchange.FromDocument(written(t, line), "x.capstore.json", interchange.Options{})
		if err != nil {
			t.Fatal(err)
		}
		items := found.Items()
		if len(items) != n {
			t.Fatalf("%d items of %d versions", len(items), n)
		}
		for i, item := range items {
			version := fmt.Sprintf("1.%d.0", i+1)
			if item.Status != interchange.Ready || item.As.Version != version || item.Content.Digest() != want[version] || item.As.ID != "thing" ||
				item.As.Note != "note "+version || len(item.As.Tags) != 2 || len(item.As.VersionTags) != 1 || string(item.Provenance) != `{"from":"elsewhere"}` {
				t.Fatalf("version %d came back as %+v (%v)", i, item, item.Fault)
			}
		}
	})
}

type fataler interface{ Fatal(args ...any) }

func written(t fataler, lines ...interchange.Exported) []byte {
	var b bytes.Buffer
	w := interchange.NewExportWriter(&b)
	for _, line := range lines {
		if err := w.Add(line); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestExportsThatWereTouched(t *testing.T) {
	t.Parallel()
	const version = `{"version":"1.0.0","name":"Hi","description":"Says hi.","spec":{"type":"command","template":"Say hi"}%s}`
	one := func(rest string) string {
		return `{"capstore":1,"capabilities":[{"source":"acme","id":"hi","versions":[` + fmt.Sprintf(version, rest) + `]}]}`
	}
	for name, tc := range map[string]struct{ text, code string }{
		"cut off":            {one("")[:60], "export_damaged"},
		"newer edition":      {strings.Replace(one(""), `"capstore":1`, `"capstore":2`, 1), "export_edition"},
		"no edition":         {strings.Replace(one(""), `"capstore":1`, `"capstore":"x"`, 1), "export_edition"},
		"nothing in it":      {`{"capstore":1}`, "export_empty"},
		"no version":         {`{"capstore":1,"capabilities":[{"source":"acme","id":"hi"}]}`, "export_no_version"},
		"changed by hand":    {one(`,"digest":"sha256:00"`), "export_changed"},
		"digest taken out":   {one(""), ""},
		"with a BOM":         {"\ufeff \n" + one(""), ""},
		"version not semver": {strings.Replace(one(""), "1.0.0", "v1", 1), "bad_version"},
		"unknown field":      {strings.Replace(one(""), `"template"`, `"color":1,"template"`, 1), "invalid"},
		"version no object":  {`{"capstore":1,"capabilities":[{"source":"acme","id":"hi","versions":[7]}]}`, "export_damaged"},
		"a key twice":        {strings.Replace(one(""), `"name":"Hi"`, `"name":"Hi","name":"Ho"`, 1), "duplicate_key"},
	} {
		found, err := interchange.FromDocument([]byte(tc.text), "", interchange.Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		item := found.Items()[0]
		switch {
		case tc.code == "" && item.Status != interchange.Ready:
			t.Errorf("%s: %v", name, item.Fault)
		case tc.code != "" && (item.Status != interchange.Refused || item.Fault.Code != tc.code):
			t.Errorf("%s: %s %v, want %s", name, item.Status, item.Fault, tc.code)
		}
	}
}

func FuzzExport(f *testing.F) {
	f.Add([]byte(`{"capstore":1,"capabilities":[{"source":"a","id":"b","versions":[{"version":"1.0.0","name":"x","description":"y","spec":{"type":"command","template":"z"}}]}]}`))
	f.Add([]byte(`{"capstore":1,"capabilities":[{"versions":[null,{}]}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		found, err := interchange.FromDocument(raw, "x.capstore.json", interchange.Options{})
		if err != nil {
			return
		}
		for _, item := range found.Items() {
			if (item.Status == interchange.Ready) == (item.Fault != nil) && item.Status != interchange.Ignored {
				t.Errorf("%+v", item)
			}
			if item.Status == interchange.Ready && len(item.Content.Validate(capability.Rules{})) > 0 {
				t.Errorf("ready but not valid: %+v", item.Content)
			}
		}
	})
}
