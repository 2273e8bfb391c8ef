package sample

import (
	"context"

	"capstore/internal/capability"
	"capstore/internal/catalog"
)

// among is within how many answers the right one must be.
const among = 5

// Answered asks the store as the actor would who typed the question, and
// reports whether a right answer is among the first five.
func (q Question) Answered(ctx context.Context, store *catalog.Service, actor capability.Actor) (bool, error) {
	page, err := store.Browse(ctx, actor, catalog.Query{Q: q.Typed, Scope: catalog.ScopeStore, Sort: catalog.SortRelevance, Limit: among})
	if err != nil {
		return false, err
	}
	for _, row := range page.Items {
		var tools []string
		if q.Sort == ByTool && row.Kind == capability.KindMCP {
			c, err := store.Get(ctx, actor, row.Source, row.ID)
			if err != nil {
				return false, err
			}
			if spec, ok := c.Latest.Content.Spec.(*capability.MCPSpec); ok {
				tools = spec.Provides
			}
		}
		if q.Right(row.Name, row.Tags, tools) {
			return true, nil
		}
	}
	return false, nil
}
