-- A document is written and removed in several commits. Readers see those that are 'ready'; 'writing' and 'removed' are
-- on their way in and out. While it is being written, added_at is the time of the latest part.
ALTER TABLE document ADD COLUMN state TEXT NOT NULL DEFAULT 'ready';
-- The id that it goes by where it took the place of another document; null: its own.
ALTER TABLE document ADD COLUMN kept_id TEXT;
-- What headings and texts of its passages take in UTF-8.
ALTER TABLE document ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;

DROP INDEX document_name;
CREATE UNIQUE INDEX document_name ON document (organization_id, account_key, name) WHERE state = 'ready';
CREATE UNIQUE INDEX document_known_id ON document (organization_id, coalesce(kept_id, id)) WHERE state = 'ready';
CREATE INDEX document_hidden ON document (organization_id, id) WHERE state <> 'ready';
CREATE INDEX document_budget ON document (organization_id, state, bytes);

-- What is longer than the limits was stored before there were any.
UPDATE document SET url = NULL WHERE length(url) > 2048;
UPDATE document SET title = substr(title, 1, 254) || '…' WHERE length(title) > 255;
UPDATE passage SET heading = substr(heading, 1, 1299) || '…' WHERE length(heading) > 1300;
UPDATE document SET bytes = (
  SELECT coalesce(sum(length(CAST(heading AS BLOB)) + length(CAST(text AS BLOB))), 0) FROM passage
  WHERE passage.organization_id = document.organization_id AND passage.document_id = document.id);

-- The index merges its segments in small steps, when it is told to (document-writer.ts), never in the commit of a write.
INSERT INTO passage_term (passage_term, rank) VALUES ('automerge', 0);
INSERT INTO passage_term (passage_term, rank) VALUES ('crisismerge', 1999);
