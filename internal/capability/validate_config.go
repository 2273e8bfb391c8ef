package capability

import (
	"slices"
	"strconv"

	"capstore/internal/fault"
	"capstore/internal/jsonx"
)

// PermissionModes lists every mode from strictest to loosest.
var PermissionModes = []PermissionMode{ModePlan, ModeAsk, ModeAuto, ModeBypass}

const (
	maxAdoptions  = 5000
	maxRawServers = 200
	maxRules      = 200
)

// Validate returns every fault of the config by itself, nil when there is
// none. Whether its pins exist and fit their capabilities is for the store and
// for Adoption.Check.
func (c AgentConfig) Validate(r Rules) []fault.Field {
	var f faults
	f.adoptions(c.Capabilities)
	f.rawServers(c.MCPServers, r)
	f.unique("/disabledDefaults", "defaults", c.DisabledDefaults, 200, func(path, id string) {
		f.plain(path, "The default", id, maxID)
	})
	f.bindingTable(c.ToolSecretBindings)
	f.plain("/model", "The model", c.Model, 200)
	f.document("/instructions", "The instructions", c.Instructions, MaxInstructions)
	f.zeroByte("/instructions", c.Instructions)
	if !slices.Contains(PermissionModes, c.PermissionMode) {
		f.add("/permissionMode", "not_allowed", "The permission mode is plan, ask, auto or bypass.")
	}
	f.policies(c.Policy)
	f.channels(c.Channels)
	if c.Slice != SliceOn && c.Slice != SliceOff {
		f.add("/slice", "not_allowed", "Slicing is off, or left out.")
	}
	if c.Definitions != DefinitionsHold && c.Definitions != DefinitionsNotice {
		f.add("/definitions", "not_allowed", "Definitions is notice, or left out.")
	}
	return f
}

func (f *faults) adoptions(list []Adoption) {
	f.count("/capabilities", "adoptions", len(list), maxAdoptions)
	seen := map[string]bool{}
	for i, a := range list {
		at := jsonx.Pointer("/capabilities", strconv.Itoa(i))
		f.ref(at, a.Ref)
		f.first(seen, at, a.Source+"/"+a.ID)
		f.bindings(at+"/secretBindings", a.SecretBindings)
		f.toolClasses(at+"/toolClasses", a.ToolClasses)
		f.hosts(at+"/egress", a.Egress)
		f.unique(at+"/writeTools", "tools", a.WriteTools, 5000, f.toolName)
	}
}

func (f *faults) ref(at string, r Ref) {
	if r.Source != FirstPartyOwner && !slugPattern.MatchString(r.Source) {
		f.add(at+"/source", "bad_slug", "The source is the short name of a workspace.")
	}
	if !ValidID(r.ID) {
		f.add(at+"/id", "bad_id", "An id is 1 to 63 lower-case letters, digits and hyphens.")
	}
	if _, err := ParseVersion(r.Version); err != nil {
		f.add(at+"/version", "bad_version", "%s", fault.From(err).Message)
	}
}

func (f *faults) bindings(path string, bindings map[string]string) {
	f.count(path, "bindings", len(bindings), 50)
	for _, declared := range sortedKeys(bindings) {
		at := jsonx.Pointer(path, declared)
		if !ValidSecretName(declared) {
			f.secretName(at, declared)
			continue
		}
		if name := bindings[declared]; name != "" {
			f.secretName(at, name)
		}
	}
}

func (f *faults) bindingTable(table map[string]map[string]string) {
	const path = "/toolSecretBindings"
	f.count(path, "bound tools", len(table), maxAdoptions)
	for _, key := range sortedKeys(table) {
		at := jsonx.Pointer(path, key)
		if _, ok := ParseKey(key); !ok {
			f.add(at, "bad_key", "%q is not the key of a tool.", cut(key, 60))
		}
		f.bindings(at, table[key])
	}
}

