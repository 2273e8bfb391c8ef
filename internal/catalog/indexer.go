package catalog

import (
	"context"
	"fmt"
	"log/slog"

	"capstore/internal/lifecycle"
)

// indexEdition counts how the index was made: how words are cut, which terms
// there are and what they weigh. Raising it makes every store's index anew.
const indexEdition = 1

// Indexer brings the index of an older edition in line with what this server
// searches, in the background: until it is done some words find less.
type Indexer struct {
	lifecycle.Base
	store *Service
}

// NewIndexer returns an indexer that is not started.
func NewIndexer(store *Service) *Indexer { return &Indexer{store: store} }

// Start begins the work, of which there is mostly none.
func (x *Indexer) Start(ctx context.Context) error {
	return x.Run(ctx, func(ctx context.Context, ready func()) {
		ready()
		n, err := x.store.Refresh(ctx)
		switch {
		case err != nil && ctx.Err() == nil:
			slog.WarnContext(ctx, "catalog: make the index anew", slog.Int("done", n), slog.Any("error", err))
		case n > 0:
			slog.InfoContext(ctx, "catalog: index made anew", slog.Int("capabilities", n))
		}
	})
}

// Refresh makes the index anew when it is of another edition. It returns how
// many capabilities it went through. Begun and not ended, it begins again.
func (s *Service) Refresh(ctx context.Context) (int, error) {
	edition, err := queries.IndexEdition(ctx, s.db)
	if err != nil {
		return 0, fmt.Errorf("index edition: %w", err)
	}
	if edition == indexEdition {
		return 0, nil
	}
	n, err := s.Reindex(ctx)
	if err != nil {
		return n, err
	}
	if err := queries.SetIndexEdition(ctx, s.db, indexEdition); err != nil {
		return n, fmt.Errorf("set index edition: %w", err)
	}
	return n, nil
}
