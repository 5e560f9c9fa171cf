-- Prompts sent in the console, counted in the current minute and day. '' in user_id stands for the whole organization.
CREATE TABLE prompt_use (
  organization_id TEXT NOT NULL REFERENCES organization (id),
  period TEXT NOT NULL CHECK (period IN ('minute', 'day')),
  user_id TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  prompts INTEGER NOT NULL,
  PRIMARY KEY (organization_id, period, user_id)
) STRICT, WITHOUT ROWID;
