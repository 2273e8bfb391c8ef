-- +goose Up

-- What the member is told beside the arguments, as it was when he was asked.
ALTER TABLE approvals
    ADD COLUMN name        text NOT NULL DEFAULT '',      -- of the capability
    ADD COLUMN description text NOT NULL DEFAULT '',      -- of the tool, by its author
    ADD COLUMN writes      boolean NOT NULL DEFAULT true,
    ADD COLUMN secrets     text[] NOT NULL DEFAULT '{}',  -- names of what the call is given
    ADD COLUMN hosts       text[] NOT NULL DEFAULT '{}';  -- that it may reach

-- +goose Down
ALTER TABLE approvals DROP COLUMN name, DROP COLUMN description, DROP COLUMN writes, DROP COLUMN secrets, DROP COLUMN hosts;
