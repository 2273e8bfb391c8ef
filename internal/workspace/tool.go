package workspace

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"

	"github.com/jackc/pgx/v5"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/jsonx"
	"capstore/internal/pg"
)

// Detail is a row with everything that its page shows.
type Detail struct {
	Row
	Content   capability.Content // whole; zero for raw servers, defaults and what is gone or cannot be read
	Transport Transport
	Target    string // host of a URL, image, or language; "" for none
	Secrets   []SecretStatus
	// Known is the names of every secret that the actor's calls can be given,
	// sorted.
	Known    []string
	Settings []capability.Setting
	// Editable says whether the actor may bind secrets to it.
	Editable bool
}

// Transport is how the row's functions are reached.
type Transport string

const (
	TransportHTTP      Transport = "http"
	TransportContainer Transport = "container"
	TransportSandbox   Transport = "sandbox"
	TransportBuiltin   Transport = "builtin"
	TransportText      Transport = "text" // skills and commands: nothing is run
)

// SecretStatus is a declared secret with what it is bound to.
type SecretStatus struct {
	capability.RequiredSecret
	Bound     string // the secret's name, "" for none
	Available bool   // whether the member can give it
	Own       bool   // whether it is his own rather than the workspace's
}

// Tool returns the detail of one row of what the actor carries, whatever its
// channel; a missing fault for a key without one.
func (s *Service) Tool(ctx context.Context, actor capability.Actor, key capability.Key) (Detail, error) {
	if err := capability.May(actor, capability.ActOwnRead, capability.Ownership{}); err != nil {
		return Detail{}, err
	}
	w, err := s.readWorld(ctx, s.db, actor)
	if err != nil {
		return Detail{}, err
	}
	c, err := s.assemble(w)
	if err != nil {
		return Detail{}, err
	}
	row, ok := c.Find(key)
	if !ok {
		return Detail{}, fault.Missing()
	}
	d := Detail{
		Row: row, Known: slices.Sorted(maps.Keys(w.secrets)), Editable: capability.May(actor, capability.ActAgents, capability.Ownership{}) == nil,
	}
	d.Transport, d.Target = reachedBy(row)
	for _, declared := range row.declaredSecrets(s.opts.Defaults) {
		bound := row.Grant.SecretBindings[declared.Name]
		d.Secrets = append(d.Secrets, SecretStatus{declared, bound, w.has(bound), w.secrets[bound].own})
	}
	if m, ok := row.Spec.(*capability.MCPSpec); ok {
		d.Settings = m.Settings
	}
	if row.Held != capability.HeldGone && row.Held != capability.HeldUnsupported {
		d.Content, err = s.Content(ctx, actor, row)
	}
	return d, err
}

func (r Row) declaredSecrets(defaults []Default) []capability.RequiredSecret {
	for _, d := range defaults {
		if r.Key == capability.DefaultKey(d.ID) {
			return d.Needs
		}
	}
	return capability.SecretsOf(r.Spec)
}

func reachedBy(r Row) (Transport, string) {
	switch spec := r.Spec.(type) {
	case *capability.MCPSpec:
		if spec.Image != "" {
			return TransportContainer, spec.Image
		}
		if u, err := url.Parse(spec.URL); err == nil {
			return TransportHTTP, u.Host
		}
		return TransportHTTP, ""
	case *capability.CodeSpec:
		return TransportSandbox, string(spec.Language)
	case *capability.HookSpec:
		return TransportSandbox, string(spec.Language)
	}
	if r.Origin == capability.OriginBuiltin {
		return TransportBuiltin, ""
	}
	return TransportText, ""
}

// Content reads a carried row's content whole: code, instructions, files. For
// a skill it is what the row was bound with, whatever was edited or deleted
// since. Raw servers and defaults have none, and what
// is gone is missing. The row must come from this actor's Carried.
func (s *Service) Content(ctx context.Context, actor capability.Actor, row Row) (capability.Content, error) {
	if key, ok := capability.ParseKey(string(row.Key)); ok && key.Kind == capability.KeySkill {
		return s.skillBody(ctx, actor, row)
	}
	if row.Held == capability.HeldGone {
		return capability.Content{}, fault.Missing()
	}
	if row.versionPK == 0 {
		return capability.Content{}, nil
	}
	rows, err := queries.VersionContents(ctx, s.db, []int64{row.versionPK})
	if err != nil {
		return capability.Content{}, pg.Fault(fmt.Errorf("read content: %w", err))
	}
	if len(rows) != 1 {
		return capability.Content{}, fault.Missing()
	}
	return decodeContent(rows[0].Content)
}

// BindSecrets binds declared secrets of a row to secrets by name, on top of
// what is bound already; an empty name unbinds. For an adoption the bindings
// are the adoption's, otherwise the workspace's for that key. It cuts a config
// version.
func (s *Service) BindSecrets(ctx context.Context, actor capability.Actor, key capability.Key, bindings map[string]string) (ConfigVersion, error) {
	return s.change(ctx, actor, "agent.bind", AnyVersion, "", func(ctx context.Context, tx pgx.Tx, e *edit) error {
		row, err := s.rowIn(ctx, tx, actor, key)
		if err != nil {
			return err
		}
		if row.Origin == capability.OriginRaw {
			return fault.New(fault.Conflict, "bound_in_entry", "A hand-wired server names its secret in its own entry.").
				Do("Change the server's entry in the agent's settings.")
		}
		if err := onlyDeclared(bindings, row.declaredSecrets(s.opts.Defaults)); err != nil {
			return err
		}
		if a := e.next.Adopted(row.Source, row.ID); a != nil {
			a.SecretBindings = overlaid(a.SecretBindings, bindings)
			return nil
		}
		bound := overlaid(e.next.ToolSecretBindings[string(key)], bindings)
		if e.next.ToolSecretBindings[string(key)] = bound; len(bound) == 0 {
			delete(e.next.ToolSecretBindings, string(key))
		}
		return nil
	})
}

func onlyDeclared(bindings map[string]string, declared []capability.RequiredSecret) error {
	known := map[string]bool{}
	for _, d := range declared {
		known[d.Name] = true
	}
	var fields []fault.Field
	for _, name := range slices.Sorted(maps.Keys(bindings)) {
		secret := bindings[name]
		path := jsonx.Pointer("/secretBindings", name)
		switch {
		case !known[name]:
			fields = append(fields, fault.Field{Path: path, Code: "not_declared", Message: "This capability declares no secret of that name."})
		case secret != "" && !capability.ValidSecretName(secret):
			fields = append(fields, fault.Field{Path: path, Code: "bad_secret_name", Message: "A secret's name has capital letters, digits and underscores, and begins with a letter."})
		}
	}
	return fault.Fields(fields)
}

// overlaid lays changes over bindings; an empty name takes one away.
func overlaid(bindings, changes map[string]string) map[string]string {
	out := maps.Clone(bindings)
	if out == nil {
		out = map[string]string{}
	}
	for declared, name := range changes {
		if out[declared] = name; name == "" {
			delete(out, declared)
		}
	}
	return out
}
