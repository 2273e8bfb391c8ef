-- Files on their way into a form ----------------------------------------------------

-- name: StageFiles :exec
INSERT INTO staged_files (workspace, subject, digest, content)
SELECT @workspace, @subject, unnest(@digests::text[]), unnest(@contents::bytea[])
ON CONFLICT (workspace, subject, digest) DO UPDATE SET used_at = clock_timestamp();

-- name: StagedFiles :many
UPDATE staged_files SET used_at = clock_timestamp()
WHERE workspace = @workspace AND subject = @subject AND digest = ANY (@digests::text[])
RETURNING digest, content;

-- name: TrimStagedFiles :exec
-- Keeps what was used last, as far as the room goes, and what a draft holds.
DELETE FROM staged_files f USING (
    SELECT s.digest, sum(octet_length(s.content)) OVER (ORDER BY s.used_at DESC, s.digest) AS up_to
    FROM staged_files s WHERE s.workspace = @workspace AND s.subject = @subject
) t
WHERE f.workspace = @workspace AND f.subject = @subject AND f.digest = t.digest AND t.up_to > @room::bigint
    AND NOT EXISTS (SELECT 1 FROM drafts d
        WHERE d.workspace = f.workspace AND d.subject = f.subject AND position(f.digest in d.form::text) > 0);

-- name: KeepDraftedFiles :exec
-- Counts what a draft holds as used, so that it is looked at seldom.
UPDATE staged_files f SET used_at = clock_timestamp()
WHERE f.used_at < now() - make_interval(secs => @kept_secs::float8)
    AND EXISTS (SELECT 1 FROM drafts d
        WHERE d.workspace = f.workspace AND d.subject = f.subject AND position(f.digest in d.form::text) > 0);

-- name: SweepStagedFiles :execrows
DELETE FROM staged_files WHERE used_at < now() - make_interval(secs => @kept_secs::float8);
