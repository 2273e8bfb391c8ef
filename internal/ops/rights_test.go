package ops

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/identity"
	"capstore/internal/secret"
)

// owned is what belongs to the one who acts, to somebody who made him a
// maintainer, or to somebody else.
type owned struct {
	name string
	capability.Ownership
}

var ownerships = []owned{
	{"other's", capability.Ownership{}}, {"maintainer's", capability.Ownership{Maintainer: true}}, {"own", capability.Ownership{Creator: true}},
}

// attempt makes the input of one run of an operation. What it addresses is
// new each time, and belongs to the actor as own says.
type attempt struct {
	in func(h *house, who identity.Principal, own owned) any
	// owned says that the operation acts on what somebody owns; the others act
	// on what is the actor's or nobody's.
	owned bool
	// fails is the code of a fault other than a refusal that is expected of
	// whoever has the right.
	fails string
}

func input(make func(h *house) any) attempt {
	return attempt{in: func(h *house, _ identity.Principal, _ owned) any { return make(h) }}
}

func nothing(*house) any { return Nothing{} }

// onOwned addresses a new capability of the ownership.
func onOwned(make func(n namedVersion) any) attempt {
	return attempt{owned: true, in: func(h *house, who identity.Principal, own owned) any {
		return make(namedVersion{named: named{ID: h.ownedCapability(who, own)}, Version: "1.0.0"})
	}}
}

func (h *house) ownedCapability(who identity.Principal, own owned) string {
	switch {
	case own.Creator:
		return h.capability(string(who.Role))
	case own.Maintainer:
		return h.capability(maker, who.Subject)
	}
	return h.capability(maker)
}

func onSecret(make func(name string) any) attempt {
	return attempt{owned: true, in: func(h *house, who identity.Principal, own owned) any {
		owner := maker
		if own.Creator {
			owner = string(who.Role)
		}
		name := h.freshSecret()
		_, err := h.Secrets.Set(h.t.Context(), h.as(owner), secret.NewSecret{Name: name, Value: secret.NewValue("x")})
		must(h.t, err)
		return make(name)
	}}
}

func (h *house) freshSecret() string { return strings.ToUpper(strings.ReplaceAll(h.fresh(), "-", "_")) }

func (h *house) key(id string) keyed { return keyed{Key: string(capability.CapabilityKey("acme", id))} }

func toggle() Switch {
	on := false
	return Switch{Enabled: Nullable[bool]{Set: true, Value: &on}}
}

func upload(h *house) any {
	return importUpload{Body: Upload{Data: []byte("---\nname: " + h.fresh() + "\ndescription: A skill.\n---\nDo it.\n"), Name: "SKILL.md"}}
}

