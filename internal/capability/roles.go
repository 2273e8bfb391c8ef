package capability

import (
	"fmt"
	"slices"
	"strconv"

	"capstore/internal/fault"
	"capstore/internal/jsonx"
)

// Role is a member's standing in one workspace.
type Role string

const (
	RoleViewer Role = "viewer"
	RoleMember Role = "member"
	RoleAdmin  Role = "admin"
)

// Roles lists every role from least to most.
var Roles = []Role{RoleViewer, RoleMember, RoleAdmin}

// AtLeast reports whether the role reaches want. An unknown role reaches
// nothing.
func (r Role) AtLeast(want Role) bool { return reaches(Roles, r, want) }

// Scope narrows what an access token may do of what its member may: read is
// within write, write within agent. Empty is a session, which is not narrowed.
type Scope string

const (
	ScopeSession Scope = ""
	ScopeRead    Scope = "read"
	ScopeWrite   Scope = "write"
	ScopeAgent   Scope = "agent"
)

// Scopes lists the scopes of tokens from least to most.
var Scopes = []Scope{ScopeRead, ScopeWrite, ScopeAgent}

// Covers reports whether the scope allows what needs want. An unknown scope
// allows nothing.
func (s Scope) Covers(want Scope) bool { return s == ScopeSession || reaches(Scopes, s, want) }

func reaches[T comparable](order []T, have, want T) bool {
	h, w := slices.Index(order, have), slices.Index(order, want)
	return h >= 0 && w >= 0 && h >= w
}

// Action is something that a member may or may not do.
type Action string

const (
	// ActRead is browsing, reading and comparing.
	ActRead Action = "capabilities:read"
	// ActWrite is authoring, publishing, tagging and setting a reach.
	ActWrite Action = "capabilities:write"
	// ActDelete is withdrawing a version or tombstoning a capability.
	ActDelete Action = "capabilities:delete"
	// ActAgents is what shapes the workspace's agent.
	ActAgents Action = "agents:write"
	// ActSecrets is making a workspace secret, and replacing or deleting one.
	ActSecrets Action = "secrets:write"
	// ActSkills is the workspace's skill library.
	ActSkills Action = "skills:write"
	// ActSettings is the workspace's administration.
	ActSettings Action = "settings:write"
	// ActOwn is changing what is one's own: overlay, secrets, conversations.
	ActOwn Action = "own"
	// ActOwnRead is reading what is one's own.
	ActOwnRead Action = "own:read"
	// ActRun is calling tools as one's own agent does.
	ActRun Action = "agent:run"
)

// Actor is who acts, in which workspace, with what standing. The zero Actor
// may do nothing.
type Actor struct {
	Workspace string
	Subject   string
	Role      Role
	Scope     Scope
}

// Viewer is the actor as the reach rule knows him.
func (a Actor) Viewer() Viewer { return Viewer{Workspace: a.Workspace, Subject: a.Subject} }

// Ownership is the actor's relation to the thing he acts on.
type Ownership struct {
	Creator    bool
	Maintainer bool
}

// Fresh is the ownership of what does not exist yet: its maker's.
var Fresh = Ownership{Creator: true}

// OwnershipOf relates the actor to a capability. Nobody outside the owning
// workspace owns any part of it.
func OwnershipOf(actor Actor, a Access) Ownership {
	if actor.Workspace != a.Source || actor.Subject == "" {
		return Ownership{}
	}
	return Ownership{
		Creator:    actor.Subject == a.CreatedBy,
		Maintainer: slices.Contains(a.Maintainers, actor.Subject),
	}
}

// rule is one row of the table of rights. A part that is false for everybody
// (creator, maintainer) means that ownership does not matter.
type rule struct {
	role                Role
	scope               Scope
	creator, maintainer bool
	what                string // completes "You may not …"
}

func (r rule) owned() bool { return r.creator || r.maintainer }

// rules is the one table of who may do what. An admin stands in for an owner.
var rules = map[Action]rule{
	ActRead:     {role: RoleViewer, scope: ScopeRead, what: "read capabilities"},
	ActWrite:    {role: RoleMember, scope: ScopeWrite, creator: true, maintainer: true, what: "change this capability"},
	ActDelete:   {role: RoleMember, scope: ScopeWrite, creator: true, what: "delete this capability"},
	ActAgents:   {role: RoleMember, scope: ScopeWrite, what: "change the workspace's agent"},
	ActSecrets:  {role: RoleMember, scope: ScopeWrite, creator: true, what: "change this secret"},
	ActSkills:   {role: RoleMember, scope: ScopeWrite, what: "change the workspace's skills"},
	ActSettings: {role: RoleAdmin, scope: ScopeWrite, what: "change the workspace's settings"},
	ActOwn:      {role: RoleViewer, scope: ScopeWrite, what: "change your own choices"},
	ActOwnRead:  {role: RoleViewer, scope: ScopeRead, what: "read your own things"},
	ActRun:      {role: RoleViewer, scope: ScopeAgent, what: "run your agent's tools"},
}

