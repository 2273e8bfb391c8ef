package workspace

import (
	"context"

	"capstore/internal/capability"
)

// Carried is what one member's agent is given, row by row, what is off or
// withheld included, each with its reason.
type Carried struct {
	Rows          []Row
	ConfigVersion int
	Config        capability.AgentConfig
	// Digest moves exactly when something that a turn would see moves.
	Digest string
}

// Row is one candidate with its outcome and what the runtime needs of it.
type Row struct {
	capability.Row
	// Ref is the pin; zero for raw servers, defaults and skills.
	capability.Ref
	Kind        capability.Kind
	Description string
	Digest      string // of the version, the skill's working copy or the raw server's entry
	// Spec is without its bulk (code, instructions, files, template); Content
	// reads it whole. Nil where it cannot be read.
	Spec capability.Spec
	// Grant is what holds for calls: the workspace's adoption, or what stands
	// in for one where nothing was adopted.
	Grant     capability.Adoption
	Functions []Function // known before the server is asked; see Function
	Missing   []capability.RequiredSecret
	Unset     []capability.Setting // required settings without a value
	Unmet     []string             // what it requires and the agent does not carry
	// LatestVisible is the capability's latest version that the member may
	// read, "" for none; UpdateAvailable that it comes after the pin.
	LatestVisible   string
	UpdateAvailable bool
	BlockedReason   string   // where Held is blocked
	Tags            []string // of the capability, as they are now
	Plugin          string   // that the version was imported as a part of, "" for none

	versionPK int64
}

// Function is a tool of a row as the model sees it. For an mcp server these
// are the author's word until a demand has observed the server.
type Function struct {
	Raw     string
	Name    string // the runtime name
	Write   bool
	Allowed bool // false for a write without opt-in, and where a policy denies it
}

// Carried resolves what the actor's agent carries now. It is the one answer:
// lists, details, calls and reports all come from it. It runs at most two
// statements; one once every version in it has been seen.
func (s *Service) Carried(ctx context.Context, actor capability.Actor) (Carried, error) {
	if err := capability.May(actor, capability.ActOwnRead, capability.Ownership{}); err != nil {
		return Carried{}, err
	}
	w, err := s.readWorld(ctx, s.db, actor)
	if err != nil {
		return Carried{}, err
	}
	return s.assemble(w)
}

// Find returns the row of the key, false when the member's agent has none.
func (c Carried) Find(key capability.Key) (Row, bool) {
	for i := range c.Rows {
		if c.Rows[i].Key == key {
			return c.Rows[i], true
		}
	}
	return Row{}, false
}

// assemble makes a row of every candidate and has the kernel select.
func (s *Service) assemble(w *world) (Carried, error) {
	rows := s.candidates(w)
	at := make(map[capability.Key]int, len(rows))
	candidates := make([]capability.Candidate, len(rows))
	for i := range rows {
		r := &rows[i]
		if r.Held == "" && w.denied(r) {
			r.Held = capability.HeldPolicy
		}
		at[r.Key], candidates[i] = i, r.Candidate
	}
	out := Carried{ConfigVersion: w.version, Config: w.config, Rows: make([]Row, len(rows))}
	for i, selected := range capability.SelectForMember(candidates, w.overlay) {
		out.Rows[i] = rows[at[selected.Key]]
		out.Rows[i].Row = selected
	}
	unmet := capability.Unmet(out.leaning())
	for i := range out.Rows {
		out.Rows[i].Unmet = unmet[out.Rows[i].Key]
	}
	out.Digest = out.digest()
	return out, nil
}

// candidates lists everything that the member's agent could carry; each key
// stands once.
func (s *Service) candidates(w *world) []Row {
	rows := make([]Row, 0, len(w.store)+len(w.skills)+len(w.config.MCPServers)+len(s.opts.Defaults))
	for i := range w.store {
		rows = append(rows, w.storeRow(&w.store[i]))
	}
	for _, e := range w.skills {
		rows = append(rows, skillRow(e))
	}
	for _, server := range w.config.MCPServers {
		rows = append(rows, w.rawRow(server))
	}
	for _, d := range s.opts.Defaults {
		rows = append(rows, w.defaultRow(d))
	}
	return rows
}

// Leaning returns the rows that would lose something they require if the row
// of the key were switched off, sorted: what to say before it is.
func (c Carried) Leaning(key capability.Key) []capability.Key {
	return capability.LeansOn(c.leaning(), key)
}

// Lacking returns which of the requirements (source/id, or a runtime name) are
// met by nothing that the agent carries, in their order.
func (c Carried) Lacking(requires []string) []string {
	asking := capability.Carried{Enabled: true, Requires: requires}
	return capability.Unmet(append(c.leaning(), asking))[asking.Key]
}

// leaning is what the kernel's rule on requirements needs of the rows.
func (c Carried) leaning() []capability.Carried {
	out := make([]capability.Carried, len(c.Rows))
	for i := range c.Rows {
		r := &c.Rows[i]
		out[i] = capability.Carried{Key: r.Key, Enabled: r.Enabled, Requires: leansOf(r.Spec).Requires}
		for _, f := range r.Functions {
			out[i].Provides = append(out[i].Provides, f.Name)
		}
	}
	return out
}

// denied reports whether a policy denies the row as a whole: by its key, or by
// the only name it has.
func (w *world) denied(r *Row) bool {
	names := []string{string(r.Key)}
	if r.Kind != capability.KindMCP {
		for _, f := range r.Functions {
			names = append(names, f.Name)
		}
	}
	return w.config.PolicyFor(names...) == capability.PolicyDeny
}

// functions names what the row brings and says what of it may run.
func (w *world) functions(r *Row) []Function {
	var out []Function
	add := func(raw, name string) {
		verdict := w.config.PolicyOf(capability.PolicyCall{Names: []string{string(r.Key), name}, Tool: raw})
		out = append(out, Function{
			Raw: raw, Name: name, Write: r.Grant.IsWrite(raw),
			Allowed: r.Grant.Allows(raw) && verdict.Effect != capability.PolicyDeny,
		})
	}
	switch spec := r.Spec.(type) {
	case *capability.CodeSpec:
		add(r.Candidate.Name, capability.CodeToolName(r.Candidate.Name))
	case *capability.MCPSpec:
		content := capability.Content{Name: r.Candidate.Name, Spec: spec}
		tools := toolsOf(content)
		names, _ := capability.ToolNames(content.Name, tools)
		for _, raw := range tools {
			if name, ok := names[raw]; ok {
				add(raw, name)
			}
		}
	}
	return out
}

// digest covers what a turn would see of the rows: which there are, whether
// they run, what they are and what they are granted.
func (c Carried) digest() string {
	var m capability.Mark
	for i := range c.Rows {
		r := &c.Rows[i]
		m.Text(string(r.Key), string(r.Reason), r.Version, r.Digest)
		m.Flags(r.Enabled)
		m.Grant(&r.Grant)
		m.Number(len(r.Functions))
		for _, f := range r.Functions {
			m.Text(f.Raw, f.Name)
			m.Flags(f.Write, f.Allowed)
		}
	}
	return "sha256:" + m.Sum()
}
