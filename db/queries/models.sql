-- Registered models ---------------------------------------------------------------

-- name: ModelsOf :many
-- The workspace's models as the member sees them: one's own secret goes before
-- the workspace's. chosen_by counts the members who chose it for themselves.
SELECT m.name, m.provider, m.base_url, m.model, m.secret,
    coalesce(trim_scale(m.price_input)::text, '')::text AS price_input,
    coalesce(trim_scale(m.price_cached)::text, '')::text AS price_cached,
    coalesce(trim_scale(m.price_output)::text, '')::text AS price_output,
    m.context_tokens, m.created_by, u.name AS author, m.created_at, m.updated_at, m.revision,
    EXISTS (SELECT 1 FROM secrets s WHERE s.workspace = m.workspace AND s.name = m.secret AND s.subject = @viewer::uuid) AS own_secret,
    EXISTS (SELECT 1 FROM secrets s WHERE s.workspace = m.workspace AND s.name = m.secret AND s.subject IS NULL) AS shared_secret,
    (SELECT count(*) FROM member_models c JOIN memberships p ON p.workspace = c.workspace AND p.subject = c.subject
        WHERE c.workspace = m.workspace AND c.model = m.name)::int AS chosen_by
FROM models m JOIN users u ON u.id = m.created_by
WHERE m.workspace = @workspace AND (@name::text = '' OR m.name = @name::text)
    AND EXISTS (SELECT 1 FROM memberships me WHERE me.workspace = @workspace AND me.subject = @viewer::uuid)
ORDER BY m.name;

-- name: LockModel :one
SELECT provider, base_url, model, secret,
    coalesce(trim_scale(price_input)::text, '')::text AS price_input,
    coalesce(trim_scale(price_cached)::text, '')::text AS price_cached,
    coalesce(trim_scale(price_output)::text, '')::text AS price_output,
    context_tokens, revision
FROM models WHERE workspace = @workspace AND name = @name FOR UPDATE;

-- name: InsertModel :execrows
INSERT INTO models (workspace, name, provider, base_url, model, secret, price_input, price_cached, price_output, context_tokens, created_by)
VALUES (@workspace, @name, @provider, @base_url, @model, @secret, nullif(@price_input::text, '')::numeric,
    nullif(@price_cached::text, '')::numeric, nullif(@price_output::text, '')::numeric, @context_tokens, @created_by)
ON CONFLICT (workspace, name) DO NOTHING;

-- name: UpdateModel :exec
UPDATE models SET provider = @provider, base_url = @base_url, model = @model, secret = @secret,
    price_input = nullif(@price_input::text, '')::numeric, price_cached = nullif(@price_cached::text, '')::numeric,
    price_output = nullif(@price_output::text, '')::numeric, context_tokens = @context_tokens,
    revision = revision + 1, updated_at = now()
WHERE workspace = @workspace AND name = @name;

-- name: DeleteModel :execrows
DELETE FROM models WHERE workspace = @workspace AND name = @name;

-- name: ModelThere :one
SELECT EXISTS (SELECT 1 FROM models WHERE workspace = @workspace AND name = @name)::bool;

-- name: CountModels :one
SELECT count(*)::int FROM models WHERE workspace = @workspace;

-- Choices of a model ----------------------------------------------------------------

-- name: ModelChoices :many
-- What the member and his workspaces chose, in one workspace or, without one,
-- in all of his.
SELECT p.workspace, w.name AS workspace_name, coalesce(c.model, '')::text AS own,
    coalesce(a.config ->> 'model', '')::text AS shared
FROM memberships p JOIN workspaces w ON w.slug = p.workspace
LEFT JOIN member_models c ON c.workspace = p.workspace AND c.subject = p.subject
LEFT JOIN agent_configs a ON a.workspace = p.workspace AND a.version = w.config_version
WHERE p.subject = @subject AND (@workspace::text = '' OR p.workspace = @workspace::text)
ORDER BY p.workspace;

-- name: ModelNamesOf :many
-- What the member may choose from, in all of his workspaces, and whether he has
-- the keys.
SELECT m.workspace, m.name, m.model, m.secret,
    EXISTS (SELECT 1 FROM secrets s WHERE s.workspace = m.workspace AND s.name = m.secret AND s.subject = @subject::uuid) AS own_secret,
    EXISTS (SELECT 1 FROM secrets s WHERE s.workspace = m.workspace AND s.name = m.secret AND s.subject IS NULL) AS shared_secret
FROM models m JOIN memberships p ON p.workspace = m.workspace
WHERE p.subject = @subject::uuid ORDER BY m.workspace, m.name;

-- name: PutMemberModel :exec
INSERT INTO member_models (workspace, subject, model) VALUES (@workspace, @subject, @model)
ON CONFLICT (workspace, subject) DO UPDATE SET model = excluded.model, updated_at = now();

-- name: DeleteMemberModel :exec
DELETE FROM member_models WHERE workspace = @workspace AND subject = @subject;
