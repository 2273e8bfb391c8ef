// Package agent runs what a member's agent carries: conversations, the one
// door through which every call goes, and the ledger in which each call, its
// result and everything around it stands. A model, a person in direct mode, a
// gateway client and a worker all come through the same door.
package agent
