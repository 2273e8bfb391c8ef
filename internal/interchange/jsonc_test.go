package interchange_test

import (
	"strings"
	"testing"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/interchange"
)

// readAs imports a document that was sent as a file called mcp.json.
func readAs(t testing.TB, raw string, o interchange.Options) []interchange.Item {
	t.Helper()
	i, err := interchange.FromDocument([]byte(raw), "mcp.json", o)
	if err != nil {
		t.Fatal(err)
	}
	return i.Items()
}

// server imports a document of one server and wants it ready.
func server(t testing.TB, raw string) (interchange.Item, *capability.MCPSpec) {
	t.Helper()
	items := readAs(t, raw, interchange.Options{})
	if len(items) != 1 || items[0].Status != interchange.Ready {
		t.Fatalf("%d items, the first %s: %v", len(items), items[0].Status, items[0].Fault)
	}
	spec, ok := items[0].Content.Spec.(*capability.MCPSpec)
	if !ok {
		t.Fatalf("it is a %T", items[0].Content.Spec)
	}
	return items[0], spec
}

func has(notes []interchange.Note, code string) bool {
	for _, n := range notes {
		if n.Code == code {
			return true
		}
	}
	return false
}

// What clients tolerate is tolerated, and said.
func TestConfigurationsKeptByHand(t *testing.T) {
	t.Parallel()
	const plain = `"box":{"url":"https://box.example/mcp//x"}`
	for name, c := range map[string]struct{ raw, notes string }{
		"clean":            {`{"servers":{` + plain + `}}`, ""},
		"line comments":    {"{ // here\n\"servers\":{" + plain + "// there\n}}", "comments"},
		"block comments":   {`{/* a "quoted" { */"servers":/**/{` + plain + `}}`, "comments"},
		"a header":         {"# where it lives\n#\n{\"servers\":{" + plain + "}}", "comments"},
		"lone CR":          {"// one\n{ // two\r\"servers\":{" + plain + "}}", "comments"},
		"trailing commas":  {`{"servers":{` + plain + `, } ,}`, "trailing_commas"},
		"a comma, comment": {"{\"servers\":{" + plain + ", // last\n}}", "comments trailing_commas"},
		"mark":             {"\ufeff{\"servers\":{" + plain + "}}", "byte_order_mark"},
		"mark and header":  {"\ufeff# x\r\n{\"servers\":{" + plain + ",},\r\n}", "byte_order_mark comments trailing_commas"},
		"a piece":          {`"servers": {` + plain + `}`, "fragment"},
		"a piece, a comma": {"// from the README\n\"mcpServers\": {" + plain + "},\n", "comments trailing_commas fragment"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			item, spec := server(t, c.raw)
			if spec.URL != "https://box.example/mcp//x" {
				t.Errorf("the address became %s", spec.URL)
			}
			var got []string
			for _, n := range item.Notes {
				if n.Path == "mcp.json" {
					got = append(got, n.Code)
				}
			}
			if strings.Join(got, " ") != c.notes {
				t.Errorf("notes %v, want %q", got, c.notes)
			}
		})
	}
}

// A file that is broken imports nothing and names the place as editors count it.
func TestBrokenJSON(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"a":`, 65) + "1" + strings.Repeat("}", 65)
	for name, c := range map[string]struct{ raw, code, says string }{
		"a colon is missing":    {"{\"servers\": {\n  \"a\" {}\n}}", "bad_json", ": ':' is missing here (line 2, column 7)"},
		"a comma is missing":    {"{\"servers\": {\n  \"a\": {}\n  \"b\": {}}}", "bad_json", "',' or '}' is missing here (line 3, column 3)"},
		"after a comment":       {"{ /* 1\n2 */ \"servers\": nope }", "bad_json", "(line 2, column "},
		"after a mark":          {"\ufeff{\"é\": ?}", "bad_json", "(line 1, column 7)"},
		"after CRLF":            {"{\r\n\r\n ?}", "bad_json", "(line 3, column 2)"},
		"two commas":            {`{"a":1,,}`, "bad_json", "line 1"},
		"a comma alone":         {`{,}`, "bad_json", "line 1"},
		"cut":                   {`{"servers":{"a":{"url":"https://x`, "bad_json", "ends too early"},
		"comment without end":   {"{\n /* x", "bad_json", "(line 2, column 2)"},
		"a key twice":           {"{\"servers\":{\"a\":{},\n\"a\":{}}}", "duplicate_key", "line 2"},
		"a key twice, escaped":  {`{"servers":{"a":{},"\u0061":{}}}`, "duplicate_key", "line 1"},
		"65 levels":             {deep, "too_deep", "64 levels"},
		"a megabyte of depth":   {strings.Repeat(`{"a":`, 200_000), "too_deep", "line 1"},
		"brackets in a comment": {"{ // " + strings.Repeat("[", 100) + "\n\"a\":nope}", "bad_json", "line 2"},
		"trailing data":         {`{"servers":{}} {}`, "trailing_data", "line 1"},
		"NUL":                   {"{\"a\":\x00}", "nul_byte", "byte 5"},
		"Latin-1":               {"{\"caf\xe9\":1}", "not_utf8", "byte 5"},
		"a huge number":         {`{"servers":{"a":{"timeout":1e999999999}}}`, "number_out_of_range", "line 1"},
		"single quotes":         {`{'servers':{}}`, "bad_json", "line 1, column 2"},
		"a piece, broken":       {"\"servers\": {\n \"a\": ?}", "bad_json", "(line 2, column 7)"},
		"none of these formats": {`{"hello":"world","list":[1]}`, "unknown_format", "mcp.json"},
		"too large":             {`{"x":"` + strings.Repeat("x", 16<<20) + `"}`, "configuration_too_large", "16777216"},
		"an OpenAPI document":   {`{"openapi":"3.1.0","info":{},"servers":[{"url":"https://api.example"}]}`, "unknown_format", ""},
		"an AsyncAPI document":  {`{"asyncapi":"2.6.0","servers":{"production":{"url":"https://api.example","protocol":"http"}}}`, "unknown_format", ""},
		"a list of addresses":   {`{"servers":[{"url":"https://api.example"}]}`, "unknown_format", ""},
		"a package of npm":      {`{"name":"x","version":"1.0.0","repository":{"url":"https://example.com/x"}}`, "unknown_format", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			items := readAs(t, c.raw, interchange.Options{})
			if len(items) != 1 || items[0].Status != interchange.Refused || !fault.HasCode(items[0].Fault, c.code) {
				t.Fatalf("got %v, want %s", items[0].Fault, c.code)
			}
			if !strings.Contains(items[0].Fault.Message, c.says) {
				t.Errorf("the message does not say %q: %s", c.says, items[0].Fault.Message)
			}
			if items[0].Fault.Action == "" || strings.Contains(items[0].Fault.Action, "SKILL.md") {
				t.Errorf("what to do: %q", items[0].Fault.Action)
			}
		})
	}
}
