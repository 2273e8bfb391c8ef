package model

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"

	"github.com/google/uuid"
)

// ids hands out the IDs of an answer's calls. Servers give none at all, the
// same for each call, or begin anew with every answer.
type ids map[string]bool

// idsOf knows every ID of the conversation.
func idsOf(messages []Message) ids {
	taken := ids{}
	for _, m := range messages {
		for _, call := range m.Calls {
			taken[call.ID] = true
		}
	}
	return taken
}

// take returns the provider's ID where it is new, and else one of its own.
func (t ids) take(id string) string {
	if id == "" || t[id] {
		id = "call_" + uuid.NewString()
	}
	t[id] = true
	return id
}

var (
	strictID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	looseID  = regexp.MustCompile(`^[!-~]{1,40}$`)
)

// safeID spells an ID that another provider gave so that this one takes it.
func safeID(id string, allowed *regexp.Regexp) string {
	if allowed.MatchString(id) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return "call_" + hex.EncodeToString(sum[:12])
}
