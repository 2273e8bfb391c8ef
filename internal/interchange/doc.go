// Package interchange reads and writes the formats of the world outside. What
// it reads was written by strangers: every reader bounds its work while it
// streams, refuses whole what is dangerous, and notes what it tolerated.
// Nothing that it reads is executed, and no placeholder in it is filled from
// where capstore runs.
package interchange

import (
	"encoding/json"
	"io"
	"iter"

	"capstore/internal/capability"
	"capstore/internal/fault"
)

// Note is something that was tolerated, changed or left out on the way in.
type Note struct {
	Path    string `json:"path"`             // within what was imported
	Code    string `json:"code"`             // stable, snake_case
	Message string `json:"message"`          // one sentence, safe to show
	Detail  string `json:"detail,omitempty"` // such as the repaired front matter
	// Subject is what the message is about, such as a variable or a list of
	// keys, for who words it in another language.
	Subject string `json:"subject,omitempty"`
}

// Params are the places of the note's text in the catalogues.
func (n Note) Params() map[string]any { return map[string]any{"subject": n.Subject} }

// Status is the fate of one thing that was found.
type Status string

const (
	// Ready is for what can be made into a capability.
	Ready Status = "ready"
	// Refused is for what cannot, with the fault that says why.
	Refused Status = "refused"
	// Ignored is for what is nothing of its own, with a note that says why.
	Ignored Status = "ignored"
)

// Format is what a thing was written as.
type Format string

const (
	FormatSkill   Format = "agent-skill"
	FormatServer  Format = "server-json"   // the MCP registry's server.json
	FormatServers Format = "mcp-servers"   // a client's mcpServers or servers configuration
	FormatPlugin  Format = "claude-plugin" // a part of a Claude Code plugin
	FormatExport  Format = "capstore"      // capstore's own export
)

// Item is one thing that was found.
type Item struct {
	// Path is that of its file within what was imported, with "#" and a name
	// after it for one of several in a file. It is unique in an import.
	Path   string
	Format Format
	// Kind is what it is or would be, "" where that cannot be told.
	Kind     capability.Kind
	Status   Status
	Content  capability.Content // when Ready
	Repaired bool               // it had to be mended to be read
	Notes    []Note
	Fault    *fault.Fault // when Refused
	// Wants is what would make a refused one possible if it were supplied.
	Wants []Want
	// Secrets are the literal secrets that were taken out of it. The content
	// declares them; the values are for whoever imports to keep or drop.
	Secrets []FoundSecret
	// As is how it was published where it comes from; only capstore's own
	// export says so.
	As Published
	// Provenance is a JSON object for the version that it becomes.
	Provenance json.RawMessage
}

// Want is something that an item lacks and its importer can supply.
type Want string

const (
	WantImage Want = "image" // a container image in place of a command
	WantURL   Want = "url"   // an address in place of a command
)

// Supply is what an importer gives to an item that lacks it.
type Supply struct {
	Image string
	URL   string
}

// FoundSecret is the value that stood where a declared secret belongs.
type FoundSecret struct {
	Name  string // as the content declares it
	Value string // never shown, logged or stored outside secrets
}

// Published is how a version was published.
type Published struct {
	ID          string
	Version     string
	Note        string
	VersionTags []string
	Tags        []string
}

// Options are what the importer decides.
type Options struct {
	// Supply gives to items, by their path, what they lack.
	Supply map[string]Supply
	// Rules are what the operator allows.
	Rules capability.Rules
}

// Import is all that was found, in the order of paths. The numbers add up:
// every item is Ready, Refused or Ignored. Items are read when they are asked
// for, so that a library of any size fits in memory.
type Import struct {
	Notes   []Note // about the whole, such as junk left out
	sources []source
	closer  io.Closer
}

// source is a file or folder that gives items when it is read.
type source struct {
	path string
	read func() []Item
}

// Close lets go of what the import is read from.
func (i Import) Close() error {
	if i.closer == nil {
		return nil
	}
	return i.closer.Close()
}

// Sources returns how many files and folders items come from.
func (i Import) Sources() int { return len(i.sources) }

// Each reads source after source and gives their items, with how many sources
// were read before.
func (i Import) Each() iter.Seq2[int, Item] {
	return func(yield func(int, Item) bool) {
		for n, s := range i.sources {
			for _, item := range s.read() {
				if !yield(n, item) {
					return
				}
			}
		}
	}
}

// Items reads everything into memory. It is for what somebody sent, which is
// bounded; a folder of any size is read by Each.
func (i Import) Items() []Item {
	var out []Item
	for _, item := range i.Each() {
		out = append(out, item)
	}
	return out
}

// Count returns how many of the items have the status.
func Count(items []Item, s Status) int {
	n := 0
	for _, item := range items {
		if item.Status == s {
			n++
		}
	}
	return n
}
