-- Times are integer milliseconds since 1970, UTC: what is stored is what is shown is what is compared.
-- Every tenant table's key and index begin with the organization, except where a row is looked up before the
-- organization is known (api_key by its hash) or for all organizations at once (message_due, thread_move).

CREATE TABLE store_clock (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  -- The latest time any row was dated with. The clock starts from here, wherever the machine's has gone.
  latest_at INTEGER NOT NULL
) STRICT;
INSERT INTO store_clock VALUES (1, 0);

CREATE TABLE secret (
  name TEXT PRIMARY KEY,
  value BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE organization (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  api_enabled INTEGER NOT NULL CHECK (api_enabled IN (0, 1)),
  daily_quota INTEGER NOT NULL CHECK (daily_quota >= 0),
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX organization_name ON organization (name);

-- A person, whatever organizations they belong to.
CREATE TABLE user (
  id TEXT PRIMARY KEY,
  email TEXT NOT NULL UNIQUE,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE member (
  organization_id TEXT NOT NULL REFERENCES organization (id),
  user_id TEXT NOT NULL REFERENCES user (id),
  role TEXT NOT NULL CHECK (role IN ('admin', 'member')),
  service INTEGER NOT NULL CHECK (service IN (0, 1)),
  joined_at INTEGER NOT NULL,
  PRIMARY KEY (organization_id, user_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE api_key (
  -- SHA-256 of the key, in hexadecimal.
  hash TEXT PRIMARY KEY CHECK (length(hash) = 64),
  organization_id TEXT NOT NULL REFERENCES organization (id),
  id TEXT NOT NULL,
  -- Null: org-wide.
  user_id TEXT REFERENCES user (id),
  name TEXT NOT NULL,
  hint TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  revoked_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX api_key_id ON api_key (organization_id, id);
CREATE INDEX api_key_user ON api_key (organization_id, user_id) WHERE user_id IS NOT NULL;

CREATE TABLE quota_use (
  organization_id TEXT NOT NULL REFERENCES organization (id),
  -- Days since 1970, UTC.
  day INTEGER NOT NULL,
  used INTEGER NOT NULL,
  PRIMARY KEY (organization_id, day)
) STRICT, WITHOUT ROWID;

CREATE TABLE thread (
  -- Grows with every thread: a walk leaves out what came after its start.
  sequence INTEGER PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organization (id),
  id TEXT NOT NULL,
  user_id TEXT NOT NULL REFERENCES user (id),
  title TEXT NOT NULL CHECK (title <> ''),
  account_id TEXT,
  secondary_id TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER,
  -- Checked, not generated: with generated columns an index would not cover the listings' queries.
  activity_at INTEGER NOT NULL CHECK (activity_at = coalesce(updated_at, created_at)),
  published INTEGER NOT NULL CHECK (published IN (0, 1)),
  deleted_at INTEGER,
  -- A flag beside the time, for the same reason: `deleted_at IS NULL` would be looked up in the row.
  deleted INTEGER NOT NULL CHECK (deleted = (deleted_at IS NOT NULL))
) STRICT;
CREATE UNIQUE INDEX thread_id ON thread (organization_id, id);
-- The four listings: own and published, each with and without an account.
CREATE INDEX thread_own ON thread (organization_id, user_id, activity_at, id)
  WHERE deleted = 0;
CREATE INDEX thread_own_account ON thread (organization_id, user_id, account_id, activity_at, id)
  WHERE deleted = 0 AND account_id IS NOT NULL;
CREATE INDEX thread_published ON thread (organization_id, activity_at, id)
  WHERE deleted = 0 AND published = 1;
CREATE INDEX thread_published_account ON thread (organization_id, account_id, activity_at, id)
  WHERE deleted = 0 AND published = 1;

-- How many threads each listing has, kept with every write: `truncated` must not cost a count.
CREATE TABLE listing_size (
  organization_id TEXT NOT NULL REFERENCES organization (id),
  -- '' stands for everyone.
  user_id TEXT NOT NULL,
  -- '' stands for any account, '=x' for the account x.
  account_key TEXT NOT NULL,
  threads INTEGER NOT NULL,
  published INTEGER NOT NULL,
  PRIMARY KEY (organization_id, user_id, account_key)
) STRICT, WITHOUT ROWID;

-- The position a thread left when it was renamed, kept for a day, so that walks under way still meet it there.
CREATE TABLE thread_move (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  organization_id TEXT NOT NULL,
  thread_id TEXT NOT NULL,
  left_activity_at INTEGER NOT NULL,
  moved_at INTEGER NOT NULL,
  FOREIGN KEY (organization_id, thread_id) REFERENCES thread (organization_id, id)
) STRICT;
CREATE INDEX thread_move_position ON thread_move (organization_id, left_activity_at, thread_id);

-- The assistant message is the job of writing it. The messages of a thread lie together: reading it is one search.
CREATE TABLE message (
  organization_id TEXT NOT NULL,
  thread_id TEXT NOT NULL,
  id TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('user', 'assistant')),
  content TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  status TEXT CHECK (status IN ('in_progress', 'corroborating', 'completed', 'failed', 'cancelled')),
  completed_at INTEGER,
  -- JSON arrays.
  steps TEXT,
  sources TEXT,
  model TEXT,
  -- The job. It may be claimed from this time on: when a lease or a pause before the next attempt runs out.
  available_at INTEGER,
  -- Counts the claims; a write that names an older one changes nothing.
  claim_token INTEGER,
  attempts INTEGER,
  deadline_at INTEGER,
  -- The request that asked for the reply, and why it failed: for the log and the console, never for callers.
  trace_id TEXT,
  failure TEXT,
  PRIMARY KEY (organization_id, thread_id, id),
  FOREIGN KEY (organization_id, thread_id) REFERENCES thread (organization_id, id),
  CHECK ((role = 'assistant') = (status IS NOT NULL)),
  CHECK ((role = 'assistant') = (steps IS NOT NULL AND claim_token IS NOT NULL AND attempts IS NOT NULL
    AND available_at IS NOT NULL AND deadline_at IS NOT NULL AND trace_id IS NOT NULL)),
  CHECK ((completed_at IS NOT NULL) = (status IS NOT NULL AND status IN ('completed', 'failed', 'cancelled')))
) STRICT, WITHOUT ROWID;
CREATE INDEX message_due ON message (available_at) WHERE status IN ('in_progress', 'corroborating');

CREATE TABLE idempotency_key (
  organization_id TEXT NOT NULL,
  user_id TEXT NOT NULL,
  key TEXT NOT NULL,
  body_hash TEXT NOT NULL,
  thread_id TEXT NOT NULL,
  message_id TEXT NOT NULL,
  reply_id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (organization_id, user_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_key_expiry ON idempotency_key (organization_id, expires_at);
