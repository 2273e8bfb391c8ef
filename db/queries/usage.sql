-- Figures of usage. They are of one member unless of everyone. Days are those of UTC,
-- and back is how many there are before today's.

-- name: UsageDays :many
-- One row for each of the last days, the days without anything included.
WITH t AS (
    SELECT date_trunc('day', r.started_at, 'UTC') AS day, count(*) AS turns,
        count(*) FILTER (WHERE r.state IN ('failed', 'interrupted')) AS failed_turns, sum(r.steps) AS requests,
        sum(r.input_tokens) AS input, sum(r.cached_tokens) AS cached, sum(r.output_tokens) AS output, sum(r.cost) AS cost
    FROM turns r
    WHERE r.workspace = @workspace AND (@everyone::bool OR r.subject = @subject::uuid)
        AND r.started_at >= date_trunc('day', now(), 'UTC') - make_interval(days => @back::int)
    GROUP BY 1
), c AS (
    SELECT date_trunc('day', f.at, 'UTC') AS day, count(*) AS calls, count(*) FILTER (WHERE f.failed) AS failed_calls,
        percentile_disc(0.5) WITHIN GROUP (ORDER BY f.ms) AS p50, percentile_disc(0.95) WITHIN GROUP (ORDER BY f.ms) AS p95
    FROM call_figures f
    WHERE f.workspace = @workspace AND (@everyone::bool OR f.subject = @subject::uuid)
        AND f.at >= date_trunc('day', now(), 'UTC') - make_interval(days => @back::int)
    GROUP BY 1
), d AS (
    SELECT date_trunc('day', now(), 'UTC') - make_interval(days => ago::int) AS day FROM generate_series(0, @back::int) AS ago
)
SELECT d.day::timestamptz AS day, coalesce(t.turns, 0)::bigint AS turns,
    coalesce(t.failed_turns, 0)::bigint AS failed_turns, coalesce(t.requests, 0)::bigint AS requests,
    coalesce(c.calls, 0)::bigint AS calls, coalesce(c.failed_calls, 0)::bigint AS failed_calls,
    coalesce(t.input, 0)::bigint AS input, coalesce(t.cached, 0)::bigint AS cached, coalesce(t.output, 0)::bigint AS output,
    coalesce(trim_scale(t.cost)::text, '')::text AS cost,
    coalesce(c.p50, 0)::bigint AS p50, coalesce(c.p95, 0)::bigint AS p95
FROM d LEFT JOIN t ON t.day = d.day LEFT JOIN c ON c.day = d.day
ORDER BY d.day;

-- name: UsageMembers :many
-- What each member used by model, the dearest and busiest first. A call whose
-- turn is not known counts to direct mode.
WITH t AS (
    SELECT r.subject, r.model, count(*) AS turns, count(*) FILTER (WHERE r.state IN ('failed', 'interrupted')) AS failed_turns,
        sum(r.steps) AS requests, sum(r.input_tokens) AS input, sum(r.cached_tokens) AS cached, sum(r.output_tokens) AS output,
        sum(r.cost) AS cost
    FROM turns r
    WHERE r.workspace = @workspace AND (@everyone::bool OR r.subject = @subject::uuid)
        AND r.started_at >= date_trunc('day', now(), 'UTC') - make_interval(days => @back::int)
    GROUP BY r.subject, r.model
), c AS (
    SELECT f.subject, coalesce(r.model, '') AS model, count(*) AS calls, count(*) FILTER (WHERE f.failed) AS failed_calls
    FROM call_figures f LEFT JOIN turns r ON r.turn = f.turn
    WHERE f.workspace = @workspace AND (@everyone::bool OR f.subject = @subject::uuid)
        AND f.at >= date_trunc('day', now(), 'UTC') - make_interval(days => @back::int)
    GROUP BY 1, 2
)
SELECT coalesce(t.subject, c.subject)::uuid AS subject, u.name, coalesce(t.model, c.model, '')::text AS model,
    coalesce(t.turns, 0)::bigint AS turns, coalesce(t.failed_turns, 0)::bigint AS failed_turns,
    coalesce(t.requests, 0)::bigint AS requests, coalesce(c.calls, 0)::bigint AS calls,
    coalesce(c.failed_calls, 0)::bigint AS failed_calls, coalesce(t.input, 0)::bigint AS input,
    coalesce(t.cached, 0)::bigint AS cached, coalesce(t.output, 0)::bigint AS output,
    coalesce(trim_scale(t.cost)::text, '')::text AS cost
FROM t FULL JOIN c ON c.subject = t.subject AND c.model = t.model
JOIN users u ON u.id = coalesce(t.subject, c.subject)
ORDER BY coalesce(t.cost, 0) DESC, coalesce(t.turns, 0) DESC, u.name, coalesce(t.model, c.model, '')
LIMIT @count::int;

-- name: UsageTools :many
-- The tools that were called most, with how long they took.
SELECT f.tool, count(*)::bigint AS calls, count(*) FILTER (WHERE f.failed)::bigint AS failed_calls,
    percentile_disc(0.5) WITHIN GROUP (ORDER BY f.ms)::bigint AS p50,
    percentile_disc(0.95) WITHIN GROUP (ORDER BY f.ms)::bigint AS p95,
    count(DISTINCT f.subject)::bigint AS members
FROM call_figures f
WHERE f.workspace = @workspace AND (@everyone::bool OR f.subject = @subject::uuid)
    AND f.at >= date_trunc('day', now(), 'UTC') - make_interval(days => @back::int)
GROUP BY f.tool
ORDER BY calls DESC, f.tool
LIMIT @count::int;
