-- Who did what. Written in the commit that does it.
CREATE TABLE audit_event (
  organization_id TEXT NOT NULL REFERENCES organization (id),
  at INTEGER NOT NULL,
  id TEXT NOT NULL,
  actor_kind TEXT NOT NULL CHECK (actor_kind IN ('user', 'operator', 'skein')),
  -- No reference: the log outlives what it speaks of.
  actor_user_id TEXT,
  action TEXT NOT NULL,
  subject TEXT NOT NULL,
  -- A JSON object.
  detail TEXT NOT NULL,
  trace_id TEXT NOT NULL,
  PRIMARY KEY (organization_id, at, id),
  CHECK ((actor_kind = 'user') = (actor_user_id IS NOT NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX audit_event_trace ON audit_event (organization_id, trace_id, at, id);

-- Statistics for people; what counts against the quota is in quota_use.
CREATE TABLE usage_day (
  organization_id TEXT NOT NULL REFERENCES organization (id),
  -- Days since 1970, UTC.
  day INTEGER NOT NULL,
  -- Of a key or an application.
  credential_id TEXT NOT NULL,
  operation TEXT NOT NULL,
  outcome TEXT NOT NULL,
  requests INTEGER NOT NULL,
  PRIMARY KEY (organization_id, day, credential_id, operation, outcome)
) STRICT, WITHOUT ROWID;

CREATE TABLE credential_use (
  organization_id TEXT NOT NULL REFERENCES organization (id),
  credential_id TEXT NOT NULL,
  last_used_at INTEGER NOT NULL,
  PRIMARY KEY (organization_id, credential_id)
) STRICT, WITHOUT ROWID;

-- Null: the operator, or a key from before this was kept.
ALTER TABLE api_key ADD COLUMN created_by TEXT REFERENCES user (id);
