-- +goose Up

-- One run of the agent loop. What it saw is the epoch that it bound; what it
-- did stands in the ledger.
CREATE TABLE turns (
    turn           uuid PRIMARY KEY,
    conversation   uuid NOT NULL REFERENCES conversations (id),
    workspace      text COLLATE "C" NOT NULL REFERENCES workspaces (slug),
    subject        uuid NOT NULL REFERENCES users (id),
    surface        text NOT NULL,               -- web, api, gateway
    scope          text NOT NULL DEFAULT '',    -- of the token that began it, '' for a session
    epoch          bigint NOT NULL,
    digest         text COLLATE "C" NOT NULL,   -- of the bound snapshot
    mode           text NOT NULL,               -- permission mode
    model          text NOT NULL,               -- the registered name, '' in direct mode
    state          text NOT NULL CHECK (state IN ('running', 'waiting', 'done', 'stopped', 'failed', 'interrupted')),
    server         uuid NOT NULL,               -- the process that works on it, or did last
    heartbeat_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    stop_requested boolean NOT NULL DEFAULT false,
    steps          int NOT NULL DEFAULT 0,      -- requests to the model
    calls          int NOT NULL DEFAULT 0,
    failed_calls   int NOT NULL DEFAULT 0,
    input_tokens   bigint NOT NULL DEFAULT 0,
    cached_tokens  bigint NOT NULL DEFAULT 0,
    output_tokens  bigint NOT NULL DEFAULT 0,
    cost           numeric,                     -- in the currency of the model's prices; NULL where it has none
    started_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    ended_at       timestamptz
);
-- A conversation works on one turn at a time, on whatever server.
CREATE UNIQUE INDEX turns_open ON turns (conversation) WHERE state IN ('running', 'waiting');
CREATE INDEX turns_heartbeat ON turns (heartbeat_at) WHERE state = 'running';
CREATE INDEX turns_conversation ON turns (conversation, started_at);
CREATE INDEX turns_epoch ON turns (workspace, subject, epoch);
CREATE INDEX turns_usage ON turns (workspace, started_at);

-- What a model has said so far in the step that runs now. It is gone once the
-- step stands in the ledger.
CREATE TABLE turn_partials (
    turn       uuid PRIMARY KEY REFERENCES turns (turn) ON DELETE CASCADE,
    text       text NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

ALTER TABLE conversations
    ADD COLUMN model text NOT NULL DEFAULT '',  -- its own choice, '' follows the member
    ADD COLUMN mode  text NOT NULL DEFAULT '',  -- its own permission mode, '' follows the workspace
    ADD COLUMN epoch bigint NOT NULL DEFAULT 0; -- that its last turn bound

-- A call that waits, or waited, for its member's word.
CREATE TABLE approvals (
    id           uuid PRIMARY KEY,
    workspace    text COLLATE "C" NOT NULL REFERENCES workspaces (slug),
    subject      uuid NOT NULL REFERENCES users (id),
    conversation uuid NOT NULL REFERENCES conversations (id),
    turn         uuid NOT NULL REFERENCES turns (turn),
    ref          text NOT NULL,                 -- the request within the turn
    key          text NOT NULL,
    source       text NOT NULL DEFAULT '',
    capability   text NOT NULL DEFAULT '',
    version      text NOT NULL DEFAULT '',
    digest       text NOT NULL DEFAULT '',      -- of the version's content
    definition   text NOT NULL DEFAULT '',      -- of the tool's definition
    tool         text NOT NULL,                 -- as the model sees it
    raw          text NOT NULL DEFAULT '',
    arguments    json NOT NULL,                 -- in full, every digit kept
    binding      text COLLATE "C" NOT NULL,     -- digest of all that the answer is about
    why          text NOT NULL,                 -- closed code: write, guarded, policy, hook, rewritten
    detail       text NOT NULL DEFAULT '',      -- the note of the policy, the reason of the hook
    guarded      boolean NOT NULL DEFAULT false,
    asked_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires_at   timestamptz NOT NULL,
    answer       text CHECK (answer IN ('once', 'conversation', 'always', 'deny', 'expired', 'withdrawn')),
    reason       text NOT NULL DEFAULT '',      -- of a denial
    answered_at  timestamptz,
    used_at      timestamptz,                   -- the call started; an answer is used once
    UNIQUE (turn, ref)
);
CREATE INDEX approvals_open ON approvals (workspace, subject, asked_at) WHERE answer IS NULL;
CREATE INDEX approvals_member ON approvals (workspace, subject, asked_at DESC);
CREATE INDEX approvals_conversation ON approvals (conversation);

-- A member's standing word for a tool: in one conversation, or always. It is
-- void for another version or another definition.
CREATE TABLE grants (
    id           uuid PRIMARY KEY,
    workspace    text COLLATE "C" NOT NULL REFERENCES workspaces (slug),
    subject      uuid NOT NULL REFERENCES users (id),
    conversation uuid REFERENCES conversations (id), -- NULL: always
    key          text NOT NULL,
    version      text NOT NULL DEFAULT '',
    digest       text NOT NULL DEFAULT '',
    definition   text NOT NULL DEFAULT '',
    tool         text NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    UNIQUE NULLS NOT DISTINCT (workspace, subject, conversation, key, tool, version, digest, definition)
);
CREATE INDEX grants_conversation ON grants (conversation) WHERE conversation IS NOT NULL;

-- +goose Down
DROP TABLE grants, approvals, turn_partials, turns;
ALTER TABLE conversations DROP COLUMN model, DROP COLUMN mode, DROP COLUMN epoch;
