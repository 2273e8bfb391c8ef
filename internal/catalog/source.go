package catalog

import (
	"context"

	"capstore/db"
	"capstore/internal/capability"
	"capstore/internal/pg"
)

// Source is a workspace as the readers of what it published see it.
type Source struct {
	Slug string
	Name string
}

// Source returns the workspace of that slug where the actor may read something
// that it published. Missing when he may read nothing, and when there is no
// such workspace.
func (s *Service) Source(ctx context.Context, actor capability.Actor, slug string) (Source, error) {
	row, err := queries.SourceCard(ctx, s.db, db.SourceCardParams{
		Slug: slug, Shelves: shelvesOf(actor.Viewer(), ScopeVisible), Term: sourceTerm(slug),
	})
	if err != nil {
		return Source{}, pg.Fault(missing(err))
	}
	return Source{Slug: row.Slug, Name: row.Name}, nil
}
