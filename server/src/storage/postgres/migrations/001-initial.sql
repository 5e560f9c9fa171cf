-- Times are integer milliseconds since 1970, UTC: what is stored is what is shown is what is compared.
-- Every tenant table's key and index begin with the organization, so that all of them can be distributed by it
-- (partitions, Citus); store_clock, secret, user and signing_key are small and the same everywhere (reference tables).
-- Exceptions: a row that is looked up before the organization is known (api_key by its hash, application by its id),
-- and the indexes over running replies that a sweep asks of every organization at once.
-- Ids and keys compare by their bytes ("C"), whatever the database's language.

CREATE TABLE store_clock (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  -- About the latest time any row was dated with: a node starts from here, wherever the machine's clock has gone.
  latest_at bigint NOT NULL
);
INSERT INTO store_clock (latest_at) VALUES (0);

CREATE TABLE secret (
  name text COLLATE "C" PRIMARY KEY,
  value bytea NOT NULL
);

CREATE TABLE organization (
  id text COLLATE "C" PRIMARY KEY,
  name text NOT NULL,
  api_enabled boolean NOT NULL,
  daily_quota bigint NOT NULL CHECK (daily_quota >= 0),
  created_at bigint NOT NULL,
  -- Counted and dated under this row's lock by what changes the order of listings, so that commits of one organization
  -- have an order that walks can rely on.
  latest_at bigint NOT NULL,
  thread_sequence bigint NOT NULL DEFAULT 0,
  move_sequence bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
CREATE INDEX organization_name ON organization (name);

-- A person, whatever organizations they belong to.
CREATE TABLE "user" (
  id text COLLATE "C" PRIMARY KEY,
  email text COLLATE "C" NOT NULL UNIQUE,
  created_at bigint NOT NULL
);

CREATE TABLE member (
  organization_id text COLLATE "C" NOT NULL REFERENCES organization (id),
  user_id text COLLATE "C" NOT NULL REFERENCES "user" (id),
  role text NOT NULL CHECK (role IN ('admin', 'member')),
  service boolean NOT NULL,
  joined_at bigint NOT NULL,
  PRIMARY KEY (organization_id, user_id)
);

CREATE TABLE api_key (
  -- SHA-256 of the key, in hexadecimal.
  hash text COLLATE "C" PRIMARY KEY CHECK (length(hash) = 64),
  organization_id text COLLATE "C" NOT NULL REFERENCES organization (id),
  id text COLLATE "C" NOT NULL,
  -- Null: org-wide.
  user_id text COLLATE "C" REFERENCES "user" (id),
  name text NOT NULL,
  hint text NOT NULL,
  created_at bigint NOT NULL,
  revoked_at bigint
);
CREATE UNIQUE INDEX api_key_id ON api_key (organization_id, id);
CREATE INDEX api_key_user ON api_key (organization_id, user_id) WHERE user_id IS NOT NULL;

-- A machine-to-machine application. Its id is its client id.
CREATE TABLE application (
  id text COLLATE "C" PRIMARY KEY,
  organization_id text COLLATE "C" NOT NULL REFERENCES organization (id),
  name text NOT NULL,
  secret_hash text COLLATE "C" NOT NULL CHECK (length(secret_hash) = 64),
  epoch bigint NOT NULL,
  created_at bigint NOT NULL,
  rotated_at bigint,
  deleted_at bigint
);
CREATE INDEX application_organization ON application (organization_id, created_at, id);

CREATE TABLE signing_key (
  id text COLLATE "C" PRIMARY KEY,
  private_jwk text NOT NULL,
  created_at bigint NOT NULL,
  retired_at bigint
);
CREATE UNIQUE INDEX signing_key_active ON signing_key ((retired_at IS NULL)) WHERE retired_at IS NULL;

CREATE TABLE quota_use (
  organization_id text COLLATE "C" NOT NULL REFERENCES organization (id),
  -- Days since 1970, UTC.
  day bigint NOT NULL,
  used bigint NOT NULL,
  PRIMARY KEY (organization_id, day)
) WITH (fillfactor = 50);

CREATE TABLE thread (
  organization_id text COLLATE "C" NOT NULL REFERENCES organization (id),
  id text COLLATE "C" NOT NULL,
  -- Grows with every thread of the organization, in order of commit: a walk leaves out what came after its start.
  sequence bigint NOT NULL,
  user_id text COLLATE "C" NOT NULL REFERENCES "user" (id),
  title text NOT NULL CHECK (title <> ''),
  account_id text COLLATE "C",
  secondary_id text,
  created_at bigint NOT NULL,
  updated_at bigint,
  activity_at bigint NOT NULL CHECK (activity_at = coalesce(updated_at, created_at)),
  published boolean NOT NULL,
  deleted_at bigint,
  PRIMARY KEY (organization_id, id),
  UNIQUE (organization_id, sequence)
);
-- The four listings: own and published, each with and without an account.
CREATE INDEX thread_own ON thread (organization_id, user_id, activity_at, id) WHERE deleted_at IS NULL;
CREATE INDEX thread_own_account ON thread (organization_id, user_id, account_id, activity_at, id)
  WHERE deleted_at IS NULL AND account_id IS NOT NULL;
CREATE INDEX thread_published ON thread (organization_id, activity_at, id)
  WHERE deleted_at IS NULL AND published;
CREATE INDEX thread_published_account ON thread (organization_id, account_id, activity_at, id)
  WHERE deleted_at IS NULL AND published AND account_id IS NOT NULL;

-- How many threads each listing has, kept with every write: `truncated` must not cost a count.
CREATE TABLE listing_size (
  organization_id text COLLATE "C" NOT NULL REFERENCES organization (id),
  -- '' stands for everyone.
  user_id text COLLATE "C" NOT NULL,
  -- '' stands for any account, '=x' for the account x.
  account_key text COLLATE "C" NOT NULL,
  threads bigint NOT NULL,
  published bigint NOT NULL,
  PRIMARY KEY (organization_id, user_id, account_key)
) WITH (fillfactor = 50);

-- The position a thread left when it was renamed, kept for a day, so that walks under way still meet it there.
CREATE TABLE thread_move (
  organization_id text COLLATE "C" NOT NULL,
  sequence bigint NOT NULL,
  thread_id text COLLATE "C" NOT NULL,
  left_activity_at bigint NOT NULL,
  moved_at bigint NOT NULL,
  PRIMARY KEY (organization_id, sequence),
  FOREIGN KEY (organization_id, thread_id) REFERENCES thread (organization_id, id)
);
CREATE INDEX thread_move_position ON thread_move (organization_id, left_activity_at, thread_id);

-- The assistant message is the job of writing it.
CREATE TABLE message (
  organization_id text COLLATE "C" NOT NULL,
  thread_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  role text NOT NULL CHECK (role IN ('user', 'assistant')),
  content text NOT NULL,
  created_at bigint NOT NULL,
  status text CHECK (status IN ('in_progress', 'corroborating', 'completed', 'failed', 'cancelled')),
  completed_at bigint,
  -- JSON arrays.
  steps text,
  sources text,
  model text,
  -- The job: see the embedded store's schema, which has the same columns.
  available_at bigint,
  claim_token bigint,
  attempts bigint,
  deadline_at bigint,
  trace_id text,
  failure text,
  held boolean NOT NULL DEFAULT false,
  PRIMARY KEY (organization_id, thread_id, id),
  FOREIGN KEY (organization_id, thread_id) REFERENCES thread (organization_id, id),
  CHECK ((role = 'assistant') = (status IS NOT NULL)),
  CHECK ((role = 'assistant') = (steps IS NOT NULL AND claim_token IS NOT NULL AND attempts IS NOT NULL
    AND available_at IS NOT NULL AND deadline_at IS NOT NULL AND trace_id IS NOT NULL)),
  CHECK ((completed_at IS NOT NULL) = (status IS NOT NULL AND status IN ('completed', 'failed', 'cancelled')))
) WITH (fillfactor = 80);
CREATE INDEX message_waiting ON message (organization_id, available_at, id)
  WHERE NOT held AND status IN ('in_progress', 'corroborating');
CREATE INDEX message_held ON message (available_at) WHERE held AND status IN ('in_progress', 'corroborating');
CREATE INDEX message_deadline ON message (deadline_at) WHERE status IN ('in_progress', 'corroborating');

CREATE TABLE idempotency_key (
  organization_id text COLLATE "C" NOT NULL REFERENCES organization (id),
  user_id text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  body_hash text NOT NULL,
  thread_id text COLLATE "C" NOT NULL,
  message_id text COLLATE "C" NOT NULL,
  reply_id text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  PRIMARY KEY (organization_id, user_id, key)
);
CREATE INDEX idempotency_key_expiry ON idempotency_key (organization_id, expires_at);

CREATE TABLE document (
  organization_id text COLLATE "C" NOT NULL REFERENCES organization (id),
  id text COLLATE "C" NOT NULL,
  account_key text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  title text NOT NULL,
  url text,
  passages bigint NOT NULL,
  added_at bigint NOT NULL,
  PRIMARY KEY (organization_id, id)
);
CREATE UNIQUE INDEX document_name ON document (organization_id, account_key, name);

CREATE SEQUENCE passage_number AS bigint;
CREATE TABLE passage (
  organization_id text COLLATE "C" NOT NULL,
  number bigint NOT NULL,
  document_id text COLLATE "C" NOT NULL,
  heading text NOT NULL,
  text text NOT NULL,
  -- The words it is found by, each with its corpus in front ('=x·refund'): see decision 12.
  terms tsvector NOT NULL,
  PRIMARY KEY (organization_id, number),
  FOREIGN KEY (organization_id, document_id) REFERENCES document (organization_id, id)
);
CREATE INDEX passage_document ON passage (organization_id, document_id);
CREATE INDEX passage_terms ON passage USING gin (terms);

-- What one search draws on: an organization's general documents, or those of one account.
CREATE TABLE corpus (
  organization_id text COLLATE "C" NOT NULL REFERENCES organization (id),
  account_key text COLLATE "C" NOT NULL,
  number bigint NOT NULL,
  passages bigint NOT NULL,
  PRIMARY KEY (organization_id, account_key)
);
CREATE SEQUENCE corpus_number AS bigint;
