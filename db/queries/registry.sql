-- Worlds and epochs -------------------------------------------------------------

-- name: WorldHead :many
-- The member's role, where his world stands, and a row for each server that
-- demand has learnt about. No row: he is no member.
SELECT m.role, coalesce(w.epoch, 0)::bigint AS epoch, coalesce(w.digest, '')::text AS digest,
    coalesce(o.key, '')::text AS key, coalesce(o.pin, '')::text AS pin, coalesce(o.catalogue_digest, '')::text AS catalogue_digest,
    coalesce(o.trouble_code, '')::text AS trouble_code, coalesce(o.trouble, '')::text AS trouble,
    coalesce(o.notes, '{}')::text[] AS notes,
    ARRAY(SELECT d.version || E'\n' || d.tool FROM tool_definitions d
        WHERE d.workspace = m.workspace AND d.key = o.key AND d.offered_digest <> '' ORDER BY d.version, d.tool)::text[] AS held
FROM memberships m
LEFT JOIN worlds w ON w.workspace = m.workspace AND w.subject = m.subject
LEFT JOIN observations o ON o.workspace = m.workspace AND o.subject = m.subject
WHERE m.workspace = @workspace AND m.subject = @subject;

-- name: AdvanceWorld :execrows
-- Moves the world on by one epoch; no row when somebody else did meanwhile.
INSERT INTO worlds (workspace, subject, epoch, digest) VALUES (@workspace, @subject, @epoch, @digest)
ON CONFLICT (workspace, subject) DO UPDATE SET epoch = excluded.epoch, digest = excluded.digest, updated_at = now()
WHERE worlds.epoch = excluded.epoch - 1;

-- name: InsertEpoch :exec
INSERT INTO epochs (workspace, subject, epoch, digest, manifest, delta, skills)
VALUES (@workspace, @subject, @epoch, @digest, @manifest, @delta, @skills::text[]);

-- name: EpochManifest :one
SELECT digest, manifest FROM epochs WHERE workspace = @workspace AND subject = @subject AND epoch = @epoch;

-- name: RecentEpochs :many
SELECT epoch, digest, delta, at FROM epochs
WHERE workspace = @workspace AND subject = @subject AND (@before::bigint = 0 OR epoch < @before::bigint)
ORDER BY epoch DESC LIMIT @count::int;

-- name: MovedWorlds :many
-- Where the worlds stand that were published within so many seconds.
SELECT workspace, subject, epoch FROM worlds WHERE updated_at > now() - make_interval(secs => @seconds::float8);

-- name: WorkspacesCarrying :many
-- The workspaces whose members may carry one of the capabilities: those that
-- adopted it.
SELECT DISTINCT a.workspace
FROM (SELECT unnest(@sources::text[]) AS source, unnest(@ids::text[]) AS id) k
JOIN capabilities c ON c.source = k.source AND c.id = k.id
JOIN adoptions a ON a.capability_pk = c.pk;

-- name: PruneEpochs :execrows
-- What no turn refers to, once it is neither among the newest of its world nor
-- superseded only just now.
DELETE FROM epochs e USING (
    SELECT o.workspace, o.subject, o.epoch FROM epochs o JOIN worlds w ON w.workspace = o.workspace AND w.subject = o.subject
    WHERE o.at < now() - make_interval(secs => @grace::float8) AND o.epoch <= w.epoch - @keep::bigint
        AND EXISTS (SELECT FROM epochs s
            WHERE s.workspace = o.workspace AND s.subject = o.subject AND s.epoch > o.epoch AND s.at < now() - make_interval(secs => @grace::float8))
        AND NOT EXISTS (SELECT FROM turns t
            WHERE t.workspace = o.workspace AND t.subject = o.subject AND t.epoch = o.epoch)
    ORDER BY o.at LIMIT @count::int
) old
WHERE e.workspace = old.workspace AND e.subject = old.subject AND e.epoch = old.epoch;

-- Observations ------------------------------------------------------------------

-- name: Catalogues :many
SELECT key, catalogue_digest, catalogue FROM observations
WHERE workspace = @workspace AND subject = @subject AND key = ANY (@keys::text[]) AND catalogue IS NOT NULL;

