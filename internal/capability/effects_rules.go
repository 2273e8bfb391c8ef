package capability

import (
	"slices"
	"strconv"
	"strings"
)

// effectRule decides one effect.
type effectRule struct {
	code     EffectCode
	power    bool
	breaking bool // for those who had a version before
	// onlyChange marks what means nothing without a version before.
	onlyChange bool
	find       func(old, now facets) (Effect, bool)
}

func power(code EffectCode, find func(old, now facets) (Effect, bool)) effectRule {
	return effectRule{code: code, power: true, find: find}
}

func breaks(code EffectCode, find func(old, now facets) (Effect, bool)) effectRule {
	return effectRule{code: code, breaking: true, onlyChange: true, find: find}
}

func changes(code EffectCode, find func(old, now facets) (Effect, bool)) effectRule {
	return effectRule{code: code, onlyChange: true, find: find}
}

// effectRules are in the order in which a reader is told, the gravest first.
var effectRules = []effectRule{
	power(EffectRunsCode, turned(func(f facets) bool { return f.code != "" })),
	power(EffectHookEvent, added(func(f facets) facet { return f.events })),
	power(EffectHookWider, widened),
	power(EffectWrites, turned(func(f facets) bool { return f.writes })),
	power(EffectWriteTools, added(func(f facets) facet { return f.writeTools })),
	{code: EffectSecrets, power: true, breaking: true, find: added(func(f facets) facet { return f.secrets })},
	power(EffectSecretsElse, edited(func(f facets) facet { return f.secrets })),
	power(EffectHosts, added(func(f facets) facet { return f.hosts })),
	power(EffectAddress, moved(func(f facets) string { return f.address })),
	power(EffectImage, moved(func(f facets) string { return f.image })),
	power(EffectImageUnpinned, unpinned),
	{code: EffectArguments, power: true, onlyChange: true, find: altered(func(f facets) string { return strings.Join(f.args, " ") })},
	power(EffectScripts, added(func(f facets) facet { return f.scripts })),
	power(EffectScriptEdits, edited(func(f facets) facet { return f.scripts })),
	power(EffectAllowedTools, added(func(f facets) facet { return f.allowed })),
	power(EffectDeclaresHooks, turned(func(f facets) bool { return f.declaresHooks })),
	power(EffectExpansion, turned(func(f facets) bool { return f.expands })),
	power(EffectVariables, added(func(f facets) facet { return f.variables })),
	power(EffectVariableEdits, edited(func(f facets) facet { return f.variables })),
	power(EffectMayDeny, turned(func(f facets) bool { return f.failure == string(FailClosed) })),
	power(EffectHiddenText, moreHidden),

	breaks(EffectKind, moved(func(f facets) string { return string(f.kind) })),
	breaks(EffectRenamed, moved(func(f facets) string { return f.name })),
	breaks(EffectToolsRemoved, removed(func(f facets) facet { return f.tools })),
	{code: EffectSettings, breaking: true, find: added(func(f facets) facet { return f.needed })},
	breaks(EffectParamsRequired, added(func(f facets) facet { return f.required })),
	breaks(EffectParamsRemoved, removed(func(f facets) facet { return f.parameters })),
	breaks(EffectParamsChanged, edited(func(f facets) facet { return f.parameters })),
	breaks(EffectParamsRules, rulesChanged),

	changes(EffectCodeEdit, codeEdited),
	{code: EffectToolsAdded, find: added(func(f facets) facet { return f.tools })},
	changes(EffectParamsAdded, added(func(f facets) facet { return f.parameters })),
	changes(EffectParamsReworded, reworded),
	changes(EffectModelText, modelText),
	changes(EffectEndpoint, endpoint),
	changes(EffectAuth, swapped(func(f facets) string { return f.auth })),
	changes(EffectSettingsAdded, optionalSettings),
	changes(EffectSettingsEdits, settingsEdited),
	changes(EffectHarness, swapped(func(f facets) string { return f.harness })),
	changes(EffectModel, altered(func(f facets) string { return f.model })),
	changes(EffectFailureMode, relaxed),
	changes(EffectTimeLimit, swapped(func(f facets) string { return f.timeout })),
	{code: EffectRequirements, find: added(func(f facets) facet { return f.requires })},
	changes(EffectServes, added(func(f facets) facet { return f.serves })),
	changes(EffectLicence, altered(func(f facets) string { return f.licence })),
	changes(EffectReadOnlyNow, turned(func(f facets) bool { return f.kind != "" && !f.writes })),
	changes(EffectReadTools, nowReading),
	changes(EffectSecretsRemoved, removed(func(f facets) facet { return f.secrets })),
	changes(EffectHostsRemoved, removed(func(f facets) facet { return f.hosts })),
	changes(EffectSettingsRemoved, removed(func(f facets) facet { return f.settings })),
	changes(EffectScriptsRemoved, removed(func(f facets) facet { return f.scripts })),
	changes(EffectAllowedRemoved, removed(func(f facets) facet { return f.allowed })),
	changes(EffectVariableRemoved, removed(func(f facets) facet { return f.variables })),
	changes(EffectRequiresRemoved, removed(func(f facets) facet { return f.requires })),
	changes(EffectServesRemoved, removed(func(f facets) facet { return f.serves })),
}

