-- Who did what. Written in the commit that does it.
CREATE TABLE audit_event (
  organization_id text COLLATE "C" NOT NULL REFERENCES organization (id),
  at bigint NOT NULL,
  id text COLLATE "C" NOT NULL,
  actor_kind text NOT NULL CHECK (actor_kind IN ('user', 'operator', 'skein')),
  -- No reference: the log outlives what it speaks of.
  actor_user_id text COLLATE "C",
  action text NOT NULL,
  subject text NOT NULL,
  -- A JSON object.
  detail text NOT NULL,
  trace_id text COLLATE "C" NOT NULL,
  PRIMARY KEY (organization_id, at, id),
  CHECK ((actor_kind = 'user') = (actor_user_id IS NOT NULL))
);
CREATE INDEX audit_event_trace ON audit_event (organization_id, trace_id, at, id);

-- Statistics for people; what counts against the quota is in quota_use.
CREATE TABLE usage_day (
  organization_id text COLLATE "C" NOT NULL REFERENCES organization (id),
  -- Days since 1970, UTC.
  day bigint NOT NULL,
  -- Of a key or an application.
  credential_id text COLLATE "C" NOT NULL,
  operation text COLLATE "C" NOT NULL,
  outcome text COLLATE "C" NOT NULL,
  requests bigint NOT NULL,
  PRIMARY KEY (organization_id, day, credential_id, operation, outcome)
) WITH (fillfactor = 80);

CREATE TABLE credential_use (
  organization_id text COLLATE "C" NOT NULL REFERENCES organization (id),
  credential_id text COLLATE "C" NOT NULL,
  last_used_at bigint NOT NULL,
  PRIMARY KEY (organization_id, credential_id)
) WITH (fillfactor = 50);

-- Null: the operator, or a key from before this was kept.
ALTER TABLE api_key ADD COLUMN created_by text COLLATE "C" REFERENCES "user" (id);
