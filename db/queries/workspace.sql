-- The workspace's agent config -------------------------------------------------

-- name: LockAgent :one
-- Serialises the writers of one workspace's agent; readers and the foreign
-- keys of other tables go on.
SELECT config_version, now()::timestamptz AS at FROM workspaces WHERE slug = @workspace FOR NO KEY UPDATE;

-- name: NewestConfig :one
SELECT c.version, c.config, c.note, c.created_by, coalesce(u.name, '') AS author, c.created_at
FROM agent_configs c LEFT JOIN users u ON u.id = c.created_by
WHERE c.workspace = @workspace ORDER BY c.version DESC LIMIT 1;

-- name: ConfigVersion :one
SELECT c.version, c.config, c.note, c.created_by, coalesce(u.name, '') AS author, c.created_at
FROM agent_configs c LEFT JOIN users u ON u.id = c.created_by
WHERE c.workspace = @workspace AND c.version = @version;

-- name: ConfigHistory :many
SELECT c.version, c.note, c.created_by, coalesce(u.name, '') AS author, c.created_at
FROM agent_configs c LEFT JOIN users u ON u.id = c.created_by
WHERE c.workspace = @workspace AND (@before::int = 0 OR c.version < @before::int)
ORDER BY c.version DESC LIMIT @count::int;

-- name: ConfigBodies :many
SELECT c.version, c.config FROM agent_configs c
WHERE c.workspace = @workspace AND c.version BETWEEN @low::int AND @high::int
ORDER BY c.version DESC LIMIT @count::int;

-- name: InsertConfig :exec
INSERT INTO agent_configs (workspace, version, config, note, created_by)
VALUES (@workspace, @version, @config, @note, @created_by);

-- name: SetConfigVersion :exec
UPDATE workspaces SET config_version = @version WHERE slug = @workspace;

-- name: PutAdoption :exec
-- A re-pin keeps the digests consented to before it, since turns that run hold
-- the former pin to their end.
INSERT INTO adoptions (workspace, capability_pk, version_pk, channel, name_fold, adoption, consented)
VALUES (@workspace, @capability_pk, @version_pk, @channel, @name_fold, @adoption, @consented::text[])
ON CONFLICT (workspace, capability_pk) DO UPDATE SET
    version_pk = excluded.version_pk, channel = excluded.channel, name_fold = excluded.name_fold,
    adoption = excluded.adoption,
    consented = ARRAY(SELECT DISTINCT unnest(adoptions.consented || excluded.consented));

-- name: DeleteAdoption :one
DELETE FROM adoptions WHERE workspace = @workspace AND capability_pk = @capability_pk RETURNING version_pk;

-- name: KeepPin :exec
-- What a member switched on stays at the pin that he saw when the workspace
-- drops its adoption.
UPDATE overlays SET version_pk = @version_pk::bigint
WHERE workspace = @workspace AND key = @key AND enabled AND version_pk IS NULL;

-- name: AdoptedNames :many
SELECT c.source, c.id, a.capability_pk, a.channel, a.name_fold, v.name
FROM adoptions a JOIN capabilities c ON c.pk = a.capability_pk JOIN capability_versions v ON v.pk = a.version_pk
WHERE a.workspace = @workspace;

-- name: AdoptionTarget :one
-- The version that an adoption would pin, locked against revocation until it
-- is pinned; the capability exclusively, since adopters are counted on it. The
-- last condition is capability.CanConsume.
SELECT c.pk AS capability_pk, v.pk AS version_pk, c.reach, c.created_by, c.tombstoned_at, v.kind, v.name, v.content,
    v.digest, v.withdrawn_at, v.blocked_at, v.blocked_reason
FROM capabilities c JOIN capability_versions v ON v.capability_pk = c.pk
WHERE c.source = @source AND c.id = @id AND v.version = @version AND c.tombstoned_at IS NULL AND (
    c.reach = 'public'
    OR c.reach IN ('workspace', 'subset') AND c.source = @workspace
    OR c.reach = 'subset' AND @workspace::text = ANY (c.shared_with)
    OR c.reach = 'private' AND c.source = @workspace
        AND (c.created_by = @subject OR @subject::uuid = ANY (c.maintainers)))
FOR NO KEY UPDATE OF c FOR SHARE OF v;

-- name: PinnedContent :one
SELECT v.content FROM adoptions a JOIN capability_versions v ON v.pk = a.version_pk
JOIN capabilities c ON c.pk = a.capability_pk
WHERE a.workspace = @workspace AND c.source = @source AND c.id = @id;

-- name: VersionContents :many
SELECT pk, content, coalesce(provenance ->> 'plugin', '')::text AS plugin FROM capability_versions WHERE pk = ANY (@pks::bigint[]);

-- A member's overlay -------------------------------------------------------------

-- name: TouchOverlay :one
UPDATE memberships SET overlay_revision = overlay_revision + 1
WHERE workspace = @workspace AND subject = @subject RETURNING overlay_revision;

