-- +goose Up

-- Slugs and semver keys compare by bytes, whatever the cluster's locale is.

CREATE TABLE users (
    id            uuid PRIMARY KEY,
    email         text NOT NULL,
    name          text NOT NULL,
    password_hash text,                       -- NULL: cannot sign in by password
    locale        text NOT NULL DEFAULT '',   -- '' follows Accept-Language
    theme         text NOT NULL DEFAULT '',   -- '' follows the system
    dismissed     text[] NOT NULL DEFAULT '{}', -- hints the person has put away
    created_at    timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX users_email ON users (lower(email));

CREATE TABLE workspaces (
    slug           text COLLATE "C" PRIMARY KEY,
    name           text NOT NULL,
    created_at     timestamptz NOT NULL DEFAULT now(),
    config_version int NOT NULL DEFAULT 0      -- the newest of agent_configs; what a config change locks
);

CREATE TABLE memberships (
    workspace  text COLLATE "C" NOT NULL REFERENCES workspaces (slug),
    subject    uuid NOT NULL REFERENCES users (id),
    role       text NOT NULL CHECK (role IN ('viewer', 'member', 'admin')),
    created_at timestamptz NOT NULL DEFAULT now(),
    -- Moves with every write to the member's overlays, so that a check which
    -- share-locks this row cannot miss a switch that was just inserted.
    overlay_revision bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (subject, workspace)
);
CREATE INDEX memberships_workspace ON memberships (workspace, created_at);

CREATE TABLE invitations (
    id         uuid PRIMARY KEY,
    workspace  text COLLATE "C" NOT NULL REFERENCES workspaces (slug),
    token_hash bytea NOT NULL UNIQUE,         -- SHA-256; the token is shown once
    role       text NOT NULL CHECK (role IN ('viewer', 'member', 'admin')),
    email      text NOT NULL DEFAULT '',      -- '' anyone with the link
    created_by uuid NOT NULL REFERENCES users (id),
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    used_by    uuid REFERENCES users (id),
    used_at    timestamptz,
    revoked_at timestamptz
);
CREATE INDEX invitations_workspace ON invitations (workspace, created_at DESC);

CREATE TABLE tokens (
    id           uuid PRIMARY KEY,
    subject      uuid NOT NULL REFERENCES users (id),
    workspace    text COLLATE "C" NOT NULL REFERENCES workspaces (slug),
    token_hash   bytea NOT NULL UNIQUE,       -- SHA-256; the token is shown once
    name         text NOT NULL,
    scope        text NOT NULL CHECK (scope IN ('read', 'write', 'agent')),
    created_at   timestamptz NOT NULL DEFAULT now(),
    expires_at   timestamptz NOT NULL,
    last_used_at timestamptz,
    revoked_at   timestamptz
);
CREATE INDEX tokens_subject ON tokens (subject, created_at DESC);

-- The table that scs reads and writes; its token column holds SHA-256.
CREATE TABLE sessions (
    token  text PRIMARY KEY,
    data   bytea NOT NULL,
    expiry timestamptz NOT NULL
);
CREATE INDEX sessions_expiry ON sessions (expiry);

-- Whose session it is, so that a person can list and end his own.
CREATE TABLE session_owners (
    token      text PRIMARY KEY REFERENCES sessions (token) ON DELETE CASCADE,
    id         uuid NOT NULL UNIQUE,
    subject    uuid NOT NULL REFERENCES users (id),
    user_agent text NOT NULL DEFAULT '',
    address    text NOT NULL DEFAULT '',
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX session_owners_subject ON session_owners (subject, created_at DESC);

-- Failed sign-ins, counted per account and per address.
CREATE TABLE signin_failures (
    key text NOT NULL,                        -- 'a:<email>' or 'i:<address>'
    at  timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX signin_failures_key ON signin_failures (key, at DESC);

CREATE TABLE audit (
    id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at        timestamptz NOT NULL DEFAULT clock_timestamp(),
    workspace text COLLATE "C" NOT NULL DEFAULT '',  -- '' concerns the server
    subject   uuid,                            -- NULL: nobody signed in
    action    text NOT NULL,
    target    text NOT NULL DEFAULT '',
    address   text NOT NULL DEFAULT '',
    detail    json NOT NULL DEFAULT '{}'
);
CREATE INDEX audit_workspace ON audit (workspace, id DESC);

-- +goose StatementBegin
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END $$;
-- +goose StatementEnd
CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TABLE changes (
    id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at        timestamptz NOT NULL DEFAULT now(),
    workspace text COLLATE "C" NOT NULL,      -- '' concerns every workspace
    topic     text NOT NULL,
    key       text NOT NULL DEFAULT ''
);

CREATE TABLE idempotency_keys (
    workspace    text COLLATE "C" NOT NULL,
    subject      uuid NOT NULL,
    key          text NOT NULL,
    request_hash bytea NOT NULL,
    status       int,                          -- NULL while the first call runs
    headers      json NOT NULL DEFAULT '{}',
    body         bytea,                        -- NULL where the answer is not kept
    created_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (workspace, subject, key)
);
CREATE INDEX idempotency_keys_created ON idempotency_keys (created_at);

-- The store -----------------------------------------------------------------

CREATE TABLE capabilities (
    pk             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    source         text COLLATE "C" NOT NULL REFERENCES workspaces (slug),
    id             text COLLATE "C" NOT NULL,
    kind           text NOT NULL,              -- of the latest version
    reach          text NOT NULL CHECK (reach IN ('private', 'workspace', 'subset', 'public')),
    shared_with    text[] NOT NULL DEFAULT '{}',
    maintainers    uuid[] NOT NULL DEFAULT '{}',
    audiences      text[] NOT NULL DEFAULT '{}', -- capability.Access.Audiences of the four above
    name_fold      text NOT NULL DEFAULT '',   -- capability.FoldName of the latest version's name
    tags           text[] NOT NULL DEFAULT '{}',
    created_by     uuid REFERENCES users (id), -- NULL: first-party
    created_at     timestamptz NOT NULL DEFAULT now(),
    updated_at     timestamptz NOT NULL DEFAULT now(), -- last publication or metadata change
    revision       bigint NOT NULL DEFAULT 1,  -- of the metadata, for If-Match
    latest_version text COLLATE "C",           -- NULL when no version is live
    latest_pk      bigint,
    deprecated     json,                       -- {successor?, note}
    adopters       int NOT NULL DEFAULT 0,     -- workspaces that adopted it
    tombstoned_at  timestamptz,
    tombstoned_by  uuid,
    UNIQUE (source, id)
);
CREATE INDEX capabilities_source ON capabilities (source, created_at DESC, pk DESC);
CREATE INDEX capabilities_name ON capabilities (source, name_fold);

CREATE TABLE capability_versions (
    pk             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    capability_pk  bigint NOT NULL REFERENCES capabilities (pk),
    version        text COLLATE "C" NOT NULL,
    sort_key       text COLLATE "C" NOT NULL,  -- byte order is semver precedence
    kind           text NOT NULL,
    name           text NOT NULL,
    description    text NOT NULL,
    content        text NOT NULL,              -- canonical JSON; its SHA-256 is the digest
    digest         text COLLATE "C" NOT NULL,
    note           text NOT NULL DEFAULT '',
    tags           text[] NOT NULL DEFAULT '{}',
    provenance     json,                       -- where an import came from
    serves         text[] NOT NULL DEFAULT '{}', -- domains, from the content
    created_by     uuid REFERENCES users (id), -- NULL: first-party
    created_at     timestamptz NOT NULL DEFAULT now(),
    withdrawn_at   timestamptz,
    withdrawn_by   uuid,
    blocked_at     timestamptz,
    blocked_by     uuid,
    blocked_reason text NOT NULL DEFAULT '',
    UNIQUE (capability_pk, version)
);
CREATE INDEX capability_versions_line ON capability_versions (capability_pk, sort_key DESC);
ALTER TABLE capabilities ADD CONSTRAINT capabilities_latest
    FOREIGN KEY (latest_pk) REFERENCES capability_versions (pk);

CREATE TRIGGER capability_versions_frozen
    BEFORE UPDATE OF capability_pk, version, kind, name, description, content, digest ON capability_versions
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- The store's index: lists of capabilities by shelf (who may read), term (a
-- word, a tag, a domain, an owner; '' is everything) and kind. Every order of a
-- page is an index over one list, so a page costs the same however many rows
-- share a word, and no plan depends on the word. Terms are made in
-- internal/catalog/terms.go, shelves in shelf.go.
CREATE TABLE capability_lists (
    id    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    shelf text COLLATE "C" NOT NULL,
    term  text COLLATE "C" NOT NULL,
    kind  text COLLATE "C" NOT NULL,
    n     int NOT NULL,                        -- rows of capability_terms with this list
    UNIQUE (shelf, term, kind)
);

CREATE TABLE capability_terms (
    list          bigint NOT NULL,             -- capability_lists.id, which is never deleted
    created_at    timestamptz NOT NULL,        -- of the capability
    capability_pk bigint NOT NULL REFERENCES capabilities (pk),
    rank          int NOT NULL,                -- how well the term fits, then how popular it is; at least 1
    adopters      int NOT NULL,
    changed       xid8 NOT NULL,               -- transaction that wrote the row: a walk by rank shows none twice
    PRIMARY KEY (list, created_at, capability_pk) INCLUDE (rank)
);
CREATE INDEX capability_terms_rank ON capability_terms (list, rank, capability_pk) INCLUDE (created_at, changed);
CREATE INDEX capability_terms_adopted ON capability_terms (list, adopters, capability_pk) INCLUDE (rank, created_at, changed);
-- For writers only. As an expression it is out of the question for a reader who
-- asks whether a list holds a capability, for which the primary key is right.
CREATE INDEX capability_terms_capability ON capability_terms ((capability_pk + 0));
-- Most lists are short, and those that cost something are long. Planned for a
-- short one, a page would read and sort its whole list instead of walking an
-- index to the LIMIT, so the planner is told of few and long lists. Measured
-- over 10,000 capabilities: 1 ms instead of 5 for a word in 60 % of them.
ALTER TABLE capability_terms ALTER COLUMN list SET (n_distinct = 20);

-- The workspace's agent -------------------------------------------------------

CREATE TABLE agent_configs (
    workspace  text COLLATE "C" NOT NULL REFERENCES workspaces (slug),
    version    int NOT NULL,
    config     json NOT NULL,
    note       text NOT NULL DEFAULT '',
    created_by uuid REFERENCES users (id),
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (workspace, version)
);

-- The adoptions of the newest config, one row each: what joins, counts and
-- dispatch read. Written only together with agent_configs.
CREATE TABLE adoptions (
    workspace     text COLLATE "C" NOT NULL REFERENCES workspaces (slug),
    capability_pk bigint NOT NULL REFERENCES capabilities (pk),
    version_pk    bigint NOT NULL REFERENCES capability_versions (pk),
    channel       text NOT NULL,
    name_fold     text NOT NULL,               -- capability.FoldName of the pinned name
    adoption      json NOT NULL,
    consented     text[] NOT NULL DEFAULT '{}', -- digests consented to since it was adopted: a turn keeps its pin
    PRIMARY KEY (workspace, capability_pk)
);
CREATE UNIQUE INDEX adoptions_name ON adoptions (workspace, channel, name_fold);
CREATE INDEX adoptions_capability ON adoptions (capability_pk);

CREATE TABLE overlays (
    workspace  text COLLATE "C" NOT NULL REFERENCES workspaces (slug),
    subject    uuid NOT NULL REFERENCES users (id),
    key        text COLLATE "C" NOT NULL,      -- capability.ParseKey
    enabled    boolean NOT NULL,
    version_pk bigint REFERENCES capability_versions (pk), -- pin of an unadopted publication
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (workspace, subject, key)
);

CREATE TABLE secrets (
    workspace  text COLLATE "C" NOT NULL REFERENCES workspaces (slug),
    subject    uuid,                           -- NULL: the workspace's
    name       text COLLATE "C" NOT NULL,
    ciphertext bytea NOT NULL,
    revision   bigint NOT NULL DEFAULT 1,
    created_by uuid NOT NULL REFERENCES users (id),
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE NULLS NOT DISTINCT (workspace, subject, name)
);

CREATE TABLE skills (
    workspace   text COLLATE "C" NOT NULL REFERENCES workspaces (slug),
    id          text COLLATE "C" NOT NULL,
    name        text NOT NULL,
    name_fold   text NOT NULL,
    description text NOT NULL,
    content     text NOT NULL,                 -- canonical JSON of the working copy
    digest      text COLLATE "C" NOT NULL,
    draft       boolean NOT NULL DEFAULT false, -- the creator's own until shared
    leans       json NOT NULL DEFAULT '{}',    -- {serves, requires} of the working copy, for lists
    origin      json,                          -- {source, id, version, name} of a copy
    origin_pk   bigint REFERENCES capabilities (pk),
    revision    bigint NOT NULL DEFAULT 1,
    created_by  uuid NOT NULL REFERENCES users (id),
    created_at  timestamptz NOT NULL DEFAULT now(),
    updated_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (workspace, id)
);
CREATE UNIQUE INDEX skills_origin ON skills (workspace, origin_pk) WHERE origin_pk IS NOT NULL;

CREATE TABLE skill_stamps (
    workspace  text COLLATE "C" NOT NULL,
    skill_id   text COLLATE "C" NOT NULL,
    version    text COLLATE "C" NOT NULL,
    sort_key   text COLLATE "C" NOT NULL,
    content    text NOT NULL,
    digest     text COLLATE "C" NOT NULL,
    note       text NOT NULL DEFAULT '',
    stamped_by uuid NOT NULL REFERENCES users (id),
    stamped_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (workspace, skill_id, version),
    FOREIGN KEY (workspace, skill_id) REFERENCES skills (workspace, id) ON DELETE CASCADE
);

-- The agent -------------------------------------------------------------------

CREATE TABLE conversations (
    id         uuid PRIMARY KEY,
    workspace  text COLLATE "C" NOT NULL REFERENCES workspaces (slug),
    subject    uuid NOT NULL REFERENCES users (id),
    title      text NOT NULL DEFAULT '',
    last_seq   bigint NOT NULL DEFAULT 0,       -- of its newest ledger entry
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX conversations_member ON conversations (workspace, subject, updated_at DESC, id DESC);

-- Append-only; payload is json, not jsonb, so that numbers keep every digit.
CREATE TABLE ledger (
    conversation uuid NOT NULL REFERENCES conversations (id),
    seq          bigint NOT NULL,              -- from 1, without gaps
    at           timestamptz NOT NULL DEFAULT clock_timestamp(),
    turn         uuid NOT NULL,
    kind         text NOT NULL,
    call         uuid,                         -- the tool call that the entry is about
    payload      json NOT NULL,
    PRIMARY KEY (conversation, seq)
);
CREATE INDEX ledger_call ON ledger (call, kind) WHERE call IS NOT NULL;
CREATE TRIGGER ledger_append_only BEFORE UPDATE ON ledger
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- Calls that have started and not ended, so that what a killed server leaves
-- is found without reading the ledger.
CREATE TABLE running_calls (
    call         uuid PRIMARY KEY,
    conversation uuid NOT NULL REFERENCES conversations (id),
    turn         uuid NOT NULL,
    tool         text NOT NULL,
    started_at   timestamptz NOT NULL DEFAULT now(),
    ends_by      timestamptz NOT NULL            -- past it, nobody is working on it
);
CREATE INDEX running_calls_ends ON running_calls (ends_by);

-- Results too long for the ledger, kept whole.
CREATE TABLE artifacts (
    id           uuid PRIMARY KEY,
    conversation uuid NOT NULL REFERENCES conversations (id),
    media_type   text NOT NULL,
    content      bytea NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX artifacts_conversation ON artifacts (conversation);

-- +goose Down
DROP TABLE artifacts, running_calls, ledger, conversations, skill_stamps, skills, secrets, overlays, adoptions,
    agent_configs, capability_terms, capability_lists, capability_versions, capabilities, idempotency_keys, changes,
    audit, signin_failures, session_owners, sessions, tokens, invitations, memberships, workspaces, users CASCADE;
DROP FUNCTION refuse_change;
