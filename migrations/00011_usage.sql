-- +goose Up

-- What each call of a tool took. The ledger has it too, among results of any
-- size and only as long as conversations are kept; figures of usage are read
-- from here. A trigger writes it, so that whoever ends a call counts it.
CREATE TABLE call_figures (
    workspace text COLLATE "C" NOT NULL REFERENCES workspaces (slug),
    subject   uuid NOT NULL REFERENCES users (id),
    turn      uuid NOT NULL,
    tool      text NOT NULL,                   -- as the model sees it
    failed    boolean NOT NULL,
    ms        bigint NOT NULL,
    at        timestamptz NOT NULL
);
CREATE INDEX call_figures_workspace ON call_figures (workspace, at);

-- +goose StatementBegin
-- A result may hold a NUL or half a character, escaped, which the database keeps
-- and does not read. What is counted holds no escape, so they are left out.
CREATE FUNCTION without_escapes(payload json) RETURNS json LANGUAGE sql IMMUTABLE AS $$
    SELECT regexp_replace(replace(payload::text, '\\', ''), '\\u[0-9a-fA-F]{4}', '', 'g')::json
$$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE FUNCTION count_call() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    said json := without_escapes(NEW.payload);
BEGIN
    INSERT INTO call_figures (workspace, subject, turn, tool, failed, ms, at)
    SELECT c.workspace, c.subject, NEW.turn, coalesce(said ->> 'name', ''),
        coalesce((said ->> 'isError')::boolean, false), coalesce((said ->> 'durationMs')::numeric, 0)::bigint, NEW.at
    FROM conversations c WHERE c.id = NEW.conversation;
    RETURN NULL;
END $$;
-- +goose StatementEnd
-- A result without a call was refused before it started.
CREATE TRIGGER ledger_figures AFTER INSERT ON ledger
    FOR EACH ROW WHEN (NEW.kind = 'tool_result' AND NEW.call IS NOT NULL) EXECUTE FUNCTION count_call();

INSERT INTO call_figures (workspace, subject, turn, tool, failed, ms, at)
SELECT c.workspace, c.subject, l.turn, coalesce(said ->> 'name', ''),
    coalesce((said ->> 'isError')::boolean, false), coalesce((said ->> 'durationMs')::numeric, 0)::bigint, l.at
FROM ledger l JOIN conversations c ON c.id = l.conversation CROSS JOIN LATERAL without_escapes(l.payload) AS said
WHERE l.kind = 'tool_result' AND l.call IS NOT NULL;

-- +goose Down
DROP TRIGGER ledger_figures ON ledger;
DROP FUNCTION count_call, without_escapes;
DROP TABLE call_figures;
