-- Null: the invitation is not sent by mail.
ALTER TABLE invitation ADD COLUMN mail_state TEXT CHECK (mail_state IN ('waiting', 'sent', 'failed'));
-- Only while the mail waits.
ALTER TABLE invitation ADD COLUMN sealed_link TEXT;
ALTER TABLE invitation ADD COLUMN mail_due_at INTEGER;
ALTER TABLE invitation ADD COLUMN mail_attempts INTEGER NOT NULL DEFAULT 0;
CREATE INDEX invitation_mail ON invitation (organization_id, mail_due_at) WHERE mail_state = 'waiting';

-- Allows the period 'mail': the mails of a day.
CREATE TABLE new_prompt_use (
  organization_id TEXT NOT NULL REFERENCES organization (id),
  period TEXT NOT NULL CHECK (period IN ('minute', 'day', 'mail')),
  user_id TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  prompts INTEGER NOT NULL,
  PRIMARY KEY (organization_id, period, user_id)
) STRICT, WITHOUT ROWID;
INSERT INTO new_prompt_use SELECT organization_id, period, user_id, started_at, prompts FROM prompt_use;
DROP TABLE prompt_use;
ALTER TABLE new_prompt_use RENAME TO prompt_use;
