-- name: LockDrafts :exec
-- Serialises the making of drafts by one member, so that their number holds.
SELECT pg_advisory_xact_lock(hashtextextended('drafts:' || @owner::text, 0));

-- name: CountDrafts :one
SELECT count(*) FROM drafts d WHERE d.workspace = @workspace AND d.subject = @subject;

-- name: InsertDraft :one
-- None where there is a draft of this id.
INSERT INTO drafts (id, workspace, subject, kind, base_source, base_id, base_version, name, form, saved_by)
VALUES (@id, @workspace, @subject, @kind, @base_source, @base_id, @base_version, @name, @form, @saved_by)
ON CONFLICT (id) DO NOTHING
RETURNING revision, updated_at;

-- name: UpdateDraft :one
UPDATE drafts SET base_version = @base_version, name = @name, form = @form, revision = revision + 1, saved_by = @saved_by, updated_at = now()
WHERE id = @id AND workspace = @workspace AND subject = @subject AND kind = @kind
    AND base_source = @base_source AND base_id = @base_id AND (revision = @revision OR saved_by = @saved_by)
RETURNING revision, updated_at;

-- name: DraftByID :one
SELECT d.id, d.kind, d.base_source, d.base_id, d.base_version, d.name, d.form, d.revision, d.updated_at
FROM drafts d WHERE d.id = @id AND d.workspace = @workspace AND d.subject = @subject;

-- name: ListDrafts :many
SELECT d.id, d.kind, d.base_source, d.base_id, d.base_version, d.name, d.revision, d.updated_at
FROM drafts d WHERE d.workspace = @workspace AND d.subject = @subject
ORDER BY d.updated_at DESC, d.id LIMIT 100;

-- name: DeleteDraft :execrows
DELETE FROM drafts WHERE id = @id AND workspace = @workspace AND subject = @subject;

-- name: PeopleOf :many
-- How many belong to each of the subject's own workspaces.
SELECT m.workspace, count(*) AS people FROM memberships m
WHERE m.workspace = ANY (@slugs::text[])
    AND EXISTS (SELECT 1 FROM memberships own WHERE own.workspace = m.workspace AND own.subject = @subject)
GROUP BY m.workspace;
