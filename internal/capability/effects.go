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
	EffectHosts         EffectCode = "hosts_added"       // wants to reach these hosts
	EffectAddress       EffectCode = "address_changed"   // is served from here
	EffectImage         EffectCode = "image_changed"     // runs in this image
	EffectArguments     EffectCode = "arguments_changed" // its image is started differently
	EffectScripts       EffectCode = "scripts_added"     // carries files that can be run
	EffectScriptEdits   EffectCode = "scripts_changed"
	EffectAllowedTools  EffectCode = "allowed_tools"     // asks for these tools
	EffectDeclaresHooks EffectCode = "declares_hooks"    // front matter that other hosts execute
	EffectExpansion     EffectCode = "command_expansion" // text that other hosts execute
	EffectVariables     EffectCode = "variables_added"   // sets these variables of the worker
)

// Other effects.
const (
	EffectKind            EffectCode = "kind_changed"
	EffectRenamed         EffectCode = "renamed"
	EffectCodeEdit        EffectCode = "code_changed"
	EffectToolsAdded      EffectCode = "tools_added"
	EffectToolsRemoved    EffectCode = "tools_removed"
	EffectSecretsRemoved  EffectCode = "secrets_removed"
	EffectHostsRemoved    EffectCode = "hosts_removed"
	EffectSettings        EffectCode = "settings_required"
	EffectParamsAdded     EffectCode = "parameters_added"
	EffectParamsRequired  EffectCode = "parameters_required"
	EffectParamsRemoved   EffectCode = "parameters_removed"
	EffectParamsChanged   EffectCode = "parameters_changed"
	EffectRequirements    EffectCode = "requires_added"
	EffectFailureMode     EffectCode = "failure_mode"
	EffectTimeLimit       EffectCode = "time_limit"
	EffectReadOnlyNow     EffectCode = "reads_only"
	EffectVariableRemoved EffectCode = "variables_removed"
)

// Powers and Consequences list every effect in the order in which Effects
// tells them.
var (
	Powers = []EffectCode{
		EffectRunsCode, EffectHookEvent, EffectHookWider, EffectWrites, EffectWriteTools, EffectSecrets, EffectHosts,
		EffectAddress, EffectImage, EffectArguments, EffectScripts, EffectScriptEdits, EffectAllowedTools,
		EffectDeclaresHooks, EffectExpansion, EffectVariables,
	}
	Consequences = []EffectCode{
		EffectKind, EffectRenamed, EffectCodeEdit, EffectToolsAdded, EffectToolsRemoved, EffectSecretsRemoved,
		EffectHostsRemoved, EffectSettings, EffectParamsAdded, EffectParamsRequired, EffectParamsRemoved,
		EffectParamsChanged, EffectRequirements, EffectFailureMode, EffectTimeLimit, EffectReadOnlyNow,
		EffectVariableRemoved,
	}
)

// Effect is one thing that a new version changes for its users.
type Effect struct {
	Code EffectCode `json:"code"`
	// Items are what it is about: tools, secrets, hosts, parameters, sorted.
	Items []string `json:"items,omitempty"`
	// Power marks what the new version can do that the old one could not.
	Power bool `json:"power,omitempty"`
}

// Effects says what going from base to candidate changes for whoever uses the
// capability: new powers first, nothing for changes of words alone. With a
// zero base it says what adopting the candidate brings.
func Effects(base, candidate Content) []Effect {
	old, now := facetsOf(base), facetsOf(candidate)
	var out []Effect
	for _, list := range []struct {
		codes []EffectCode
		power bool
	}{{Powers, true}, {Consequences, false}} {
		for _, code := range list.codes {
			if items, ok := compareFacet(code, old, now); ok {
				out = append(out, Effect{Code: code, Items: items, Power: list.power})
			}
		}
	}
	return out
}

// NewPowers is the part of Effects that gives the capability more than it had.
func NewPowers(base, candidate Content) []Effect {
	return slices.DeleteFunc(Effects(base, candidate), func(e Effect) bool { return !e.Power })
}

// compareFacet decides one effect. Without a base only powers and needs count:
// there is nothing that could have been renamed or edited.
func compareFacet(code EffectCode, old, now facets) (items []string, ok bool) {
	first := old.kind == ""
	switch code {
	case EffectKind:
		return []string{string(old.kind), string(now.kind)}, !first && old.kind != now.kind
	case EffectRenamed:
		return []string{old.name, now.name}, !first && old.name != now.name
	case EffectRunsCode:
		return nil, now.code != "" && old.code == ""
	case EffectCodeEdit:
		return nil, now.code != "" && old.code != "" && old.code != now.code
	case EffectWrites:
		return nil, now.writes && !old.writes
	case EffectReadOnlyNow:
		return nil, old.writes && !now.writes
	case EffectHookWider:
		return []string{now.matcher}, old.matcher != "" && now.matcher != "" && old.matcher != now.matcher && old.matcher != "*"
	case EffectAddress:
		return differs(old.address, now.address)
	case EffectImage:
		return differs(old.image, now.image)
	case EffectArguments:
		return now.args, !first && !slices.Equal(old.args, now.args)
	case EffectFailureMode:
		return []string{now.failure}, !first && now.failure != "" && old.failure != now.failure
	case EffectTimeLimit:
		return []string{now.timeout}, !first && now.timeout != "" && old.timeout != now.timeout
	}
	return compareSets(code, old, now)
}

func differs(old, now string) ([]string, bool) { return []string{now}, now != "" && old != now }

func compareSets(code EffectCode, old, now facets) (items []string, ok bool) {
	first := old.kind == ""
	switch code {
	case EffectHookEvent:
		items = now.events.minus(old.events)
	case EffectWriteTools:
		items = now.writeTools.minus(old.writeTools)
	case EffectToolsAdded:
		items = now.tools.minus(old.tools)
	case EffectToolsRemoved:
		items = old.tools.minus(now.tools)
	case EffectSecrets:
		items = now.secrets.minus(old.secrets)
	case EffectSecretsRemoved:
		items = old.secrets.minus(now.secrets)
	case EffectHosts:
		items = now.hosts.minus(old.hosts)
	case EffectHostsRemoved:
		items = old.hosts.minus(now.hosts)
	case EffectSettings:
		items = now.settings.minus(old.settings)
	case EffectScripts:
		items = now.scripts.minus(old.scripts)
	case EffectScriptEdits:
		items = now.scripts.edited(old.scripts)
	case EffectAllowedTools:
		items = now.allowed.minus(old.allowed)
	case EffectDeclaresHooks:
		return nil, now.declaresHooks && !old.declaresHooks
	case EffectExpansion:
		return nil, now.expands && !old.expands
	case EffectVariables:
		items = now.variables.minus(old.variables)
	case EffectVariableRemoved:
		items = old.variables.minus(now.variables)
	case EffectRequirements:
		items = now.requires.minus(old.requires)
	case EffectParamsAdded:
		items = onlyAfter(first, now.parameters.minus(old.parameters))
	case EffectParamsRemoved:
		items = old.parameters.minus(now.parameters)
	case EffectParamsChanged:
		items = now.parameters.edited(old.parameters)
	case EffectParamsRequired:
		items = onlyAfter(first, now.required.minus(old.required))
	}
	return items, len(items) > 0
}

func onlyAfter(first bool, items []string) []string {
	if first {
		return nil
	}
	return items
}