// attempts has one entry for every operation that takes a right.
var attempts = map[string]attempt{
	"list_capabilities": input(func(*house) any { return listCapabilities{} }),
	"create_capability": input(func(h *house) any {
		return createCapability{Body: NewPublication{Name: h.fresh(), Description: "x", Spec: json.RawMessage(codeSpec)}}
	}),
	"get_capability": input(func(h *house) any { return named{ID: h.capability(maker)} }),
	"set_capability_visibility": onOwned(func(n namedVersion) any {
		return patchCapability{named: n.named, Body: CapabilityPatch{Tags: &[]string{"x"}}}
	}),
	"delete_capability":           onOwned(func(n namedVersion) any { return n.named }),
	"list_capability_versions":    input(func(h *house) any { return named{ID: h.capability(maker)} }),
	"get_capability_version":      input(func(h *house) any { return namedVersion{named{ID: h.capability(maker)}, "1.0.0"} }),
	"withdraw_capability_version": onOwned(func(n namedVersion) any { return n }),
	"set_capability_version_tags": onOwned(func(n namedVersion) any { return tagVersion{n, VersionTags{Tags: []string{"x"}}} }),
	"block_capability_version":    onOwned(func(n namedVersion) any { return blockVersion{n, BlockReason{Reason: "x"}} }),
	"unblock_capability_version": {owned: true, in: func(h *house, who identity.Principal, own owned) any {
		id := h.ownedCapability(who, own)
		must(h.t, h.Catalog.Block(h.t.Context(), h.as(maker), "acme", id, "1.0.0", "x"))
		return namedVersion{named{ID: id}, "1.0.0"}
	}},
	"diff_capability_versions": input(func(h *house) any {
		return diffVersions{named: named{ID: h.capability(maker)}, Base: "1.0.0", Candidate: "1.0.1"}
	}),
	"copy_capability": input(func(h *house) any {
		return copyCapability{CopyOf{Source: "acme", ID: h.capability(maker), Name: h.fresh()}}
	}),
	"import_capabilities": input(func(h *house) any { return importAny{importUpload: upload(h).(importUpload)} }),
	"export_capability_version": input(func(h *house) any {
		return exportVersion{namedVersion: namedVersion{named{ID: h.published()}, "1.0.0"}, Format: "capstore"}
	}),
	"export_capability":   input(func(h *house) any { return named{ID: h.published()} }),
	"export_capabilities": input(nothing),

	"get_agent": input(nothing),
	// A whole config would take away what the other operations adopt beside it.
	"set_agent":           failing("stale_config", func(*house) any { return putAgent{IfMatch: "0"} }),
	"list_agent_versions": input(func(*house) any { return listConfigs{} }),
	"adopt_capability": input(func(h *house) any {
		return adopt{NewAdoption{Source: "acme", ID: h.capability(maker), Version: "1.0.1"}}
	}),
	"unadopt_capability": input(func(h *house) any { return unadopt{"acme", h.adopted()} }),

	"list_agent_tools":        input(nothing),
	"list_agent_skills":       input(nothing),
	"list_agent_hooks":        input(nothing),
	"list_agent_commands":     input(nothing),
	"get_agent_tool":          input(func(h *house) any { return h.key(h.capability(maker)) }),
	"set_agent_tool":          input(func(h *house) any { return setSwitch{h.key(h.capability(maker)), toggle()} }),
	"set_agent_skill":         input(func(h *house) any { return setSwitch{keyed{string(capability.SkillKey(h.skill()))}, toggle()} }),
	"set_agent_hook":          failing("not_found", func(h *house) any { return setSwitch{h.key("none"), toggle()} }),
	"set_agent_command":       failing("not_found", func(h *house) any { return setSwitch{h.key("none"), toggle()} }),
	"probe_agent_tool":        input(func(h *house) any { return h.key(h.capability(maker)) }),
	"bind_agent_tool_secrets": input(func(h *house) any { return bindSecrets{h.key(h.adopted()), Bindings{map[string]*string{"KEY": nil}}} }),
	"check_code_tool":         failing("sandbox_unavailable", func(*house) any { return checkCode{Draft{json.RawMessage(codeSpec)}} }),
	"try_code_tool":           input(func(h *house) any { return tryCode{Trial{Source: "acme", ID: h.capability(maker), Version: "1.0.0"}} }),

	"list_skills":   input(nothing),
	"create_skill":  input(func(h *house) any { return createSkill{NewSkill{SkillContent: skillContent(h.fresh())}} }),
	"import_skills": input(upload),
	"get_skill":     input(func(h *house) any { return namedSkill{h.skill()} }),
	"update_skill": input(func(h *house) any {
		return updateSkill{namedSkill: namedSkill{h.skill()}, Body: skillContent(h.fresh())}
	}),
	"delete_skill":        input(func(h *house) any { return deleteSkill{namedSkill: namedSkill{h.skill()}} }),
	"share_skill":         input(func(h *house) any { return namedSkill{h.skill()} }),
	"list_skill_versions": input(func(h *house) any { return namedSkill{h.skill()} }),
	"stamp_skill_version": input(func(h *house) any { return stampSkill{namedSkill: namedSkill{h.skill()}} }),
	"publish_skill":       input(func(h *house) any { return publishSkill{namedSkill: namedSkill{h.skill()}} }),

	"list_models": input(nothing),
	"register_model": input(func(h *house) any {
		return registerModel{NewModel{Name: h.fresh(), ModelSettings: ModelSettings{Provider: "openai", Model: "qwen3:8b"}}}
	}),
	"get_model": input(func(h *house) any { return namedModel{h.model()} }),
	"update_model": input(func(h *house) any {
		return updateModel{namedModel: namedModel{h.model()}, Body: ModelSettings{Provider: "anthropic", Model: "claude"}}
	}),
	"delete_model":    input(func(h *house) any { return deleteModel{namedModel: namedModel{h.model()}} }),
	"test_model":      input(func(h *house) any { return namedModel{h.model()} }),
	"get_agent_model": input(nothing),
	"get_usage":       input(func(*house) any { return getUsage{} }),

	"get_registry_report":  input(func(*house) any { return ofMember{} }),
	"list_registry_epochs": input(func(*house) any { return listEpochs{} }),
	"get_registry_turn":    {in: func(*house, identity.Principal, owned) any { return turnPath{Turn: uuid.NewString()} }, fails: "not_found"},
	"set_agent_model": input(func(h *house) any {
		name := h.model()
		return setModel{ModelChoice{Nullable[string]{Set: true, Value: &name}}}
	}),

	"list_secrets":  input(nothing),
	"create_secret": input(func(h *house) any { return createSecret{NewSecret{h.freshSecret(), SecretValue{Value: "x"}}} }),
	"set_secret":    onSecret(func(name string) any { return setSecret{name, SecretValue{Value: "y"}} }),
	"delete_secret": onSecret(func(name string) any { return deleteSecret{Name: name} }),

	"list_members": input(nothing),
	"set_member_role": input(func(h *house) any {
		return setRole{memberPath{h.join(h.fresh(), capability.RoleViewer)}, NewRole{capability.RoleMember}}
	}),
	"remove_member":     input(func(h *house) any { return memberPath{h.join(h.fresh(), capability.RoleViewer)} }),
	"list_invitations":  input(nothing),
	"create_invitation": input(func(*house) any { return invite{NewInvitation{Role: capability.RoleViewer}} }),
	"revoke_invitation": input(func(h *house) any {
		i, _, err := h.Identity.Invite(h.t.Context(), h.as(maker), capability.RoleViewer, "")
		must(h.t, err)
		return invitationPath{i.ID}
	}),

	"list_conversations":  input(nothing),
	"create_conversation": input(func(*house) any { return newConversation{} }),
	"get_conversation":    inConversation(func(c conversationPath) any { return c }),
	"update_conversation": inConversation(func(c conversationPath) any { return patchConversation{conversationPath: c} }),
	"delete_conversation": inConversation(func(c conversationPath) any { return c }),
	"list_ledger":         inConversation(func(c conversationPath) any { return ledgerAfter{conversationPath: c} }),
	"stop_turn":           inConversation(func(c conversationPath) any { return c }),
	"create_turn":         inConversation(func(c conversationPath) any { return newTurn{conversationPath: c, Body: Message{Text: "hello"}} }),
	"list_approvals":      input(func(*house) any { return listApprovals{} }),
	"get_approval":        failing("not_found", func(*house) any { return approvalPath{ID: uuid.NewString()} }),
	"answer_approval": failing("not_found", func(*house) any {
		return answerApproval{approvalPath{ID: uuid.NewString()}, ApprovalAnswer{Answer: capability.AnswerOnce}}
	}),
	"list_grants":           input(nothing),
	"revoke_grant":          failing("not_found", func(*house) any { return grantPath{ID: uuid.NewString()} }),
	"get_policies":          input(nothing),
	"set_policies":          failing("stale_config", func(*house) any { return setPolicies{IfMatch: "0"} }),
	"list_held_definitions": failing("not_found", func(h *house) any { return definitionPath{h.key(h.capability(maker)).Key} }),
	"accept_definition": failing("not_found", func(h *house) any {
		return acceptDefinition{definitionPath{h.key(h.capability(maker)).Key}, AcceptedDefinition{}}
	}),
	"list_tokens":  input(nothing),
	"create_token": input(func(h *house) any { return createToken{NewToken{Name: h.fresh()}} }),
	"revoke_token": {in: func(h *house, who identity.Principal, _ owned) any {
		t, _, err := h.Identity.IssueToken(h.t.Context(), string(who.Role)+"@acme.test", "acme", identity.NewToken{Name: "x"})
		must(h.t, err)
		return tokenPath{t.ID}
	}},
}

