package demo

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"strings"

	"go.yaml.in/yaml/v4"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/fault"
)

//go:embed data
var data embed.FS

// entry is one capability of the demo's catalogue. Each version changes what
// it names and keeps the rest of the one before.
type entry struct {
	Author     string
	Reach      capability.Reach
	SharedWith []string `yaml:"sharedWith"`
	Tags       []string
	Deprecated *catalog.Deprecation
	Versions   []struct {
		Version     string
		DaysAgo     int `yaml:"daysAgo"`
		Note        string
		Name        string
		Description string
		Tags        []string
		Spec        map[string]any
	}
}

func publishAll(ctx context.Context, p Parts, who cast) error {
	return fs.WalkDir(data, "data", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := data.ReadFile(file)
		if err != nil {
			return err
		}
		var e entry
		if err := yaml.Unmarshal(raw, &e); err != nil {
			return fmt.Errorf("demo: %s: %w", file, err)
		}
		source, id := path.Base(path.Dir(file)), strings.TrimSuffix(path.Base(file), ".yaml")
		if err := publish(ctx, p, who, source, id, e); err != nil {
			return fmt.Errorf("demo: %s: %w", file, err)
		}
		return nil
	})
}

// publish makes the line of one capability, as its author would: first for the
// workspace, and promoted by an admin where it is for more.
func publish(ctx context.Context, p Parts, who cast, source, id string, e entry) error {
	author, admin := who.in(source, e.Author), who.in(source, "admin@"+source+".demo")
	next := catalog.Publication{ID: id}
	spec := map[string]any{}
	for i, v := range e.Versions {
		maps.Copy(spec, v.Spec)
		raw, err := json.Marshal(spec)
		if err != nil {
			return err
		}
		next.Spec, next.Version, next.Note, next.VersionTags = raw, v.Version, v.Note, v.Tags
		if v.Name != "" {
			next.Name = v.Name
		}
		if v.Description != "" {
			next.Description = v.Description
		}
		next.Visibility, next.Tags = "", nil
		if i == 0 {
			next.Visibility, next.Tags = firstReach(e.Reach), e.Tags
		}
		if err := publishOnce(ctx, p, author, next); err != nil {
			return err
		}
		if err := backdate(ctx, p, source, id, v.Version, v.DaysAgo, i == 0); err != nil {
			return err
		}
	}
	if err := promote(ctx, p, author, admin, source, id, e); err != nil {
		return err
	}
	if e.Deprecated == nil {
		return nil
	}
	return p.Catalog.Update(ctx, author, source, id, catalog.Patch{Deprecated: e.Deprecated})
}

// publishOnce leaves a version alone that an interrupted start published.
func publishOnce(ctx context.Context, p Parts, author capability.Actor, next catalog.Publication) error {
	_, err := p.Catalog.Version(ctx, author, author.Workspace, next.ID, next.Version)
	if fault.Is(err, fault.NotFound) {
		_, err = p.Catalog.Publish(ctx, author, next)
	}
	return err
}

func firstReach(r capability.Reach) capability.Reach {
	if r == capability.ReachPrivate {
		return r
	}
	return capability.ReachWorkspace
}

// promote sets a wider reach: public is the admin's, a subset the author's.
func promote(ctx context.Context, p Parts, author, admin capability.Actor, source, id string, e entry) error {
	switch e.Reach {
	case capability.ReachPublic:
		return p.Catalog.Update(ctx, admin, source, id, catalog.Patch{Reach: &e.Reach})
	case capability.ReachSubset:
		return p.Catalog.Update(ctx, author, source, id, catalog.Patch{Reach: &e.Reach, SharedWith: &e.SharedWith})
	}
	return nil
}

// backdate gives the version the age that the story wants. Only the demo
// rewrites history.
func backdate(ctx context.Context, p Parts, source, id, version string, days int, first bool) error {
	_, err := p.DB.Exec(ctx, `UPDATE capability_versions v SET created_at = now() - make_interval(days => $4, mins => $5)
		FROM capabilities c WHERE c.pk = v.capability_pk AND c.source = $1 AND c.id = $2 AND v.version = $3`,
		source, id, version, days, len(id)*7)
	if err != nil || !first {
		return err
	}
	// The index orders and joins by the same time.
	_, err = p.DB.Exec(ctx, `WITH aged AS (
			UPDATE capabilities SET created_at = now() - make_interval(days => $3, mins => $4) WHERE source = $1 AND id = $2 RETURNING pk, created_at)
		UPDATE capability_terms t SET created_at = aged.created_at FROM aged WHERE t.capability_pk = aged.pk`,
		source, id, days, len(id)*7)
	return err
}
