-- Approvals and grants ---------------------------------------------------------------

-- name: ConfigHead :one
SELECT config_version FROM workspaces WHERE slug = @workspace;

-- name: ApprovalOfRequest :one
SELECT id, key, version, digest, definition, tool, arguments, binding, why, answer, reason, used_at,
    (answer IS NULL AND expires_at <= clock_timestamp())::boolean AS late
FROM approvals WHERE turn = @turn AND ref = @ref;

-- name: InsertApproval :one
-- Nothing where the request has been asked about already.
INSERT INTO approvals (id, workspace, subject, conversation, turn, ref, key, source, capability, version, digest, definition,
    tool, raw, arguments, binding, why, detail, guarded, name, description, writes, secrets, hosts, expires_at)
VALUES (@id, @workspace, @subject, @conversation, @turn, @ref, @key, @source, @capability, @version, @digest, @definition,
    @tool, @raw, @arguments, @binding, @why, @detail, @guarded,
    @name, @description, @writes, @secrets, @hosts, clock_timestamp() + make_interval(secs => @seconds::float8))
ON CONFLICT (turn, ref) DO NOTHING
RETURNING id;

-- name: UseApproval :execrows
UPDATE approvals SET used_at = clock_timestamp()
WHERE id = @id AND used_at IS NULL AND answer IN ('once', 'conversation', 'always');

-- name: AnswerApproval :one
UPDATE approvals SET answer = @answer, reason = @reason, answered_at = clock_timestamp()
WHERE id = @id AND workspace = @workspace AND subject = @subject AND answer IS NULL AND expires_at > clock_timestamp()
RETURNING conversation, turn, ref, key, version, digest, definition, tool, raw;

-- name: ApprovalsDue :many
SELECT id, conversation FROM approvals
WHERE answer IS NULL AND expires_at <= clock_timestamp()
ORDER BY expires_at LIMIT 500;

-- name: AnsweredTurns :many
-- Turns that wait although one of their questions was answered since: whoever
-- was to go on with them could not, or nobody was there as a question expired.
SELECT t.turn, t.workspace, t.subject, m.role
FROM turns t JOIN memberships m ON m.workspace = t.workspace AND m.subject = t.subject
WHERE t.state = 'waiting' AND EXISTS (
    SELECT FROM approvals a WHERE a.turn = t.turn
        AND a.answered_at > t.heartbeat_at AND (a.answer = 'expired' OR a.answered_at < clock_timestamp() - interval '10 seconds')
)
ORDER BY t.started_at LIMIT 200;

-- name: ExpireApproval :one
UPDATE approvals SET answer = 'expired', answered_at = clock_timestamp()
WHERE id = @id AND answer IS NULL AND expires_at <= clock_timestamp()
RETURNING conversation, turn, ref, tool;

-- name: ApprovalByID :one
SELECT a.*, c.title, t.model, t.mode, (a.answer IS NULL AND a.expires_at <= clock_timestamp())::boolean AS late
FROM approvals a JOIN conversations c ON c.id = a.conversation JOIN turns t ON t.turn = a.turn
WHERE a.id = @id AND a.workspace = @workspace AND a.subject = @subject;

-- name: ApprovalsOfConversation :many
SELECT a.*, c.title, t.model, t.mode, (a.answer IS NULL AND a.expires_at <= clock_timestamp())::boolean AS late
FROM approvals a JOIN conversations c ON c.id = a.conversation JOIN turns t ON t.turn = a.turn
WHERE a.conversation = @conversation AND a.workspace = @workspace AND a.subject = @subject
    AND a.id = ANY(@ids::uuid[]);

-- name: OpenApprovals :many
-- Oldest first: what waits longest is answered first.
SELECT a.*, c.title, t.model, t.mode, false AS late
FROM approvals a JOIN conversations c ON c.id = a.conversation JOIN turns t ON t.turn = a.turn
WHERE a.workspace = @workspace AND a.subject = @subject AND a.answer IS NULL AND a.expires_at > clock_timestamp()
    AND (a.asked_at, a.id) > (@after::timestamptz, @after_id::uuid)
ORDER BY a.asked_at, a.id LIMIT @count::int;

-- name: ClosedApprovals :many
-- Newest first.
SELECT a.*, c.title, t.model, t.mode, (a.answer IS NULL)::boolean AS late
FROM approvals a JOIN conversations c ON c.id = a.conversation JOIN turns t ON t.turn = a.turn
WHERE a.workspace = @workspace AND a.subject = @subject AND (a.answer IS NOT NULL OR a.expires_at <= clock_timestamp())
    AND (a.asked_at, a.id) < (@before::timestamptz, @before_id::uuid)
ORDER BY a.asked_at DESC, a.id DESC LIMIT @count::int;

-- name: CountOpenApprovals :one
SELECT count(*) FROM (
    SELECT FROM approvals
    WHERE workspace = @workspace AND subject = @subject AND answer IS NULL AND expires_at > clock_timestamp() LIMIT 100
) open;

-- name: StandingGrant :one
-- The member's standing word for exactly this: in the conversation, or always.
SELECT bool_or(conversation IS NOT NULL)::boolean AS here, bool_or(conversation IS NULL)::boolean AS always FROM grants
WHERE workspace = @workspace AND subject = @subject AND (conversation = @conversation OR conversation IS NULL)
    AND key = @key AND tool = @tool AND version = @version AND digest = @digest AND definition = @definition
HAVING count(*) > 0;

-- name: InsertGrant :exec
INSERT INTO grants (id, workspace, subject, conversation, key, version, digest, definition, tool)
VALUES (@id, @workspace, @subject, sqlc.narg(conversation), @key, @version, @digest, @definition, @tool)
ON CONFLICT (workspace, subject, conversation, key, tool, version, digest, definition) DO NOTHING;

-- name: GrantsOf :many
SELECT g.id, g.conversation, g.key, g.version, g.tool, g.created_at, coalesce(c.title, '')::text AS title
FROM grants g LEFT JOIN conversations c ON c.id = g.conversation
WHERE g.workspace = @workspace AND g.subject = @subject
ORDER BY g.created_at DESC, g.id DESC LIMIT 500;

-- name: DeleteGrant :one
DELETE FROM grants WHERE id = @id AND workspace = @workspace AND subject = @subject
RETURNING key, version, tool;
