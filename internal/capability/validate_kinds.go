package capability

import (
	"path"
	"regexp"
	"strconv"
	"strings"

	"capstore/internal/jsonx"
)

var (
	harnessPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
	matcherPattern = regexp.MustCompile(`^[A-Za-z0-9_*?-]{0,128}$`)
)

func (s *SkillSpec) validate(f *faults, _ Rules) {
	f.required("/spec/instructions", "The text of the skill", s.Instructions)
	f.document("/spec/instructions", "The text of the skill", s.Instructions, MaxInstructions)
	// The front matter comes on top of the body that is limited above.
	f.document("/spec/raw", "The original SKILL.md", s.Raw, MaxInstructions+64<<10)
	f.files(s.Files)
	for i, file := range s.Files {
		if PathKey(file.Path) == PathKey(SkillFileName) {
			f.add(jsonx.Pointer("/spec/files", strconv.Itoa(i), "path"), "reserved_path",
				"%s is the skill itself; put its text into the instructions.", SkillFileName)
		}
	}
	f.plain("/spec/license", "The license", s.License, 1024)
	f.plain("/spec/compatibility", "The compatibility", s.Compatibility, 500)
	f.plain("/spec/allowedTools", "The list of tools", s.AllowedTools, 4096)
	f.count("/spec/metadata", "metadata keys", len(s.Metadata), 100)
	for _, key := range sortedKeys(s.Metadata) {
		at := jsonx.Pointer("/spec/metadata", key)
		f.required(at, "A metadata key", key)
		f.plain(at, "The metadata key", key, 128)
		f.document(at, "The metadata value", s.Metadata[key], 8192)
	}
	f.leans(s.Leans)
}

func (s *EnvironmentSpec) validate(f *faults, _ Rules) {
	f.requiredImage(s.Image)
	if len(s.Preset) > 0 {
		f.rawJSON("/spec/preset", s.Preset, MaxPreset)
	}
	f.document("/spec/instructions", "The agent contract", s.Instructions, MaxInstructions)
	f.plain("/spec/benchmark", "The benchmark", s.Benchmark, 200)
}

func (f *faults) requiredImage(image string) {
	if image == "" {
		f.add("/spec/image", "required", "An image is required.")
		return
	}
	f.image("/spec/image", image)
}

const maxTTLSec = 7 * 24 * 60 * 60

func (s *DelegationSpec) validate(f *faults, _ Rules) {
	if s.Harness == "" {
		f.add("/spec/harness", "required", "Name the harness that does the work.")
	} else if !harnessPattern.MatchString(s.Harness) {
		f.add("/spec/harness", "bad_harness", "A harness is 1 to 64 letters, digits, dots, hyphens and underscores.")
	}
	f.requiredImage(s.Image)
	f.plain("/spec/model", "The model", s.Model, 200)
	f.environment(s.Env)
	if s.WorkDir != "" {
		f.workDir(s.WorkDir)
	}
	f.document("/spec/instructions", "The standing brief", s.Instructions, MaxInstructions)
	if s.InstructionsFile != "" {
		if code, message := PathFault(s.InstructionsFile); code != "" {
			f.add("/spec/instructionsFile", code, "%s", message)
		}
	}
	f.between("/spec/ttlSec", "The time to live", s.TTLSec, 1, maxTTLSec)
}

func (f *faults) workDir(dir string) {
	f.plain("/spec/workDir", "The working folder", dir, 512)
	if !strings.HasPrefix(dir, "/") || path.Clean(dir) != strings.TrimRight(dir, "/") && dir != "/" {
		f.add("/spec/workDir", "bad_path", "The working folder is an absolute path such as /work, without . or .. in it.")
	}
}

func (f *faults) environment(env map[string]EnvValue) {
	f.count("/spec/env", "variables", len(env), 100)
	for _, name := range sortedKeys(env) {
		at, v := jsonx.Pointer("/spec/env", name), env[name]
		if !envPattern.MatchString(name) {
			f.add(at, "bad_variable", "A variable's name is letters, digits and underscores, with no digit first.")
		}
		switch {
		case v.SecretRef == "":
			if v.Scope != "" {
				f.add(at+"/scope", "not_allowed", "Only a reference to a secret has a scope.")
			}
			f.document(at, "The value", v.Literal, 32<<10)
			if HoldsSecret(name + "=" + v.Literal) {
				f.add(at, "literal_secret", "This looks like a secret. Refer to one by its name instead.")
			}
		case v.Literal != "":
			f.add(at, "one_of", "A variable is a literal or a reference to a secret, not both.")
		default:
			f.secretName(at+"/secretRef", v.SecretRef)
			if v.Scope != "" && v.Scope != SecretWorkspace && v.Scope != SecretPersonal {
				f.add(at+"/scope", "not_allowed", "The scope of a secret is workspace or personal.")
			}
		}
	}
}

// Scopes of a secret that a delegation profile refers to.
const (
	SecretWorkspace = "workspace"
	SecretPersonal  = "personal"
)

// Events lists every event of a hook in the order of a turn.
var Events = []Event{EventSessionStart, EventUserPromptSubmit, EventBeforeTool, EventAfterTool, EventTurnEnd}

func (s *HookSpec) validate(f *faults, _ Rules) {
	f.event(s.Event)
	if !matcherPattern.MatchString(s.Matcher) {
		f.add("/spec/matcher", "bad_glob", "A matcher is a tool's name in which * stands for any text and ? for one character.")
	}
	f.language(s.Language, Python, Node, Bash)
	f.code(s.Code)
	f.files(s.Files)
	switch s.FailureMode {
	case "", Advisory, FailClosed:
	default:
		f.add("/spec/failureMode", "not_allowed", "The failure mode is advisory or fail-closed.")
	}
	f.between("/spec/timeoutSec", "The time limit", s.TimeoutSec, 1, MaxTimeoutSec)
	f.leans(s.Leans)
}

func (f *faults) event(e Event) {
	names := make([]string, len(Events))
	for i, known := range Events {
		if e == known {
			return
		}
		names[i] = string(known)
	}
	if e == "" {
		f.add("/spec/event", "required", "Say when the hook runs: %s.", strings.Join(names, ", "))
		return
	}
	f.add("/spec/event", "not_allowed", "The event is one of %s.", strings.Join(names, ", "))
}

// FailsClosed reports whether a hook that cannot run denies what it watches.
// Undeclared, it does so before a tool and nowhere else.
func (s *HookSpec) FailsClosed() bool {
	if s.FailureMode == "" {
		return s.Event == EventBeforeTool
	}
	return s.FailureMode == FailClosed
}

func (s *CommandSpec) validate(f *faults, _ Rules) {
	f.required("/spec/template", "The template", s.Template)
	f.document("/spec/template", "The template", s.Template, MaxTemplate)
	f.plain("/spec/argumentHint", "The hint", s.ArgumentHint, 200)
	f.unique("/spec/allowedTools", "tools", s.AllowedTools, 100, func(path, tool string) {
		f.required(path, "A tool's name", tool)
		f.plain(path, "The tool's name", tool, 200)
	})
	f.leans(s.Leans)
}

// commandName keeps the words that the chat itself answers to.
func (f *faults) commandName(name string) {
	switch word := strings.ToLower(strings.TrimLeft(strings.TrimSpace(name), "/")); {
	case word == "tool", word == "skill", strings.HasPrefix(word, "skill:"), FoldName(word) == "tool":
		f.add("/name", "reserved", "The chat keeps /tool and /skill for itself; choose another name.")
	}
}