// Actions lists every action, sorted.
func Actions() []Action {
	out := make([]Action, 0, len(rules))
	for a := range rules {
		out = append(out, a)
	}
	slices.Sort(out)
	return out
}

// May returns nil when the actor may do it, else a Denied fault that says what
// is needed and who has it. For what does not exist yet pass Fresh; actions
// that know no owner ignore the ownership.
func May(actor Actor, action Action, own Ownership) error {
	r, ok := rules[action]
	switch {
	case !ok || actor.Workspace == "" || actor.Subject == "":
		return fault.Deny("not_allowed", "You may not do this.", "Sign in to a workspace that you belong to.")
	case !actor.Role.AtLeast(r.role):
		return fault.Deny("role_too_low", fmt.Sprintf("Your role here does not let you %s; it takes %s.", r.what, withArticle(r.role)),
			"Ask an admin of this workspace to do it or to raise your role.")
	case !actor.Scope.Covers(r.scope):
		return fault.Deny("scope_too_narrow", fmt.Sprintf("This access token may not %s; it needs the scope %q.", r.what, r.scope),
			"Make a token with that scope on your account page.")
	case r.owned() && actor.Role != RoleAdmin && !(r.creator && own.Creator) && !(r.maintainer && own.Maintainer):
		return fault.Deny("not_owner", fmt.Sprintf("You may not %s.", r.what), "Ask "+r.owners()+" to do it.")
	}
	return nil
}

func (r rule) owners() string {
	if r.maintainer {
		return "its creator, a maintainer or an admin of this workspace"
	}
	return "its creator or an admin of this workspace"
}

func withArticle(r Role) string {
	if r == RoleAdmin {
		return "an admin"
	}
	return "a " + string(r)
}

// Policy is what the operator decided for the whole server.
type Policy struct {
	// AllowMemberPublic lets members publish to everyone, not only admins.
	AllowMemberPublic bool
}

// MayPublishPublic returns nil when the actor may give the reach public to
// what he may write, both at creation and later. Ownership is MayWrite's.
func MayPublishPublic(actor Actor, policy Policy) error {
	if err := May(actor, ActWrite, Fresh); err != nil {
		return err
	}
	if actor.Role == RoleAdmin || policy.AllowMemberPublic {
		return nil
	}
	return fault.Deny("public_needs_admin", "Making a capability public takes an admin here.",
		"Ask an admin of this workspace to promote it, or choose a narrower reach.")
}

// MayWrite returns nil when the actor may publish to, tag, set the reach of or
// deprecate the capability. What he cannot read is missing to him, an admin
// included.
func MayWrite(actor Actor, a Access) error { return mayOn(actor, ActWrite, a) }

// MayDelete is MayWrite for withdrawing a version or deleting the capability.
func MayDelete(actor Actor, a Access) error { return mayOn(actor, ActDelete, a) }

// MayBlock is MayWrite for blocking a version: creator, maintainer or admin.
func MayBlock(actor Actor, a Access) error { return mayOn(actor, ActWrite, a) }

// MayNameMaintainers is MayWrite for changing who maintains the capability:
// its creator or an admin, as for deleting it.
func MayNameMaintainers(actor Actor, a Access) error { return mayOn(actor, ActDelete, a) }

// MayTakeOver returns nil when the actor may tombstone or take over what a
// former member left, private ones included; creatorLeft says that the creator
// no longer belongs to the workspace.
func MayTakeOver(actor Actor, a Access, creatorLeft bool) error {
	if actor.Workspace != a.Source || !creatorLeft {
		return fault.Missing()
	}
	return May(actor, ActSettings, Ownership{})
}

func mayOn(actor Actor, action Action, a Access) error {
	if !CanConsume(a, actor.Viewer()) {
		return fault.Missing()
	}
	switch a.Source {
	case actor.Workspace:
		return May(actor, action, OwnershipOf(actor, a))
	case FirstPartyOwner:
		return fault.Deny("read_only", "What ships with capstore is read-only.", "Copy it into your workspace and change the copy.")
	}
	return fault.Deny("not_owner", fmt.Sprintf("Only the workspace %s may change this.", a.Source),
		"Copy it into your workspace and change the copy, or ask "+a.Source+".")
}

// CheckSharedWith returns what is wrong with the targets of a subset: each one
// is among current already or a workspace that the person who sets it belongs
// to, and never the owner, who reads it anyway. Faults stand under
// /sharedWith. A target that is unknown reads as one that is not his.
func CheckSharedWith(current, want, memberships []string, owner string) []fault.Field {
	var f faults
	seen := map[string]bool{}
	for i, slug := range want {
		path := jsonx.Pointer("/sharedWith", strconv.Itoa(i))
		switch {
		case slug == owner:
			f.add(path, "owner_listed", "%s owns this and reads it anyway; leave it out.", cut(slug, 40))
		case seen[slug]:
			f.add(path, "repeated", "%s is listed twice.", cut(slug, 40))
		case !slices.Contains(current, slug) && !slices.Contains(memberships, slug):
			f.add(path, "not_a_member", "You can share only with workspaces that you belong to; %s is none of them.", cut(slug, 40))
		}
		seen[slug] = true
	}
	return f
}
