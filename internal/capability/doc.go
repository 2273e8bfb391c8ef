// Package capability is the pure kernel of capstore: what a capability is,
// who may see it, how it is versioned, named, adopted and selected. It does
// no I/O. Every surface (page, JSON, MCP, agent turn) asks the functions
// here, and no other package decides what they decide.
package capability
