package workspace

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"capstore/internal/capability"
)

// permit decides from what was locked.
func (s *Service) permit(ctx context.Context, tx pgx.Tx, a *authority, call Call) error {
	if err := capability.May(a.actor, capability.ActRun, capability.Fresh); err != nil {
		return err
	}
	key, ok := capability.ParseKey(string(call.Key))
	if !ok {
		return revoked(RevokedGone, "There is no such tool.")
	}
	verdict := a.config.PolicyOf(capability.PolicyCall{Names: a.namesOf(key, call), Tool: call.Tool, Arguments: call.Arguments})
	if verdict.Effect == capability.PolicyDeny {
		return DeniedByPolicy(verdict.Note)
	}
	switch key.Kind {
	case capability.KeyCapability:
		if key.Source != call.Source || key.ID != call.ID {
			return revoked(RevokedGone, "There is no such tool.")
		}
		return s.permitCapability(ctx, tx, a, call)
	case capability.KeyMCP:
		return a.permitRaw(key.ID, call)
	case capability.KeySkill:
		return a.permitSkill()
	case capability.KeyDefault:
		return s.permitDefault(a, key.ID, call)
	case capability.KeyBuiltin:
		return nil // its own service asks for the member's role when it runs
	}
	return revoked(RevokedGone, "There is no such tool.")
}

// DeniedByPolicy is the fault of a call that a rule of the workspace denies;
// note is what the rule says about itself.
func DeniedByPolicy(note string) error {
	f := revoked(RevokedPolicy, "A policy of this workspace denies it.").Do("Ask an admin of this workspace.")
	if note != "" {
		f.Message = "A policy of this workspace denies it: " + note
		f.With("note", note)
	}
	return f
}

// namesOf lists the names under which a policy may know the call: its key and
// the one that the model calls.
func (a *authority) namesOf(key capability.ParsedKey, call Call) []string {
	names := []string{string(call.Key)}
	switch {
	case key.Kind == capability.KeyDefault || key.Kind == capability.KeyBuiltin:
		names = append(names, key.ID)
	case key.Kind == capability.KeyMCP:
		names = append(names, capability.MCPToolName(key.ID, call.Tool))
	case a.version.kind == capability.KindMCP:
		names = append(names, capability.MCPToolName(a.version.name, call.Tool))
	case a.version.kind == capability.KindCode:
		names = append(names, capability.CodeToolName(a.version.name))
	}
	return names
}

func (s *Service) permitCapability(ctx context.Context, tx pgx.Tx, a *authority, call Call) error {
	if a.gone || !capability.CanConsume(a.access, a.actor.Viewer()) {
		return revoked(RevokedGone, "It was deleted, or is no longer shared with you.").Do("Ask " + call.Source + " about it.")
	}
	if a.version.pk == 0 || a.version.digest != call.Digest {
		return revoked(RevokedDigest, "What would run is not what this turn was given.").Do("Start a new turn.")
	}
	if a.version.blocked {
		return revoked(RevokedBlocked, "Version %s was blocked by its owner: %s", call.Version, a.version.blockedReason).
			Do("Ask whoever adopted it to pin another version.")
	}
	if a.grant == nil && call.Source != a.actor.Workspace {
		return notAdopted() // whatever the switch says: only what is published here can do without
	}
	if err := s.switchedOn(ctx, tx, a); err != nil {
		return err
	}
	if capability.NeedsConsent(a.version.kind, call.Source, a.actor.Workspace) && !slices.Contains(a.consents, call.Digest) {
		return revoked(RevokedConsent, "This workspace has not consented to this code.").
			Do("Ask somebody who may adopt here to look at it and consent.")
	}
	grant, err := s.grantOf(ctx, tx, a, call)
	if err != nil {
		return err
	}
	if a.version.kind.Channel() == capability.ChannelTool && !call.Listing && !grant.Allows(call.Tool) {
		return readOnly()
	}
	return a.permitUse(grant, call)
}

func notAdopted() error {
	return revoked(RevokedAdoption, "The workspace no longer carries it.").Do("Ask somebody who may adopt here.")
}

func readOnly() error {
	return revoked(RevokedWrite, "It changes something, and this workspace lets it only read.").
		Do("Ask somebody who may adopt here to let it write.")
}

