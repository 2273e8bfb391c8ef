-- Hooks --------------------------------------------------------------------------

-- name: HookOutcomesOfWaiting :many
-- What hooks said to a call before it went to wait for its member's word.
SELECT l.payload FROM approvals a JOIN ledger l ON l.conversation = a.conversation AND l.turn = a.turn
WHERE a.turn = @turn AND a.ref = @ref AND l.kind = 'hook_outcome'
    AND l.payload ->> 'ref' = a.ref AND l.payload ->> 'event' = @event::text
ORDER BY l.seq;

-- name: ConversationBegun :one
-- Whether a message of an earlier turn got past its hooks.
SELECT EXISTS (SELECT FROM ledger m
    WHERE m.conversation = @conversation AND m.kind = 'message' AND m.turn <> @turn
        AND NOT EXISTS (SELECT FROM ledger h
            WHERE h.conversation = m.conversation AND h.turn = m.turn AND h.kind = 'hook_outcome'
                AND h.payload ->> 'event' IN ('session_start', 'user_prompt') AND h.payload ->> 'decision' IN ('deny', 'ask')));
