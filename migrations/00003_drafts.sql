-- +goose Up

-- What a member writes and has not published: a form as it was typed. It is
-- his alone, and gone when he publishes or discards it.
CREATE TABLE drafts (
    id           uuid PRIMARY KEY,
    workspace    text COLLATE "C" NOT NULL REFERENCES workspaces (slug),
    subject      uuid NOT NULL REFERENCES users (id),
    kind         text NOT NULL,
    base_source  text COLLATE "C" NOT NULL DEFAULT '', -- what it is the next version of; '' is something new
    base_id      text COLLATE "C" NOT NULL DEFAULT '',
    base_version text COLLATE "C" NOT NULL DEFAULT '',
    name         text NOT NULL,                       -- as typed, '' for none
    form         json NOT NULL,                       -- field → values; json, since text typed may hold any character
    revision     bigint NOT NULL DEFAULT 1,
    saved_by     uuid NOT NULL,                       -- the opened form that saved it last
    created_at   timestamptz NOT NULL DEFAULT now(),
    updated_at   timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX drafts_owner ON drafts (workspace, subject, updated_at DESC);

-- +goose Down
DROP TABLE drafts;
