package interchange_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"capstore/internal/capability"
	"capstore/internal/interchange"
	"capstore/internal/interchange/plugintest"
)

// readsWhole imports a plugin with one file of the fuzzer's and holds what every
// import has to: it ends, every item has one fate under a path of its own, what
// is ready is valid, and a refusal says why.
func readsWhole(t *testing.T, name string, raw []byte, more map[string]string) {
	t.Helper()
	folder := fstest.MapFS{".claude-plugin/plugin.json": {Data: []byte(`{"name":"desk"}`)}, "hooks/a.sh": {Data: []byte("echo a\n")}}
	for p, text := range more {
		folder[p] = &fstest.MapFile{Data: []byte(text)}
	}
	folder[name] = &fstest.MapFile{Data: raw}
	i, err := interchange.FromFolder(folder, "desk", interchange.Options{})
	if err != nil {
		return // the whole is refused, by a fault that other tests look at
	}
	paths := map[string]bool{}
	for _, item := range i.Items() {
		if paths[item.Path] {
			t.Errorf("%q stands there twice", item.Path)
		}
		paths[item.Path] = true
		switch item.Status {
		case interchange.Ready:
			if faults := item.Content.Validate(capability.Rules{}); len(faults) > 0 {
				t.Errorf("%q is ready and not valid: %v", item.Path, faults)
			}
			if item.Content.Digest() == "" {
				t.Errorf("%q has no digest", item.Path)
			}
		case interchange.Refused:
			if item.Fault == nil || item.Fault.Message == "" {
				t.Errorf("%q is refused without a reason", item.Path)
			}
		case interchange.Ignored:
			if len(item.Notes) == 0 {
				t.Errorf("%q is ignored without a reason", item.Path)
			}
		default:
			t.Errorf("%q has the fate %q", item.Path, item.Status)
		}
	}
}

func FuzzPluginManifest(f *testing.F) {
	for _, seed := range []string{
		plugintest.Release()[".claude-plugin/plugin.json"], `{"name":"desk","commands":{"x":{"content":"Do."}},"hooks":{"Stop":[{"type":"command","command":"true"}]}}`,
		`{"name":"a","commands":["./commands","./commands/a.md"],"agents":"./commands","skills":["."],"mcpServers":{"t":{"url":"https://t.example.com"}}}`,
		`{"name":1,"userConfig":{"k":7},"keywords":[1,"x"],"author":"me","repository":{"url":"javascript:x"}}`, `[]`, `{`, "\ufeff{}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		readsWhole(t, ".claude-plugin/plugin.json", raw, map[string]string{"commands/a.md": "A", "skills/s/SKILL.md": "---\nname: s\ndescription: d\n---\nx", ".mcp.json": `{"mcpServers":{"t":{"url":"https://t.example.com","headers":{"X-Key":"${user_config.k}"}}}}`})
	})
}

func FuzzHooks(f *testing.F) {
	for _, seed := range []string{
		plugintest.Release()["hooks/hooks.json"], `{"PreToolUse":[{"matcher":"a|b","hooks":[{"command":"bash ${CLAUDE_PLUGIN_ROOT}/hooks/a.sh x","timeout":1e9}]}]}`,
		`{"hooks":{"Stop":{"type":"command","command":"${CLAUDE_PLUGIN_ROOT}"},"PostToolUse":[{"matcher":"((a|b)|c)*","hooks":{"type":"command","command":"x"}}]}}`,
		`{"hooks":{"Stop":[{"type":"command","command":" ","args":["a"]},{"type":"command","command":"x","args":[1]}]}}`,
		`{"hooks":{"PreToolUse":[{"matcher":"(?:a|b)c|d(e","hooks":[{"type":"command","command":"cd \"${CLAUDE_PLUGIN_ROOT}/hooks\" && bash a.sh"}]}]}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) { readsWhole(t, "hooks/hooks.json", raw, nil) })
}

func FuzzCommand(f *testing.F) {
	for _, seed := range []string{
		plugintest.Release()["commands/cut.md"], "---\nargument-hint: [a\n---\nx", "---\nallowed-tools: [Read, \"Bash(a, b)\"]\ndescription: \n---\n!`x` @a.b $0", "x", "---\n---\n", "allowed-tools: a\n---\nx",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) { readsWhole(t, "commands/a.md", raw, nil) })
}

func FuzzMarketplace(f *testing.F) {
	for _, seed := range []string{
		plugintest.Market()[".claude-plugin/marketplace.json"], `{"plugins":[{"name":"a","source":"./"},{"name":"a","source":"."},{"name":"b","source":"./hooks","hooks":"./a.sh"}]}`, `{"plugins":[7,null,{}]}`,
		`{"metadata":{"pluginRoot":"/"},"plugins":[{"name":"x","source":"y"}]}`, `{"plugins":[{"name":"#","source":{"source":"npm"}},{"name":"a/b#c","source":"./hooks"}]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		readsWhole(t, ".claude-plugin/marketplace.json", raw, map[string]string{"plugins/y/commands/a.md": "A", "commands/" + strings.Repeat("b", 9) + ".md": "B"})
	})
}
