-- Writing ---------------------------------------------------------------------

-- name: LockCapabilityKey :exec
-- Serialises publication to one natural key, which may not exist yet.
SELECT pg_advisory_xact_lock(hashtextextended('capability:' || @source::text || '/' || @id::text, 0));

-- name: LockCapability :one
SELECT c.pk, c.source, c.id, c.kind, c.reach, c.shared_with, c.maintainers, c.tags, c.created_by, c.created_at, c.revision,
    c.latest_version, c.latest_pk, c.adopters, c.tombstoned_at, c.deprecated
FROM capabilities c
WHERE c.source = @source AND c.id = @id
FOR NO KEY UPDATE;

-- name: LockVisibleCapability :one
SELECT c.pk, c.source, c.id, c.kind, c.reach, c.shared_with, c.maintainers, c.tags, c.created_by, c.created_at, c.revision,
    c.latest_version, c.latest_pk, c.adopters, c.tombstoned_at, c.deprecated
FROM capabilities c
WHERE c.source = @source AND c.id = @id AND c.tombstoned_at IS NULL AND c.audiences && @audiences::text[]
FOR NO KEY UPDATE;

-- name: LockLeftCapability :one
-- What a former member of the workspace left behind, private or not.
SELECT c.pk, c.source, c.id, c.kind, c.reach, c.shared_with, c.maintainers, c.tags, c.created_by, c.created_at, c.revision,
    c.latest_version, c.latest_pk, c.adopters, c.tombstoned_at, c.deprecated
FROM capabilities c
WHERE c.source = @source AND c.id = @id AND c.tombstoned_at IS NULL AND c.created_by IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM memberships m WHERE m.workspace = c.source AND m.subject = c.created_by)
FOR NO KEY UPDATE;

-- name: InsertCapability :one
INSERT INTO capabilities (source, id, kind, reach, shared_with, audiences, name_fold, tags, created_by)
VALUES (@source, @id, @kind, @reach, @shared_with, @audiences, @name_fold, @tags, sqlc.narg(created_by))
RETURNING pk;

-- name: InsertVersion :one
INSERT INTO capability_versions (capability_pk, version, sort_key, kind, name, description, content, digest, note, tags,
    provenance, serves, created_by)
VALUES (@capability_pk, @version, @sort_key, @kind, @name, @description, @content, @digest, @note, @tags,
    sqlc.narg(provenance), @serves, sqlc.narg(created_by))
RETURNING pk;

-- name: VersionLine :many
SELECT v.pk, v.version, v.kind, v.name, v.digest, v.withdrawn_at, v.blocked_at
FROM capability_versions v WHERE v.capability_pk = @capability_pk ORDER BY v.sort_key DESC;

-- name: SetLatest :exec
UPDATE capabilities SET latest_pk = sqlc.narg(latest_pk)::bigint, latest_version = sqlc.narg(latest_version)::text,
    kind = coalesce(sqlc.narg(kind)::text, kind), name_fold = coalesce(sqlc.narg(name_fold)::text, name_fold), updated_at = now()
WHERE pk = @pk;

-- name: SameName :one
-- Another capability of the source whose name would be confused with this one,
-- among those that the audiences read.
SELECT c.id FROM capabilities c
WHERE c.source = @source AND c.name_fold = @name_fold AND c.kind = @kind AND c.id <> @id
    AND c.tombstoned_at IS NULL AND c.audiences && @audiences::text[]
ORDER BY c.id LIMIT 1;

-- name: SetVersionState :exec
UPDATE capability_versions SET
    withdrawn_at = CASE WHEN @withdrawn::bool THEN coalesce(withdrawn_at, now()) END,
    withdrawn_by = CASE WHEN @withdrawn::bool THEN sqlc.narg(subject)::uuid END
WHERE pk = @pk;

-- name: SetVersionBlock :exec
UPDATE capability_versions SET
    blocked_at = CASE WHEN @blocked::bool THEN coalesce(blocked_at, now()) END,
    blocked_by = CASE WHEN @blocked::bool THEN sqlc.narg(subject)::uuid END,
    blocked_reason = @reason
WHERE pk = @pk;

-- name: SetVersionLabels :exec
UPDATE capability_versions SET tags = @tags WHERE pk = @pk;

-- name: SetReach :exec
UPDATE capabilities SET reach = @reach, shared_with = @shared_with, audiences = @audiences WHERE pk = @pk;

-- name: SetCapabilityTags :exec
UPDATE capabilities SET tags = @tags WHERE pk = @pk;

-- name: SetMaintainers :exec
UPDATE capabilities SET maintainers = @maintainers, audiences = @audiences WHERE pk = @pk;