// EffectCodes are all effects, in the order in which Effects tells them.
func EffectCodes() []EffectCode {
	out := make([]EffectCode, len(effectRules))
	for i, rule := range effectRules {
		out[i] = rule.code
	}
	return out
}

func withItems(list []string) (Effect, bool) { return Effect{Items: list}, len(list) > 0 }

func added(of func(facets) facet) func(old, now facets) (Effect, bool) {
	return func(old, now facets) (Effect, bool) { return withItems(of(now).minus(of(old))) }
}

func removed(of func(facets) facet) func(old, now facets) (Effect, bool) {
	return func(old, now facets) (Effect, bool) { return withItems(of(old).minus(of(now))) }
}

func edited(of func(facets) facet) func(old, now facets) (Effect, bool) {
	return func(old, now facets) (Effect, bool) { return withItems(of(now).edited(of(old))) }
}

// turned is found where something holds that did not.
func turned(holds func(facets) bool) func(old, now facets) (Effect, bool) {
	return func(old, now facets) (Effect, bool) { return Effect{}, holds(now) && !holds(old) }
}

// altered is found where one thing differs, also where it went.
func altered(of func(facets) string) func(old, now facets) (Effect, bool) {
	return func(old, now facets) (Effect, bool) {
		return Effect{Before: of(old), After: of(now)}, of(old) != of(now)
	}
}

// moved is found where one thing is another now; what only went is told by
// whatever came in its place.
func moved(of func(facets) string) func(old, now facets) (Effect, bool) {
	return func(old, now facets) (Effect, bool) {
		return Effect{Before: of(old), After: of(now)}, of(now) != "" && of(old) != of(now)
	}
}

// swapped is moved where there was one before too.
func swapped(of func(facets) string) func(old, now facets) (Effect, bool) {
	return func(old, now facets) (Effect, bool) {
		effect, found := moved(of)(old, now)
		return effect, found && of(old) != ""
	}
}

func widened(old, now facets) (Effect, bool) {
	both := old.matcher != "" && now.matcher != ""
	return Effect{Before: old.matcher, After: now.matcher}, both && old.matcher != now.matcher && old.matcher != "*"
}

// unpinned is found where an image was named by its digest and is not now.
func unpinned(old, now facets) (Effect, bool) {
	pinned := func(image string) bool { return strings.Contains(image, "@sha256:") }
	return Effect{After: now.image}, pinned(old.image) && now.image != "" && !pinned(now.image)
}

func moreHidden(old, now facets) (Effect, bool) {
	var parts []string
	for _, part := range sortedKeys(now.hidden) {
		if now.hidden[part] > old.hidden[part] {
			parts = append(parts, part)
		}
	}
	return withItems(parts)
}

func rulesChanged(old, now facets) (Effect, bool) {
	return Effect{}, old.kind == now.kind && old.rules != now.rules
}

func codeEdited(old, now facets) (Effect, bool) {
	return Effect{}, now.code != "" && old.code != "" && old.code != now.code
}

// reworded are the parameters that mean the same in other words.
func reworded(old, now facets) (Effect, bool) {
	meaning := now.parameters.edited(old.parameters)
	return withItems(slices.DeleteFunc(now.parameterWords.edited(old.parameterWords), func(name string) bool {
		return slices.Contains(meaning, name)
	}))
}

// optionalSettings are the new ones that work as they stand.
func optionalSettings(old, now facets) (Effect, bool) {
	return withItems(slices.DeleteFunc(now.settings.minus(old.settings), func(name string) bool {
		_, needed := now.needed[name]
		return needed
	}))
}

// settingsEdited are those that differ and still work as they stand.
func settingsEdited(old, now facets) (Effect, bool) {
	waiting := now.needed.minus(old.needed)
	return withItems(slices.DeleteFunc(now.settings.edited(old.settings), func(name string) bool { return slices.Contains(waiting, name) }))
}

func modelText(old, now facets) (Effect, bool) {
	tokens := func(f facets) string { return strconv.Itoa(TokenEstimate(f.modelText)) }
	return Effect{Before: tokens(old), After: tokens(now)}, old.modelText != now.modelText
}

// endpoint is found where the server is elsewhere on the same host.
func endpoint(old, now facets) (Effect, bool) {
	return Effect{Before: old.endpoint, After: now.endpoint},
		now.endpoint != "" && old.endpoint != now.endpoint && old.address == now.address
}

// relaxed is found where a failing hook stopped calls and no longer does.
func relaxed(old, now facets) (Effect, bool) {
	return Effect{Before: old.failure, After: now.failure}, old.failure == string(FailClosed) && now.failure == string(Advisory)
}

func nowReading(old, now facets) (Effect, bool) {
	return withItems(slices.DeleteFunc(old.writeTools.minus(now.writeTools), func(tool string) bool {
		_, there := now.tools[tool]
		return !there
	}))
}