// inConversation is about a conversation of the actor's own.
func inConversation(make func(c conversationPath) any) attempt {
	return attempt{in: func(h *house, who identity.Principal, _ owned) any {
		c, err := h.Agent.NewConversation(h.t.Context(), h.as(string(who.Role)))
		must(h.t, err)
		return make(conversationPath{ID: c.ID.String()})
	}}
}

func failing(code string, make func(h *house) any) attempt {
	a := input(make)
	a.fails = code
	return a
}

// TestRights runs every operation as every role, under every scope and with
// every ownership: who is refused is exactly whom the kernel's table refuses.
func TestRights(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for _, op := range All(h.Services) {
		if op.Action == "" {
			continue
		}
		a, ok := attempts[op.Name]
		if !ok {
			t.Errorf("%s: say how to attempt it", op.Name)
			continue
		}
		t.Run(op.Name, func(t *testing.T) {
			t.Parallel()
			h := *h
			h.t = t
			h.attemptAll(op, a)
		})
	}
}

func (h *house) attemptAll(op Operation, a attempt) {
	for _, role := range capability.Roles {
		for _, scope := range append([]capability.Scope{capability.ScopeSession}, capability.Scopes...) {
			for _, own := range ownerships {
				if a.owned || own.Creator {
					h.attempt(op, a, h.who(role, scope), own)
				}
			}
		}
	}
}