-- name: PutCatalogue :execrows
-- A repeat of what is known writes nothing.
INSERT INTO observations (workspace, subject, key, pin, catalogue, catalogue_digest, notes)
VALUES (@workspace, @subject, @key, @pin, @catalogue, @catalogue_digest, @notes::text[])
ON CONFLICT (workspace, subject, key) DO UPDATE SET
    pin = excluded.pin, catalogue = excluded.catalogue, catalogue_digest = excluded.catalogue_digest,
    notes = excluded.notes, trouble_code = '', trouble = '', at = clock_timestamp()
WHERE observations.pin <> excluded.pin OR observations.catalogue_digest <> excluded.catalogue_digest
    OR observations.trouble_code <> '' OR observations.notes <> excluded.notes;

-- name: PutTrouble :execrows
-- A failure leaves the catalogue of the same pin as it is: it is no data.
INSERT INTO observations (workspace, subject, key, pin, trouble_code, trouble)
VALUES (@workspace, @subject, @key, @pin, @trouble_code, @trouble)
ON CONFLICT (workspace, subject, key) DO UPDATE SET
    trouble_code = excluded.trouble_code, trouble = excluded.trouble, at = clock_timestamp(), pin = excluded.pin,
    catalogue = CASE WHEN observations.pin = excluded.pin THEN observations.catalogue END,
    catalogue_digest = CASE WHEN observations.pin = excluded.pin THEN observations.catalogue_digest ELSE '' END,
    notes = CASE WHEN observations.pin = excluded.pin THEN observations.notes ELSE '{}' END
WHERE observations.pin <> excluded.pin OR observations.trouble_code <> excluded.trouble_code;

-- name: ClearTrouble :execrows
UPDATE observations SET trouble_code = '', trouble = '', at = clock_timestamp()
WHERE workspace = @workspace AND subject = @subject AND key = @key AND trouble_code <> '';

-- name: ForgetObservation :execrows
DELETE FROM observations WHERE workspace = @workspace AND subject = @subject AND key = @key;

-- name: PruneObservations :execrows
-- What was learnt for those who left, and of servers that neither the workspace
-- nor the member carries any more.
DELETE FROM observations o
WHERE NOT EXISTS (SELECT FROM memberships m WHERE m.workspace = o.workspace AND m.subject = o.subject)
    OR o.key LIKE 'capability:%'
    AND NOT EXISTS (SELECT FROM overlays v
        WHERE v.workspace = o.workspace AND v.subject = o.subject AND v.key = o.key AND v.enabled)
    AND NOT EXISTS (SELECT FROM adoptions a JOIN capabilities c ON c.pk = a.capability_pk
        WHERE a.workspace = o.workspace AND 'capability:' || c.source || '/' || c.id = o.key);

-- Skill bodies ------------------------------------------------------------------

-- name: KeepSkillBody :exec
INSERT INTO skill_bodies (workspace, digest, content) VALUES (@workspace, @digest, @content)
ON CONFLICT (workspace, digest) DO UPDATE SET at = clock_timestamp();

-- name: TouchSkillBody :exec
-- From now on the body is on its own: a turn that is just being bound still
-- finds it.
UPDATE skill_bodies SET at = clock_timestamp() WHERE workspace = @workspace AND digest = @digest;

-- name: SkillBody :one
SELECT content FROM skill_bodies WHERE workspace = @workspace AND digest = @digest;

-- name: PruneSkillBodies :execrows
DELETE FROM skill_bodies b USING (
    SELECT o.workspace, o.digest FROM skill_bodies o
    WHERE o.at < now() - make_interval(secs => @grace::float8)
        AND NOT EXISTS (SELECT FROM skills s WHERE s.workspace = o.workspace AND s.digest = o.digest)
        AND NOT EXISTS (SELECT FROM epochs e WHERE e.workspace = o.workspace AND o.digest = ANY (e.skills))
    ORDER BY o.at LIMIT @count::int
) old
WHERE b.workspace = old.workspace AND b.digest = old.digest AND b.at < now() - make_interval(secs => @grace::float8);

-- Misreads ----------------------------------------------------------------------

-- name: CountMisread :exec
INSERT INTO misreads (workspace, tool) VALUES (@workspace, @tool)
ON CONFLICT (workspace, tool) DO UPDATE SET n = misreads.n + 1, at = clock_timestamp();

-- name: Misreads :many
SELECT tool, n, at FROM misreads WHERE workspace = @workspace ORDER BY n DESC, tool LIMIT @count::int;
