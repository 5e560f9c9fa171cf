-- A document is written and removed in several commits. Readers see those that are 'ready'; 'writing' and 'removed' are
-- on their way in and out. While it is being written, added_at is the time of the latest part.
ALTER TABLE document ADD COLUMN state text NOT NULL DEFAULT 'ready';
-- The id that it goes by where it took the place of another document; null: its own.
ALTER TABLE document ADD COLUMN kept_id text COLLATE "C";
-- What headings and texts of its passages take in UTF-8.
ALTER TABLE document ADD COLUMN bytes bigint NOT NULL DEFAULT 0;

DROP INDEX document_name;
CREATE UNIQUE INDEX document_name ON document (organization_id, account_key, name) WHERE state = 'ready';
CREATE UNIQUE INDEX document_known_id ON document (organization_id, (coalesce(kept_id, id))) WHERE state = 'ready';
CREATE INDEX document_hidden ON document (organization_id, id) WHERE state <> 'ready';
CREATE INDEX document_budget ON document (organization_id, state, bytes);

-- What is longer than the limits was stored before there were any.
UPDATE document SET url = NULL WHERE length(url) > 2048;
UPDATE document SET title = left(title, 254) || '…' WHERE length(title) > 255;
UPDATE passage SET heading = left(heading, 1299) || '…' WHERE length(heading) > 1300;
UPDATE document SET bytes = (
  SELECT coalesce(sum(octet_length(heading) + octet_length(text)), 0) FROM passage
  WHERE passage.organization_id = document.organization_id AND passage.document_id = document.id);
