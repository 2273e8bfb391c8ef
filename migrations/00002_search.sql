-- +goose Up

-- The transaction that last changed what the list holds. Every change to a
-- shelf's capabilities of a kind touches its list of everything, so what was
-- counted over a shelf holds as long as those lists say the same.
ALTER TABLE capability_lists ADD COLUMN changed xid8 NOT NULL DEFAULT '1';

-- The terms that filters offer (tag, domain, owner, reach, runtime), beside the
-- capability itself: counting them for the matches of a search reads no list.
ALTER TABLE capabilities ADD COLUMN facets text[] NOT NULL DEFAULT '{}';

-- Words as they may be mistyped: every word of names, tags, tools and domains
-- under itself and under what is left of it without one letter. Two words are
-- one slip apart only if they share a key. A word says nothing of who may read
-- what it stands in; it is looked up on the reader's shelves.
CREATE TABLE capability_words (
    key  text COLLATE "C" NOT NULL,
    word text COLLATE "C" NOT NULL,
    term text COLLATE "C" NOT NULL,            -- under which the index holds the word
    PRIMARY KEY (key, word)
);

-- How the index was made; a server that makes it otherwise makes it anew.
CREATE TABLE capability_index (
    one     boolean PRIMARY KEY DEFAULT true CHECK (one),
    edition int NOT NULL
);
INSERT INTO capability_index (edition) VALUES (0);

-- +goose Down
DROP TABLE capability_words, capability_index;
ALTER TABLE capabilities DROP COLUMN facets;
ALTER TABLE capability_lists DROP COLUMN changed;
