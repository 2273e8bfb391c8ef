package registry

import (
	"capstore/internal/capability"
	"capstore/internal/workspace"
)

// Observation is what demand taught about an MCP server: its catalogue, or
// why it could not be asked.
type Observation struct {
	Tools   []ObservedTool
	Trouble string
	// Notes are what was tolerated about its list, one sentence each.
	Notes []string
}

// ObservedTool is one tool as its server describes it. Refused says why it
// cannot be used; the server's other tools can.
type ObservedTool struct {
	Name        string
	Description string
	Schema      []byte
	// ReadOnly is the server's own word. It counts only for a raw server, which
	// nobody classified: whoever wired it by hand trusts it that far.
	ReadOnly bool
	Refused  string
}

// Observer tells what is known of a server without asking it; false when
// nothing is. Building a snapshot starts no server.
type Observer func(row workspace.Row) (Observation, bool)

// Build projects what a member carries onto what his turns may call.
func Build(carried workspace.Carried, epoch int64, observe Observer) *Snapshot {
	entries := make([]Entry, 0, len(carried.Rows))
	for _, row := range carried.Rows {
		kind, ok := entryKind(row.Kind)
		if !ok {
			continue
		}
		e := Entry{Kind: kind, Standing: standing(row), Row: row, Tools: declared(row)}
		if row.Kind == capability.KindMCP {
			if seen, ok := observe(row); ok {
				e.Trouble, e.Notes = seen.Trouble, seen.Notes
				if seen.Trouble == "" {
					e.Tools = observed(row, seen.Tools)
				}
			}
		}
		entries = append(entries, e)
	}
	return NewSnapshot(epoch, carried.Config.PermissionMode, entries)
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

func standing(row workspace.Row) Standing {
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
func declared(row workspace.Row) []Tool {
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
func observed(row workspace.Row, seen []ObservedTool) []Tool {
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
	done := map[string]bool{}
	for _, t := range seen {
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
			Name: names[t.Name], Raw: t.Name, Description: t.Description, Schema: t.Schema,
			Write: write, Allowed: allowed, Refused: reason,
		})
	}
	return tools
}
