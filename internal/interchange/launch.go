package interchange

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/fault"
)

// runners start a package that they fetch: what follows the package's name is
// for the server. The flags listed take the next word as their value.
var runners = map[string][]string{
	"npx": {"-p", "--package", "-c", "--call", "--node-options"}, "bunx": {"-p", "--package"}, "pnpx": nil,
	"uvx":  {"--from", "--with", "--python", "-p", "--index", "--index-url", "--extra-index-url", "--with-editable"},
	"pipx": {"--spec", "--python", "--pip-args"}, "dnx": {"--version", "--source"},
}

var engines = []string{"docker", "podman", "nerdctl", "finch"}

// program is the plain name of a command.
func program(command string) string {
	base := path.Base(strings.ReplaceAll(command, `\`, "/"))
	base = strings.ToLower(base)
	for _, ext := range []string{".exe", ".cmd", ".bat"} {
		base = strings.TrimSuffix(base, ext)
	}
	return base
}

// plain takes a command apart that was written as one line, and takes away the
// shell of Windows that only calls another.
func plain(w way) way {
	if words := strings.Fields(w.command); len(words) > 1 && len(w.args) == 0 && !strings.ContainsAny(w.command, `"'\`) {
		w.command, w.args = words[0], words[1:]
	}
	for program(w.command) == "cmd" && len(w.args) > 1 && strings.EqualFold(w.args[0], "/c") {
		w.command, w.args = w.args[1], w.args[2:]
	}
	return w
}

// launched gives the package that a runner fetches and the arguments behind
// it, which are the server's own. Of any other command nothing is the server's.
func launched(w way) (name string, args []string) {
	w = plain(w)
	runner := program(w.command)
	valued, known := runners[runner]
	if !known && slices.Contains([]string{"pnpm", "yarn", "bun", "uv", "npm"}, runner) && len(w.args) > 0 && slices.Contains([]string{"dlx", "x", "exec", "tool"}, w.args[0]) {
		known, w.args = true, w.args[1:]
	}
	if !known {
		return "", nil
	}
	for i := 0; i < len(w.args); i++ {
		a := w.args[i]
		switch {
		case slices.Contains(valued, a):
			i++
		case strings.HasPrefix(a, "-"), runner == "pipx" && a == "run", a == "run" && runner == "uv":
		default:
			return a, w.args[i+1:]
		}
	}
	return "", nil
}

// command makes a server of a command line that only wraps a container or an
// address. Any other would run a program of this machine and is refused.
func (m *maker) command(w way) *fault.Fault {
	if w.kind == "http" || w.kind == "sse" {
		m.note("transport_differs", "The file says %s but gives a command; the command was read.", w.kind)
	}
	w = plain(w)
	if slices.Contains(engines, program(w.command)) {
		return m.container(w)
	}
	name, args := launched(w)
	if base, _, _ := strings.Cut(strings.TrimPrefix(name, "@"), "@"); base == "mcp-remote" || strings.HasSuffix(base, "/mcp-remote") {
		return m.bridge(w, args)
	}
	return m.needsImage(w)
}

func (m *maker) needsImage(w way) *fault.Fault {
	m.wants(WantImage, WantURL)
	m.reserved(w.env)
	name, _ := launched(w)
	command := clip(capability.PlainText(strings.TrimSpace(cmp.Or(program(w.command), "a command")+" "+name)), 100)
	return fault.New(fault.Invalid, "needs_image_or_url",
		"The file starts %s as a program of the machine it lies on; capstore runs no such commands. It needs an image or a URL.", command).
		With("what", command).
		Do("Give an image that serves it over stdio, or the address of a server that runs already.")
}

// reserved notes variables that would take a program over, although the server
// is refused anyway: whoever reads the file should see them.
func (m *maker) reserved(env *object) {
	if env == nil {
		return
	}
	for _, name := range env.keys {
		if capability.ReservedVariable(name) || strings.HasPrefix(name, "DYLD_") {
			m.note("variable_reserved", "The variable %s is left out: it changes how programs are loaded or run, and no capability may set it.", clip(capability.PlainText(name), 60))
		}
	}
}

// bridge reads mcp-remote, which lets a client that only starts commands reach
// an address.
func (m *maker) bridge(w way, args []string) *fault.Fault {
	remote := way{env: w.env, headers: &object{values: map[string]any{}}}
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case a == "--header" && i+1 < len(args):
			i++
			name, value, ok := strings.Cut(args[i], ":")
			if name = strings.TrimSpace(name); ok && !remote.headers.has(name) {
				remote.headers.keys = append(remote.headers.keys, name)
				remote.headers.values[name] = m.fromEnvironment(strings.TrimSpace(value), w.env)
			}
		case slices.Contains([]string{"--transport", "--host", "--static-oauth-client-metadata", "--static-oauth-client-info", "--resource", "--auth-timeout", "--ignore-tool"}, a):
			if i++; a == "--transport" && i < len(args) && strings.HasPrefix(args[i], "sse") {
				remote.kind = "sse"
			}
		case strings.HasPrefix(a, "-"):
		case remote.url == "":
			remote.url = a
		}
	}
	if remote.url == "" {
		return m.needsImage(w)
	}
	m.note("bridge", "The file reaches an address through mcp-remote; the address itself was taken.")
	if len(remote.headers.keys) > 0 {
		remote.env = nil // it only fills the headers in
	}
	return m.remote(remote)
}

// fromEnvironment puts what the environment of the same entry says into the
// ${NAME} of a header: as its initial value, so that the secret keeps its name,
// or in its place where it is more than one word.
func (m *maker) fromEnvironment(text string, env *object) string {
	if env == nil {
		return text
	}
	for _, p := range m.file.pieces(text) {
		if p.hole == nil {
			continue
		}
		if v, ok := scalar(env.values[p.hole.name]); ok && !standsIn(v, true) {
			if !strings.ContainsAny(v, " {}$") {
				v = "${" + p.hole.name + ":-" + v + "}"
			}
			text = strings.ReplaceAll(text, p.hole.text, v)
		}
	}
	return text
}
