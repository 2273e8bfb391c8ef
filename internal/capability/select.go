package capability

import (
	"cmp"
	"slices"
	"strings"
)

// Key names one switchable row of what a member carries.
type Key string

// KeyKind is the part of a key before its colon.
type KeyKind string

const (
	KeyDefault    KeyKind = "default"    // a first-party default
	KeyCapability KeyKind = "capability" // a capability of the store
	KeyMCP        KeyKind = "mcp"        // a raw server
	KeySkill      KeyKind = "skill"      // a workspace skill
	KeyBuiltin    KeyKind = "builtin"    // a function of capstore itself, which nobody switches
)

// DefaultKey is the key of a first-party default.
func DefaultKey(id string) Key { return Key(string(KeyDefault) + ":" + id) }

// CapabilityKey is the key of a capability of the store.
func CapabilityKey(source, id string) Key {
	return Key(string(KeyCapability) + ":" + source + "/" + id)
}

// RawServerKey is the key of a hand-wired MCP server.
func RawServerKey(name string) Key { return Key(string(KeyMCP) + ":" + name) }

// SkillKey is the key of a workspace skill.
func SkillKey(id string) Key { return Key(string(KeySkill) + ":" + id) }

// BuiltinKey is the key of a function of capstore itself.
func BuiltinKey(name string) Key { return Key(string(KeyBuiltin) + ":" + name) }

// ParsedKey is a key taken apart. Source is set for capabilities only.
type ParsedKey struct {
	Kind   KeyKind
	Source string
	ID     string // for KeyMCP the server's name
}

// ParseKey takes a key apart; false when it is none. Only what the
// constructors make of non-empty parts is a key.
func ParseKey(s string) (ParsedKey, bool) {
	kind, rest, ok := strings.Cut(s, ":")
	if !ok || rest == "" {
		return ParsedKey{}, false
	}
	switch KeyKind(kind) {
	case KeyDefault, KeyMCP, KeySkill, KeyBuiltin:
		return ParsedKey{Kind: KeyKind(kind), ID: rest}, true
	case KeyCapability:
		source, id, ok := strings.Cut(rest, "/")
		if !ok || source == "" || !ValidID(id) {
			return ParsedKey{}, false
		}
		return ParsedKey{Kind: KeyCapability, Source: source, ID: id}, true
	}
	return ParsedKey{}, false
}

// RowScope groups the rows of the settings pages.
type RowScope string

const (
	ScopePersonal  RowScope = "personal"
	ScopeWorkspace RowScope = "workspace"
	ScopeBuiltin   RowScope = "builtin"
)

// RowScopes lists the groups in the order in which pages show them.
var RowScopes = []RowScope{ScopePersonal, ScopeWorkspace, ScopeBuiltin}

// Origin says where a candidate comes from, and so which one wins a name.
type Origin string

const (
	OriginPersonal  Origin = "personal"  // the member's own private capability or skill draft
	OriginAdopted   Origin = "adopted"   // pinned by the workspace
	OriginLibrary   Origin = "library"   // a workspace skill
	OriginRaw       Origin = "raw"       // a hand-wired server
	OriginPublished Origin = "published" // published here, adopted by nobody
	OriginBuiltin   Origin = "builtin"   // ships with capstore
)

// origins is the order of shadowing, winners first.
var origins = []Origin{OriginPersonal, OriginAdopted, OriginLibrary, OriginRaw, OriginPublished, OriginBuiltin}

// Scope is the group in which rows of the origin are shown.
func (o Origin) Scope() RowScope {
	switch o {
	case OriginPersonal:
		return ScopePersonal
	case OriginBuiltin:
		return ScopeBuiltin
	}
	return ScopeWorkspace
}

// Reason is a closed code for why a row is on or off.
type Reason string

const (
	OnAdopted   Reason = "on_adopted"   // the workspace adopted it
	OnWorkspace Reason = "on_workspace" // the workspace carries it: raw server, library skill
	OnBuiltin   Reason = "on_builtin"   // it ships and is on unless somebody says otherwise
	OnPersonal  Reason = "on_personal"  // the member's own draft
	OnYou       Reason = "on_you"       // the member switched it on
	OnRequired  Reason = "on_required"  // the workspace does not let members switch it off

	OffYou        Reason = "off_you"         // the member switched it off
	OffNotAdopted Reason = "off_not_adopted" // merely published here
	OffPersonal   Reason = "off_personal"    // the member's own, off until he says so
	OffWorkspace  Reason = "off_workspace"   // the workspace has it off
	Shadowed      Reason = "shadowed"        // another one carries the name

	// What withholds a row that would be on. Whoever gathers the candidates
	// finds these; selection only carries them.
	HeldSetup       Reason = "needs_setup"   // a secret, setting, key or integration is missing
	HeldConsent     Reason = "needs_consent" // the digest consented to is not the one resolved
	HeldPolicy      Reason = "off_policy"    // a policy denies it
	HeldBlocked     Reason = "blocked"       // the pinned version was blocked
	HeldGone        Reason = "gone"          // tombstoned, or no longer visible here
	HeldUnsupported Reason = "unsupported"   // this server cannot run it
)

