-- A conversation as pages show it --------------------------------------------------

-- name: LedgerBefore :many
-- The entries before a number (0: the newest), from the beginning of a turn on,
-- count of them or more where there are as many.
SELECT l.seq, l.at, l.turn, l.kind, l.call, l.payload
FROM conversations c JOIN ledger l ON l.conversation = c.id
WHERE c.id = @id AND c.workspace = @workspace AND c.subject = @subject
    AND (@before::bigint = 0 OR l.seq < @before)
    AND l.seq >= coalesce((
        SELECT m.seq FROM ledger m
        WHERE m.conversation = c.id AND m.kind = 'message'
            AND m.seq <= CASE @before WHEN 0 THEN c.last_seq + 1 ELSE @before END - @count::bigint
        ORDER BY m.seq DESC LIMIT 1), 0)
ORDER BY l.seq;

-- name: RenameConversation :execrows
UPDATE conversations SET title = @title WHERE id = @id AND workspace = @workspace AND subject = @subject;
