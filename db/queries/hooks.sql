-- Hooks --------------------------------------------------------------------------

-- name: ConversationBegun :one
-- Whether a message of an earlier turn got past its hooks.
SELECT EXISTS (SELECT FROM ledger m
    WHERE m.conversation = @conversation AND m.kind = 'message' AND m.turn <> @turn
        AND NOT EXISTS (SELECT FROM ledger h
            WHERE h.conversation = m.conversation AND h.turn = m.turn AND h.kind = 'hook_outcome'
                AND h.payload ->> 'event' IN ('session_start', 'user_prompt') AND h.payload ->> 'decision' IN ('deny', 'ask')));

-- name: RecentHookOutcomes :many
-- What hooks said last in the member's own conversations: the newest of each,
-- out of the last stretch of his newest conversations.
SELECT DISTINCT ON (e.key) e.key::text AS key, e.payload, e.at
FROM (
    SELECT id, last_seq FROM conversations WHERE workspace = @workspace AND subject = @subject
    ORDER BY updated_at DESC, id DESC LIMIT @conversations::int
) c CROSS JOIN LATERAL (
    SELECT l.payload ->> 'key' AS key, l.payload, l.at FROM ledger l
    WHERE l.conversation = c.id AND l.seq > c.last_seq - @stretch::bigint AND l.kind = 'hook_outcome'
) e
ORDER BY e.key, e.at DESC;
