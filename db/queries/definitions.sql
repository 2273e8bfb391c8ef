-- Definitions of tools ----------------------------------------------------------

-- name: MarkDemanded :execrows
-- One row for the first demand after an adoption; who comes at the same time
-- waits for it.
INSERT INTO tool_definitions (workspace, key, version, tool) VALUES (@workspace, @key, @version, '')
ON CONFLICT DO NOTHING;

-- name: PinnedDefinitions :many
SELECT tool, digest, offered_digest FROM tool_definitions
WHERE workspace = @workspace AND key = @key AND version = @version AND tool <> '' ORDER BY tool FOR UPDATE;

-- name: PinDefinition :exec
INSERT INTO tool_definitions (workspace, key, version, tool, digest, definition)
VALUES (@workspace, @key, @version, @tool, @digest, @definition)
ON CONFLICT DO NOTHING;

-- name: OfferDefinition :exec
INSERT INTO tool_definitions (workspace, key, version, tool, offered_digest, offered)
VALUES (@workspace, @key, @version, @tool, @digest, @definition)
ON CONFLICT (workspace, key, version, tool) DO UPDATE SET
    offered_digest = excluded.offered_digest, offered = excluded.offered, at = clock_timestamp();

-- name: TakeBackOffer :exec
-- The server says again what was accepted.
UPDATE tool_definitions SET offered_digest = '', offered = NULL, at = clock_timestamp()
WHERE workspace = @workspace AND key = @key AND version = @version AND tool = @tool;

-- name: HeldDefinitions :many
SELECT tool, digest, definition, offered_digest, offered, at FROM tool_definitions
WHERE workspace = @workspace AND key = @key AND version = @version AND offered_digest <> '' ORDER BY tool LIMIT 500;

-- name: DefinitionHeld :one
-- Share-locks the definition until the call that asks has started.
SELECT offered_digest <> '' AS held FROM tool_definitions
WHERE workspace = @workspace AND key = @key AND version = @version AND tool = @tool FOR SHARE;

-- name: AcceptDefinition :execrows
UPDATE tool_definitions SET digest = offered_digest, definition = offered, offered_digest = '', offered = NULL, at = clock_timestamp()
WHERE workspace = @workspace AND key = @key AND version = @version AND tool = @tool AND offered_digest = @digest AND @digest <> '';
