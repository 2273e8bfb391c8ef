package workspace_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/workspace"
)

// What a hook watches stays known when nothing else of it is: what is gone or
// cannot be read has to deny.
func TestAHookThatIsGoneStillWatches(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		sql  string
		held capability.Reason
		want *capability.HookSpec
	}{
		"deleted": {
			`UPDATE capabilities SET tombstoned_at = now()`, capability.HeldGone,
			&capability.HookSpec{Event: capability.EventAfterTool, Matcher: "mcp__*", FailureMode: capability.FailClosed},
		},
		"of another form": {
			`UPDATE capability_versions SET content = replace(content, '"spec":{', '"spec":{"later":true,')`, capability.HeldUnsupported,
			&capability.HookSpec{Event: capability.EventAfterTool, Matcher: "mcp__*", FailureMode: capability.FailClosed},
		},
		"of an event of another form": {
			`UPDATE capability_versions SET content = replace(content, '"after_tool"', '{"at":"after_tool"}')`, capability.HeldUnsupported,
			&capability.HookSpec{Event: capability.EventBeforeTool, Matcher: "mcp__*", FailureMode: capability.FailClosed},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			c := hook("Guard", capability.FailClosed)
			spec := c.Spec.(*capability.HookSpec)
			spec.Event, spec.Matcher = capability.EventAfterTool, "mcp__*"
			b.adopted(t, b.admin, adopt(b.publish(t, b.admin, within, c, "")))
			b.exec(t, `ALTER TABLE capability_versions DISABLE TRIGGER capability_versions_frozen`)
			b.exec(t, tt.sql)
			afresh := workspace.New(b.db, b.store, workspace.Options{}) // has read none of it before
			carried, err := afresh.Carried(t.Context(), b.member)
			if err != nil {
				t.Fatal(err)
			}
			row, _ := carried.Find("capability:acme/guard")
			if row.Held != tt.held || !row.Required || !row.Wanted || row.Enabled {
				t.Errorf("held %q, required %t, wanted %t, enabled %t", row.Held, row.Required, row.Wanted, row.Enabled)
			}
			if _, err := afresh.Tool(t.Context(), b.member, row.Key); err != nil {
				t.Errorf("its page: %v", err)
			}
			if diff := cmp.Diff(capability.Spec(tt.want), row.Spec); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestARowNamesItsPlugin(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for plugin, provenance := range map[string]string{"toolbox": `{"plugin":"toolbox","path":"hooks/x"}`, "": `{"path":"x"}`} {
		c := hook("Guard"+plugin, capability.Advisory)
		out, err := b.store.Publish(t.Context(), b.admin, catalog.Publication{
			Name: c.Name, Description: c.Description, Spec: capability.EncodeSpec(c.Spec), Visibility: within, Provenance: json.RawMessage(provenance),
		})
		if err != nil {
			t.Fatal(err)
		}
		carried, err := b.ws.Carried(t.Context(), b.member)
		if err != nil {
			t.Fatal(err)
		}
		if row, _ := carried.Find(capability.CapabilityKey("acme", out.Version.ID)); row.Plugin != plugin {
			t.Errorf("%s is of the plugin %q, want %q", c.Name, row.Plugin, plugin)
		}
	}
}
