package ops

import (
	"context"
	"encoding/json"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/identity"
	"capstore/internal/registry"
)

// Probed is what asking a tool for its functions gave.
type Probed struct {
	Key       capability.Key    `json:"key"`
	Standing  registry.Standing `json:"standing"`
	Trouble   string            `json:"trouble,omitempty" doc:"Why the server could not be asked."`
	Notes     []string          `json:"notes" doc:"What was odd about the server's list and tolerated."`
	Functions []ProbedFunction  `json:"functions"`
}

// ProbedFunction is a function with the schema of its arguments.
type ProbedFunction struct {
	Function
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema,omitempty"`
	Refused     string          `json:"refused,omitempty" doc:"Why this one cannot be used."`
}

// probe asks a server where there is one and it can be asked; of anything else
// it tells what is known.
func (s Services) probe(ctx context.Context, who identity.Principal, in keyed) (Probed, error) {
	if err := capability.May(who.Actor(), capability.ActRun, capability.Ownership{}); err != nil {
		return Probed{}, err
	}
	key := capability.Key(in.Key)
	snap, err := s.Agent.Bind(ctx, who.Actor())
	if err != nil {
		return Probed{}, err
	}
	entry, ok := snap.Find(key)
	if !ok || entry.Row.Channel != capability.ChannelTool {
		return Probed{}, fault.Missing()
	}
	if entry.Kind == registry.EntryMCP && entry.Standing.Callable() {
		if snap, err = s.Agent.Learn(ctx, who.Actor(), key); err != nil {
			return Probed{}, err
		}
		if entry, ok = snap.Find(key); !ok {
			return Probed{}, fault.Missing()
		}
	}
	out := Probed{Key: key, Standing: entry.Standing, Trouble: entry.Trouble, Notes: list(entry.Notes), Functions: []ProbedFunction{}}
	for _, t := range entry.Tools {
		out.Functions = append(out.Functions, ProbedFunction{
			Function:    Function{Name: t.Name, Raw: t.Raw, Write: t.Write, Allowed: t.Allowed},
			Description: t.Description, InputSchema: t.Schema, Refused: t.Refused,
		})
	}
	return out, nil
}
