package registry

import (
	"encoding/json"

	"capstore/internal/capability"
	"capstore/internal/workspace"
)

// Observation is what demand taught about an MCP server: its catalogue, or
// why it could not be asked the last time, or both.
type Observation struct {
	Tools []ObservedTool
	// Known says that Tools are the server's word; a failure is never one.
	Known bool
	// Trouble is for people, TroubleCode one of a closed set.
	Trouble, TroubleCode string
	// Notes are what was tolerated about its list, one sentence each.
	Notes []string
	// held are the tools whose definitions wait to be accepted, each after the
	// version that was adopted and a line break.
	held []string
}

// ObservedTool is one tool as its server describes it. Refused says why it
// cannot be used; the server's other tools can.
type ObservedTool struct {
	Name        string          `json:"name"`
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"schema,omitempty"`
	// ReadOnly is the server's own word. It counts only for a raw server, which
	// nobody classified: whoever wired it by hand trusts it that far.
	ReadOnly bool `json:"readOnly,omitempty"`
	// Output and Annotations are kept for comparison: they are part of what
	// was accepted.
	Output      json.RawMessage `json:"output,omitempty"`
	Annotations json.RawMessage `json:"annotations,omitempty"`
	Refused     string          `json:"refused,omitempty"`
}

// observer tells what is known of a server without asking it; false when
// nothing is. Building a snapshot starts no server.
type observer func(row *workspace.Row) (Observation, bool)

// build projects what a member carries, and what ships with capstore, onto
// what his turns may call.
func build(carried workspace.Carried, builtins []Entry, observe observer) *Set {
	entries := make([]Entry, 0, len(carried.Rows)+len(builtins)+4)
	for i := range carried.Rows {
		row := &carried.Rows[i]
		kind, ok := entryKind(row.Kind)
		if !ok {
			continue
		}
		e := Entry{Kind: kind, Origin: originOf(row), Standing: standing(row), Row: *row, Serves: row.Leans().Serves}
		e.Tools = declared(row)
		if kind == EntryMCP {
			if seen, ok := observe(row); ok {
				e.learn(carried.Config, seen)
			}
		}
		entries = append(entries, e)
	}
	entries = append(entries, builtins...)
	entries = append(entries, orientation(entries)...)
	return newSet(carried.Config, asideOf(carried), entries)
}

// learn takes in what demand taught. A failing server stays callable, under
// the catalogue that it had.
func (e *Entry) learn(config capability.AgentConfig, seen Observation) {
	e.Notes = seen.Notes
	if seen.Known {
		e.Asked = true
		e.Tools = observed(&e.Row, seen.Tools)
		for i := range e.Tools {
			t := &e.Tools[i]
			verdict := config.PolicyOf(capability.PolicyCall{Names: []string{string(e.Row.Key), t.Name}, Tool: t.Raw})
			t.Allowed = t.Allowed && verdict.Effect != capability.PolicyDeny
		}
		e.hold(config, seen.held)
	}
	if seen.TroubleCode != "" {
		e.Trouble, e.TroubleCode = seen.Trouble, seen.TroubleCode
		if e.Standing == Usable {
			e.Standing = Failing
		}
	}
}

func entryKind(k capability.Kind) (EntryKind, bool) {
	switch k {
	case capability.KindCode:
		return EntryTool, true
	case capability.KindMCP:
		return EntryMCP, true
	case capability.KindSkill:
		return EntrySkill, true
	case capability.KindHook:
		return EntryHook, true
	case capability.KindCommand:
		return EntryCommand, true
	}
	return "", false
}

func originOf(row *workspace.Row) Origin {
	if row.Plugin != "" {
		return OriginPlugin
	}
	switch row.Origin {
	case capability.OriginAdopted:
		return OriginAdopted
	case capability.OriginLibrary:
		return OriginLibrary
	case capability.OriginRaw:
		return OriginRaw
	case capability.OriginBuiltin:
		return OriginBuiltin
	}
	return OriginMember
}

func standing(row *workspace.Row) Standing {
	switch {
	case row.Enabled:
		return Usable
	case !row.Wanted:
		return Off
	case row.Reason == capability.HeldSetup:
		return NeedsSetup
	case row.Reason == capability.Shadowed:
		return Shadowed
	case row.Held != "":
		return Held
	}
	return Off
}

// declared are the functions that are known without asking anyone.
func declared(row *workspace.Row) []Tool {
	tools := make([]Tool, 0, len(row.Functions))
	for _, f := range row.Functions {
		t := Tool{Name: f.Name, Raw: f.Raw, Description: row.Description, Write: f.Write, Allowed: f.Allowed}
		if spec, ok := row.Spec.(*capability.CodeSpec); ok {
			t.Schema = spec.ParametersSchema
		} else {
			t.Description = ""
		}
		tools = append(tools, t)
	}
	return tools
}

// observed are the server's own tools, under the names that the kernel spells.
func observed(row *workspace.Row, seen []ObservedTool) []Tool {
	raws := make([]string, len(seen))
	for i, t := range seen {
		raws[i] = t.Name
	}
	names, refused := capability.ToolNames(row.Name, raws)
	why := map[string]string{}
	for _, r := range refused {
		why[r.Raw] = r.Detail
	}
	tools := make([]Tool, 0, len(seen))
	done := make(map[string]bool, len(seen))
	for i := range seen {
		t := &seen[i]
		if done[t.Name] {
			continue // listed twice: the first one counts
		}
		done[t.Name] = true
		reason := t.Refused
		if reason == "" && names[t.Name] == "" {
			reason = why[t.Name]
		}
		write, allowed := row.Grant.IsWrite(t.Name), row.Grant.Allows(t.Name)
		if row.Origin == capability.OriginRaw {
			write = !t.ReadOnly
			allowed = t.ReadOnly || row.Grant.EnableWrite
		}
		tools = append(tools, Tool{
			Name: names[t.Name], Raw: t.Name, Title: t.Title, Description: t.Description, Schema: t.Schema,
			Write: write, Allowed: allowed, Refused: reason,
		})
	}
	return tools
}
