package registry

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"capstore/db"
	"capstore/internal/capability"
	"capstore/internal/pg"
)

// Report is the one account of what a member's agent has and why: the model's
// standing section, the doctor, the JSON and the health page all come from it.
type Report struct {
	Workspace string                    `json:"workspace"`
	Subject   string                    `json:"subject"`
	Epoch     int64                     `json:"epoch"`
	Digest    string                    `json:"digest"`
	Mode      capability.PermissionMode `json:"mode"`
	Entries   []Reported                `json:"entries"`
	// Private counts, by kind, entries that are another one's own and are not
	// shown to whoever reads the report.
	Private map[EntryKind]int `json:"private,omitempty"`
	Epochs  []Epoch           `json:"epochs"` // newest first
	Loop    Health            `json:"loop"`
	// Pool are the connections to the member's MCP servers from this process.
	Pool     []Connection `json:"pool"`
	Misreads []Misread    `json:"misreads"`
}

// Reported is one entry of a report.
type Reported struct {
	Kind        EntryKind      `json:"kind"`
	Name        string         `json:"name"`
	Key         capability.Key `json:"key"`
	Origin      Origin         `json:"origin"`
	Declaration Declaration    `json:"declaration"`
	Resolution  Resolution     `json:"resolution"`
	Standing    Standing       `json:"standing"`
	Reason      string         `json:"reason"`           // closed code
	Detail      string         `json:"detail,omitempty"` // the words beside it, where there are any
	ShadowedBy  capability.Key `json:"shadowedBy,omitempty"`
	Missing     []string       `json:"missing,omitempty"` // secrets and settings without a value
	Unmet       []string       `json:"unmet,omitempty"`   // what it requires and the agent does not carry
	Tools       []Function     `json:"tools,omitempty"`
	Notes       []string       `json:"notes,omitempty"`

	private bool
}

// Declaration is what an entry was declared as.
type Declaration struct {
	Source   string   `json:"source,omitempty"`
	ID       string   `json:"id,omitempty"`
	Version  string   `json:"version,omitempty"`
	Digest   string   `json:"digest,omitempty"`
	Serves   []Domain `json:"serves,omitempty"`
	Requires []string `json:"requires,omitempty"`
	Plugin   string   `json:"plugin,omitempty"` // that it was imported in
}

// Loading says how a tool stands before a model whose message asks for nothing
// in particular.
type Loading string

const (
	Loaded   Loading = "loaded"
	Deferred Loading = "deferred" // by name; find_tools loads it
	Unlearnt Loading = "unlearnt" // its server has not been asked yet
	NotHere  Loading = "withheld" // cannot be called by this door
)

// Function is one tool of an entry.
type Function struct {
	Name    string  `json:"name"`
	Raw     string  `json:"raw,omitempty"`
	Write   bool    `json:"write"`
	Allowed bool    `json:"allowed"`
	Loading Loading `json:"loading"`
	Refused string  `json:"refused,omitempty"`
}

// Epoch is one step of a world.
type Epoch struct {
	Epoch  int64     `json:"epoch"`
	Digest string    `json:"digest"`
	At     time.Time `json:"at"`
	Delta  Delta     `json:"delta"`
}

// Connection is one MCP server of the member as this process is connected to it.
type Connection struct {
	Key       capability.Key `json:"key"`
	Connected bool           `json:"connected"`
	Calls     int            `json:"calls"`              // under way
	Failures  int            `json:"failures,omitempty"` // in a row
	RetryAt   time.Time      `json:"retryAt,omitzero"`   // until then a demand gets the reason back
	Reason    string         `json:"reason,omitempty"`   // of the last failure, as a code
}

// Misread counts how often a tool was used that the reading of the message had
// not foreseen.
type Misread struct {
	Tool  string    `json:"tool"`
	Count int64     `json:"count"`
	Last  time.Time `json:"last"`
}

const (
	shownEpochs   = 20
	shownMisreads = 50
)

// Report binds the actor's world as a turn would and tells all that is known
// of it. Connections are added by who has them. Whether somebody may read
// another's report is for the caller to decide; see Veiled.
func (r *Registry) Report(ctx context.Context, actor capability.Actor, on capability.Surface) (Report, error) {
	b, err := r.Bind(ctx, actor, on)
	if err != nil {
		return Report{}, err
	}
	defer b.Release()
	out := b.Set.report(on)
	out.Workspace, out.Subject, out.Epoch = actor.Workspace, actor.Subject, b.Epoch
	if out.Epochs, err = r.Epochs(ctx, KeyOf(actor), 0, shownEpochs); err != nil {
		return Report{}, err
	}
	if out.Misreads, err = r.misreads(ctx, actor.Workspace); err != nil {
		return Report{}, err
	}
	out.Misreads = out.known(out.Misreads)
	out.Loop = r.Health()
	return out, nil
}