// Reasons lists every reason, for the catalogues of text.
var Reasons = []Reason{
	OnAdopted, OnWorkspace, OnBuiltin, OnPersonal, OnYou, OnRequired,
	OffYou, OffNotAdopted, OffPersonal, OffWorkspace, Shadowed,
	HeldSetup, HeldConsent, HeldPolicy, HeldBlocked, HeldGone, HeldUnsupported,
}

// Candidate is one thing that a member's agent could carry.
type Candidate struct {
	Key     Key
	Channel Channel
	Name    string // the capability's name, as its author wrote it
	Origin  Origin
	// Baseline is what the workspace carries where the member says nothing.
	Baseline bool
	// Required is an adopted fail-closed hook: the member's no is not heard.
	Required bool
	// Held withholds the row however it is switched; "" for what can run.
	Held Reason
	// Withdrawn marks a pin whose version was withdrawn: it goes on working.
	Withdrawn bool
}

// Overlay is one member's choices. A key that is absent follows the workspace.
type Overlay map[Key]bool

// Row is a candidate with its outcome.
type Row struct {
	Candidate
	Scope RowScope
	// Override is the member's choice, nil where he follows the workspace.
	Override *bool
	// Wanted is the position of the switch; Enabled is what the agent carries.
	Wanted  bool
	Enabled bool
	Reason  Reason
	// ShadowedBy is the key of the row that carries the name instead.
	ShadowedBy Key
}

// SelectForMember decides every candidate and returns one row for each, in the
// order personal, workspace, builtin, then name, then key. Pages and runtime
// read this one answer. Per channel exactly one row of those that could run
// under a name is enabled; the order of the candidates does not matter. A key
// that is given twice counts once, the first time.
func SelectForMember(candidates []Candidate, overlay Overlay) []Row {
	rows := make([]Row, 0, len(candidates))
	seen := make(map[Key]bool, len(candidates))
	for _, c := range candidates {
		if !seen[c.Key] {
			seen[c.Key] = true
			rows = append(rows, decide(c, overlay))
		}
	}
	shadow(rows)
	slices.SortFunc(rows, func(a, b Row) int {
		return cmp.Or(
			cmp.Compare(slices.Index(RowScopes, a.Scope), slices.Index(RowScopes, b.Scope)),
			cmp.Compare(a.Name, b.Name), cmp.Compare(a.Key, b.Key))
	})
	return rows
}

// decide settles a row by itself, before names are compared.
func decide(c Candidate, overlay Overlay) Row {
	row := Row{Candidate: c, Scope: c.Origin.Scope(), Wanted: c.Baseline}
	if choice, ok := overlay[c.Key]; ok {
		row.Override, row.Wanted = &choice, choice
	}
	if c.Required {
		row.Wanted = true
	}
	row.Reason = reasonFor(row)
	row.Enabled = row.Wanted && c.Held == ""
	return row
}

func reasonFor(r Row) Reason {
	switch {
	case r.Held == HeldPolicy, r.Held == HeldGone, r.Held == HeldBlocked:
		return r.Held // no switch would help, so the switch is not the reason
	case r.Wanted && r.Held != "":
		return r.Held
	case r.Required:
		return OnRequired
	case r.Override != nil && r.Wanted != r.Baseline:
		if r.Wanted {
			return OnYou
		}
		return OffYou
	case r.Wanted:
		return onReason(r.Origin)
	}
	return offReason(r.Origin)
}

func onReason(o Origin) Reason {
	switch o {
	case OriginAdopted:
		return OnAdopted
	case OriginBuiltin:
		return OnBuiltin
	case OriginPersonal:
		return OnPersonal
	}
	return OnWorkspace
}

func offReason(o Origin) Reason {
	switch o {
	case OriginPublished:
		return OffNotAdopted
	case OriginPersonal:
		return OffPersonal
	}
	return OffWorkspace
}

// shadow leaves one enabled row per channel and name.
func shadow(rows []Row) {
	type name struct {
		channel Channel
		folded  string
	}
	winners := make(map[name]int, len(rows))
	folded := make([]name, len(rows))
	for i, r := range rows {
		if !r.Enabled {
			continue
		}
		folded[i] = name{r.Channel, FoldName(r.Name)}
		if w, taken := winners[folded[i]]; !taken || beats(r.Candidate, rows[w].Candidate) {
			winners[folded[i]] = i
		}
	}
	for i := range rows {
		if w := winners[folded[i]]; rows[i].Enabled && w != i {
			rows[i].Enabled, rows[i].Reason, rows[i].ShadowedBy = false, Shadowed, rows[w].Key
		}
	}
}

// beats reports whether a wins the name over b. What members may not switch off
// they do not get rid of by a name either.
func beats(a, b Candidate) bool {
	if a.Required != b.Required {
		return a.Required
	}
	x, y := slices.Index(origins, a.Origin), slices.Index(origins, b.Origin)
	return x < y || x == y && a.Key < b.Key
}
