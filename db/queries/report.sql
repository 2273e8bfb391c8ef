-- What turns could see --------------------------------------------------------

-- name: SeenTurn :one
-- A turn of the workspace with the manifest of the epoch that it bound, and the
-- message that it began with.
SELECT t.turn, t.conversation, t.subject, u.name AS member, t.surface, t.epoch, t.digest, t.mode, t.model, t.state,
    t.steps, t.calls, t.failed_calls, t.input_tokens, t.cached_tokens, t.output_tokens,
    coalesce(trim_scale(t.cost)::text, '')::text AS cost, t.started_at, t.ended_at,
    coalesce(e.manifest, '{}')::json AS manifest,
    coalesce((SELECT l.payload FROM ledger l WHERE l.conversation = t.conversation AND l.turn = t.turn AND l.kind = 'message'
        ORDER BY l.seq LIMIT 1), '{}')::json AS message
FROM turns t JOIN users u ON u.id = t.subject
LEFT JOIN epochs e ON e.workspace = t.workspace AND e.subject = t.subject AND e.epoch = t.epoch
WHERE t.turn = @turn AND t.workspace = @workspace;

-- name: TurnsOfEpochs :many
-- How many turns bound each of the epochs, and the newest few of them.
SELECT n.epoch, n.turn, n.conversation, n.model, n.state, n.started_at, n.total
FROM (
    SELECT t.epoch, t.turn, t.conversation, t.model, t.state, t.started_at,
        count(*) OVER (PARTITION BY t.epoch) AS total,
        row_number() OVER (PARTITION BY t.epoch ORDER BY t.started_at DESC, t.turn DESC) AS place
    FROM turns t
    WHERE t.workspace = @workspace AND t.subject = @subject AND t.epoch = ANY(@epochs::bigint[])
) n
WHERE n.place <= @count::int
ORDER BY n.epoch DESC, n.started_at DESC, n.turn DESC;
