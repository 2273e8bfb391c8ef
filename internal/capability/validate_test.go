package capability_test

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"

	"capstore/internal/capability"

	"github.com/google/go-cmp/cmp"
)

func TestSoundContentHasNoFaults(t *testing.T) {
	t.Parallel()
	for _, kind := range capability.Kinds {
		if fields := sample(t, kind).Validate(capability.Rules{}); len(fields) > 0 {
			t.Errorf("%s: %v", kind, fields)
		}
	}
}

type obj = map[string]any

// faultsOf edits the sample of the kind and returns the marks of its faults.
func faultsOf(t *testing.T, kind capability.Kind, members obj) []string {
	t.Helper()
	return marks(edited(t, kind, members).Validate(capability.Rules{}))
}

func TestEveryRuleOfEveryKind(t *testing.T) {
	t.Parallel()
	const (
		mcp, code, skill = capability.KindMCP, capability.KindCode, capability.KindSkill
		env, delegation  = capability.KindEnvironment, capability.KindDelegation
		hook, command    = capability.KindHook, capability.KindCommand
	)
	secret := func(name string) obj { return obj{"name": name} }
	for _, tc := range []struct {
		name string
		kind capability.Kind
		set  obj
		want []string
	}{
		{"neither url nor image", mcp, obj{"url": nil, "settings": nil, "requiredSecrets": nil, "auth": nil}, []string{"/spec/url one_of"}},
		{"url and image", mcp, obj{"image": "acme/x:1"}, []string{"/spec/image one_of"}},
		{"a port that is none", mcp, obj{"url": "https://mcp.example.com:99999/"}, []string{"/spec/url bad_url"}},
		{"port 0", mcp, obj{"url": "https://mcp.example.com:0/"}, []string{"/spec/url bad_url"}},
		{"the last port", mcp, obj{"url": "https://mcp.example.com:65535/"}, []string{}},
		{"plain http", mcp, obj{"url": "http://mcp.example.com/"}, []string{"/spec/url https_required"}},
		{"loopback http", mcp, obj{"url": "http://127.0.0.1:9/mcp"}, []string{"/spec/url loopback_not_allowed"}},
		{"loopback v6", mcp, obj{"url": "http://[::1]:9/mcp"}, []string{"/spec/url loopback_not_allowed"}},
		{"not loopback", mcp, obj{"url": "http://127.0.0.1.example.com/"}, []string{"/spec/url https_required"}},
		{"other scheme", mcp, obj{"url": "file:///etc/passwd"}, []string{"/spec/url bad_url"}},
		{"javascript", mcp, obj{"url": "javascript:alert(1)"}, []string{"/spec/url bad_url"}},
		{"ws", mcp, obj{"url": "ws://example.com/"}, []string{"/spec/url https_required"}},
		{"relative", mcp, obj{"url": "/mcp"}, []string{"/spec/url bad_url"}},
		{"credentials", mcp, obj{"url": "https://a:b@example.com/"}, []string{"/spec/url credentials_in_url"}},
		{"fragment", mcp, obj{"url": "https://example.com/#a"}, []string{"/spec/url bad_url"}},
		{"unknown placeholder", mcp, obj{"url": "https://{tenant}.example.com/"}, []string{"/spec/url unknown_setting"}},
		{"args with url", mcp, obj{"args": []string{"-v"}}, []string{"/spec/args not_allowed"}},
		{"image that is an option", mcp, obj{"url": nil, "image": "--privileged", "requiredSecrets": nil, "auth": nil}, []string{"/spec/image bad_image"}},
		{"image with a space", mcp, obj{"url": nil, "image": "acme/x y", "requiredSecrets": nil, "auth": nil}, []string{"/spec/image bad_image"}},
		{"header on an image", mcp, obj{"url": nil, "image": "acme/x", "auth": nil}, []string{"/spec/requiredSecrets/1/header not_allowed"}},
		{"secret name", mcp, obj{"requiredSecrets": []obj{secret("token")}}, []string{"/spec/requiredSecrets/0/name bad_secret_name"}},
		{"secret twice", mcp, obj{"requiredSecrets": []obj{{"name": "A", "header": "X-A"}, {"name": "A", "header": "X-B"}}}, []string{"/spec/requiredSecrets/1/name repeated"}},
		{"two for Authorization", mcp, obj{"requiredSecrets": []obj{secret("A"), secret("B")}}, []string{"/spec/requiredSecrets/1/header required"}},
		{"header twice", mcp, obj{"requiredSecrets": []obj{{"name": "A", "header": "X-A"}, {"name": "B", "header": "x-a"}}}, []string{"/spec/requiredSecrets/1/header repeated"}},
		{"header of the client", mcp, obj{"requiredSecrets": []obj{{"name": "A", "header": "Host"}}}, []string{"/spec/requiredSecrets/0/header bad_header"}},
		{"header with a break", mcp, obj{"requiredSecrets": []obj{{"name": "A", "header": "X-A\r\nX-B"}}}, []string{"/spec/requiredSecrets/0/header bad_header"}},
		{"scheme with a space", mcp, obj{"requiredSecrets": []obj{{"name": "A", "scheme": "Bearer x"}}}, []string{"/spec/requiredSecrets/0/scheme bad_scheme"}},
		{"setting name", mcp, obj{"url": "https://example.com/", "settings": []obj{{"name": "a-b"}, {"name": "PATH"}, {"name": "x"}, {"name": "x"}}}, []string{
			"/spec/settings/0/name bad_setting_name", "/spec/settings/1/name reserved", "/spec/settings/3/name repeated"}},
		{"class", mcp, obj{"toolClasses": obj{"a": "admin", "": "read"}}, []string{"/spec/toolClasses/ required", "/spec/toolClasses/a not_allowed"}},
		{"auth", mcp, obj{"auth": "basic"}, []string{"/spec/auth not_allowed"}},
		{"auth without a secret", mcp, obj{"requiredSecrets": nil}, []string{"/spec/requiredSecrets required"}},
		{"oauth of an image", mcp, obj{"url": nil, "image": "acme/x", "requiredSecrets": nil, "auth": "oauth"}, []string{"/spec/auth not_allowed"}},
		{"provides", mcp, obj{"provides": []string{"a", "a", "", "b\u202ec"}}, []string{
			"/spec/provides/1 repeated", "/spec/provides/2 required", "/spec/provides/3 not_plain_text"}},
		{"domains", mcp, obj{"serves": []string{"Live Data"}}, []string{"/spec/serves/0 bad_domain"}},
		{"requirements", mcp, obj{"requires": []string{"a/b/c", "A/b", "_capstore/x", "web search"}}, []string{
			"/spec/requires/0 bad_requirement", "/spec/requires/1 bad_requirement", "/spec/requires/3 bad_requirement"}},

		{"nothing of a code tool", code, obj{"language": nil, "code": nil, "parametersSchema": nil, "isReadOnly": nil, "examples": nil}, []string{
			"/spec/language required", "/spec/code required", "/spec/parametersSchema required", "/spec/isReadOnly required"}},
		{"language of hooks", code, obj{"language": "bash"}, []string{"/spec/language not_allowed"}},
		{"code of 256 KiB", code, obj{"code": strings.Repeat("#", 256<<10)}, []string{}},
		{"code over 256 KiB", code, obj{"code": strings.Repeat("#", 256<<10+1)}, []string{"/spec/code too_long"}},
		{"blank code", code, obj{"code": " \n"}, []string{"/spec/code required"}},
		{"zero byte in code", code, obj{"code": "a\x00b"}, []string{"/spec/code zero_byte"}},
		{"zero byte in a schema", code, obj{"parametersSchema": obj{"type": "object", "title": "a\x00"}, "examples": nil}, []string{"/spec/parametersSchema/title zero_byte"}},
		{"schema not an object", code, obj{"parametersSchema": []int{1}, "examples": nil}, []string{"/spec/parametersSchema schema_not_an_object"}},
		{"schema of a string", code, obj{"parametersSchema": obj{"type": "string"}, "examples": nil}, []string{"/spec/parametersSchema/type schema_root_type"}},
		{"schema without a type", code, obj{"parametersSchema": obj{}, "examples": nil}, []string{"/spec/parametersSchema/type schema_root_type"}},
		{"old dialect", code, obj{"parametersSchema": obj{"type": "object", "$schema": "http://json-schema.org/draft-04/schema#"}, "examples": nil}, []string{"/spec/parametersSchema/$schema schema_unknown_dialect"}},
		{"draft 7", code, obj{"parametersSchema": obj{"type": "object", "$schema": "http://json-schema.org/draft-07/schema#"}, "examples": nil}, []string{}},
		{"time limit", code, obj{"timeoutSec": 301}, []string{"/spec/timeoutSec out_of_range"}},
		{"negative time limit", code, obj{"timeoutSec": -1}, []string{"/spec/timeoutSec out_of_range"}},
		{"variables of the runtime", code, obj{"requiredSecrets": []obj{secret("PATH"), {"name": "A", "env": "LD_PRELOAD"}, {"name": "B", "env": "a b"}, {"name": "C", "env": "CAPSTORE_INPUT"}}}, []string{
			"/spec/requiredSecrets/0/env reserved", "/spec/requiredSecrets/1/env reserved", "/spec/requiredSecrets/2/env bad_variable", "/spec/requiredSecrets/3/env reserved"}},
		{"variable twice", code, obj{"requiredSecrets": []obj{secret("A"), {"name": "B", "env": "A"}}}, []string{"/spec/requiredSecrets/1/env repeated"}},
		{"egress", code, obj{"egress": []string{"https://a.com", "a.com:80", "*.a.com", "A.com", "a..b", "10.0.0.1", "localhost", "a.com", "a.com"}}, []string{
			"/spec/egress/0 bad_host", "/spec/egress/1 bad_host", "/spec/egress/2 bad_host", "/spec/egress/3 bad_host", "/spec/egress/4 bad_host", "/spec/egress/8 repeated"}},
		{"example that breaks the schema", code, obj{"examples": []obj{{"input": obj{"n": "x"}}, {"note": "no input"}}}, []string{
			"/spec/examples/0/input/n wrong_type", "/spec/examples/1/input required"}},

		{"no instructions", skill, obj{"instructions": "  "}, []string{"/spec/instructions required"}},
		{"a mebibyte of text", skill, obj{"instructions": strings.Repeat("x", 1<<20)}, []string{}},
		{"more than that", skill, obj{"instructions": strings.Repeat("x", 1<<20+1)}, []string{"/spec/instructions too_long"}},
		{"its own document", skill, obj{"files": []obj{{"path": "skill.md", "content": ""}}}, []string{"/spec/files/0/path reserved_path"}},
		{"encoding", skill, obj{"files": []obj{{"path": "a", "content": "", "encoding": "latin1"}}}, []string{"/spec/files/0/encoding not_allowed"}},
		{"base64", skill, obj{"files": []obj{{"path": "a", "content": "AA=", "encoding": "base64"}}}, []string{"/spec/files/0/content bad_base64"}},
		{"zero byte in a file", skill, obj{"files": []obj{{"path": "a", "content": "\x00"}}}, []string{"/spec/files/0/content zero_byte"}},
		{"media type", skill, obj{"files": []obj{{"path": "a", "content": "", "mediaType": "text"}, {"path": "b", "content": "", "mediaType": "a/b;c"}}}, []string{"/spec/files/1/mediaType bad_media_type"}},
		{"compatibility", skill, obj{"compatibility": strings.Repeat("x", 501)}, []string{"/spec/compatibility too_long"}},
		{"metadata", skill, obj{"metadata": obj{"": "x"}}, []string{"/spec/metadata/ required"}},

		{"no image", env, obj{"image": nil}, []string{"/spec/image required"}},
		{"image in capitals", env, obj{"image": "Acme/Env"}, []string{"/spec/image bad_image"}},
		{"large preset", env, obj{"preset": strings.Repeat("x", 65<<10)}, []string{"/spec/preset body_too_large"}},

		{"nothing of a profile", delegation, obj{"harness": nil, "image": nil}, []string{"/spec/harness required", "/spec/image required"}},
		{"environment", delegation, obj{"env": obj{"A B": "x", "C": obj{"secretRef": "lower"}, "D": obj{"secretRef": "S", "scope": "all"}}}, []string{
			"/spec/env/A B bad_variable", "/spec/env/C/secretRef bad_secret_name", "/spec/env/D/scope not_allowed"}},
		{"relative work dir", delegation, obj{"workDir": "work"}, []string{"/spec/workDir bad_path"}},
		{"climbing work dir", delegation, obj{"workDir": "/work/../etc"}, []string{"/spec/workDir bad_path"}},
		{"work dir with a slash", delegation, obj{"workDir": "/work/"}, []string{}},
		{"root work dir", delegation, obj{"workDir": "/"}, []string{}},
		{"climbing file", delegation, obj{"instructionsFile": "../CLAUDE.md"}, []string{"/spec/instructionsFile bad_path"}},
		{"time to live", delegation, obj{"ttlSec": 8 * 24 * 3600}, []string{"/spec/ttlSec out_of_range"}},

		{"nothing of a hook", hook, obj{"event": nil, "language": nil, "code": nil}, []string{
			"/spec/event required", "/spec/language required", "/spec/code required"}},
		{"event of elsewhere", hook, obj{"event": "PreToolUse"}, []string{"/spec/event not_allowed"}},
		{"matcher", hook, obj{"matcher": "[a-"}, []string{"/spec/matcher bad_glob"}},
		{"failure mode", hook, obj{"failureMode": "open"}, []string{"/spec/failureMode not_allowed"}},

		{"no template", command, obj{"template": ""}, []string{"/spec/template required"}},
		{"tools twice", command, obj{"allowedTools": []string{"Read", "Read"}}, []string{"/spec/allowedTools/1 repeated"}},
	} {
		t.Run(string(tc.kind)+"/"+tc.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, faultsOf(t, tc.kind, tc.set)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLoopbackOverHTTPWhereTheOperatorAllowsIt(t *testing.T) {
	t.Parallel()
	rules := capability.Rules{AllowLoopbackHTTP: true}
	for url, want := range map[string][]string{
		"http://127.0.0.1:8931/mcp":  {},
		"http://localhost/mcp":       {},
		"http://LOCALHOST:1/mcp":     {},
		"http://[::1]:1/mcp":         {},
		"http://127.9.9.9/":          {},
		"http://0.0.0.0/":            {"/spec/url https_required"},
		"http://10.0.0.1/":           {"/spec/url https_required"},
		"http://169.254.169.254/":    {"/spec/url https_required"},
		"http://localhost.evil.com/": {"/spec/url https_required"},
		"http://2130706433/":         {"/spec/url https_required"},
	} {
		c := edited(t, capability.KindMCP, obj{"url": url})
		if diff := cmp.Diff(want, marks(c.Validate(rules))); diff != "" {
			t.Errorf("%s: %s", url, diff)
		}
	}
}

func TestNamesAndDescriptions(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, description string
		want              []string
	}{
		{"Tax helper", "Computes VAT.", []string{}},
		{"세금 도우미", "부가세를 계산합니다. 👩‍💻", []string{}},
		{strings.Repeat("é", 64), strings.Repeat("é", 1024), []string{}},
		{strings.Repeat("é", 65), strings.Repeat("é", 1025), []string{"/name too_long", "/description too_long"}},
		{"", "", []string{"/name required", "/description required"}},
		{" ", "\u00a0", []string{"/name required", "/name not_trimmed", "/description required"}},
		{"a\u202eb", "x\x1b[31m", []string{"/name not_plain_text", "/description not_plain_text"}},
		{"a\u200bb", "tag\U000e0041", []string{"/name not_plain_text", "/description not_plain_text"}},
		{"\u3164", "\u200d", []string{"/name required", "/name not_plain_text", "/description required"}},
		{"soft\u00adhyphen", "smuggled\U000e0101", []string{"/name not_plain_text", "/description not_plain_text"}},
		{"❤️", "🏳️‍🌈", []string{}},
		{"a\nb", "two\nlines", []string{"/name not_plain_text", "/description not_plain_text"}},
		{"\xff", "\xff", []string{"/name invalid_utf8", "/description invalid_utf8"}},
	} {
		c := capability.Content{Name: tc.name, Description: tc.description, Spec: &capability.CommandSpec{Template: "x"}}
		if diff := cmp.Diff(tc.want, marks(c.Validate(capability.Rules{}))); diff != "" {
			t.Errorf("%q: %s", tc.name, diff)
		}
	}
	if got := marks(capability.Content{}.Validate(capability.Rules{})); !slices.Contains(got, "/spec required") {
		t.Errorf("no spec: %v", got)
	}
}

func TestCommandsKeepOffTheChatsOwnWords(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{
		"tool": {"/name reserved"}, "Tool": {"/name reserved"}, "/tool": {"/name reserved"}, "skill": {"/name reserved"},
		"skill:review": {"/name reserved"}, "tооl": {"/name reserved"}, "toolbox": {}, "skills": {}, "review": {},
	} {
		c := capability.Content{Name: name, Description: "x", Spec: &capability.CommandSpec{Template: "x"}}
		if diff := cmp.Diff(want, marks(c.Validate(capability.Rules{}))); diff != "" {
			t.Errorf("%q: %s", name, diff)
		}
	}
}

func TestPaths(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"a": "", "a/b.md": "", ".hidden/x": "", "naïve ü.md": "", "a..b": "", "한글/파일.md": "", "conquer.md": "", "com0x": "", "nul1": "",
		"": "required", "/a": "bad_path", "../evil.md": "bad_path", "a/../../evil.md": "bad_path", "a/./b": "bad_path", "a//b": "bad_path",
		"a/": "bad_path", `C:\evil`: "bad_path", "C:evil": "bad_path", `a\..\b`: "bad_path", "ok\x00.md": "bad_path", "a\u202eb": "bad_path",
		"a. ": "bad_path", "a.": "bad_path", " a": "bad_path", "\xff": "bad_path", "..": "bad_path",
		"CON": "reserved_path", "tidy/con.txt": "reserved_path", "aux.": "bad_path", "x/LPT1.md": "reserved_path", "COM¹": "reserved_path",
		strings.Repeat("s", 256): "too_long", "a/" + strings.Repeat("s", 256) + "/b": "too_long", strings.Repeat("d/", 600) + "x": "too_long",
	} {
		if got, message := capability.PathFault(path); got != want || (got == "") != (message == "") {
			t.Errorf("%q: %q (%s), want %q", path, got, message, want)
		}
	}
}

func TestFilesThatCannotLieTogether(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		paths []string
		want  []string
	}{
		"siblings":         {[]string{"a/b", "a/c", "ab"}, []string{}},
		"same":             {[]string{"a", "a"}, []string{"/spec/files/1/path path_collides"}},
		"but for case":     {[]string{"Readme.md", "README.md"}, []string{"/spec/files/1/path path_collides"}},
		"folders by case":  {[]string{"docs/a", "Docs/b"}, []string{"/spec/files/1/path path_collides"}},
		"by normal form":   {[]string{"caf\u00e9", "cafe\u0301"}, []string{"/spec/files/1/path path_collides"}},
		"file as folder":   {[]string{"a", "A/b"}, []string{"/spec/files/1/path path_collides"}},
		"folder as file":   {[]string{"a/b", "a"}, []string{"/spec/files/1/path path_collides"}},
		"deep file folder": {[]string{"a/b/c", "a/b"}, []string{"/spec/files/1/path path_collides"}},
	} {
		var files []capability.File
		for _, p := range tc.paths {
			files = append(files, capability.File{Path: p})
		}
		c := capability.Content{Name: "x", Description: "x", Spec: &capability.SkillSpec{Instructions: "x", Files: files}}
		if diff := cmp.Diff(tc.want, marks(c.Validate(capability.Rules{}))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestFilesInAll(t *testing.T) {
	t.Parallel()
	with := func(files []capability.File) []string {
		c := capability.Content{Name: "x", Description: "x", Spec: &capability.SkillSpec{Instructions: "x", Files: files}}
		return marks(c.Validate(capability.Rules{}))
	}
	var many []capability.File
	for i := range 201 {
		many = append(many, capability.File{Path: fmt.Sprint("f", i)})
	}
	if diff := cmp.Diff([]string{"/spec/files too_many"}, with(many)); diff != "" {
		t.Error(diff)
	}
	if got := with(many[:200]); len(got) > 0 {
		t.Error(got)
	}
	half := capability.File{Path: "a", Content: strings.Repeat("x", 5<<20)}
	binary := capability.File{Path: "b", Encoding: "base64", Content: base64.StdEncoding.EncodeToString(make([]byte, 5<<20))}
	if got := with([]capability.File{half, binary}); len(got) > 0 {
		t.Errorf("10 MiB exactly: %v", got)
	}
	if diff := cmp.Diff([]string{"/spec/files too_large"}, with([]capability.File{half, binary, {Path: "c", Content: "x"}})); diff != "" {
		t.Error(diff)
	}
}

func TestHooksFailAsDeclaredOrByEvent(t *testing.T) {
	t.Parallel()
	for _, event := range capability.Events {
		for mode, want := range map[capability.FailureMode]bool{
			capability.Advisory: false, capability.FailClosed: true, "": event == capability.EventBeforeTool,
		} {
			if got := (&capability.HookSpec{Event: event, FailureMode: mode}).FailsClosed(); got != want {
				t.Errorf("%s %q: %v", event, mode, got)
			}
		}
	}
}
