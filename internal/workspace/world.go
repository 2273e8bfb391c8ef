package workspace

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"capstore/db"
	"capstore/internal/capability"
	"capstore/internal/pg"
)

// worldSQL reads in one snapshot everything that decides what a member
// carries: config, overlay, names of secrets, library and the candidates of
// the store, each a row with its tag. The visibility of what is published here
// is capability.CanConsume with the source being the viewer's own workspace;
// assemble asks the kernel again about every candidate.
const worldSQL = `
WITH overlay AS (
	SELECT key, enabled, version_pk FROM overlays WHERE workspace = $1 AND subject = $2
), pool AS (
	SELECT a.capability_pk, a.version_pk, a.adoption FROM adoptions a WHERE a.workspace = $1
	UNION ALL
	SELECT c.pk, coalesce(o.version_pk, c.latest_pk), NULL
	FROM capabilities c LEFT JOIN overlay o ON o.key = 'capability:' || c.source || '/' || c.id
	WHERE c.source = $1
		AND (o.version_pk IS NOT NULL OR c.tombstoned_at IS NULL
			AND (c.reach <> 'private' OR c.created_by = $2 OR $2 = ANY (c.maintainers)))
		AND NOT EXISTS (SELECT FROM adoptions a WHERE a.workspace = $1 AND a.capability_pk = c.pk)
)
SELECT 'config' AS tag, '' AS source, '' AS id, '' AS name, '' AS text, false AS flag, c.version::bigint AS n, c.config AS doc,
	'' AS version, '' AS kind, '' AS digest, '' AS latest, '' AS reach, NULL::text[] AS shared_with,
	NULL::uuid AS created_by, NULL::uuid[] AS maintainers, false AS withdrawn, false AS blocked, false AS tombstoned, NULL::text[] AS tags
FROM (SELECT version, config FROM agent_configs WHERE workspace = $1 ORDER BY version DESC LIMIT 1) c
UNION ALL
SELECT 'overlay', '', key, '', '', enabled, 0, NULL, '', '', '', '', '', NULL, NULL, NULL, false, false, false, NULL FROM overlay
UNION ALL
SELECT 'secret', '', '', name, '', subject IS NOT NULL, 0, NULL, '', '', '', '', '', NULL, NULL, NULL, false, false, false, NULL
FROM secrets WHERE workspace = $1 AND (subject IS NULL OR subject = $2)
UNION ALL
SELECT 'skill', '', id, name, description, draft, 0, leans, '', 'skill', digest, '', '', NULL, created_by, NULL, false, false, false, NULL
FROM skills WHERE workspace = $1 AND (NOT draft OR created_by = $2)
UNION ALL
SELECT 'capability', c.source, c.id, v.name, v.blocked_reason, p.adoption IS NOT NULL, v.pk, p.adoption,
	v.version, v.kind, v.digest, coalesce(c.latest_version, ''), c.reach, c.shared_with, c.created_by, c.maintainers,
	v.withdrawn_at IS NOT NULL, v.blocked_at IS NOT NULL, c.tombstoned_at IS NOT NULL, c.tags
FROM pool p JOIN capabilities c ON c.pk = p.capability_pk JOIN capability_versions v ON v.pk = p.version_pk
WHERE v.kind = ANY ($3)`

// world is what worldSQL read.
type world struct {
	viewer  capability.Viewer
	version int // of the config
	config  capability.AgentConfig
	overlay capability.Overlay
	secrets map[string]holder
	skills  []skillEntry
	store   []storeEntry
	facts   map[int64]facts
}

// holder says whose secret of a name there is.
type holder struct{ workspace, own bool }

// has reports whether the member can give a secret of that name: his own or
// the workspace's.
func (w *world) has(name string) bool { return w.secrets[name] != holder{} }

type skillEntry struct {
	id, name, description, digest string
	draft                         bool
	leans                         capability.Leans
}

// storeEntry is a pinned version of the store.
type storeEntry struct {
	capability.Ref
	versionPK     int64
	name, digest  string
	kind          capability.Kind
	latest        string // of the capability, "" when none is live
	access        capability.Access
	adoption      *capability.Adoption // nil for what is merely published here
	withdrawn     bool
	blocked       bool
	blockedReason string
	tombstoned    bool
	tags          []string // of the capability
}

