-- What is served to other programs: versions with their content, several at once.

-- name: StockOf :many
-- The versions that the references name: source/id for every one of a
-- capability, source/id/version for one. The rule on withdrawn ones is that of
-- VersionsOf.
SELECT c.source, c.id, v.version, v.kind, v.name, v.description, v.content, v.digest, v.note, v.tags AS labels, v.created_at AS published_at,
    v.withdrawn_at, v.blocked_at, v.blocked_reason, coalesce(v.pk = c.latest_pk, false)::bool AS latest, c.updated_at, c.deprecated
FROM unnest(@refs::text[]) WITH ORDINALITY AS asked (ref, n)
JOIN capabilities c ON c.source = split_part(asked.ref, '/', 1) AND c.id = split_part(asked.ref, '/', 2)
JOIN capability_versions v ON v.capability_pk = c.pk
    AND (split_part(asked.ref, '/', 3) = '' OR v.version = split_part(asked.ref, '/', 3))
WHERE c.tombstoned_at IS NULL AND c.audiences && @audiences::text[]
    AND (NOT @latest_only::bool OR v.pk = c.latest_pk)
    AND (v.withdrawn_at IS NULL OR c.source = @workspace OR EXISTS (
        SELECT 1 FROM adoptions a WHERE a.workspace = @workspace AND a.capability_pk = c.pk AND a.version_pk = v.pk))
ORDER BY asked.n, v.sort_key DESC;
