package catalog

import (
	"context"

	"capstore/internal/capability"
)

// Runtime is what a server must offer for a capability to work on it. Each
// capability needs exactly one.
type Runtime string

const (
	// RuntimeText is that of skills and commands: the model reads them.
	RuntimeText Runtime = "text"
	// RuntimeRemote is that of MCP servers with an address.
	RuntimeRemote Runtime = "remote"
	// RuntimeContainer is that of all that comes as an image.
	RuntimeContainer Runtime = "container"
	// RuntimePython, RuntimeNode and RuntimeBash are those of code tools and
	// hooks: an interpreter in a sandbox that is fit for the code of others.
	RuntimePython = Runtime(capability.Python)
	RuntimeNode   = Runtime(capability.Node)
	RuntimeBash   = Runtime(capability.Bash)
)

// runtimeOf returns what the spec needs.
func runtimeOf(spec capability.Spec) Runtime {
	switch v := spec.(type) {
	case *capability.MCPSpec:
		if v.Image != "" {
			return RuntimeContainer
		}
		return RuntimeRemote
	case *capability.CodeSpec:
		return Runtime(v.Language)
	case *capability.HookSpec:
		return Runtime(v.Language)
	case *capability.EnvironmentSpec, *capability.DelegationSpec:
		return RuntimeContainer
	}
	return RuntimeText
}

// works lists the runtimes that this server has. What needs nothing of it is
// always among them.
func (s *Service) works(ctx context.Context) []Runtime {
	out := []Runtime{RuntimeText, RuntimeRemote}
	if s.opts.Runtimes != nil {
		out = append(out, s.opts.Runtimes(ctx)...)
	}
	return out
}
