-- mail_state is null if the invitation is not sent by mail. sealed_link is kept only while the mail waits.
ALTER TABLE invitation
  ADD COLUMN mail_state text CHECK (mail_state IN ('waiting', 'sent', 'failed')),
  ADD COLUMN sealed_link text,
  ADD COLUMN mail_due_at bigint,
  ADD COLUMN mail_attempts bigint NOT NULL DEFAULT 0;
CREATE INDEX invitation_mail ON invitation (organization_id, mail_due_at) WHERE mail_state = 'waiting';

-- The mails of a day have the period 'mail'.
ALTER TABLE prompt_use DROP CONSTRAINT prompt_use_period_check,
  ADD CHECK (period IN ('minute', 'day', 'mail'));
