-- Grows with every change of the thread or its messages that a reader can see.
ALTER TABLE thread ADD COLUMN version bigint NOT NULL DEFAULT 1;
-- Progress of a reply raises it a few times a second: with room in the page, such an update touches no index.
ALTER TABLE thread SET (fillfactor = 80);
-- Replies that wait have no text: a claim then changes nothing that a reader sees.
UPDATE message SET status = 'in_progress', content = '', steps = '[]'
WHERE NOT held AND status IN ('in_progress', 'corroborating');
