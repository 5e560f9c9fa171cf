-- Grows with every change of the thread or its messages that a reader can see.
ALTER TABLE thread ADD COLUMN version bigint NOT NULL DEFAULT 1;
-- Replies that wait have no text: a claim then changes nothing that a reader sees.
UPDATE message SET status = 'in_progress', content = '', steps = '[]'
WHERE NOT held AND status IN ('in_progress', 'corroborating');
