package capability_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"capstore/internal/capability"

	"github.com/google/go-cmp/cmp"
)

func told(c capability.Changes) []string {
	out := []string{}
	for _, ch := range c.Changes {
		s := fmt.Sprintf("%s %s", ch.Op, ch.Path)
		switch {
		case ch.RenamedFrom != "":
			s += " from " + ch.RenamedFrom
		case ch.Text != nil:
			s += fmt.Sprintf(" +%d -%d", ch.Text.Added, ch.Text.Removed)
		case ch.Binary != nil:
			s += " " + size(ch.Binary.Before) + "→" + size(ch.Binary.After)
		default:
			s += fmt.Sprintf(" %s→%s", ch.Before, ch.After)
		}
		out = append(out, s)
	}
	return out
}

func size(b *capability.Blob) string {
	if b == nil {
		return ""
	}
	return fmt.Sprintf("%d %s", b.Size, b.SHA256[:8])
}

func TestEqualContentsHaveNoChanges(t *testing.T) {
	t.Parallel()
	for _, kind := range capability.Kinds {
		d := capability.Diff(sample(t, kind), sample(t, kind))
		if d.TypeChanged || len(d.Changes) > 0 {
			t.Errorf("%s: %+v", kind, d)
		}
		if raw, err := json.Marshal(d); err != nil || string(raw) != `{"typeChanged":false,"changes":[]}` {
			t.Errorf("%s: %s %v", kind, raw, err)
		}
	}
}

func TestDiffByPart(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		kind capability.Kind
		set  obj
		want []string
	}{
		"a word added in front": {capability.KindMCP, obj{"provides": []string{"alpha", "search", "create"}}, []string{`added /spec/provides/alpha →"alpha"`}},
		"a word gone":           {capability.KindMCP, obj{"provides": []string{"create"}}, []string{`removed /spec/provides/search "search"→`}},
		"only the order":        {capability.KindMCP, obj{"provides": []string{"create", "search"}}, []string{`changed /spec/provides ["search","create"]→["create","search"]`}},
		"a secret inserted": {capability.KindMCP, obj{"requiredSecrets": []obj{{"name": "NEW", "header": "X-New"}, {"name": "API_TOKEN", "description": "From the console"}, {"name": "ORG", "header": "X-Org2"}}}, []string{
			`changed /spec/requiredSecrets/ORG/header "X-Org"→"X-Org2"`, `added /spec/requiredSecrets/NEW →{"header":"X-New","name":"NEW"}`}},
		"a number respelt":   {capability.KindCode, obj{"parametersSchema": json.RawMessage(`{"type":"object","properties":{"n":{"type":"number","minimum":1}},"required":["n"]}`), "examples": nil}, []string{`removed /spec/examples [{"input":{"n":12345678901234567890},"name":"one","note":"big"}]→`, `changed /spec/parametersSchema/properties/n/minimum 1.0→1`}},
		"a field left out":   {capability.KindCode, obj{"image": nil}, []string{`removed /spec/image "ghcr.io/acme/py:1"→`}},
		"another type of it": {capability.KindDelegation, obj{"env": obj{"LEVEL": obj{"secretRef": "L"}, "TOKEN": obj{"secretRef": "WORKER_TOKEN", "scope": "personal"}}}, []string{`changed /spec/env/LEVEL "debug"→{"secretRef":"L"}`}},
		"a long text":        {capability.KindSkill, obj{"instructions": "# Do\nmore\n"}, []string{"changed /spec/instructions +1 -0"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := edited(t, tc.kind, nil)
			if name == "a number respelt" { // the helper that edits goes through float64
				base.Spec.(*capability.CodeSpec).ParametersSchema = sample(t, tc.kind).Spec.(*capability.CodeSpec).ParametersSchema
				base.Spec.(*capability.CodeSpec).Examples = sample(t, tc.kind).Spec.(*capability.CodeSpec).Examples
			}
			if diff := cmp.Diff(tc.want, told(capability.Diff(base, edited(t, tc.kind, tc.set)))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDiffAcrossKinds(t *testing.T) {
	t.Parallel()
	base := capability.Content{Name: "a", Description: "x", Spec: &capability.CommandSpec{Template: "t"}}
	next := capability.Content{Name: "b", Description: "x", Spec: &capability.SkillSpec{Instructions: "t"}}
	d := capability.Diff(base, next)
	want := []string{`changed /name "a"→"b"`, `removed /spec/template "t"→`, `changed /spec/type "command"→"skill"`, `added /spec/instructions →"t"`}
	if diff := cmp.Diff(want, told(d)); diff != "" || !d.TypeChanged {
		t.Errorf("typeChanged %v: %s", d.TypeChanged, diff)
	}
	if d := capability.Diff(capability.Content{}, base); d.TypeChanged || len(d.Changes) != 3 {
		t.Errorf("from nothing: %+v", d)
	}
}

func FuzzDecodeContent(f *testing.F) {
	for _, spec := range samples {
		f.Add([]byte(`{"name":"n","description":"d","spec":` + spec + `}`))
	}
	f.Add([]byte(`{"spec":{"type":"delegation","env":{"A":null}}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		c, fields := capability.DecodeContent(raw)
		if len(fields) > 0 {
			for _, field := range fields {
				if field.Code == "" || field.Message == "" {
					t.Fatalf("an empty fault: %+v", field)
				}
			}
			return
		}
		c.Validate(capability.Rules{})
		canonical, err := c.Canonical()
		if err != nil {
			t.Fatal(err)
		}
		again, fields := capability.DecodeContent(canonical)
		if len(fields) > 0 || again.Digest() != c.Digest() {
			t.Fatalf("%s\ndoes not survive: %v", canonical, fields)
		}
		if d := capability.Diff(c, again); len(d.Changes) > 0 {
			t.Fatalf("the same content differs: %+v", d)
		}
	})
}