// switchedOn holds the call to the switch as it is now: the adoption's
// baseline and the member's own choice.
func (s *Service) switchedOn(ctx context.Context, tx pgx.Tx, a *authority) error {
	on := a.grant != nil
	if a.overlay != nil {
		on = *a.overlay
	}
	if !on && a.grant != nil && a.version.kind == capability.KindHook {
		known, err := s.factsOf(ctx, tx, []int64{a.version.pk})
		if err != nil {
			return err
		}
		on = required(known[a.version.pk].Spec)
	}
	switch {
	case on:
		return nil
	case a.overlay != nil:
		return revoked(RevokedSwitch, "You switched it off.").Do("Switch it on in your tools.")
	}
	return notAdopted()
}

// grantOf is the adoption, or what stands in for one, as Carried has it.
func (s *Service) grantOf(ctx context.Context, tx pgx.Tx, a *authority, call Call) (capability.Adoption, error) {
	if a.grant != nil {
		return *a.grant, nil
	}
	known, err := s.factsOf(ctx, tx, []int64{a.version.pk})
	if err != nil {
		return capability.Adoption{}, err
	}
	w := &world{viewer: a.actor.Viewer(), config: a.config}
	e := &storeEntry{
		Ref:  capability.Ref{Source: call.Source, ID: call.ID, Version: call.Version},
		name: a.version.name, kind: a.version.kind, access: a.access,
	}
	return w.grantFor(known[a.version.pk].Spec, call.Key, e), nil
}

// permitUse holds the call to the grant: what it may write, which secrets it
// is given and which hosts it may reach.
func (a *authority) permitUse(grant capability.Adoption, call Call) error {
	if call.Write && !grant.EnableWrite {
		return readOnly()
	}
	for declared, name := range call.Secrets {
		if grant.SecretBindings[declared] != name || name != "" && !slices.Contains(a.secrets, name) {
			return revoked(RevokedSecret, "The secret %s that it needs was removed or bound otherwise.", declared).
				Do("Set the secret again, or start a new turn.").With("secret", declared)
		}
	}
	for _, host := range call.Egress {
		if !slices.Contains(grant.Egress, host) {
			return revoked(RevokedEgress, "It may no longer reach %s.", host).Do("Start a new turn.").With("host", host)
		}
	}
	return nil
}

func (a *authority) permitRaw(name string, call Call) error {
	i := slices.IndexFunc(a.config.MCPServers, func(s capability.RawServer) bool { return s.Name == name })
	switch {
	case i < 0:
		return revoked(RevokedServer, "The server was removed from this workspace's agent.")
	case rawDigest(a.config.MCPServers[i]) != call.Digest:
		return revoked(RevokedServerEntry, "The server's entry was changed.").Do("Start a new turn.")
	}
	if err := a.notOff(); err != nil {
		return err
	}
	// Nobody classified its tools: the runtime's word is all there is.
	return a.permitUse(rawGrant(a.config.MCPServers[i]), call)
}

func (a *authority) notOff() error {
	if a.overlay != nil && !*a.overlay {
		return revoked(RevokedSwitch, "You switched it off.").Do("Switch it on in your tools.")
	}
	return nil
}

// permitSkill refuses a skill that is switched off or that has become another
// member's draft. A deleted one still serves the turn that bound it.
func (a *authority) permitSkill() error {
	if err := a.notOff(); err != nil {
		return err
	}
	if a.hiddenSkill {
		return revoked(RevokedGone, "There is no such skill.")
	}
	return nil
}

func (s *Service) permitDefault(a *authority, id string, call Call) error {
	i := slices.IndexFunc(s.opts.Defaults, func(d Default) bool { return d.ID == id })
	if i < 0 {
		return revoked(RevokedGone, "There is no such tool.")
	}
	on := !slices.Contains(a.config.DisabledDefaults, id)
	if a.overlay != nil {
		on = *a.overlay
	}
	if !on {
		return revoked(RevokedSwitch, "It is switched off.").Do("Switch it on in your tools.")
	}
	return a.permitUse(s.opts.Defaults[i].grant(a.config.ToolSecretBindings[string(call.Key)]), call)
}

func decodeAdoption(raw []byte) (*capability.Adoption, error) {
	var a capability.Adoption
	if err := json.Unmarshal(raw, &a); err != nil {
		return nil, fmt.Errorf("stored adoption: %w", err)
	}
	return &a, nil
}
