package capability

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"capstore/internal/jsonx"
)

// DefinitionChanges says what becomes of a tool that its server describes
// otherwise than the workspace accepted.
type DefinitionChanges string

const (
	DefinitionsHold   DefinitionChanges = "" // it waits until somebody accepts it
	DefinitionsNotice DefinitionChanges = "notice"
)

// Definition is all that a server says about one of its tools.
type Definition struct {
	Name         string          `json:"name"`
	Title        string          `json:"title,omitempty"`
	Description  string          `json:"description,omitempty"`
	InputSchema  json.RawMessage `json:"inputSchema,omitempty"`
	OutputSchema json.RawMessage `json:"outputSchema,omitempty"`
	Annotations  json.RawMessage `json:"annotations,omitempty"`
}

// Digest is that of the definition's canonical JSON: the order of keys and the
// white space between them do not count, every character of a text does.
func (d Definition) Digest() string { return digestOf(d) }

// digestOf is the digest of the canonical JSON of plain data. What has none,
// such as a schema that is no clean JSON, counts by its bytes.
func digestOf(v any) string {
	raw, err := jsonx.CanonicalOf(v)
	if err != nil {
		raw = fmt.Appendf(nil, "%q", v)
	}
	sum := sha256.Sum256(raw)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Binding is everything that a member's word on a call is about. A call that
// differs in any of it is another one.
type Binding struct {
	Key        Key             `json:"key"`
	Version    string          `json:"version"`
	Digest     string          `json:"digest"`     // of the version's content
	Definition string          `json:"definition"` // digest of the tool's definition
	Tool       string          `json:"tool"`       // as the model sees it
	Raw        string          `json:"raw"`        // at its origin
	Arguments  json.RawMessage `json:"arguments"`
}

// Sum is the digest of the binding, its arguments canonical with every digit
// of their numbers.
func (b Binding) Sum() string { return digestOf(b) }
