-- Imports: what would become of publications ------------------------------------

-- name: HeldAmong :many
-- The capabilities of the source that have one of the ids.
SELECT c.pk, c.source, c.id, c.kind, c.reach, c.shared_with, c.maintainers, c.tags, c.created_by, c.created_at, c.revision,
    c.latest_version, c.latest_pk, c.adopters, c.tombstoned_at, c.deprecated
FROM capabilities c
WHERE c.source = @source AND c.id = ANY (@ids::text[]);

-- name: LinesOf :many
SELECT v.capability_pk, v.pk, v.version, v.kind, v.name, v.digest, v.withdrawn_at, v.blocked_at
FROM capability_versions v WHERE v.capability_pk = ANY (@pks::bigint[]) ORDER BY v.capability_pk, v.sort_key DESC;

-- name: SameNames :many
-- Capabilities of the source whose names would be confused with one of these,
-- among those that the audiences read.
SELECT c.id, c.name_fold, c.kind FROM capabilities c
WHERE c.source = @source AND c.name_fold = ANY (@folds::text[]) AND c.tombstoned_at IS NULL AND c.audiences && @audiences::text[]
ORDER BY c.id;

-- name: ContentsOf :many
SELECT v.pk, v.content FROM capability_versions v WHERE v.pk = ANY (@pks::bigint[]);

-- Imports: what was sent ------------------------------------------------------------

-- name: StageImport :exec
INSERT INTO staged_imports (id, workspace, subject, name, origin, ciphertext, expires_at)
VALUES (@id, @workspace, @subject, @name, @origin, @ciphertext, clock_timestamp() + make_interval(secs => @kept_secs::float8));

-- name: TrimStagedImports :exec
-- Keeps the newest few of a member's.
DELETE FROM staged_imports s WHERE s.workspace = @workspace AND s.subject = @subject AND s.id NOT IN (
    SELECT k.id FROM staged_imports k WHERE k.workspace = @workspace AND k.subject = @subject
    ORDER BY k.created_at DESC LIMIT @keep::int);

-- name: StagedImport :one
SELECT id, name, origin, ciphertext, state, expires_at FROM staged_imports
WHERE id = @id AND workspace = @workspace AND subject = @subject AND expires_at > clock_timestamp();

-- name: StagedState :one
-- Locks what was chosen until the transaction that changes it ends.
SELECT state FROM staged_imports
WHERE id = @id AND workspace = @workspace AND subject = @subject AND expires_at > clock_timestamp()
FOR UPDATE;

-- name: SetStagedState :exec
-- Once all was dealt with, what was sent is needed no more.
UPDATE staged_imports SET state = @state, ciphertext = CASE WHEN @over::bool THEN ''::bytea ELSE ciphertext END
WHERE id = @id AND workspace = @workspace AND subject = @subject;

-- name: SweepStagedImports :execrows
DELETE FROM staged_imports WHERE expires_at <= clock_timestamp();

-- Exports ---------------------------------------------------------------------------

-- name: LinesFrom :many
-- The next capabilities of the source in the order of their ids, with the keys
-- and sizes of their live versions, oldest first.
SELECT c.id, c.tags, v.pk, coalesce(octet_length(v.content), 0)::bigint AS size
FROM (
    SELECT k.pk, k.id, k.tags FROM capabilities k
    WHERE k.source = @source AND k.id > @after AND k.tombstoned_at IS NULL AND k.audiences && @audiences::text[]
        AND (@everything::bool OR k.id = ANY (@ids::text[]))
    ORDER BY k.id LIMIT @page::int
) c
LEFT JOIN capability_versions v ON v.capability_pk = c.pk AND v.withdrawn_at IS NULL AND v.blocked_at IS NULL
ORDER BY c.id, v.sort_key;

-- name: VersionsByKey :many
SELECT v.pk, v.version, v.kind, v.name, v.description, v.content, v.digest, v.note, v.tags AS labels, v.provenance, v.created_at
FROM capability_versions v WHERE v.pk = ANY (@pks::bigint[]);
