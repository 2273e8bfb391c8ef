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
    (c.deprecated IS NOT NULL)::bool AS deprecated, v.kind, v.content
FROM capabilities c LEFT JOIN capability_versions v ON v.pk = c.latest_pk
WHERE c.pk = @pk;

-- name: TermsOf :many
SELECT t.list, l.shelf, l.term, l.kind, t.rank
FROM capability_terms t JOIN capability_lists l ON l.id = t.list
WHERE t.capability_pk + 0 = @capability_pk::bigint;

-- name: DropTerms :exec
DELETE FROM capability_terms WHERE capability_pk + 0 = @capability_pk::bigint AND list = ANY (@lists::bigint[]);

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
SELECT c.id, c.kind, c.reach FROM capabilities c
WHERE c.source = @source AND c.tombstoned_at IS NULL AND c.created_by IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM memberships m WHERE m.workspace = c.source AND m.subject = c.created_by)
ORDER BY c.id;

-- name: AffectedAdopters :one
-- How many workspaces adopted the capability, and how many of them would not
-- read it any more under other audiences.
SELECT count(*) AS adopters, count(*) FILTER (WHERE NOT @workspaces::text[] @> ARRAY[a.workspace::text]) AS losing
FROM adoptions a WHERE a.capability_pk = @pk;

-- name: ReachTargets :many
SELECT w.slug, w.name, (SELECT count(*) FROM memberships m WHERE m.workspace = w.slug) AS members
FROM workspaces w WHERE w.slug = ANY (@slugs::text[]) ORDER BY w.slug;

-- name: PutFirstPartyOwner :exec
INSERT INTO workspaces (slug, name) VALUES (@slug, @name) ON CONFLICT (slug) DO NOTHING;
