-- Conversations and their ledger -------------------------------------------------

-- name: InsertConversation :one
INSERT INTO conversations (id, workspace, subject, title) VALUES (@id, @workspace, @subject, @title)
RETURNING created_at, updated_at;

-- name: ConversationOf :one
SELECT id, title, last_seq, created_at, updated_at, model, mode, epoch FROM conversations
WHERE id = @id AND workspace = @workspace AND subject = @subject;

-- name: ConversationsOf :many
SELECT id, title, last_seq, created_at, updated_at, model, mode, epoch FROM conversations
WHERE workspace = @workspace AND subject = @subject
ORDER BY updated_at DESC, id DESC LIMIT @count::int;

-- name: TitleConversation :exec
UPDATE conversations SET title = @title WHERE id = @id AND title = '';

-- name: DeleteLedgerOf :exec
DELETE FROM ledger l USING conversations c
WHERE l.conversation = c.id AND c.id = @id AND c.workspace = @workspace AND c.subject = @subject;

-- name: DeleteArtifactsOf :exec
DELETE FROM artifacts a USING conversations c
WHERE a.conversation = c.id AND c.id = @id AND c.workspace = @workspace AND c.subject = @subject;

-- name: DeleteConversation :execrows
DELETE FROM conversations WHERE id = @id AND workspace = @workspace AND subject = @subject;

-- name: NextSeq :one
-- Numbers the entry and serialises the writers of one conversation.
UPDATE conversations SET last_seq = last_seq + 1, updated_at = now() WHERE id = @id RETURNING last_seq;

-- name: InsertEntry :one
INSERT INTO ledger (conversation, seq, turn, kind, call, payload) VALUES (@conversation, @seq, @turn, @kind, sqlc.narg(call), @payload)
RETURNING at;

-- name: LedgerOf :many
SELECT l.seq, l.at, l.turn, l.kind, l.call, l.payload
FROM ledger l JOIN conversations c ON c.id = l.conversation
WHERE c.id = @id AND c.workspace = @workspace AND c.subject = @subject AND l.seq > @after::bigint
ORDER BY l.seq LIMIT @count::int;

-- name: StartCall :exec
INSERT INTO running_calls (call, conversation, turn, tool, ends_by)
VALUES (@call, @conversation, @turn, @tool, now() + make_interval(secs => @seconds::float8));

-- name: EndCall :execrows
DELETE FROM running_calls WHERE call = @call;

-- name: RunningCalls :many
SELECT call, turn, tool, started_at FROM running_calls WHERE conversation = @conversation ORDER BY started_at, call;

-- name: AbandonedCalls :many
-- What nobody is working on any more. A server that has the database to itself
-- takes all of them at its start.
SELECT call, conversation, turn, tool FROM running_calls
WHERE @everything::boolean OR ends_by < now()
ORDER BY conversation, started_at LIMIT 1000;

-- name: EndCallsOf :exec
DELETE FROM running_calls r USING conversations c
WHERE r.conversation = c.id AND c.id = @id AND c.workspace = @workspace AND c.subject = @subject;

-- name: InsertArtifact :exec
INSERT INTO artifacts (id, conversation, media_type, content) VALUES (@id, @conversation, @media_type, @content);

-- name: ArtifactOf :one
SELECT a.media_type, a.content, a.created_at
FROM artifacts a JOIN conversations c ON c.id = a.conversation
WHERE a.id = @artifact AND c.id = @conversation AND c.workspace = @workspace AND c.subject = @subject;

-- name: LedgerAfter :many
-- For the turn that works on the conversation.
SELECT seq, at, turn, kind, call, payload FROM ledger
WHERE conversation = @conversation AND seq > @after::bigint
ORDER BY seq LIMIT @count::int;
