package ops

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"capstore/internal/agent"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/identity"
)

// Control is every operation as a tool of the agent, by the same declarations
// that the JSON routes come from.
type Control struct {
	people *identity.Service
	tools  []agent.ControlTool
	byName map[string]Tool
}

// NewControl returns a control plane that has no tools until it is offered
// operations: some of them need the agent, which needs a control plane.
func NewControl(people *identity.Service) *Control {
	return &Control{people: people, byName: map[string]Tool{}}
}

// Offer makes tools of the operations, before any turn begins. What only a
// person says for himself, such as the answer to an approval, becomes none.
func (c *Control) Offer(operations []Operation) error {
	tools, err := Tools(operations)
	if err != nil {
		return err
	}
	for _, t := range tools {
		if t.Personal {
			continue
		}
		name := capability.ControlToolName(t.Name)
		c.byName[name] = t
		c.tools = append(c.tools, agent.ControlTool{
			Name: name, Description: t.Description, Schema: t.Schema, ReadOnly: t.ReadOnly, Guarded: t.Guarded,
		})
	}
	slices.SortFunc(c.tools, func(a, b agent.ControlTool) int { return strings.Compare(a.Name, b.Name) })
	return nil
}

// Tools lists what somebody of the role and scope may try, by name.
func (c *Control) Tools(role capability.Role, scope capability.Scope) []agent.ControlTool {
	actor := capability.Actor{Role: role, Scope: scope, Workspace: "-", Subject: "-"}
	return slices.DeleteFunc(slices.Clone(c.tools), func(t agent.ControlTool) bool {
		action := c.byName[t.Name].Action
		return action != "" && capability.May(actor, action, capability.Ownership{Creator: true}) != nil
	})
}

// Invoke runs an operation as the actor, with the standing that he has now.
func (c *Control) Invoke(ctx context.Context, actor capability.Actor, name string, arguments json.RawMessage) (json.RawMessage, error) {
	t, ok := c.byName[name]
	if !ok {
		return nil, fault.New(fault.Invalid, "unknown_tool", "There is no operation named %s.", name)
	}
	who, err := c.people.PrincipalOf(ctx, actor.Subject, actor.Workspace)
	if err != nil {
		return nil, err
	}
	who.Scope = actor.Scope
	in, err := t.Decode(arguments)
	if err != nil {
		return nil, err
	}
	out, err := t.Run(ctx, who, in)
	if err != nil {
		return nil, err
	}
	return encode(out)
}

// encode is an operation's output as a tool's.
func encode(out any) (json.RawMessage, error) {
	switch v := out.(type) {
	case Empty:
		return json.RawMessage(`{"done":true}`), nil
	case *Capability:
		if v == nil {
			return json.RawMessage(`{"done":true}`), nil
		}
	case File:
		return encodeFile(v)
	}
	return json.Marshal(out)
}

func encodeFile(f File) (json.RawMessage, error) {
	var data strings.Builder
	data.Write(f.Data)
	if f.Write != nil {
		if err := f.Write(&data); err != nil {
			return nil, err
		}
	}
	file := map[string]string{"name": f.Name, "mediaType": f.MediaType}
	if content := data.String(); utf8.ValidString(content) && !strings.ContainsRune(content, 0) {
		file["text"] = content
	} else {
		file["base64"] = base64.StdEncoding.EncodeToString([]byte(content))
	}
	return json.Marshal(file)
}
