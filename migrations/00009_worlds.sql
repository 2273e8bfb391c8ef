-- +goose Up

-- The agent of one member in one workspace, as it was published last. It
-- moves by compare-and-set, so no server and no restart turns it back.
CREATE TABLE worlds (
    workspace  text COLLATE "C" NOT NULL REFERENCES workspaces (slug),
    subject    uuid NOT NULL REFERENCES users (id),
    epoch      bigint NOT NULL,
    digest     text COLLATE "C" NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (workspace, subject)
);
CREATE INDEX worlds_moved ON worlds (updated_at);

-- What each epoch held, kept while it is recent or a turn refers to it.
CREATE TABLE epochs (
    workspace  text COLLATE "C" NOT NULL,
    subject    uuid NOT NULL,
    epoch      bigint NOT NULL,
    digest     text COLLATE "C" NOT NULL,
    manifest   json NOT NULL,
    delta      json NOT NULL,                  -- against the epoch before it
    skills     text[] NOT NULL DEFAULT '{}',   -- digests of the skills that it admitted
    at         timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (workspace, subject, epoch),
    FOREIGN KEY (workspace, subject) REFERENCES worlds (workspace, subject)
);
CREATE INDEX epochs_at ON epochs (at);

-- What demand taught about a member's MCP server.
CREATE TABLE observations (
    workspace        text COLLATE "C" NOT NULL REFERENCES workspaces (slug),
    subject          uuid NOT NULL REFERENCES users (id),
    key              text COLLATE "C" NOT NULL,
    pin              text COLLATE "C" NOT NULL, -- digest of what the server was when it was asked
    catalogue        json,                      -- NULL while no demand has got one
    catalogue_digest text COLLATE "C" NOT NULL DEFAULT '',
    trouble_code     text NOT NULL DEFAULT '',  -- why the last demand failed, '' when it did not
    trouble          text NOT NULL DEFAULT '',
    notes            text[] NOT NULL DEFAULT '{}',
    at               timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (workspace, subject, key)
);

-- Skills by digest, so that a turn reads what it bound after an edit or a
-- deletion. A body is touched when its skill moves on.
CREATE TABLE skill_bodies (
    workspace text COLLATE "C" NOT NULL REFERENCES workspaces (slug),
    digest    text COLLATE "C" NOT NULL,
    content   text NOT NULL,
    at        timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (workspace, digest)
);
CREATE INDEX skill_bodies_at ON skill_bodies (at);
CREATE INDEX skills_digest ON skills (workspace, digest);
INSERT INTO skill_bodies (workspace, digest, content)
SELECT DISTINCT ON (workspace, digest) workspace, digest, content FROM skills;

-- Deferred tools that the reading of a message did not predict and the model
-- then used.
CREATE TABLE misreads (
    workspace text COLLATE "C" NOT NULL REFERENCES workspaces (slug),
    tool      text COLLATE "C" NOT NULL,        -- runtime name
    n         bigint NOT NULL DEFAULT 1,
    at        timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (workspace, tool)
);

-- +goose Down
DROP TABLE misreads, skill_bodies, observations, epochs, worlds;
DROP INDEX skills_digest;