-- name: SetCreator :exec
UPDATE capabilities SET created_by = @created_by::uuid, maintainers = @maintainers, audiences = @audiences WHERE pk = @pk;

-- name: SetDeprecated :exec
UPDATE capabilities SET deprecated = sqlc.narg(deprecated) WHERE pk = @pk;

-- name: Tombstone :exec
UPDATE capabilities SET tombstoned_at = now(), tombstoned_by = sqlc.narg(subject)::uuid WHERE pk = @pk;

-- name: TouchCapability :one
UPDATE capabilities SET revision = revision + 1, updated_at = now() WHERE pk = @pk RETURNING revision;

-- name: MembershipsOf :many
SELECT workspace FROM memberships WHERE subject = @subject ORDER BY workspace;

-- name: MembersAmong :many
SELECT subject FROM memberships WHERE workspace = @workspace AND subject = ANY (@subjects::uuid[]);

-- The index ---------------------------------------------------------------------

-- name: IndexSource :one
SELECT c.pk, c.source, c.id, c.reach, c.audiences, c.tags, c.created_at, c.adopters, c.tombstoned_at,
    (c.deprecated IS NOT NULL)::bool AS deprecated, c.facets, v.kind, v.content
FROM capabilities c LEFT JOIN capability_versions v ON v.pk = c.latest_pk
WHERE c.pk = @pk;

-- name: TermsOf :many
SELECT t.list, l.shelf, l.term, l.kind, t.rank
FROM capability_terms t JOIN capability_lists l ON l.id = t.list
WHERE t.capability_pk + 0 = @capability_pk::bigint;

-- name: DropTerms :exec
DELETE FROM capability_terms WHERE capability_pk + 0 = @capability_pk::bigint AND list = ANY (@lists::bigint[]);

-- name: SetFacets :exec
UPDATE capabilities SET facets = @facets WHERE pk = @pk;

-- name: MissingWords :many
SELECT n.word::text AS word, n.term::text AS term
FROM (SELECT unnest(@words::text[]) AS word, unnest(@terms::text[]) AS term) AS n
WHERE (SELECT w.term FROM capability_words w WHERE w.key = n.word AND w.word = n.word LIMIT 1) IS NULL;

-- name: PutWords :exec
INSERT INTO capability_words (key, word, term)
SELECT unnest(@keys::text[]), unnest(@words::text[]), unnest(@terms::text[]) ON CONFLICT DO NOTHING;

-- name: IndexEdition :one
SELECT edition FROM capability_index;

-- name: SetIndexEdition :exec
UPDATE capability_index SET edition = @edition;

-- name: CapabilityKeys :many
SELECT pk FROM capabilities WHERE pk > @after ORDER BY pk LIMIT 500;

-- name: LockAdopters :one
SELECT source, adopters FROM capabilities WHERE pk = @pk FOR NO KEY UPDATE;

-- name: CountAdopters :one
SELECT ((SELECT count(*) FROM adoptions a WHERE a.capability_pk = @pk)
    + (SELECT count(*) FROM skills s WHERE s.origin_pk = @pk))::int AS adopters;

-- name: SetAdopters :exec
UPDATE capabilities SET adopters = @adopters WHERE pk = @pk;

-- name: SetTermAdopters :exec
UPDATE capability_terms SET adopters = sqlc.arg(adopters), rank = (rank - 1) / sqlc.arg(scale)::int * sqlc.arg(scale)::int + sqlc.arg(popularity)::int + 1,
    changed = pg_current_xact_id()
WHERE capability_pk + 0 = @pk::bigint;

-- Reading -------------------------------------------------------------------------

-- name: CapabilityDetail :one
SELECT c.pk, c.source, c.id, c.reach, c.shared_with, c.maintainers, c.tags, c.created_by, c.created_at, c.updated_at,
    c.revision, c.deprecated, c.adopters, coalesce(cu.name, '') AS creator,
    ARRAY(SELECT coalesce(u.name, '') FROM unnest(c.maintainers) WITH ORDINALITY AS m (subject, n)
        LEFT JOIN users u ON u.id = m.subject ORDER BY m.n)::text[] AS maintainer_names,
    v.pk AS version_pk, v.version, v.kind, v.name, v.description, v.content, v.digest, v.note, v.tags AS labels, v.provenance,
    v.created_by AS published_by, coalesce(vu.name, '') AS author, v.created_at AS published_at, v.withdrawn_at, v.blocked_at,
    v.blocked_reason,
    coalesce(pin.version, '') AS pinned_version, coalesce(pin.digest, '') AS pinned_digest,
    coalesce(pin.sort_key < v.sort_key, false)::bool AS update_available,
    coalesce((SELECT s.id FROM skills s WHERE s.workspace = @workspace AND s.origin_pk = c.pk), '')::text AS taken_as
