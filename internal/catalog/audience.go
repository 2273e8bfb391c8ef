package catalog

import (
	"context"
	"fmt"

	"capstore/db"
	"capstore/internal/capability"
)

// Audience is how many people belong to each of the workspaces, among those
// that the actor belongs to. One that is not his, or that there is none of, is
// left out.
func (s *Service) Audience(ctx context.Context, actor capability.Actor, slugs []string) (map[string]int, error) {
	subject, err := subjectOf(actor)
	if err != nil {
		return nil, err
	}
	rows, err := queries.PeopleOf(ctx, s.db, db.PeopleOfParams{Slugs: tagList(slugs), Subject: subject})
	if err != nil {
		return nil, fmt.Errorf("people of workspaces: %w", err)
	}
	out := map[string]int{}
	for _, row := range rows {
		out[row.Workspace] = int(row.People)
	}
	return out, nil
}
