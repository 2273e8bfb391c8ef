package capability

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"capstore/internal/fault"
	"capstore/internal/jsonx"
)

const specPath = "/spec"

// DecodeSpec reads a spec by its "type", strictly: every unknown field and
// every value of a wrong type is a fault under /spec, all at once. The spec is
// nil when there is a fault. It says nothing about limits; Validate does.
func DecodeSpec(raw json.RawMessage) (Spec, []fault.Field) {
	doc, err := jsonx.Parse(raw, 0)
	if err != nil {
		f := fault.From(err)
		return nil, []fault.Field{{Path: specPath, Code: f.Code, Message: f.Message}}
	}
	object, ok := doc.(map[string]any)
	if !ok {
		return nil, []fault.Field{{
			Path: specPath, Code: "wrong_type",
			Message: fmt.Sprintf("Expected an object, found %s.", jsonx.Kind(doc)),
		}}
	}
	kind, fields := kindOf(object)
	if len(fields) > 0 {
		return nil, fields
	}
	return decodeAs(kind, raw)
}

func kindOf(spec map[string]any) (Kind, []fault.Field) {
	value, there := spec["type"]
	name, ok := value.(string)
	switch {
	case !there || value == nil:
		return "", []fault.Field{{Path: specPath + "/type", Code: "required", Message: "Say what kind this is: " + kindList() + "."}}
	case !ok:
		return "", []fault.Field{{Path: specPath + "/type", Code: "wrong_type", Message: "The type is a string: " + kindList() + "."}}
	case !Kind(name).Known():
		return "", []fault.Field{{
			Path: specPath + "/type", Code: "unknown_kind",
			Message: fmt.Sprintf("There is no kind %q; take one of %s.", cut(name, 40), kindList()),
		}}
	}
	return Kind(name), nil
}

func kindList() string {
	names := make([]string, len(Kinds))
	for i, k := range Kinds {
		names[i] = string(k)
	}
	return strings.Join(names, ", ")
}

// decodeAs reads the spec into the type of its kind. The wrappers take "type"
// in, which the specs themselves do not hold.
func decodeAs(kind Kind, raw json.RawMessage) (Spec, []fault.Field) {
	type tag struct {
		Type Kind `json:"type"`
	}
	switch kind {
	case KindMCP:
		v := struct {
			tag
			MCPSpec
		}{}
		return decoded(&v.MCPSpec, jsonx.DecodeAt(raw, &v, specPath))
	case KindCode:
		v := struct {
			tag
			CodeSpec
		}{}
		return decoded(&v.CodeSpec, jsonx.DecodeAt(raw, &v, specPath))
	case KindSkill:
		v := struct {
			tag
			SkillSpec
		}{}
		return decoded(&v.SkillSpec, jsonx.DecodeAt(raw, &v, specPath))
	case KindEnvironment:
		v := struct {
			tag
			EnvironmentSpec
		}{}
		return decoded(&v.EnvironmentSpec, jsonx.DecodeAt(raw, &v, specPath))
	case KindDelegation:
		v := struct {
			tag
			DelegationSpec
		}{}
		return decoded(&v.DelegationSpec, jsonx.DecodeAt(raw, &v, specPath))
	case KindHook:
		v := struct {
			tag
			HookSpec
		}{}
		return decoded(&v.HookSpec, jsonx.DecodeAt(raw, &v, specPath))
	case KindCommand:
		v := struct {
			tag
			CommandSpec
		}{}
		return decoded(&v.CommandSpec, jsonx.DecodeAt(raw, &v, specPath))
	}
	return nil, []fault.Field{{Path: specPath + "/type", Code: "unknown_kind", Message: "There is no such kind."}}
}

func decoded(spec Spec, fields []fault.Field) (Spec, []fault.Field) {
	if len(fields) > 0 {
		return nil, fields
	}
	return spec, nil
}

// EncodeSpec writes the spec as JSON with its "type" first. A nil spec is
// null, and so is one with raw JSON that is no JSON, which Validate refuses.
func EncodeSpec(spec Spec) json.RawMessage {
	if spec == nil {
		return json.RawMessage("null")
	}
	body, err := marshal(spec)
	if err != nil {
		return json.RawMessage("null")
	}
	out := append([]byte(`{"type":"`+string(spec.Kind())+`"`), ',')
	if bytes.Equal(body, []byte("{}")) {
		out = out[:len(out)-1]
	}
	return append(out, body[1:]...)
}

// marshal is json.Marshal without the HTML escapes, so that code stays legible
// wherever it is shown raw.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

type contentJSON struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Spec        json.RawMessage `json:"spec"`
}

// DecodeContent reads {name, description, spec} strictly, with every fault at
// once. The content is zero when there is a fault.
func DecodeContent(raw []byte) (Content, []fault.Field) {
	var in contentJSON
	fields := jsonx.DecodeAt(raw, &in, "")
	if len(in.Spec) == 0 {
		in.Spec = specWithin(raw)
	}
	if len(in.Spec) == 0 {
		if len(fields) == 0 {
			fields = []fault.Field{{Path: specPath, Code: "required", Message: "A spec is required."}}
		}
		return Content{}, fields
	}
	spec, more := DecodeSpec(in.Spec)
	if fields = append(fields, more...); len(fields) > 0 {
		return Content{}, fields
	}
	return Content{Name: in.Name, Description: in.Description, Spec: spec}, nil
}

// specWithin finds the spec where another field did not decode, so that the
// faults of both are told together. Empty when there is none.
func specWithin(raw []byte) json.RawMessage {
	var loose struct {
		Spec json.RawMessage `json:"spec"`
	}
	if jsonx.Check(raw, 0) != nil {
		return nil
	}
	if err := json.Unmarshal(raw, &loose); err != nil {
		return nil
	}
	return loose.Spec
}

// MarshalJSON writes {name, description, spec}.
func (c Content) MarshalJSON() ([]byte, error) {
	return marshal(contentJSON{c.Name, c.Description, EncodeSpec(c.Spec)})
}

// Canonical is the one spelling of the content, over which its digest runs:
// keys sorted, no white space, numbers as their author wrote them.
func (c Content) Canonical() ([]byte, error) {
	out, err := jsonx.CanonicalOf(c)
	if err != nil {
		return nil, fmt.Errorf("canonical content: %w", err)
	}
	return out, nil
}

// Digest names the content: "sha256:" and 64 hexadecimal digits. Content that
// has no canonical form, which Validate refuses, has the digest "".
func (c Content) Digest() string {
	out, err := c.Canonical()
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(out)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// MarshalJSON writes a literal as a string and a reference as an object.
func (v EnvValue) MarshalJSON() ([]byte, error) {
	if v.SecretRef == "" && v.Scope == "" {
		return marshal(v.Literal)
	}
	return marshal(envReference{v.SecretRef, v.Scope})
}

type envReference struct {
	SecretRef string `json:"secretRef"`
	Scope     string `json:"scope,omitempty"`
}

// UnmarshalJSON takes a string or {secretRef, scope} and nothing else.
func (v *EnvValue) UnmarshalJSON(raw []byte) error {
	*v = EnvValue{}
	if len(raw) > 0 && raw[0] == '"' {
		return json.Unmarshal(raw, &v.Literal)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	var ref *envReference
	if err := d.Decode(&ref); err != nil {
		return err
	}
	if ref == nil || ref.SecretRef == "" {
		return fmt.Errorf("a variable is a string or {secretRef, scope}")
	}
	v.SecretRef, v.Scope = ref.SecretRef, ref.Scope
	return nil
}