type worldRow struct {
	tag, source, id, name, text    string
	flag                           bool
	n                              int64
	doc                            []byte
	version, kind, digest, latest  string
	reach                          string
	sharedWith                     []string
	createdBy                      *uuid.UUID
	maintainers                    []uuid.UUID
	withdrawn, blocked, tombstoned bool
	tags                           []string
}

func (s *Service) readWorld(ctx context.Context, h db.DBTX, actor capability.Actor) (*world, error) {
	subject, err := subjectOf(actor)
	if err != nil {
		return nil, err
	}
	w := &world{viewer: actor.Viewer(), config: emptyConfig(), overlay: capability.Overlay{}, secrets: map[string]holder{}}
	rows, err := h.Query(ctx, worldSQL, actor.Workspace, subject, adoptableKinds())
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("read world: %w", err))
	}
	var r worldRow
	_, err = pgx.ForEachRow(rows, []any{
		&r.tag, &r.source, &r.id, &r.name, &r.text, &r.flag, &r.n, &r.doc, &r.version, &r.kind, &r.digest, &r.latest,
		&r.reach, &r.sharedWith, &r.createdBy, &r.maintainers, &r.withdrawn, &r.blocked, &r.tombstoned, &r.tags,
	}, func() error { return s.take(w, r) })
	if err != nil {
		return nil, pg.Fault(fmt.Errorf("read world: %w", err))
	}
	pks := make([]int64, len(w.store))
	for i, e := range w.store {
		pks[i] = e.versionPK
	}
	w.facts, err = s.factsOf(ctx, h, pks)
	return w, err
}

func adoptableKinds() []string {
	var out []string
	for _, k := range capability.Kinds {
		if k.Adoptable() {
			out = append(out, string(k))
		}
	}
	return out
}

func (s *Service) take(w *world, r worldRow) (err error) {
	switch r.tag {
	case "config":
		w.version = int(r.n)
		w.config, err = s.known.config(w.viewer.Workspace, w.version, func() (capability.AgentConfig, error) { return decodeConfig(r.doc) })
	case "overlay":
		w.overlay[capability.Key(r.id)] = r.flag
	case "secret":
		h := w.secrets[r.name]
		h.own, h.workspace = h.own || r.flag, h.workspace || !r.flag
		w.secrets[r.name] = h
	case "skill":
		e := skillEntry{id: r.id, name: r.name, description: r.text, digest: r.digest, draft: r.flag}
		if err = json.Unmarshal(r.doc, &e.leans); err != nil {
			return fmt.Errorf("what skill %s leans on: %w", r.id, err)
		}
		w.skills = append(w.skills, e)
	case "capability":
		var e storeEntry
		if e, err = s.storeEntry(r); err == nil {
			w.store = append(w.store, e)
		}
	}
	return err
}

func (s *Service) storeEntry(r worldRow) (storeEntry, error) {
	e := storeEntry{
		Ref: capability.Ref{Source: r.source, ID: r.id, Version: r.version}, versionPK: r.n, name: r.name, digest: r.digest,
		kind: capability.Kind(r.kind), latest: r.latest, access: accessOf(r.source, r.reach, r.sharedWith, r.createdBy, r.maintainers),
		withdrawn: r.withdrawn, blocked: r.blocked, blockedReason: r.text, tombstoned: r.tombstoned, tags: r.tags,
	}
	if r.flag {
		var err error
		if e.adoption, err = s.known.adoption(r.doc); err != nil {
			return e, fmt.Errorf("%s: %w", pinText(e.Ref), err)
		}
	}
	return e, nil
}

func accessOf(source, reach string, sharedWith []string, createdBy *uuid.UUID, maintainers []uuid.UUID) capability.Access {
	a := capability.Access{Source: source, Reach: capability.Reach(reach), SharedWith: sharedWith}
	if createdBy != nil {
		a.CreatedBy = createdBy.String()
	}
	for _, m := range maintainers {
		a.Maintainers = append(a.Maintainers, m.String())
	}
	return a
}
