-- Turns ----------------------------------------------------------------------------

-- name: InsertTurn :exec
-- The unique index turns_open refuses a second open turn of the conversation.
INSERT INTO turns (turn, conversation, workspace, subject, surface, scope, epoch, digest, mode, model, state, server)
VALUES (@turn, @conversation, @workspace, @subject, @surface, @scope, @epoch, @digest, @mode, @model, 'running', @server);

-- name: TurnByID :one
SELECT * FROM turns WHERE turn = @turn;

-- name: LastTurn :one
-- Where the conversation's newest turn stands, with what a model has said so
-- far in it.
SELECT t.turn, t.state, t.server, t.model, t.epoch, t.mode, t.started_at, t.ended_at, c.last_seq, coalesce(p.text, '')::text AS partial,
    (t.state = 'running' AND t.heartbeat_at < clock_timestamp() - make_interval(secs => @stale::float8))::boolean AS stale
FROM conversations c JOIN turns t ON t.conversation = c.id LEFT JOIN turn_partials p ON p.turn = t.turn
WHERE c.id = @conversation AND c.workspace = @workspace AND c.subject = @subject
ORDER BY t.started_at DESC, t.turn DESC LIMIT 1;

-- name: LockTurn :one
SELECT state, server, stop_requested FROM turns WHERE turn = @turn FOR UPDATE;

-- name: HoldTurn :one
-- Share-locks the turn, so that nothing starts in one that was ended elsewhere.
SELECT (server = @server AND state = 'running')::boolean AS mine FROM turns WHERE turn = @turn FOR SHARE;

-- name: Heartbeat :many
-- What does not come back is no turn of this server any more.
UPDATE turns SET heartbeat_at = clock_timestamp()
WHERE turn = ANY(@turns::uuid[]) AND server = @server AND state = 'running'
RETURNING turn;

-- name: StopsRequested :many
SELECT turn FROM turns WHERE turn = ANY(@turns::uuid[]) AND stop_requested;

-- name: RequestStop :exec
UPDATE turns SET stop_requested = true WHERE turn = @turn AND state = 'running';

-- name: EndTurn :execrows
UPDATE turns SET state = @state, ended_at = clock_timestamp()
WHERE turn = @turn AND server = @server AND state = 'running';

-- name: EndWaitingTurn :execrows
UPDATE turns SET state = @state, ended_at = clock_timestamp() WHERE turn = @turn AND state = 'waiting';

-- name: ParkTurn :exec
UPDATE turns SET state = 'waiting' WHERE turn = @turn;

-- name: AnsweredOf :one
-- How many of the approvals have an answer.
SELECT count(*) FROM approvals WHERE id = ANY(@approvals::uuid[]) AND answer IS NOT NULL;

-- name: TakeTurn :execrows
-- A parked turn goes on, here; of servers that try at once one succeeds.
UPDATE turns SET state = 'running', server = @server, heartbeat_at = clock_timestamp()
WHERE turn = @turn AND state = 'waiting';

-- name: WithdrawApprovalsOf :many
UPDATE approvals SET answer = 'withdrawn', answered_at = clock_timestamp()
WHERE turn = @turn AND answer IS NULL
RETURNING id, ref, tool;

-- name: AbandonedTurns :many
-- Turns that nobody works on any more: their server has not been heard of. A
-- server that has the database to itself takes all of them at its start.
SELECT turn, conversation, server FROM turns
WHERE state = 'running' AND turn <> ALL(@own::uuid[])
    AND (@everything::boolean OR heartbeat_at < clock_timestamp() - make_interval(secs => @stale::float8))
ORDER BY started_at LIMIT 1000;

-- name: InterruptTurn :execrows
UPDATE turns SET state = 'interrupted', ended_at = clock_timestamp()
WHERE turn = @turn AND server = @server AND state = 'running'
    AND (@everything::boolean OR heartbeat_at < clock_timestamp() - make_interval(secs => @stale::float8));

-- name: CallsOfTurn :many
-- The calls of the turn that have started and not ended, with the entries that
-- started them.
SELECT r.call, r.tool, l.payload FROM running_calls r
JOIN ledger l ON l.call = r.call AND l.kind = 'tool_call'
WHERE r.turn = @turn ORDER BY r.started_at, r.call;

-- name: CountCall :exec
UPDATE turns SET calls = calls + 1, failed_calls = failed_calls + @failed::int WHERE turn = @turn;

-- name: CountStep :exec
UPDATE turns SET steps = steps + 1, input_tokens = input_tokens + @input, cached_tokens = cached_tokens + @cached,
    output_tokens = output_tokens + @output,
    cost = CASE WHEN sqlc.narg(cost)::numeric IS NULL THEN cost ELSE coalesce(cost, 0) + sqlc.narg(cost)::numeric END
WHERE turn = @turn;

-- name: SavePartial :exec
INSERT INTO turn_partials (turn, text) VALUES (@turn, @text)
ON CONFLICT (turn) DO UPDATE SET text = excluded.text, updated_at = clock_timestamp();

-- name: TakePartial :one
DELETE FROM turn_partials WHERE turn = @turn RETURNING text;

-- name: DeleteTurnsOf :exec
WITH mine AS (SELECT c.id FROM conversations c WHERE c.id = @id AND c.workspace = @workspace AND c.subject = @subject),
    granted AS (DELETE FROM grants g USING mine m WHERE g.conversation = m.id),
    asked AS (DELETE FROM approvals a USING mine m WHERE a.conversation = m.id)
DELETE FROM turns t USING mine m WHERE t.conversation = m.id;

-- name: BoundEpoch :exec
UPDATE conversations SET epoch = @epoch WHERE id = @conversation;

-- name: ChooseForConversation :execrows
UPDATE conversations SET model = @model, mode = @mode WHERE id = @id AND workspace = @workspace AND subject = @subject;