func (h *house) attempt(op Operation, a attempt, who identity.Principal, own owned) {
	h.t.Helper()
	if op.Area == AreaSecrets {
		own.Maintainer = false // secrets have none
	}
	_, err := op.Run(h.t.Context(), who, a.in(h, who, own))
	want := capability.May(who.Actor(), op.Action, own.Ownership)
	if op.Name == "create_token" && want == nil && who.Scope != capability.ScopeSession {
		want = fault.Deny("session_needed", "", "") // a token makes no tokens
	}
	switch {
	case want != nil:
		if !fault.HasCode(err, fault.From(want).Code) {
			h.t.Errorf("%s as %s %q on %s: %v, want %v", op.Name, who.Role, who.Scope, own.name, err, want)
		}
	case err != nil && !fault.HasCode(err, a.fails):
		h.t.Errorf("%s as %s %q on %s: %v, want it done", op.Name, who.Role, who.Scope, own.name, err)
	}
}

// TestDeclarations holds what every surface relies on.
func TestDeclarations(t *testing.T) {
	t.Parallel()
	names, routes := map[string]bool{}, map[string]bool{}
	for _, op := range All(Services{}) {
		if names[op.Name] || routes[op.Method+op.Path] {
			t.Errorf("%s is declared twice", op.Name)
		}
		names[op.Name], routes[op.Method+op.Path] = true, true
		if op.Summary == "" || op.Area == "" {
			t.Errorf("%s has no summary or area", op.Name)
		}
		if op.Action != "" && !slices.Contains(capability.Actions(), op.Action) {
			t.Errorf("%s needs %q, which is no action", op.Name, op.Action)
		}
		for _, p := range op.Params() {
			if p.Doc == "" && p.Place != InBody {
				t.Errorf("%s: say what %s is", op.Name, p.Name)
			}
		}
	}
}
