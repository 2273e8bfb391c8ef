-- Writers share this lock and a rotation takes it alone, so that no row is
-- written under a key that the rotation is about to drop.
-- name: LockSecretWrite :exec
SELECT pg_advisory_xact_lock_shared(hashtext('capstore.secret.rotate'));

-- name: LockSecretRotation :exec
SELECT pg_advisory_xact_lock(hashtext('capstore.secret.rotate'));

-- A secret that does not exist yet has no row to lock.
-- name: LockSecretName :exec
SELECT pg_advisory_xact_lock(hashtext('capstore.secret'), hashtext(@key::text));

-- name: GetSecret :one
SELECT created_by, revision FROM secrets
WHERE workspace = @workspace AND subject IS NOT DISTINCT FROM sqlc.narg(subject)::uuid AND name = @name
FOR UPDATE;

-- name: InsertSecret :one
INSERT INTO secrets AS s (workspace, subject, name, ciphertext, created_by)
VALUES (@workspace, sqlc.narg(subject)::uuid, @name, @ciphertext, @created_by)
RETURNING s.revision, s.created_by, (SELECT u.name FROM users u WHERE u.id = s.created_by)::text AS created_by_name, s.created_at, s.updated_at;

-- name: ReplaceSecret :one
UPDATE secrets s SET ciphertext = @ciphertext, revision = s.revision + 1, updated_at = now()
WHERE s.workspace = @workspace AND s.subject IS NOT DISTINCT FROM sqlc.narg(subject)::uuid AND s.name = @name
RETURNING s.revision, s.created_by, (SELECT u.name FROM users u WHERE u.id = s.created_by)::text AS created_by_name, s.created_at, s.updated_at;

-- name: DeleteSecret :exec
DELETE FROM secrets
WHERE workspace = @workspace AND subject IS NOT DISTINCT FROM sqlc.narg(subject)::uuid AND name = @name;

-- name: ListSecrets :many
SELECT s.subject, s.name, s.revision, s.created_by, u.name AS created_by_name, s.created_at, s.updated_at
FROM secrets s
JOIN users u ON u.id = s.created_by
WHERE s.workspace = @workspace AND (s.subject IS NULL OR s.subject = @viewer::uuid)
  AND EXISTS (SELECT 1 FROM memberships me WHERE me.workspace = @workspace AND me.subject = @viewer::uuid)
ORDER BY s.name, s.subject NULLS LAST;

-- The member's own secret of a name goes before the workspace's.
-- name: ResolveSecrets :many
SELECT DISTINCT ON (s.name) s.name, s.subject, s.ciphertext, s.revision
FROM secrets s
WHERE s.workspace = @workspace AND s.name = ANY (@names::text[])
  AND (s.subject IS NULL OR s.subject = @viewer::uuid)
  AND EXISTS (SELECT 1 FROM memberships me WHERE me.workspace = @workspace AND me.subject = @viewer::uuid)
ORDER BY s.name, s.subject NULLS LAST;

-- name: AllSecrets :many
SELECT workspace, subject, name, ciphertext FROM secrets ORDER BY workspace, name, subject FOR UPDATE;

-- name: NewestSecret :one
SELECT workspace, subject, name, ciphertext FROM secrets ORDER BY updated_at DESC LIMIT 1;

-- name: ResealSecret :exec
UPDATE secrets SET ciphertext = @ciphertext
WHERE workspace = @workspace AND subject IS NOT DISTINCT FROM sqlc.narg(subject)::uuid AND name = @name;