FROM capabilities c
LEFT JOIN capability_versions v ON v.pk = c.latest_pk
LEFT JOIN users cu ON cu.id = c.created_by
LEFT JOIN users vu ON vu.id = v.created_by
LEFT JOIN adoptions a ON a.workspace = @workspace AND a.capability_pk = c.pk
LEFT JOIN capability_versions pin ON pin.pk = a.version_pk
WHERE c.source = @source AND c.id = @id AND c.tombstoned_at IS NULL AND c.audiences && @audiences::text[]
    AND (c.latest_pk IS NOT NULL OR c.source = @workspace OR a.version_pk IS NOT NULL);

-- name: VersionDetail :one
SELECT c.source, c.id, v.version, v.kind, v.name, v.description, v.content, v.digest, v.note, v.tags AS labels, v.provenance,
    v.created_by AS published_by, coalesce(u.name, '') AS author, v.created_at AS published_at, v.withdrawn_at, v.blocked_at,
    v.blocked_reason, coalesce(v.pk = c.latest_pk, false)::bool AS latest
FROM capabilities c
JOIN capability_versions v ON v.capability_pk = c.pk
LEFT JOIN users u ON u.id = v.created_by
WHERE c.source = @source AND c.id = @id AND v.version = @version AND c.tombstoned_at IS NULL
    AND c.audiences && @audiences::text[]
    AND (v.withdrawn_at IS NULL OR c.source = @workspace OR EXISTS (
        SELECT 1 FROM adoptions a WHERE a.workspace = @workspace AND a.capability_pk = c.pk AND a.version_pk = v.pk));

-- name: VersionsOf :many
-- Everyone who may read the capability sees its live and blocked versions; the
-- withdrawn ones are the owner's, and those of who still pins them.
SELECT c.source, c.id, v.version, v.kind, v.name, v.description, v.digest, v.note, v.tags AS labels, v.provenance,
    v.created_by AS published_by, coalesce(u.name, '') AS author, v.created_at AS published_at, v.withdrawn_at, v.blocked_at,
    v.blocked_reason, coalesce(v.pk = c.latest_pk, false)::bool AS latest
FROM capabilities c
JOIN capability_versions v ON v.capability_pk = c.pk
LEFT JOIN users u ON u.id = v.created_by
WHERE c.source = @source AND c.id = @id AND c.tombstoned_at IS NULL AND c.audiences && @audiences::text[]
    AND (v.withdrawn_at IS NULL OR c.source = @workspace OR EXISTS (
        SELECT 1 FROM adoptions a WHERE a.workspace = @workspace AND a.capability_pk = c.pk AND a.version_pk = v.pk))
ORDER BY v.sort_key DESC;

-- name: HiddenPrivate :many
SELECT c.kind, count(*) AS n FROM capabilities c
WHERE c.source = @source AND c.reach = 'private' AND c.tombstoned_at IS NULL AND NOT c.audiences && sqlc.arg(audiences)::text[]
GROUP BY c.kind ORDER BY c.kind;

-- name: LeftBehind :many
SELECT c.id, c.kind, c.reach, c.adopters, u.name AS creator FROM capabilities c JOIN users u ON u.id = c.created_by
WHERE c.source = @source AND c.tombstoned_at IS NULL AND c.created_by IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM memberships m WHERE m.workspace = c.source AND m.subject = c.created_by)
ORDER BY c.id;

-- name: ReachEffect :one
-- How many workspaces adopted the capability and read it today, how many of
-- them would not under other audiences, and how many of the owner's members
-- switched it on for themselves and would lose it were it private.
SELECT used.adopters, used.losing, (SELECT count(*) FROM memberships m
    JOIN overlays o ON o.workspace = m.workspace AND o.subject = m.subject AND o.key = 'capability:' || c.source || '/' || c.id
    WHERE m.workspace = c.source AND o.enabled AND o.version_pk IS NOT NULL AND NOT used.here AND c.reach <> 'private'
        AND c.created_by IS DISTINCT FROM m.subject AND m.subject <> ALL (c.maintainers)) AS switched
FROM capabilities c CROSS JOIN LATERAL (
    SELECT count(*) AS adopters, count(*) FILTER (WHERE a.workspace = c.source) > 0 AS here,
        count(*) FILTER (WHERE NOT @everyone::bool AND NOT @workspaces::text[] @> ARRAY[a.workspace::text]) AS losing
    FROM adoptions a WHERE a.capability_pk = c.pk AND (c.reach = 'public'
        OR c.reach <> 'private' AND a.workspace = c.source OR c.reach = 'subset' AND a.workspace = ANY (c.shared_with))
) AS used
WHERE c.pk = @pk;

