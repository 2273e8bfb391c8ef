package capability

import (
	"slices"
)

// EffectCode is a closed code for what a new version means to whoever uses the
// capability. The catalogues hold the words.
type EffectCode string

// Powers: what the new version can do, or asks for, that the old one did not.
const (
	EffectRunsCode      EffectCode = "runs_code"         // the server runs code of its author
	EffectHookEvent     EffectCode = "hook_event"        // runs at this event
	EffectHookWider     EffectCode = "hook_wider"        // watches tools that it did not watch
	EffectWrites        EffectCode = "writes"            // says that it changes things
	EffectWriteTools    EffectCode = "write_tools"       // these tools change things, or do not say
	EffectSecrets       EffectCode = "secrets_added"     // wants these secrets
	EffectSecretsElse   EffectCode = "secrets_elsewhere" // hands these secrets over in another place
	EffectHosts         EffectCode = "hosts_added"       // wants to reach these hosts
	EffectAddress       EffectCode = "address_changed"   // is served from here
	EffectImage         EffectCode = "image_changed"     // runs in this image
	EffectImageUnpinned EffectCode = "image_unpinned"    // its image can change without a version
	EffectArguments     EffectCode = "arguments_changed" // its image is started differently
	EffectScripts       EffectCode = "scripts_added"     // carries files that can be run
	EffectScriptEdits   EffectCode = "scripts_changed"
	EffectAllowedTools  EffectCode = "allowed_tools"     // asks for these tools
	EffectDeclaresHooks EffectCode = "declares_hooks"    // front matter that other hosts execute
	EffectExpansion     EffectCode = "command_expansion" // text that other hosts execute
	EffectVariables     EffectCode = "variables_added"   // sets these variables of the worker
	EffectVariableEdits EffectCode = "variables_changed"
	EffectHiddenText    EffectCode = "hidden_text" // more characters that no reader sees, in these parts
	EffectMayDeny       EffectCode = "may_deny"    // stops the calls that it watches when it fails
)

// What breaks the use of the old version.
const (
	EffectKind           EffectCode = "kind_changed"
	EffectRenamed        EffectCode = "renamed"
	EffectToolsRemoved   EffectCode = "tools_removed"
	EffectSettings       EffectCode = "settings_required"
	EffectParamsRequired EffectCode = "parameters_required"
	EffectParamsRemoved  EffectCode = "parameters_removed"
	EffectParamsChanged  EffectCode = "parameters_changed"
	EffectParamsRules    EffectCode = "parameters_rules" // what holds for all of them together
)

// Other effects.
const (
	EffectCodeEdit        EffectCode = "code_changed"
	EffectToolsAdded      EffectCode = "tools_added"
	EffectParamsAdded     EffectCode = "parameters_added"
	EffectParamsReworded  EffectCode = "parameters_reworded"
	EffectModelText       EffectCode = "model_text" // from about so many tokens to so many
	EffectEndpoint        EffectCode = "endpoint_changed"
	EffectAuth            EffectCode = "auth_changed"
	EffectSettingsAdded   EffectCode = "settings_added"
	EffectSettingsEdits   EffectCode = "settings_changed"
	EffectHarness         EffectCode = "harness_changed"
	EffectModel           EffectCode = "model_changed"
	EffectFailureMode     EffectCode = "failure_mode"
	EffectTimeLimit       EffectCode = "time_limit" // seconds
	EffectRequirements    EffectCode = "requires_added"
	EffectServes          EffectCode = "serves_added"
	EffectLicence         EffectCode = "licence_changed"
	EffectReadOnlyNow     EffectCode = "reads_only"
	EffectReadTools       EffectCode = "read_tools" // these tools only read now
	EffectSecretsRemoved  EffectCode = "secrets_removed"
	EffectHostsRemoved    EffectCode = "hosts_removed"
	EffectSettingsRemoved EffectCode = "settings_removed"
	EffectScriptsRemoved  EffectCode = "scripts_removed"
	EffectAllowedRemoved  EffectCode = "allowed_tools_removed"
	EffectVariableRemoved EffectCode = "variables_removed"
	EffectRequiresRemoved EffectCode = "requires_removed"
	EffectServesRemoved   EffectCode = "serves_removed"
)

// Effect is one thing that a new version changes for its users.
type Effect struct {
	Code EffectCode `json:"code"`
	// Items are what it is about: tools, secrets, hosts, parameters, sorted.
	Items []string `json:"items,omitempty"`
	// Before and After are what one thing was and is; "" for nothing.
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
	// Power marks what the new version can do that the old one could not.
	Power bool `json:"power,omitempty"`
	// Breaking marks what stops those who go on as before.
	Breaking bool `json:"breaking,omitempty"`
}

// Effects says what going from base to candidate changes for whoever uses the
// capability, the gravest first: new powers, then what breaks, then the rest.
// Nothing for changes that nobody would notice. With a zero base it says what
// adopting the candidate brings.
func Effects(base, candidate Content) []Effect {
	old, now := facetsOf(base), facetsOf(candidate)
	first := old.kind == ""
	var out []Effect
	for _, rule := range effectRules {
		if first && rule.onlyChange {
			continue
		}
		effect, found := rule.find(old, now)
		if !found {
			continue
		}
		effect.Code, effect.Power, effect.Breaking = rule.code, rule.power, rule.breaking && !first
		out = append(out, effect)
	}
	return out
}

// NewPowers is the part of Effects that gives the capability more than it had.
func NewPowers(base, candidate Content) []Effect {
	return slices.DeleteFunc(Effects(base, candidate), func(e Effect) bool { return !e.Power })
}

// SuggestBump is the bump that semantic versioning asks for, with the effects
// that ask for it: major where something breaks, minor where something can be
// done that could not, else patch for no effect at all.
func SuggestBump(base, candidate Content) (bump string, why []Effect) {
	var breaking, more []Effect
	for _, e := range Effects(base, candidate) {
		switch {
		case e.Breaking:
			breaking = append(breaking, e)
		case e.Power, slices.Contains(additions, e.Code):
			more = append(more, e)
		}
	}
	switch {
	case len(breaking) > 0:
		return BumpMajor, breaking
	case len(more) > 0:
		return BumpMinor, more
	}
	return BumpPatch, nil
}

// additions are the effects that are no powers and still offer more.
var additions = []EffectCode{EffectToolsAdded, EffectParamsAdded, EffectSettingsAdded, EffectServes}