-- name: PutOverlay :exec
-- Switching on what is on keeps its pin; switching off drops it, since off
-- carries none.
INSERT INTO overlays (workspace, subject, key, enabled, version_pk)
VALUES (@workspace, @subject, @key, @enabled, sqlc.narg(version_pk))
ON CONFLICT (workspace, subject, key) DO UPDATE SET
    enabled = excluded.enabled, updated_at = now(),
    version_pk = CASE WHEN overlays.enabled AND excluded.enabled THEN coalesce(overlays.version_pk, excluded.version_pk) ELSE excluded.version_pk END;

-- name: DeleteOverlay :exec
DELETE FROM overlays WHERE workspace = @workspace AND subject = @subject AND key = @key;

-- name: ClearSwitches :exec
-- A new thing starts without the choices made about a former one of its key.
DELETE FROM overlays WHERE workspace = @workspace AND key = @key;

-- Workspace skills ------------------------------------------------------------------

-- name: LockSkillNames :exec
SELECT pg_advisory_xact_lock(hashtextextended('skills:' || @workspace::text, 0));

-- name: SkillsOf :many
SELECT s.id, s.name, s.description, s.digest, s.draft, s.origin, s.revision, s.created_by, u.name AS author,
    s.created_at, s.updated_at
FROM skills s JOIN users u ON u.id = s.created_by
WHERE s.workspace = @workspace AND (NOT s.draft OR s.created_by = @subject)
ORDER BY s.name_fold, s.id;

-- name: NewestStamps :many
SELECT DISTINCT ON (t.skill_id) t.skill_id, t.version, t.digest, t.note, t.stamped_by, u.name AS author, t.stamped_at
FROM skill_stamps t
JOIN skills s ON s.workspace = t.workspace AND s.id = t.skill_id
JOIN users u ON u.id = t.stamped_by
WHERE t.workspace = @workspace AND (NOT s.draft OR s.created_by = @subject)
ORDER BY t.skill_id, t.sort_key DESC;

-- name: SkillByID :one
SELECT s.id, s.name, s.description, s.content, s.digest, s.draft, s.origin, s.revision, s.created_by, u.name AS author,
    s.created_at, s.updated_at
FROM skills s JOIN users u ON u.id = s.created_by
WHERE s.workspace = @workspace AND s.id = @id AND (NOT s.draft OR s.created_by = @subject);

-- name: LockSkill :one
SELECT s.id, s.name, s.content, s.digest, s.draft, s.revision, s.created_by, s.origin_pk
FROM skills s
WHERE s.workspace = @workspace AND s.id = @id AND (NOT s.draft OR s.created_by = @subject)
FOR NO KEY UPDATE;

-- name: SkillIDsLike :many
SELECT id FROM skills WHERE workspace = @workspace AND (id = @id OR id LIKE @id || '-%');

-- name: SkillNamed :one
-- The skill that the name would be confused with: among the shared ones for a
-- shared one, among one's own drafts for a draft.
SELECT id, name FROM skills
WHERE workspace = @workspace AND name_fold = @name_fold AND draft = @draft AND id <> @own_id
    AND (NOT draft OR created_by = @subject)
LIMIT 1;

-- name: InsertSkill :exec
INSERT INTO skills (workspace, id, name, name_fold, description, content, digest, draft, leans, origin, origin_pk,
    created_by, created_at, updated_at)
VALUES (@workspace, @id, @name, @name_fold, @description, @content, @digest, @draft, @leans, sqlc.narg(origin),
    sqlc.narg(origin_pk), @created_by, clock_timestamp(), clock_timestamp());

-- name: SkillTakenFrom :one
SELECT id, name FROM skills WHERE workspace = @workspace AND origin_pk = @origin_pk::bigint;

-- name: UpdateSkill :exec
UPDATE skills SET name = @name, name_fold = @name_fold, description = @description, content = @content, digest = @digest,
    leans = @leans, revision = revision + 1, updated_at = clock_timestamp()
WHERE workspace = @workspace AND id = @id;

-- name: ShareSkill :exec
UPDATE skills SET draft = false, revision = revision + 1 WHERE workspace = @workspace AND id = @id;

-- name: DeleteSkill :exec
DELETE FROM skills WHERE workspace = @workspace AND id = @id;

-- name: StampsOf :many
SELECT t.version, t.digest, t.note, t.stamped_by, u.name AS author, t.stamped_at
FROM skill_stamps t
JOIN skills s ON s.workspace = t.workspace AND s.id = t.skill_id
JOIN users u ON u.id = t.stamped_by
WHERE t.workspace = @workspace AND t.skill_id = @id AND (NOT s.draft OR s.created_by = @subject)
ORDER BY t.sort_key DESC;

-- name: StampContent :one
SELECT t.content
FROM skill_stamps t JOIN skills s ON s.workspace = t.workspace AND s.id = t.skill_id
WHERE t.workspace = @workspace AND t.skill_id = @id AND t.version = @version AND (NOT s.draft OR s.created_by = @subject);

-- name: InsertStamp :exec
INSERT INTO skill_stamps (workspace, skill_id, version, sort_key, content, digest, note, stamped_by, stamped_at)
VALUES (@workspace, @skill_id, @version, @sort_key, @content, @digest, @note, @stamped_by, clock_timestamp());
