-- +goose Up

-- What a workspace published and no list shows: no version of it is live.
CREATE INDEX capabilities_unlisted ON capabilities (source, id) WHERE latest_pk IS NULL AND tombstoned_at IS NULL;

-- +goose Down
DROP INDEX capabilities_unlisted;
