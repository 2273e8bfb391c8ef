-- +goose Up

-- What somebody sent to be imported, while he looks at what is in it. It may
-- hold secrets, so that it is sealed as they are.
CREATE TABLE staged_imports (
    id         uuid PRIMARY KEY,
    workspace  text COLLATE "C" NOT NULL REFERENCES workspaces (slug),
    subject    uuid NOT NULL REFERENCES users (id),
    name       text NOT NULL,                  -- of the file, '' for none
    origin     text NOT NULL DEFAULT '',       -- the address that it was fetched from
    ciphertext bytea NOT NULL,
    state      json NOT NULL DEFAULT '{}',     -- what was chosen, and what became of it
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires_at timestamptz NOT NULL
);
ALTER TABLE staged_imports ALTER COLUMN ciphertext SET STORAGE EXTERNAL; -- it does not compress
CREATE INDEX staged_imports_whose ON staged_imports (workspace, subject, created_at DESC);
CREATE INDEX staged_imports_expires ON staged_imports (expires_at);

-- +goose Down
DROP TABLE staged_imports;
