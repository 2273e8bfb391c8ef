package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"capstore/internal/capability"
)

// storeRow makes the row of a pinned version. What was adopted or switched on
// and may no longer be seen stays, as gone.
func (w *world) storeRow(e *storeEntry) Row {
	f := w.facts[e.versionPK]
	visible := !e.tombstoned && capability.CanConsume(e.access, w.viewer)
	r := Row{
		Ref: e.Ref, Kind: e.kind, Description: f.Description, Digest: e.digest, Spec: f.Spec, Plugin: f.plugin, versionPK: e.versionPK,
	}
	r.Candidate = capability.Candidate{
		Key: capability.CapabilityKey(e.Source, e.ID), Channel: e.kind.Channel(), Name: e.name,
		Origin: originOf(e, visible), Baseline: e.adoption != nil, Withdrawn: e.withdrawn,
		Required: e.adoption != nil && required(f.Spec),
	}
	r.Grant = w.grantFor(f.Spec, r.Key, e)
	r.Functions = w.functions(&r)
	if visible {
		r.LatestVisible, r.Tags = e.latest, e.tags
		r.UpdateAvailable = comesAfter(e.latest, e.Version)
	}
	r.Missing = capability.MissingSecrets(f.Spec, r.Grant.SecretBindings, w.has)
	r.Unset = capability.MissingSettings(f.Spec, r.Grant.Settings)
	r.Held = w.heldBack(&r, e, visible, f.broken)
	switch r.Held {
	case capability.HeldBlocked:
		r.BlockedReason = e.blockedReason
	case capability.HeldGone: // it stays as a name; what it is, is no longer his to read
		r.Description, r.Plugin, r.Spec, r.Functions, r.Missing, r.Unset = "", "", watch(f.Spec), nil, nil, nil
	}
	return r
}

// heldBack is why the version cannot run however it is switched, "" when it
// can. Authority comes before what the member can set right himself.
func (w *world) heldBack(r *Row, e *storeEntry, visible, broken bool) capability.Reason {
	switch {
	case !visible:
		return capability.HeldGone
	case e.blocked:
		return capability.HeldBlocked
	case broken:
		return capability.HeldUnsupported
	case capability.NeedsConsent(e.kind, e.Source, w.viewer.Workspace) && r.Grant.ConsentDigest != e.digest:
		return capability.HeldConsent
	case len(r.Missing) > 0 || len(r.Unset) > 0:
		return capability.HeldSetup
	}
	return ""
}

func originOf(e *storeEntry, visible bool) capability.Origin {
	switch {
	case e.adoption != nil:
		return capability.OriginAdopted
	case visible && e.access.Reach == capability.ReachPrivate:
		return capability.OriginPersonal
	}
	return capability.OriginPublished
}

// grantFor is the adoption, or for what is merely published here what stands
// in for one: read-only unless it is the member's own, secrets by name.
func (w *world) grantFor(spec capability.Spec, key capability.Key, e *storeEntry) capability.Adoption {
	if e.adoption != nil {
		return *e.adoption
	}
	own := ownedBy(e.access, w.viewer)
	g := capability.Adoption{
		Ref: e.Ref, EnableWrite: own,
		SecretBindings: capability.BindByName(spec, w.config.ToolSecretBindings[string(key)]),
		ToolClasses:    capability.Content{Name: e.name, Spec: spec}.SuggestedClasses(),
	}
	if own {
		g.Egress = hostsOf(spec)
	}
	return g
}

// ownedBy reports whether the capability is the viewer's own: he made it, or
// maintains it.
func ownedBy(a capability.Access, v capability.Viewer) bool {
	return a.Source == v.Workspace && (a.CreatedBy == v.Subject || slices.Contains(a.Maintainers, v.Subject))
}

// comesAfter reports whether the version latest orders above the pin.
func comesAfter(latest, pin string) bool {
	if latest == pin {
		return false
	}
	l, err := capability.ParseVersion(latest)
	if err != nil {
		return false
	}
	p, err := capability.ParseVersion(pin)
	return err == nil && l.Compare(p) > 0
}

func skillRow(e skillEntry) Row {
	r := Row{Kind: capability.KindSkill, Description: e.description, Digest: e.digest, Spec: &capability.SkillSpec{Leans: e.leans}}
	r.Candidate = capability.Candidate{
		Key: capability.SkillKey(e.id), Channel: capability.ChannelSkill, Name: e.name,
		Origin: capability.OriginLibrary, Baseline: true,
	}
	if e.draft {
		r.Origin = capability.OriginPersonal
	}
	return r
}

func (w *world) rawRow(server capability.RawServer) Row {
	r := Row{Kind: capability.KindMCP, Description: server.URL, Digest: rawDigest(server), Spec: rawSpec(server)}
	r.Candidate = capability.Candidate{
		Key: capability.RawServerKey(server.Name), Channel: capability.ChannelTool, Name: server.Name,
		Origin: capability.OriginRaw, Baseline: true,
	}
	r.Grant = rawGrant(server)
	if r.Missing = capability.MissingSecrets(r.Spec, r.Grant.SecretBindings, w.has); len(r.Missing) > 0 {
		r.Held = capability.HeldSetup
	}
	return r
}

// rawSpec is the server as if it had been published.
func rawSpec(server capability.RawServer) *capability.MCPSpec {
	spec := &capability.MCPSpec{URL: server.URL, Write: server.Write, Auth: capability.AuthNone}
	spec.Serves = server.Serves
	if server.AuthSecret != "" {
		spec.Auth = capability.AuthSecret
		spec.RequiredSecrets = []capability.RequiredSecret{{Name: server.AuthSecret}}
	}
	return spec
}

func rawGrant(server capability.RawServer) capability.Adoption {
	g := capability.Adoption{EnableWrite: server.Write}
	if server.AuthSecret != "" {
		g.SecretBindings = map[string]string{server.AuthSecret: server.AuthSecret}
	}
	return g
}

// rawDigest names the entry of a raw server, so that a call is held to the
// server that the turn saw.
func rawDigest(server capability.RawServer) string {
	sum := sha256.Sum256([]byte(server.Name + "\x00" + server.URL + "\x00" + server.AuthSecret))
	return "sha256:" + hex.EncodeToString(sum[:])
}

func (w *world) defaultRow(d Default) Row {
	r := Row{Kind: capability.KindCode, Description: d.Description}
	r.Candidate = capability.Candidate{
		Key: capability.DefaultKey(d.ID), Channel: capability.ChannelTool, Name: d.ID,
		Origin: capability.OriginBuiltin, Baseline: !slices.Contains(w.config.DisabledDefaults, d.ID),
	}
	r.Grant = d.grant(w.config.ToolSecretBindings[string(r.Key)])
	r.Functions = []Function{{Raw: d.ID, Name: d.ID, Write: !d.ReadOnly, Allowed: true}}
	if r.Missing = capability.MissingSecrets(d.spec(), r.Grant.SecretBindings, w.has); len(r.Missing) > 0 {
		r.Held = capability.HeldSetup
	}
	return r
}

// spec carries the default's needs to the kernel's rule on missing secrets.
func (d Default) spec() capability.Spec { return &capability.CodeSpec{RequiredSecrets: d.Needs} }

func (d Default) grant(overrides map[string]string) capability.Adoption {
	class := capability.ClassWrite
	if d.ReadOnly {
		class = capability.ClassRead
	}
	return capability.Adoption{
		EnableWrite: true, SecretBindings: capability.BindByName(d.spec(), overrides),
		ToolClasses: map[string]capability.ToolClass{d.ID: class},
	}
}
