package agent

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"
)

// maxPictures is how many pictures of one long result a model is shown.
const maxPictures = 4

// pictures are the content blocks of pictures that stand in no ledger entry
// because they are too long for one, by the artifact that holds them.
type pictures map[uuid.UUID][]json.RawMessage

// look reads the pictures that calls of this turn gave. Those of earlier turns
// are not shown again: what was seen in them has been said.
func (r *run) look(ctx context.Context) error {
	for _, l := range r.lines {
		if l.result == nil || l.Turn != r.one.id || l.result.Withheld != "" {
			continue
		}
		for _, a := range l.result.Artifacts {
			if _, known := r.pictures[a.ID]; known || len(a.Images) == 0 {
				continue
			}
			blocks, err := r.s.picturesIn(ctx, r, a)
			if err != nil {
				return err
			}
			if r.pictures == nil {
				r.pictures = pictures{}
			}
			r.pictures[a.ID] = blocks
		}
	}
	return nil
}

func (s *Service) picturesIn(ctx context.Context, r *run, a Artifact) ([]json.RawMessage, error) {
	_, content, err := s.ReadArtifact(ctx, r.actor, r.one.conversation, a.ID)
	if err != nil {
		return nil, err
	}
	var stored struct {
		Content []json.RawMessage `json:"content"`
	}
	if err := json.Unmarshal(content, &stored); err != nil {
		return nil, fmt.Errorf("stored result %s: %w", a.ID, err)
	}
	var blocks []json.RawMessage
	for _, at := range a.Images[:min(len(a.Images), maxPictures)] {
		if at < len(stored.Content) {
			blocks = append(blocks, stored.Content[at])
		}
	}
	return blocks, nil
}
