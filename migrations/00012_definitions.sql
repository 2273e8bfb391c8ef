-- +goose Up

-- What a workspace's servers said of their tools when they were first asked
-- after an adoption, and what they say otherwise by now: that is held until
-- somebody has seen the difference. The row without a tool marks the first
-- demand; a tool that came later has nothing accepted.
CREATE TABLE tool_definitions (
    workspace      text COLLATE "C" NOT NULL REFERENCES workspaces (slug),
    key            text COLLATE "C" NOT NULL,
    version        text COLLATE "C" NOT NULL,            -- that was adopted; a hand-wired server's digest
    tool           text COLLATE "C" NOT NULL,            -- its name at the server
    digest         text COLLATE "C" NOT NULL DEFAULT '', -- accepted, '' for a new tool
    definition     json,
    offered_digest text COLLATE "C" NOT NULL DEFAULT '', -- what waits, '' where nothing differs
    offered        json,
    at             timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (workspace, key, version, tool)
);
CREATE INDEX tool_definitions_held ON tool_definitions (workspace, key) WHERE offered_digest <> '';

-- +goose Down
DROP TABLE tool_definitions;
