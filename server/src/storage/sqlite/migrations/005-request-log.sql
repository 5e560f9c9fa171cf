-- The log of API requests. No foreign key to credentials, because the log outlives them.
CREATE TABLE request (
  organization_id TEXT NOT NULL REFERENCES organization (id),
  -- When the request was answered, by the clock of the node that answered it.
  at INTEGER NOT NULL,
  -- The trace id.
  id TEXT NOT NULL,
  method TEXT NOT NULL,
  operation TEXT NOT NULL,
  status INTEGER NOT NULL,
  latency_us INTEGER NOT NULL,
  credential_id TEXT NOT NULL,
  -- The error envelope; null for a request that succeeded.
  code TEXT,
  message TEXT,
  PRIMARY KEY (organization_id, at, id)
) STRICT;
CREATE INDEX request_trace ON request (organization_id, id);

-- Requests and replies by hour and by day, in buckets of their duration: percentiles without reading the log.
CREATE TABLE traffic_hour (
  organization_id TEXT NOT NULL REFERENCES organization (id),
  -- Hours since 1970.
  hour INTEGER NOT NULL,
  operation TEXT NOT NULL,
  outcome TEXT NOT NULL,
  -- The index of the bucket in domain/traffic.ts.
  bucket INTEGER NOT NULL,
  requests INTEGER NOT NULL,
  PRIMARY KEY (organization_id, hour, operation, outcome, bucket)
) STRICT, WITHOUT ROWID;

CREATE TABLE traffic_day (
  organization_id TEXT NOT NULL REFERENCES organization (id),
  -- Days since 1970, UTC.
  day INTEGER NOT NULL,
  operation TEXT NOT NULL,
  outcome TEXT NOT NULL,
  bucket INTEGER NOT NULL,
  requests INTEGER NOT NULL,
  PRIMARY KEY (organization_id, day, operation, outcome, bucket)
) STRICT, WITHOUT ROWID;
