package catalog

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"capstore/internal/capability"
)

// Person is a user as others see him. The zero Person is capstore itself.
type Person struct {
	Subject string `json:"subject"`
	Name    string `json:"name"`
}

// State is what became of a version.
type State string

const (
	Live State = "live"
	// Withdrawn versions leave every list; pins of them keep resolving.
	Withdrawn State = "withdrawn"
	// Blocked versions resolve nowhere any more.
	Blocked State = "blocked"
)

func stateOf(withdrawn, blocked *time.Time) State {
	switch {
	case blocked != nil:
		return Blocked
	case withdrawn != nil:
		return Withdrawn
	}
	return Live
}

// VersionInfo is one version without its spec.
type VersionInfo struct {
	Source        string          `json:"source"`
	ID            string          `json:"id"`
	Version       string          `json:"version"`
	Digest        string          `json:"digest"`
	Kind          capability.Kind `json:"kind"`
	Name          string          `json:"name"`
	Description   string          `json:"description"`
	Note          string          `json:"note,omitempty"`
	Tags          []string        `json:"tags"`
	State         State           `json:"state"`
	BlockedReason string          `json:"blockedReason,omitempty"`
	Latest        bool            `json:"latest"`
	Author        Person          `json:"author"`
	Provenance    json.RawMessage `json:"provenance,omitempty"`
	CreatedAt     time.Time       `json:"createdAt"`
}

// VersionDetail is one version with its content.
type VersionDetail struct {
	VersionInfo
	Content capability.Content `json:"-"`
}

func person(id *uuid.UUID, name string) Person {
	return Person{Subject: subject(id), Name: name}
}

func tagList(tags []string) []string {
	if tags == nil {
		return []string{}
	}
	return tags
}