func (f *faults) rawServers(list []RawServer, r Rules) {
	const path = "/mcpServers"
	f.count(path, "servers", len(list), maxRawServers)
	seen := map[string]string{}
	for i, s := range list {
		at := jsonx.Pointer(path, strconv.Itoa(i))
		f.name(at+"/name", s.Name)
		if key := FoldName(s.Name); seen[key] != "" {
			f.add(at+"/name", "name_taken", "%q cannot be told apart from %q.", cut(s.Name, 40), cut(seen[key], 40))
		} else {
			seen[key] = s.Name
		}
		f.serverURL(at+"/url", s.URL, nil, r)
		if s.AuthSecret != "" {
			f.secretName(at+"/authSecret", s.AuthSecret)
		}
		f.unique(at+"/serves", "domains", s.Serves, 20, f.domain)
	}
}

func (f *faults) glob(path, pattern string) {
	f.required(path, "A pattern", pattern)
	f.plain(path, "The pattern", pattern, 200)
}

func (f *faults) channels(channels map[Surface]ChannelRule) {
	for _, on := range sortedKeys(channels) {
		at := jsonx.Pointer("/channels", string(on))
		if !slices.Contains(Surfaces, on) {
			f.add(at, "not_allowed", "A channel is web, api or gateway.")
		}
		f.unique(at+"/allow", "patterns", channels[on].Allow, maxRules, f.glob)
		f.unique(at+"/deny", "patterns", channels[on].Deny, maxRules, f.glob)
	}
}

// Check returns every way in which the adoption does not fit the content that
// it pins, with paths from the adoption: a binding, setting, host or write
// tool that the content does not declare. A binding or setting left out is no
// fault; it shows as needing setup.
func (a Adoption) Check(c Content) []fault.Field {
	var f faults
	secrets := SecretsOf(c.Spec)
	for _, declared := range sortedKeys(a.SecretBindings) {
		if !slices.ContainsFunc(secrets, func(s RequiredSecret) bool { return s.Name == declared }) {
			f.add(jsonx.Pointer("/secretBindings", declared), "not_declared", "This capability declares no secret %s.", cut(declared, 64))
		}
	}
	f.bindings("/secretBindings", a.SecretBindings)
	f.checkSettings(a.Settings, c.Spec)
	f.checkEgress(a.Egress, c.Spec)
	f.toolClasses("/toolClasses", a.ToolClasses)
	f.unique("/writeTools", "tools", a.WriteTools, 5000, f.toolName)
	if len(a.WriteTools) > 0 && !a.EnableWrite {
		f.add("/writeTools", "not_allowed", "Naming tools that may write takes the opt-in to write.")
	}
	return f
}

func (f *faults) checkSettings(values map[string]string, spec Spec) {
	var declared []Setting
	if m, ok := spec.(*MCPSpec); ok {
		declared = m.Settings
	}
	for _, name := range sortedKeys(values) {
		at := jsonx.Pointer("/settings", name)
		if !slices.ContainsFunc(declared, func(s Setting) bool { return s.Name == name }) {
			f.add(at, "not_declared", "This capability declares no setting %s.", cut(name, 64))
		}
		f.plain(at, "The value", values[name], 4096)
	}
}

func (f *faults) checkEgress(hosts []string, spec Spec) {
	var asked []string
	if s, ok := spec.(*CodeSpec); ok {
		asked = s.Egress
	}
	f.unique("/egress", "hosts", hosts, 50, func(path, host string) {
		if !slices.Contains(asked, host) {
			f.add(path, "not_declared", "This capability does not ask for %s.", cut(host, 60))
		}
	})
}

// MissingSettings returns the required settings that have neither a value nor
// a default.
func MissingSettings(spec Spec, values map[string]string) []Setting {
	m, ok := spec.(*MCPSpec)
	if !ok {
		return nil
	}
	var out []Setting
	for _, s := range m.Settings {
		if s.Required && s.Default == "" && values[s.Name] == "" {
			out = append(out, s)
		}
	}
	return out
}
