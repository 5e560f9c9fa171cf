-- The log of API requests. No foreign key to credentials, because the log outlives them.
CREATE TABLE request (
  organization_id text COLLATE "C" NOT NULL REFERENCES organization (id),
  -- When the request was answered, by the clock of the node that answered it.
  at bigint NOT NULL,
  -- The trace id.
  id text COLLATE "C" NOT NULL,
  method text COLLATE "C" NOT NULL,
  operation text COLLATE "C" NOT NULL,
  status bigint NOT NULL,
  latency_us bigint NOT NULL,
  credential_id text COLLATE "C" NOT NULL,
  -- The error envelope; null for a request that succeeded.
  code text COLLATE "C",
  message text,
  PRIMARY KEY (organization_id, at, id)
);
CREATE INDEX request_trace ON request (organization_id, id);

-- Requests and replies by hour and by day, in buckets of their duration: percentiles without reading the log.
CREATE TABLE traffic_hour (
  organization_id text COLLATE "C" NOT NULL REFERENCES organization (id),
  -- Hours since 1970.
  hour bigint NOT NULL,
  operation text COLLATE "C" NOT NULL,
  outcome text COLLATE "C" NOT NULL,
  -- The index of the bucket in domain/traffic.ts.
  bucket bigint NOT NULL,
  requests bigint NOT NULL,
  PRIMARY KEY (organization_id, hour, operation, outcome, bucket)
) WITH (fillfactor = 80);

CREATE TABLE traffic_day (
  organization_id text COLLATE "C" NOT NULL REFERENCES organization (id),
  -- Days since 1970, UTC.
  day bigint NOT NULL,
  operation text COLLATE "C" NOT NULL,
  outcome text COLLATE "C" NOT NULL,
  bucket bigint NOT NULL,
  requests bigint NOT NULL,
  PRIMARY KEY (organization_id, day, operation, outcome, bucket)
) WITH (fillfactor = 80);
