package catalog

import (
	"context"
	"fmt"
	"iter"

	"capstore/db"
	"capstore/internal/capability"
	"capstore/internal/pg"
)

// Line is a capability with its live versions, oldest first, as an export takes
// them along.
type Line struct {
	Source   string
	ID       string
	Tags     []string
	Versions []VersionDetail
}

const (
	linePage = 100
	// lineBytes is how much content one statement of a walk brings, but for a
	// single version that is larger.
	lineBytes = 16 << 20
)

// Lines walks the capabilities of the source that the actor may read, in the
// order of their ids: those with the ids, all of them with none. What has no
// live version is passed over, and so is what is not there. It holds a page of
// keys and a few contents at a time, and sees each row as it is when it comes
// to it.
func (s *Service) Lines(ctx context.Context, actor capability.Actor, source string, ids ...string) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		after := ""
		for {
			rows, err := queries.LinesFrom(ctx, s.db, db.LinesFromParams{
				Source: source, After: after, Audiences: actor.Viewer().Audiences(), Everything: len(ids) == 0, Ids: ids, Page: linePage,
			})
			if err != nil {
				yield(Line{}, pg.Fault(fmt.Errorf("walk lines: %w", err)))
				return
			}
			if len(rows) == 0 {
				return
			}
			after = rows[len(rows)-1].ID
			for line, err := range s.filled(ctx, source, rows) {
				if !yield(line, err) || err != nil {
					return
				}
			}
		}
	}
}

// filled brings the contents of a page, part by part.
func (s *Service) filled(ctx context.Context, source string, rows []db.LinesFromRow) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		have := map[int64]db.VersionsByKeyRow{}
		for len(rows) > 0 {
			n := 1 // rows of the first capability
			for n < len(rows) && rows[n].ID == rows[0].ID {
				n++
			}
			if rows[0].Pk != nil {
				if _, there := have[*rows[0].Pk]; !there {
					clear(have)
					if err := s.fetch(ctx, rows, n, have); err != nil {
						yield(Line{}, err)
						return
					}
				}
				line, err := lineOf(source, rows[:n], have)
				if !yield(line, err) || err != nil {
					return
				}
			}
			rows = rows[n:]
		}
	}
}

// fetch brings the contents of the first capability, and of as many after it as
// fit.
func (s *Service) fetch(ctx context.Context, rows []db.LinesFromRow, atLeast int, have map[int64]db.VersionsByKeyRow) error {
	var pks []int64
	size := int64(0)
	for start := 0; start < len(rows); {
		end, more := start, int64(0)
		for end < len(rows) && rows[end].ID == rows[start].ID {
			more += rows[end].Size
			end++
		}
		if size+more > lineBytes && start >= atLeast {
			break
		}
		for _, row := range rows[start:end] {
			if row.Pk != nil {
				pks = append(pks, *row.Pk)
			}
		}
		size, start = size+more, end
	}
	got, err := queries.VersionsByKey(ctx, s.db, pks)
	if err != nil {
		return pg.Fault(fmt.Errorf("read versions: %w", err))
	}
	for _, v := range got {
		have[v.Pk] = v
	}
	return nil
}

func lineOf(source string, rows []db.LinesFromRow, have map[int64]db.VersionsByKeyRow) (Line, error) {
	out := Line{Source: source, ID: rows[0].ID, Tags: tagList(rows[0].Tags)}
	for _, row := range rows {
		v := have[*row.Pk]
		d, err := detail(VersionInfo{
			Source: source, ID: row.ID, Version: v.Version, Digest: v.Digest, Kind: capability.Kind(v.Kind), Name: v.Name,
			Description: v.Description, Note: v.Note, Tags: tagList(v.Labels), State: Live, Provenance: v.Provenance, CreatedAt: v.CreatedAt,
		}, v.Content)
		if err != nil {
			return Line{}, err
		}
		out.Versions = append(out.Versions, *d)
	}
	return out, nil
}
