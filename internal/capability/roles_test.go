package capability_test

import (
	"slices"
	"strings"
	"testing"

	"capstore/internal/capability"
	"capstore/internal/fault"

	"github.com/google/go-cmp/cmp"
)

// rights spells the table of the domain once more, by role: "-" never, "any"
// whatever the ownership, else who among those of the role.
var rights = map[capability.Action]struct {
	viewer, member, admin string
	scope                 capability.Scope
}{
	capability.ActRead:     {"any", "any", "any", capability.ScopeRead},
	capability.ActWrite:    {"-", "creator maintainer", "any", capability.ScopeWrite},
	capability.ActDelete:   {"-", "creator", "any", capability.ScopeWrite},
	capability.ActAgents:   {"-", "any", "any", capability.ScopeWrite},
	capability.ActSecrets:  {"-", "creator", "any", capability.ScopeWrite},
	capability.ActSkills:   {"-", "any", "any", capability.ScopeWrite},
	capability.ActSettings: {"-", "-", "any", capability.ScopeWrite},
	capability.ActOwn:      {"any", "any", "any", capability.ScopeWrite},
	capability.ActOwnRead:  {"any", "any", "any", capability.ScopeRead},
	capability.ActRun:      {"any", "any", "any", capability.ScopeAgent},
}

func TestEveryActionRoleOwnershipAndScope(t *testing.T) {
	t.Parallel()
	owners := map[string]capability.Ownership{
		"nobody": {}, "creator": {Creator: true}, "maintainer": {Maintainer: true}, "both": {Creator: true, Maintainer: true},
	}
	scopes := append([]capability.Scope{capability.ScopeSession, "everything"}, capability.Scopes...)
	for _, action := range capability.Actions() {
		want, known := rights[action]
		if !known {
			t.Fatalf("the table of this test lacks %s", action)
		}
		for role, who := range map[capability.Role]string{
			capability.RoleViewer: want.viewer, capability.RoleMember: want.member, capability.RoleAdmin: want.admin, "": "-", "owner": "-",
		} {
			for owner, own := range owners {
				for _, scope := range scopes {
					actor := capability.Actor{Workspace: "acme", Subject: "ann", Role: role, Scope: scope}
					may := scopeReaches(scope, want.scope) && (who == "any" || strings.Contains(who, owner) || owner == "both" && who != "-")
					checkDecision(t, capability.May(actor, action, own), may, string(action), string(role), owner, string(scope))
				}
			}
		}
	}
}

func scopeReaches(have, want capability.Scope) bool {
	order := []capability.Scope{capability.ScopeRead, capability.ScopeWrite, capability.ScopeAgent}
	return have == capability.ScopeSession || slices.Contains(order, have) && slices.Index(order, have) >= slices.Index(order, want)
}

func checkDecision(t *testing.T, err error, may bool, what ...string) {
	t.Helper()
	if may != (err == nil) {
		t.Errorf("%v: may=%v, got %v", what, may, err)
	}
	if err == nil {
		return
	}
	if f := fault.From(err); f.Kind != fault.Denied || f.Message == "" || f.Action == "" {
		t.Errorf("%v: the refusal does not say what to do: %+v", what, f)
	}
}

func TestNobodyMayDoNothingInParticular(t *testing.T) {
	t.Parallel()
	for _, actor := range []capability.Actor{
		{}, {Workspace: "acme", Role: capability.RoleAdmin}, {Subject: "ann", Role: capability.RoleAdmin},
	} {
		for _, action := range capability.Actions() {
			checkDecision(t, capability.May(actor, action, capability.Fresh), false, string(action))
		}
	}
	admin := capability.Actor{Workspace: "acme", Subject: "ann", Role: capability.RoleAdmin}
	checkDecision(t, capability.May(admin, "capabilities:eat", capability.Fresh), false)
}

func TestPublishingToEveryone(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		role    capability.Role
		scope   capability.Scope
		members bool
		may     bool
	}{
		{capability.RoleAdmin, "", false, true},
		{capability.RoleMember, "", false, false},
		{capability.RoleMember, "", true, true},
		{capability.RoleViewer, "", true, false},
		{capability.RoleAdmin, capability.ScopeRead, true, false},
		{capability.RoleAdmin, capability.ScopeAgent, false, true},
	} {
		actor := capability.Actor{Workspace: "acme", Subject: "ann", Role: tc.role, Scope: tc.scope}
		err := capability.MayPublishPublic(actor, capability.Policy{AllowMemberPublic: tc.members})
		checkDecision(t, err, tc.may, string(tc.role), string(tc.scope))
	}
}

