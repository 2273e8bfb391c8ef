package capability

import (
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"capstore/internal/jsonx"
)

const maxToolName = 128 // what the protocol allows

func (s *MCPSpec) validate(f *faults, r Rules) {
	f.transport(s, r)
	f.unique("/spec/provides", "tool names", s.Provides, 5000, f.toolName)
	f.secrets(s.RequiredSecrets, s.URL != "")
	f.settings(s.Settings)
	f.toolClasses("/spec/toolClasses", s.ToolClasses)
	f.auth(s)
	f.leans(s.Leans)
}

func (f *faults) transport(s *MCPSpec, r Rules) {
	switch {
	case s.URL == "" && s.Image == "":
		f.add("/spec/url", "one_of", "Give the server's url, or an image that serves MCP over stdio.")
	case s.URL != "" && s.Image != "":
		f.add("/spec/image", "one_of", "Give a url or an image, not both.")
	}
	if s.URL != "" {
		f.serverURL("/spec/url", s.URL, s.Settings, r)
		if len(s.Args) > 0 {
			f.add("/spec/args", "not_allowed", "Only an image takes arguments.")
		}
	}
	if s.Image != "" {
		f.image("/spec/image", s.Image)
	}
	f.count("/spec/args", "arguments", len(s.Args), 100)
	for i, arg := range s.Args {
		f.document(jsonx.Pointer("/spec/args", strconv.Itoa(i)), "The argument", arg, 4096)
	}
	for _, i := range literalSecrets(s.Args) {
		f.add(jsonx.Pointer("/spec/args", strconv.Itoa(i)), "literal_secret",
			"This looks like a secret. Declare it under requiredSecrets: it reaches the server in its environment.")
	}
}

// placeholder is where a setting's value goes in a URL.
var placeholder = regexp.MustCompile(`\{([^{}]*)\}`)

// serverURL checks an address that may hold {setting} placeholders.
func (f *faults) serverURL(path, address string, settings []Setting, r Rules) {
	for _, m := range placeholder.FindAllStringSubmatch(address, -1) {
		if !slices.ContainsFunc(settings, func(s Setting) bool { return s.Name == m[1] }) {
			f.add(path, "unknown_setting", "The address uses {%s}, which is not among the settings.", cut(m[1], 40))
		}
	}
	u, err := url.Parse(placeholder.ReplaceAllString(address, "1"))
	switch {
	case err != nil || u.Host == "" || u.Hostname() == "":
		f.add(path, "bad_url", "This is not a web address such as https://mcp.example.com/mcp.")
	case !validPort(u.Port()):
		f.add(path, "bad_url", "The port of an address is a number from 1 to 65535.")
	case len(address) > 2048:
		f.add(path, "too_long", "An address has at most 2048 characters.")
	case u.User != nil:
		f.add(path, "credentials_in_url", "Leave user and password out of the address; declare a secret instead.")
	case secretInQuery(u) != "":
		f.add(path, "credentials_in_url", "Leave the value of %s out of the address; declare a secret instead.", cut(secretInQuery(u), 40))
	case u.Fragment != "" || strings.Contains(address, "#"):
		f.add(path, "bad_url", "An address has no part after #.")
	case u.Scheme == "http" && isLoopback(strings.ToLower(u.Hostname())):
		if !r.AllowLoopbackHTTP {
			f.add(path, "loopback_not_allowed", "Plain http to this machine is off here; whoever runs the server can allow it.")
		}
	case u.Scheme != "https":
		f.add(path, "https_required", "The address must begin with https://.")
	}
	if _, bad := notPlain(address); bad {
		f.add(path, "bad_url", "The address holds a character that cannot be seen.")
	}
}

// validPort takes "" for an address without one.
func validPort(port string) bool {
	n, err := strconv.ParseUint(port, 10, 16)
	return port == "" || err == nil && n > 0
}

func (f *faults) toolName(path, name string) {
	f.required(path, "A tool's name", name)
	f.plain(path, "The tool's name", name, maxToolName)
}

func (f *faults) toolClasses(path string, classes map[string]ToolClass) {
	f.count(path, "classified tools", len(classes), 5000)
	for _, tool := range sortedKeys(classes) {
		at := jsonx.Pointer(path, tool)
		f.toolName(at, tool)
		if c := classes[tool]; c != ClassRead && c != ClassWrite {
			f.add(at, "not_allowed", "A tool's class is read or write.")
		}
	}
}

func (f *faults) auth(s *MCPSpec) {
	switch s.Auth {
	case "", AuthNone:
	case AuthSecret:
		if len(s.RequiredSecrets) == 0 {
			f.add("/spec/requiredSecrets", "required", "Declare the secret that the server wants.")
		}
	case AuthOAuth:
		if s.URL == "" {
			f.add("/spec/auth", "not_allowed", "Only a server that is reached by URL signs in with OAuth.")
		}
	default:
		f.add("/spec/auth", "not_allowed", "The way to sign in is none, secret or oauth.")
	}
}
