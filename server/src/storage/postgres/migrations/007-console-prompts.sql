-- Prompts sent in the console, counted in the current minute and day. '' in user_id stands for the whole organization.
CREATE TABLE prompt_use (
  organization_id text COLLATE "C" NOT NULL REFERENCES organization (id),
  period text COLLATE "C" NOT NULL CHECK (period IN ('minute', 'day')),
  user_id text COLLATE "C" NOT NULL,
  started_at bigint NOT NULL,
  prompts bigint NOT NULL,
  PRIMARY KEY (organization_id, period, user_id)
) WITH (fillfactor = 50);
