-- +goose Up

-- What agents may think with. The name is what is chosen; a choice of a name
-- that was removed stays, so that its chooser hears of it instead of thinking
-- with another model unawares.
CREATE TABLE models (
    workspace      text COLLATE "C" NOT NULL REFERENCES workspaces (slug),
    name           text COLLATE "C" NOT NULL,
    provider       text NOT NULL CHECK (provider IN ('anthropic', 'openai')),
    base_url       text NOT NULL,
    model          text NOT NULL,              -- as the provider calls it
    secret         text COLLATE "C" NOT NULL DEFAULT '', -- name of the key's secret; '' for a provider that asks for none
    price_input    numeric,                    -- US dollars per million tokens; NULL: not known
    price_cached   numeric,                    -- of input from the provider's cache; NULL: as other input
    price_output   numeric,
    context_tokens int NOT NULL DEFAULT 0,     -- 0: not known
    created_by     uuid NOT NULL REFERENCES users (id),
    created_at     timestamptz NOT NULL DEFAULT now(),
    updated_at     timestamptz NOT NULL DEFAULT now(),
    revision       bigint NOT NULL DEFAULT 1,
    PRIMARY KEY (workspace, name)
);

-- A member's own choice; no row follows the workspace.
CREATE TABLE member_models (
    workspace  text COLLATE "C" NOT NULL REFERENCES workspaces (slug),
    subject    uuid NOT NULL REFERENCES users (id),
    model      text COLLATE "C" NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (workspace, subject)
);

-- +goose Down
DROP TABLE member_models, models;