-- name: Reliance :one
-- How many rest on the capability and, where one is named, on a version of it.
-- An adoption of whoever cannot read it any more holds nothing, nor does the
-- pin that a member keeps while his workspace's adoption stands above it.
SELECT c.reach, c.shared_with, c.created_by, c.maintainers, coalesce(v.version, '')::text AS version, used.adopters, used.pinned,
    used.here, used.pinned_here, greatest(c.adopters - used.recorded, 0)::bigint AS copies, own.switched, own.switched_pinned
FROM capabilities c
LEFT JOIN capability_versions v ON v.capability_pk = c.pk AND v.version = @version
CROSS JOIN LATERAL (
    SELECT count(*) AS recorded, count(*) FILTER (WHERE r.reads) AS adopters, count(*) FILTER (WHERE r.reads AND a.version_pk = v.pk) AS pinned,
        (count(*) FILTER (WHERE a.workspace = c.source) > 0)::bool AS here,
        (count(*) FILTER (WHERE a.workspace = c.source AND a.version_pk = v.pk) > 0)::bool AS pinned_here
    FROM adoptions a CROSS JOIN LATERAL (SELECT c.reach = 'public' OR c.reach <> 'private' AND a.workspace = c.source
        OR c.reach = 'subset' AND a.workspace = ANY (c.shared_with) AS reads) AS r
    WHERE a.capability_pk = c.pk
) AS used
CROSS JOIN LATERAL (
    SELECT count(*) AS switched, count(*) FILTER (WHERE o.version_pk = v.pk) AS switched_pinned
    FROM memberships m
    JOIN overlays o ON o.workspace = m.workspace AND o.subject = m.subject AND o.key = 'capability:' || c.source || '/' || c.id
    WHERE m.workspace = c.source AND o.enabled AND o.version_pk IS NOT NULL AND NOT used.here
        AND (c.reach <> 'private' OR c.created_by = m.subject OR m.subject = ANY (c.maintainers))
) AS own
WHERE c.source = @source AND c.id = @id AND c.tombstoned_at IS NULL AND c.audiences && @audiences::text[];

-- name: VisibleAmong :many
-- Which of the names the audiences read, with what a line about each needs.
SELECT c.pk, c.source, c.id, c.reach, c.shared_with, c.deprecated, v.kind, v.name, v.version, coalesce(pin.version, '')::text AS pinned,
    coalesce(c.deprecated ->> 'successor' <> '' AND EXISTS (SELECT FROM capabilities s
        WHERE s.source = split_part(c.deprecated ->> 'successor', '/', 1) AND s.id = split_part(c.deprecated ->> 'successor', '/', 2)
            AND s.tombstoned_at IS NULL AND s.latest_pk IS NOT NULL AND s.audiences && @audiences::text[]), false)::bool AS successor_seen
FROM unnest(@refs::text[]) AS asked (ref)
JOIN capabilities c ON c.source = split_part(asked.ref, '/', 1) AND c.id = split_part(asked.ref, '/', 2)
JOIN capability_versions v ON v.pk = c.latest_pk
LEFT JOIN adoptions a ON a.workspace = @workspace AND a.capability_pk = c.pk
LEFT JOIN capability_versions pin ON pin.pk = a.version_pk
WHERE c.tombstoned_at IS NULL AND c.audiences && @audiences::text[];

-- name: ReachTargets :many
SELECT w.slug, w.name, (SELECT count(*) FROM memberships m WHERE m.workspace = w.slug) AS members
FROM workspaces w WHERE w.slug = ANY (@slugs::text[]) ORDER BY w.slug;

-- name: PutFirstPartyOwner :exec
INSERT INTO workspaces (slug, name) VALUES (@slug, @name) ON CONFLICT (slug) DO NOTHING;

-- name: SourceCard :one
-- The workspace, where something that it published lies on one of the shelves.
SELECT w.slug, w.name FROM workspaces w
WHERE w.slug = @slug AND EXISTS (
    SELECT FROM capability_lists l WHERE l.shelf = ANY (@shelves::text[]) AND l.term = @term AND l.n > 0);

-- name: Unlisted :many
-- What the source published and the audiences read, but no list shows, under
-- the name of its greatest version.
SELECT c.id, c.reach, c.adopters, v.kind, v.name, v.version, (v.blocked_at IS NOT NULL)::bool AS blocked, v.blocked_reason
FROM capabilities c
CROSS JOIN LATERAL (SELECT w.kind, w.name, w.version, w.blocked_at, w.blocked_reason FROM capability_versions w
    WHERE w.capability_pk = c.pk ORDER BY w.sort_key DESC LIMIT 1) AS v
WHERE c.source = @source AND c.latest_pk IS NULL AND c.tombstoned_at IS NULL AND c.audiences && @audiences::text[]
ORDER BY c.id LIMIT 200;
