-- +goose Up

-- Contents of files that a form refers to while it is being written: uploaded
-- or typed, and not part of anything yet. Each member has his own.
CREATE TABLE staged_files (
    workspace  text COLLATE "C" NOT NULL REFERENCES workspaces (slug),
    subject    uuid NOT NULL REFERENCES users (id),
    digest     text COLLATE "C" NOT NULL,       -- SHA-256 of the content, in hexadecimal
    content    bytea NOT NULL,
    used_at    timestamptz NOT NULL DEFAULT clock_timestamp(), -- moves whenever a form asks for it
    PRIMARY KEY (workspace, subject, digest)
);
CREATE INDEX staged_files_used ON staged_files (used_at);

-- +goose Down
DROP TABLE staged_files;
