-- Whether a worker has the reply, until its lease runs out at available_at. A running reply stands in one of two
-- indexes, so that who looks for work does not meet what is being worked on.
ALTER TABLE message ADD COLUMN held INTEGER NOT NULL DEFAULT 0 CHECK (held IN (0, 1));

DROP INDEX message_due;
-- By organization: the one that floods the others is passed over in one search.
CREATE INDEX message_waiting ON message (organization_id, available_at)
  WHERE held = 0 AND status IN ('in_progress', 'corroborating');
CREATE INDEX message_held ON message (available_at)
  WHERE held = 1 AND status IN ('in_progress', 'corroborating');
CREATE INDEX message_deadline ON message (deadline_at)
  WHERE status IN ('in_progress', 'corroborating');

CREATE TABLE document (
  organization_id TEXT NOT NULL REFERENCES organization (id),
  id TEXT NOT NULL,
  -- '' stands for the whole organization, '=x' for the account x.
  account_key TEXT NOT NULL,
  name TEXT NOT NULL,
  title TEXT NOT NULL,
  url TEXT,
  passages INTEGER NOT NULL,
  added_at INTEGER NOT NULL,
  PRIMARY KEY (organization_id, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX document_name ON document (organization_id, account_key, name);

CREATE TABLE passage (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  organization_id TEXT NOT NULL,
  document_id TEXT NOT NULL,
  heading TEXT NOT NULL,
  text TEXT NOT NULL,
  FOREIGN KEY (organization_id, document_id) REFERENCES document (organization_id, id)
) STRICT;
CREATE INDEX passage_document ON passage (organization_id, document_id);

-- What one search draws on: an organization's general documents, or those of one account.
CREATE TABLE corpus (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  organization_id TEXT NOT NULL REFERENCES organization (id),
  account_key TEXT NOT NULL,
  passages INTEGER NOT NULL,
  UNIQUE (organization_id, account_key)
) STRICT;

-- Which passages hold a term. Each term bears the number of its corpus in front ('7·refund'), so that a search never
-- meets another organization's passages, nor grows with them. Nothing but the index is kept: no text, no positions.
CREATE VIRTUAL TABLE passage_term USING fts5 (
  terms, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii'
);