// The columns: write, delete, maintainers. "missing" is the answer for what
// the actor cannot even read.
func TestActingOnACapability(t *testing.T) {
	t.Parallel()
	access := capability.Access{Source: "acme", Reach: capability.ReachWorkspace, CreatedBy: "ann", Maintainers: []string{"bob"}}
	private, public, builtin := access, access, access
	private.Reach, public.Reach, builtin.Reach = capability.ReachPrivate, capability.ReachPublic, capability.ReachPublic
	builtin.Source, builtin.CreatedBy, builtin.Maintainers = capability.FirstPartyOwner, "", nil
	member := func(ws, subject string) capability.Actor {
		return capability.Actor{Workspace: ws, Subject: subject, Role: capability.RoleMember}
	}
	admin := func(ws, subject string) capability.Actor {
		return capability.Actor{Workspace: ws, Subject: subject, Role: capability.RoleAdmin}
	}
	for name, tc := range map[string]struct {
		actor                    capability.Actor
		access                   capability.Access
		write, remove, maintains string
	}{
		"creator":                      {member("acme", "ann"), access, "", "", ""},
		"maintainer":                   {member("acme", "bob"), access, "", "not_owner", "not_owner"},
		"other member":                 {member("acme", "cy"), access, "not_owner", "not_owner", "not_owner"},
		"admin":                        {admin("acme", "cy"), access, "", "", ""},
		"stranger":                     {admin("beta", "ann"), access, "not_found", "not_found", "not_found"},
		"private, creator":             {member("acme", "ann"), private, "", "", ""},
		"private, maintainer":          {member("acme", "bob"), private, "", "not_owner", "not_owner"},
		"private, admin":               {admin("acme", "cy"), private, "not_found", "not_found", "not_found"},
		"private, creator elsewhere":   {admin("beta", "ann"), private, "not_found", "not_found", "not_found"},
		"public, creator elsewhere":    {admin("beta", "ann"), public, "not_owner", "not_owner", "not_owner"},
		"public, admin elsewhere":      {admin("beta", "cy"), public, "not_owner", "not_owner", "not_owner"},
		"public, viewer who made it":   {capability.Actor{Workspace: "acme", Subject: "ann", Role: capability.RoleViewer}, public, "role_too_low", "role_too_low", "role_too_low"},
		"built-in, admin":              {admin("acme", "ann"), builtin, "read_only", "read_only", "read_only"},
		"token that reads, by creator": {capability.Actor{Workspace: "acme", Subject: "ann", Role: capability.RoleMember, Scope: capability.ScopeRead}, access, "scope_too_narrow", "scope_too_narrow", "scope_too_narrow"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := []string{
				code(capability.MayWrite(tc.actor, tc.access)), code(capability.MayDelete(tc.actor, tc.access)),
				code(capability.MayNameMaintainers(tc.actor, tc.access)), code(capability.MayBlock(tc.actor, tc.access)),
			}
			if diff := cmp.Diff([]string{tc.write, tc.remove, tc.maintains, tc.write}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func code(err error) string {
	if err == nil {
		return ""
	}
	return fault.From(err).Code
}

func TestTakingOverWhatAMemberLeft(t *testing.T) {
	t.Parallel()
	private := capability.Access{Source: "acme", Reach: capability.ReachPrivate, CreatedBy: "gone"}
	admin := capability.Actor{Workspace: "acme", Subject: "ann", Role: capability.RoleAdmin}
	member, stranger := admin, admin
	member.Role, stranger.Workspace = capability.RoleMember, "beta"
	for name, tc := range map[string]struct {
		actor capability.Actor
		left  bool
		want  string
	}{
		"admin":                 {admin, true, ""},
		"admin, while he is in": {admin, false, "not_found"},
		"member":                {member, true, "role_too_low"},
		"admin of another":      {stranger, true, "not_found"},
	} {
		if got := code(capability.MayTakeOver(tc.actor, private, tc.left)); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

func TestCheckSharedWith(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		current, want, memberships []string
		marks                      []string
	}{
		"his own":               {nil, []string{"beta"}, []string{"beta", "acme"}, []string{}},
		"not his":               {nil, []string{"beta", "gamma"}, []string{"beta"}, []string{"/sharedWith/1 not_a_member"}},
		"listed before":         {[]string{"gamma"}, []string{"gamma"}, nil, []string{}},
		"the owner":             {nil, []string{"acme"}, []string{"acme"}, []string{"/sharedWith/0 owner_listed"}},
		"twice":                 {nil, []string{"beta", "beta"}, []string{"beta"}, []string{"/sharedWith/1 repeated"}},
		"dropping is always ok": {[]string{"gamma", "beta"}, nil, nil, []string{}},
	} {
		got := marks(capability.CheckSharedWith(tc.current, tc.want, tc.memberships, "acme"))
		if diff := cmp.Diff(tc.marks, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