// known keeps the misreads of tools that stand in the report: those of other
// members may be private to them.
func (r Report) known(list []Misread) []Misread {
	names := map[string]bool{}
	for i := range r.Entries {
		for _, t := range r.Entries[i].Tools {
			names[t.Name] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(list), func(m Misread) bool { return !names[m.Tool] })
}

// Report is what a snapshot alone tells: entries, epoch and digest.
func (s *Snapshot) Report(on capability.Surface) Report {
	out := s.report(on)
	out.Epoch = s.Epoch
	return out
}

func (s *Set) report(on capability.Surface) Report {
	surface := s.Surface(on, "", SurfaceOptions{})
	out := Report{
		Digest: s.Digest, Mode: s.Mode, Entries: make([]Reported, len(s.Entries)),
		Epochs: []Epoch{}, Pool: []Connection{}, Misreads: []Misread{},
	}
	for i := range s.Entries {
		out.Entries[i] = surface.reported(&s.Entries[i])
	}
	return out
}

func (s *Surface) reported(e *Entry) Reported {
	row := &e.Row
	leans := row.Leans()
	out := Reported{
		Kind: e.Kind, Name: row.Name, Key: row.Key, Origin: e.Origin, Resolution: e.Resolution(), Standing: e.Standing,
		Reason: e.Reason(), Detail: e.Trouble, ShadowedBy: row.ShadowedBy, Unmet: row.Unmet, Notes: e.Notes,
		Declaration: Declaration{Source: row.Source, ID: row.ID, Version: row.Version, Digest: row.Digest, Serves: e.Serves, Requires: leans.Requires, Plugin: row.Plugin},
		private:     row.Origin == capability.OriginPersonal,
	}
	if out.Detail == "" {
		out.Detail = row.BlockedReason
	}
	for _, secret := range row.Missing {
		out.Missing = append(out.Missing, secret.Name)
	}
	for _, setting := range row.Unset {
		out.Missing = append(out.Missing, setting.Name)
	}
	for i := range e.Tools {
		t := &e.Tools[i]
		out.Tools = append(out.Tools, Function{
			Name: t.Name, Raw: t.Raw, Write: t.Write, Allowed: t.Allowed, Refused: t.Refused, Loading: s.loading(e, t),
		})
	}
	return out
}

func (s *Surface) loading(e *Entry, t *Tool) Loading {
	if e.Always && e.Standing.Callable() {
		return Loaded
	}
	i, ok := s.byName[t.Name]
	switch {
	case !ok || s.tools[i].Tool != t:
		return NotHere
	case s.loaded[i]:
		return Loaded
	case !s.tools[i].known:
		return Unlearnt
	}
	return Deferred
}

// Epochs lists the epochs of a world that are kept, newest first, from the one
// before the given number on; 0 begins with the newest.
func (r *Registry) Epochs(ctx context.Context, of Key, before int64, count int) ([]Epoch, error) {
	subject, err := uuid.Parse(of.Subject)
	if err != nil {
		return []Epoch{}, nil
	}
	rows, err := queries.RecentEpochs(ctx, r.db, db.RecentEpochsParams{Workspace: of.Workspace, Subject: subject, Before: before, Count: int32(min(count, 1000))})
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("read epochs: %w", err))
	}
	out := make([]Epoch, len(rows))
	for i, row := range rows {
		out[i] = Epoch{Epoch: row.Epoch, Digest: row.Digest, At: row.At}
		if err := json.Unmarshal(row.Delta, &out[i].Delta); err != nil {
			return nil, fmt.Errorf("stored delta: %w", err)
		}
	}
	return out, nil
}

// CountMisread counts that a tool of the workspace was used which the reading
// had not foreseen; see Surface.Misread.
func (r *Registry) CountMisread(ctx context.Context, workspace, tool string) error {
	return pg.Fault(queries.CountMisread(ctx, r.db, db.CountMisreadParams{Workspace: workspace, Tool: tool}))
}

func (r *Registry) misreads(ctx context.Context, workspace string) ([]Misread, error) {
	rows, err := queries.Misreads(ctx, r.db, db.MisreadsParams{Workspace: workspace, Count: shownMisreads})
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("read misreads: %w", err))
	}
	out := make([]Misread, len(rows))
	for i, row := range rows {
		out[i] = Misread{Tool: row.Tool, Count: row.N, Last: row.At}
	}
	return out, nil
}

// Veiled is the report as an admin may read that of another member: what is
// private to the member is a kind and a count.
func (r Report) Veiled() Report {
	r.Private = map[EntryKind]int{}
	hidden := map[capability.Key]bool{}
	r.Entries = slices.DeleteFunc(slices.Clone(r.Entries), func(e Reported) bool {
		if e.private {
			r.Private[e.Kind]++
			hidden[e.Key] = true
		}
		return e.private
	})
	for i := range r.Entries {
		if hidden[r.Entries[i].ShadowedBy] {
			r.Entries[i].ShadowedBy = ""
		}
	}
	r.Pool = slices.DeleteFunc(slices.Clone(r.Pool), func(c Connection) bool { return hidden[c.Key] })
	r.Misreads = r.known(r.Misreads)
	r.Epochs = slices.Clone(r.Epochs)
	for i := range r.Epochs {
		r.Epochs[i].Delta = r.Epochs[i].Delta.veiled()
	}
	return r
}

// Standing is what the model is told of what it cannot use as it is, one line
// each, and of what changed since its last turn; "" for neither.
func (r Report) Standing(since Delta) string {
	var b strings.Builder
	if !since.Empty() {
		b.WriteString("What you can use has changed since the last message:\n" + since.String())
	}
	first := true
	for i := range r.Entries {
		line := r.Entries[i].standing()
		if line == "" {
			continue
		}
		if first {
			if b.Len() > 0 {
				b.WriteByte('\n')
			}
			b.WriteString("What cannot be used as it is:\n")
			first = false
		}
		b.WriteString(line)
	}
	return b.String()
}

func (e *Reported) standing() string {
	head := fmt.Sprintf("- %s %s: ", e.Kind, oneLine(e.Name, maxName))
	switch e.Standing {
	case Failing:
		return head + "did not answer the last time (" + e.Reason + "); a call tries again\n"
	case NeedsSetup, Held:
		line := head + string(e.Standing) + " (" + e.Reason + ")"
		if len(e.Missing) > 0 {
			line += ", missing " + oneLine(strings.Join(e.Missing, ", "), maxSentence)
		}
		return line + "\n"
	}
	return ""
}
