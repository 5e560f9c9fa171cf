-- The schema of both databases. A line `-- postgres:` or `-- sqlite:` starts a part for one of them, and `-- both:` ends it.
-- The rest is in the dialect of PostgreSQL, which migrations.ts translates for SQLite. There, a table that ends with
-- `-- rowid` has row ids; all others are stored by their primary key.
--
-- Times are integer milliseconds since 1970, UTC, stored exactly as they are shown and compared. Days and hours are counted
-- since 1970, UTC. Hashes of tokens, keys and secrets are SHA-256, in hexadecimal.
-- Keys and indexes of tenant tables start with the organization, so that they can be distributed by it (partitions, Citus).
-- Tables without an organization (store_clock, secret, signing_key and those of people) would be reference tables.
-- Exceptions: rows that are looked up before the organization is known (api_key by its hash, application by its id), and
-- indexes over the running replies of all organizations (message_held, message_deadline).
-- Ids and keys compare by their bytes ("C"), whatever the language of the database.

CREATE TABLE store_clock (
  only_row bigint PRIMARY KEY CHECK (only_row = 1),
  -- The latest time of any row, or close to it. The store's clock starts here, even if the machine's clock was set back.
  latest_at bigint NOT NULL,
  -- When leases and deadlines were last moved because the clock had been set forward.
  jump_at bigint NOT NULL,
  -- The number of the last move, for SQLite. It is kept when the moves are removed because running walks compare with it.
  move_sequence bigint NOT NULL
);
INSERT INTO store_clock VALUES (1, 0, 0, 0);

CREATE TABLE secret (
  name text COLLATE "C" PRIMARY KEY,
  value bytea NOT NULL
);

-- Access tokens are signed by the one key that is not retired. Retired keys still verify tokens for a while.
CREATE TABLE signing_key (
  id text COLLATE "C" PRIMARY KEY,
  -- A JWK in JSON, private part included.
  private_jwk text NOT NULL,
  created_at bigint NOT NULL,
  retired_at bigint
);
CREATE UNIQUE INDEX signing_key_active ON signing_key ((retired_at IS NULL)) WHERE retired_at IS NULL;

CREATE TABLE organization (
  id text COLLATE "C" PRIMARY KEY,
  name text NOT NULL,
  api_enabled boolean NOT NULL,
  daily_quota bigint NOT NULL CHECK (daily_quota >= 0),
-- postgres:
  -- Changes to the order of listings number and date themselves under the lock of this row, so that the commits of one
  -- organization have an order that walks can rely on.
  latest_at bigint NOT NULL DEFAULT 0,
  thread_sequence bigint NOT NULL DEFAULT 0,
  move_sequence bigint NOT NULL DEFAULT 0,
-- both:
  created_at bigint NOT NULL
) WITH (fillfactor = 50);
CREATE INDEX organization_name ON organization (name);

-- A person or a service account, in any number of organizations.
CREATE TABLE "user" (
  id text COLLATE "C" PRIMARY KEY,
  email text COLLATE "C" NOT NULL UNIQUE
);

-- A person may have several passwords until one is proven: one for each organization whose link they used.
CREATE TABLE password (
  id text COLLATE "C" PRIMARY KEY,
  user_id text COLLATE "C" NOT NULL REFERENCES "user" (id),
  -- With its method and parameters.
  hash text NOT NULL,
  -- A proven password enters all memberships of the person, others only those that were accepted with them.
  proven boolean NOT NULL
);
CREATE INDEX password_of_user ON password (user_id);

CREATE TABLE member (
  organization_id text COLLATE "C" NOT NULL REFERENCES organization (id),
  user_id text COLLATE "C" NOT NULL REFERENCES "user" (id),
  role text NOT NULL CHECK (role IN ('admin', 'member')),
  service boolean NOT NULL,
  joined_at bigint NOT NULL,
  -- When the member accepted the membership; null until then.
  opened_at bigint,
  -- The unproven password that the membership was accepted with.
  password_id text COLLATE "C" REFERENCES password (id),
  PRIMARY KEY (organization_id, user_id)
);
CREATE INDEX member_user ON member (user_id);
CREATE INDEX member_password ON member (password_id) WHERE password_id IS NOT NULL;

-- Which user a provider of single sign-on means by its subject.
CREATE TABLE identity (
  issuer text COLLATE "C" NOT NULL,
  subject text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL REFERENCES "user" (id),
  PRIMARY KEY (issuer, subject)
);
-- One subject of a provider is one person, and one person is one subject.
CREATE UNIQUE INDEX identity_user ON identity (user_id, issuer);

-- At most one invitation and one requested link per membership; removed with it.
CREATE TABLE invitation (
  organization_id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  token_hash text COLLATE "C" NOT NULL UNIQUE CHECK (length(token_hash) = 64),
  resets boolean NOT NULL,
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  -- Whether the operator made the link, and so is responsible for who receives it.
  by_operator boolean NOT NULL DEFAULT false,
  -- Whether the person asked for the link, to choose a new password.
  requested boolean NOT NULL,
  -- Null: the invitation is not sent by mail.
  mail_state text CHECK (mail_state IN ('waiting', 'sent', 'failed')),
  -- Only while the mail waits.
  sealed_link text,
  mail_due_at bigint,
  mail_attempts bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (organization_id, user_id, requested),
  FOREIGN KEY (organization_id, user_id) REFERENCES member (organization_id, user_id) ON DELETE CASCADE
);
CREATE INDEX invitation_expiry ON invitation (organization_id, expires_at);
CREATE INDEX invitation_mail ON invitation (organization_id, mail_due_at) WHERE mail_state = 'waiting';

-- Belongs to a person. Which organizations it may enter is decided at every request.
CREATE TABLE session (
  token_hash text COLLATE "C" PRIMARY KEY CHECK (length(token_hash) = 64),
  user_id text COLLATE "C" NOT NULL REFERENCES "user" (id),
  seen_at bigint NOT NULL,
  -- When it ends unless it is used before; never after ends_at.
  expires_at bigint NOT NULL CHECK (expires_at <= ends_at),
  ends_at bigint NOT NULL,
  -- The password that the session was started with; null for single sign-on.
  password_id text COLLATE "C" REFERENCES password (id) ON DELETE CASCADE
);
CREATE INDEX session_of_user ON session (user_id);
CREATE INDEX session_expiry ON session (expires_at);
CREATE INDEX session_password ON session (password_id) WHERE password_id IS NOT NULL;

CREATE TABLE api_key (
  hash text COLLATE "C" PRIMARY KEY CHECK (length(hash) = 64),
  organization_id text COLLATE "C" NOT NULL REFERENCES organization (id),
  id text COLLATE "C" NOT NULL,
  -- Null: org-wide.
  user_id text COLLATE "C" REFERENCES "user" (id),
  name text NOT NULL,
  hint text NOT NULL,
  created_at bigint NOT NULL,
  revoked_at bigint,
  -- Null: the operator.
  created_by text COLLATE "C" REFERENCES "user" (id)
);
CREATE UNIQUE INDEX api_key_id ON api_key (organization_id, id);
CREATE INDEX api_key_user ON api_key (organization_id, user_id) WHERE user_id IS NOT NULL;
-- A list reads the live keys and the latest revoked ones.
CREATE INDEX api_key_revoked ON api_key (organization_id, revoked_at);

-- A member requests a personal key and an admin decides. The key is created when its owner reveals it.
CREATE TABLE key_request (
  organization_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  name text NOT NULL,
  state text NOT NULL CHECK (state IN ('pending', 'approved', 'declined')),
  requested_at bigint NOT NULL,
  decided_by text COLLATE "C" REFERENCES "user" (id),
  expires_at bigint NOT NULL,
  PRIMARY KEY (organization_id, id),
  FOREIGN KEY (organization_id, user_id) REFERENCES member (organization_id, user_id) ON DELETE CASCADE,
  CHECK ((state = 'pending') = (decided_by IS NULL))
);
CREATE INDEX key_request_of_member ON key_request (organization_id, user_id);

-- Its id is its client id.
CREATE TABLE application (
  id text COLLATE "C" PRIMARY KEY,
  organization_id text COLLATE "C" NOT NULL REFERENCES organization (id),
  name text NOT NULL,
  secret_hash text COLLATE "C" NOT NULL CHECK (length(secret_hash) = 64),
  -- Raised by every rotation: tokens of an earlier epoch are invalid.
  epoch bigint NOT NULL,
  created_at bigint NOT NULL,
  rotated_at bigint
);
CREATE INDEX application_organization ON application (organization_id, created_at, id);

CREATE TABLE quota_use (
  organization_id text COLLATE "C" NOT NULL REFERENCES organization (id),
  day bigint NOT NULL,
  used bigint NOT NULL,
  PRIMARY KEY (organization_id, day)
) WITH (fillfactor = 50);

-- Prompts sent in the console in the current minute and day, and mails of the current day.
CREATE TABLE prompt_use (
  organization_id text COLLATE "C" NOT NULL REFERENCES organization (id),
  period text COLLATE "C" NOT NULL CHECK (period IN ('minute', 'day', 'mail')),
  -- '' means the whole organization.
  user_id text COLLATE "C" NOT NULL,
  started_at bigint NOT NULL,
  prompts bigint NOT NULL,
  PRIMARY KEY (organization_id, period, user_id)
) WITH (fillfactor = 50);

-- Who did what. Written in the commit of the change itself.
CREATE TABLE audit_event (
  organization_id text COLLATE "C" NOT NULL REFERENCES organization (id),
  at bigint NOT NULL,
  id text COLLATE "C" NOT NULL,
  actor_kind text NOT NULL CHECK (actor_kind IN ('user', 'operator', 'skein')),
  -- No reference, because the log outlives users.
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

-- Statistics. Quotas are enforced with quota_use.
CREATE TABLE usage_day (
  organization_id text COLLATE "C" NOT NULL REFERENCES organization (id),
  day bigint NOT NULL,
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

-- The log of API requests, in blocks. No foreign key to credentials, because the log outlives them.
CREATE TABLE request_block (
  organization_id text COLLATE "C" NOT NULL REFERENCES organization (id),
  -- When its newest request was answered, by the clock of the node that answered it.
  at bigint NOT NULL,
  -- The trace id of a request in it.
  id text COLLATE "C" NOT NULL,
  -- When its oldest request was answered.
  first_at bigint NOT NULL,
  entries bigint NOT NULL,
  -- A JSON array.
  requests text NOT NULL,
  PRIMARY KEY (organization_id, at, id)
); -- rowid

-- Requests and replies by hour and by day, in buckets of their duration: percentiles without reading the log.
CREATE TABLE traffic (
  organization_id text COLLATE "C" NOT NULL REFERENCES organization (id),
  unit text COLLATE "C" NOT NULL CHECK (unit IN ('hour', 'day')),
  period bigint NOT NULL,
  operation text COLLATE "C" NOT NULL,
  outcome text COLLATE "C" NOT NULL,
  -- The index of the bucket in domain/traffic.ts.
  bucket bigint NOT NULL,
  requests bigint NOT NULL,
  PRIMARY KEY (organization_id, unit, period, operation, outcome, bucket)
) WITH (fillfactor = 80);

CREATE TABLE thread (
  -- Grows in order of commit, so that a walk can skip threads created after its start. PostgreSQL: by organization.
-- postgres:
  sequence bigint NOT NULL,
-- sqlite:
  sequence INTEGER PRIMARY KEY,
-- both:
  organization_id text COLLATE "C" NOT NULL REFERENCES organization (id),
  id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL REFERENCES "user" (id),
  title text NOT NULL CHECK (title <> ''),
  account_id text COLLATE "C",
  secondary_id text,
  created_at bigint NOT NULL,
  updated_at bigint,
  -- Checked, not generated: in SQLite, an index on a generated column would not cover the queries of listings.
  activity_at bigint NOT NULL CHECK (activity_at = coalesce(updated_at, created_at)),
  published boolean NOT NULL,
  deleted_at bigint,
  -- Raised by every change of the thread or its messages that a reader can see.
  version bigint NOT NULL DEFAULT 1,
-- postgres:
  PRIMARY KEY (organization_id, id),
  UNIQUE (organization_id, sequence)
-- sqlite:
  UNIQUE (organization_id, id)
-- both:
); -- rowid
-- The four listings: own and published, each with and without an account.
CREATE INDEX thread_own ON thread (organization_id, user_id, activity_at, id) WHERE deleted_at IS NULL;
CREATE INDEX thread_own_account ON thread (organization_id, user_id, account_id, activity_at, id)
  WHERE deleted_at IS NULL AND account_id IS NOT NULL;
CREATE INDEX thread_published ON thread (organization_id, activity_at, id)
  WHERE deleted_at IS NULL AND published;
CREATE INDEX thread_published_account ON thread (organization_id, account_id, activity_at, id)
  WHERE deleted_at IS NULL AND published;
-- For retention, like every other index over the organization and a time: no batch scans a table.
CREATE INDEX thread_deleted ON thread (organization_id, deleted_at, user_id) WHERE deleted_at IS NOT NULL;

-- The number of threads in each listing, updated with every write, so that `truncated` does not need a count.
CREATE TABLE listing_size (
  organization_id text COLLATE "C" NOT NULL REFERENCES organization (id),
  -- '' means every user.
  user_id text COLLATE "C" NOT NULL,
  -- '' means any account, '=x' the account x.
  account_key text COLLATE "C" NOT NULL,
  threads bigint NOT NULL,
  published bigint NOT NULL,
  PRIMARY KEY (organization_id, user_id, account_key)
) WITH (fillfactor = 50);

-- The position that a thread had before a rename or a prompt moved it, kept for a day, so that running walks still find
-- the thread there. No reference to the thread, because it may be removed earlier.
CREATE TABLE thread_move (
  organization_id text COLLATE "C" NOT NULL,
  sequence bigint NOT NULL,
  thread_id text COLLATE "C" NOT NULL,
  left_activity_at bigint NOT NULL,
  moved_at bigint NOT NULL,
  PRIMARY KEY (organization_id, sequence)
);
CREATE INDEX thread_move_position ON thread_move (organization_id, left_activity_at, thread_id);
CREATE INDEX thread_move_age ON thread_move (organization_id, moved_at);

-- An assistant message is also the job of writing it. It has row ids because SQLite reads whole rows, texts included, to
-- compare the keys of a table that is stored by its primary key: counting the messages of a thread of 10 MB took 4 ms.
CREATE TABLE message (
  organization_id text COLLATE "C" NOT NULL,
  thread_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  role text NOT NULL CHECK (role IN ('user', 'assistant')),
  created_at bigint NOT NULL,
  -- In pairs: for a longer list, SQLite builds a temporary table at every write.
  status text CHECK (status IN ('in_progress', 'corroborating') OR status IN ('completed', 'failed') OR status = 'cancelled'),
  completed_at bigint,
  model text,
  -- The job. When it may be claimed: at the end of a lease or of the pause before the next attempt.
  available_at bigint,
  -- Counts the claims. A write that names an older claim changes nothing.
  claim_token bigint,
  attempts bigint,
  -- How many processes died or stalled while they wrote it. They cost no attempt.
  crashes bigint NOT NULL DEFAULT 0,
  deadline_at bigint,
  -- The request that asked for the reply, and why it failed: for the log and the console, not for the public API.
  trace_id text,
  failure text,
  -- Whether a worker has claimed the reply; its lease ends at available_at. The indexes message_waiting and message_held
  -- have no reply in common, so that a search for work does not read claimed replies.
  held boolean NOT NULL DEFAULT false,
  -- The prompt that an edited prompt replaces.
  replaces text COLLATE "C",
  -- Since when the reply is listed as unanswered: completed_at if it found no answer, a later time if a person rated it down.
  unanswered_at bigint,
  -- The long texts come last: SQLite reads the columns before them without following the pages of the texts.
  content text NOT NULL,
  -- JSON arrays.
  steps text,
  sources text,
  -- Which statements of the reply its sources say, as JSON. Null in replies that were not checked.
  verdict text,
  PRIMARY KEY (organization_id, thread_id, id),
  FOREIGN KEY (organization_id, thread_id) REFERENCES thread (organization_id, id),
  CHECK ((role = 'assistant') = (status IS NOT NULL)),
  CHECK ((role = 'assistant') = (steps IS NOT NULL AND claim_token IS NOT NULL AND attempts IS NOT NULL
    AND available_at IS NOT NULL AND deadline_at IS NOT NULL AND trace_id IS NOT NULL)),
  CHECK ((completed_at IS NULL) = (status IS NULL OR status IN ('in_progress', 'corroborating')))
) WITH (fillfactor = 80); -- rowid
CREATE INDEX message_held ON message (available_at) WHERE held AND status IN ('in_progress', 'corroborating');
CREATE INDEX message_deadline ON message (deadline_at) WHERE status IN ('in_progress', 'corroborating');
CREATE INDEX message_unanswered ON message (organization_id, unanswered_at, id) WHERE unanswered_at IS NOT NULL;
-- By organization, so that one search skips an organization with very many waiting replies.
CREATE INDEX message_waiting ON message (organization_id, available_at, id)
  WHERE NOT held AND crashes < 2 AND status IN ('in_progress', 'corroborating');
-- Usually empty.
CREATE INDEX message_suspect ON message (organization_id, available_at, id)
  WHERE crashes >= 2 AND status IN ('in_progress', 'corroborating');
-- sqlite:
-- The running reply of a thread. Without this index the search reads every page of the thread: 15 ms in a thread of 10 MB.
CREATE INDEX message_running ON message (organization_id, thread_id)
  WHERE status IN ('in_progress', 'corroborating');
-- both:

-- What a person thinks of a reply.
CREATE TABLE rating (
  organization_id text COLLATE "C" NOT NULL,
  thread_id text COLLATE "C" NOT NULL,
  message_id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL REFERENCES "user" (id),
  value text NOT NULL CHECK (value IN ('up', 'down')),
  comment text,
  rated_at bigint NOT NULL,
  PRIMARY KEY (organization_id, thread_id, message_id, user_id),
  FOREIGN KEY (organization_id, thread_id, message_id) REFERENCES message (organization_id, thread_id, id) ON DELETE CASCADE
);
-- For a purge of the person.
CREATE INDEX rating_of_person ON rating (organization_id, user_id);

CREATE TABLE idempotency_key (
  organization_id text COLLATE "C" NOT NULL,
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
CREATE INDEX idempotency_key_thread ON idempotency_key (organization_id, thread_id);

-- A document is written and removed in several commits. Readers see documents that are 'ready', not those that are still
-- 'writing' or already 'removed'. While a document is being written, added_at is the time of its latest part.
CREATE TABLE document (
  organization_id text COLLATE "C" NOT NULL REFERENCES organization (id),
  id text COLLATE "C" NOT NULL,
  -- '' means the whole organization, '=x' the account x.
  account_key text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  title text NOT NULL,
  url text,
  passages bigint NOT NULL,
  added_at bigint NOT NULL,
  state text NOT NULL DEFAULT 'ready',
  -- The public id if the document replaced another one and kept its id; null: `id` is public.
  kept_id text COLLATE "C",
  -- The size of the headings and texts of its passages in UTF-8.
  bytes bigint NOT NULL DEFAULT 0,
  -- Questions that the document answers, as a JSON array. Null until they have been made.
  questions text,
  PRIMARY KEY (organization_id, id)
);
CREATE UNIQUE INDEX document_name ON document (organization_id, account_key, name) WHERE state = 'ready';
CREATE UNIQUE INDEX document_known_id ON document (organization_id, (coalesce(kept_id, id))) WHERE state = 'ready';
-- Lists are read in pages.
CREATE INDEX document_listed ON document (organization_id, name, account_key) WHERE state = 'ready';
CREATE INDEX document_hidden ON document (organization_id, id) WHERE state <> 'ready';
CREATE INDEX document_budget ON document (organization_id, state, bytes);
CREATE INDEX document_without_questions ON document (organization_id, id) WHERE questions IS NULL AND state = 'ready';

-- Threads that changed since they were indexed. Triggers write it, so that no writer can forget to, not even an older
-- release that runs beside this one. The stamp is random: it tells whether the thread changed again meanwhile.
CREATE TABLE search_due (
  organization_id text COLLATE "C" NOT NULL,
  thread_id text COLLATE "C" NOT NULL,
-- postgres:
  -- About the activity of the thread. Threads are indexed in this order, which fills one range after the other.
  activity_at bigint NOT NULL,
  -- Until when a node is indexing the thread. Others leave it alone.
  taken_until bigint NOT NULL DEFAULT 0,
-- both:
  stamp bigint NOT NULL,
  PRIMARY KEY (organization_id, thread_id)
);

-- A passage is found by terms that start with the number of its corpus ('7·refund'), so that a search does not read the
-- passages of other organizations: see decision 12.
CREATE TABLE passage (
-- postgres:
  number bigint GENERATED BY DEFAULT AS IDENTITY,
  terms tsvector NOT NULL,
  PRIMARY KEY (organization_id, number),
-- sqlite:
  number INTEGER PRIMARY KEY AUTOINCREMENT,
-- both:
  organization_id text COLLATE "C" NOT NULL,
  document_id text COLLATE "C" NOT NULL,
  heading text NOT NULL,
  text text NOT NULL,
  FOREIGN KEY (organization_id, document_id) REFERENCES document (organization_id, id)
); -- rowid
-- A document is read page by page, in the order of its passages.
CREATE INDEX passage_document ON passage (organization_id, document_id, number);

-- What one search covers: an organization's general documents, or those of one account.
CREATE TABLE corpus (
-- postgres:
  number bigint GENERATED BY DEFAULT AS IDENTITY,
  PRIMARY KEY (organization_id, account_key),
-- sqlite:
  number INTEGER PRIMARY KEY AUTOINCREMENT,
-- both:
  organization_id text COLLATE "C" NOT NULL REFERENCES organization (id),
  account_key text COLLATE "C" NOT NULL,
  passages bigint NOT NULL,
  -- A random number, drawn whenever a document appears in the corpus or disappears: caches of searches compare it.
  stamp bigint NOT NULL
); -- rowid
-- sqlite:
CREATE UNIQUE INDEX corpus_account ON corpus (organization_id, account_key);
-- postgres:

-- Not updated later: each search for a term would read all pending updates, of every organization. After 1,200 passages were
-- added, a question with an unknown word took 94 ms of the server's processor time, and 5 ms without pending updates.
CREATE INDEX passage_terms ON passage USING gin (terms) WITH (fastupdate = off);

CREATE INDEX search_due_order ON search_due (organization_id, activity_at, thread_id);

-- Divides the index of an organization's threads by recency. A range ends where the next one starts; the first starts at 0.
CREATE TABLE search_range (
  organization_id text COLLATE "C" NOT NULL REFERENCES organization (id) ON DELETE CASCADE,
  first_at bigint NOT NULL,
  number bigint NOT NULL,
  PRIMARY KEY (organization_id, first_at)
);

CREATE TABLE thread_search (
  organization_id text COLLATE "C" NOT NULL,
  thread_id text COLLATE "C" NOT NULL,
  activity_at bigint NOT NULL,
  -- Of the thread when it was indexed.
  version bigint NOT NULL,
  state text NOT NULL,
  -- The beginning of the latest reply.
  line text NOT NULL,
  -- The words of the thread. Each starts with the number of the range that activity_at is in, and a hash of the owner; if the
  -- thread is published, once more with a hash of the organization. A search reads no word that others keep to themselves.
  terms tsvector NOT NULL,
  PRIMARY KEY (organization_id, thread_id),
  FOREIGN KEY (organization_id, thread_id) REFERENCES thread (organization_id, id) ON DELETE CASCADE
);
-- Texts and terms are stored apart, because a search for a frequent word reads many rows, but not their terms.
ALTER TABLE thread_search ALTER COLUMN terms SET STORAGE EXTERNAL, ALTER COLUMN line SET STORAGE EXTERNAL,
  SET (toast_tuple_target = 128);
CREATE INDEX thread_search_terms ON thread_search USING gin (terms) WITH (fastupdate = off);
CREATE INDEX thread_search_recency ON thread_search (organization_id, activity_at, thread_id);

CREATE FUNCTION search_stamp() RETURNS bigint LANGUAGE sql AS 'SELECT (random() * 9007199254740991)::bigint';

CREATE FUNCTION threads_due() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO search_due (organization_id, thread_id, activity_at, stamp)
  SELECT organization_id, id, activity_at, search_stamp() FROM added
  ON CONFLICT (organization_id, thread_id)
  DO UPDATE SET activity_at = greatest(search_due.activity_at, excluded.activity_at), stamp = excluded.stamp, taken_until = 0;
  RETURN NULL;
END $$;
CREATE FUNCTION thread_due() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO search_due (organization_id, thread_id, activity_at, stamp)
  VALUES (NEW.organization_id, NEW.id, NEW.activity_at, search_stamp())
  ON CONFLICT (organization_id, thread_id)
  DO UPDATE SET activity_at = greatest(search_due.activity_at, excluded.activity_at), stamp = excluded.stamp, taken_until = 0;
  RETURN NULL;
END $$;
CREATE FUNCTION thread_of_message_due() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO search_due (organization_id, thread_id, activity_at, stamp)
  VALUES (NEW.organization_id, NEW.thread_id, NEW.created_at, search_stamp())
  ON CONFLICT (organization_id, thread_id)
  DO UPDATE SET activity_at = greatest(search_due.activity_at, excluded.activity_at), stamp = excluded.stamp, taken_until = 0;
  RETURN NULL;
END $$;
CREATE FUNCTION thread_not_due() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM search_due WHERE organization_id = OLD.organization_id AND thread_id = OLD.id;
  RETURN NULL;
END $$;

CREATE TRIGGER thread_due_added AFTER INSERT ON thread REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION threads_due();
CREATE TRIGGER thread_due_changed AFTER UPDATE ON thread FOR EACH ROW
  WHEN ((OLD.title, OLD.account_id, OLD.published, OLD.deleted_at, OLD.activity_at)
    IS DISTINCT FROM (NEW.title, NEW.account_id, NEW.published, NEW.deleted_at, NEW.activity_at))
  EXECUTE FUNCTION thread_due();
CREATE TRIGGER thread_due_removed AFTER DELETE ON thread FOR EACH ROW EXECUTE FUNCTION thread_not_due();
-- Only what is finished is indexed: progress of a reply does not set its end.
CREATE TRIGGER thread_due_answered AFTER UPDATE ON message FOR EACH ROW
  WHEN (OLD.completed_at IS DISTINCT FROM NEW.completed_at) EXECUTE FUNCTION thread_of_message_due();
-- sqlite:
-- Stores the index only: no text and no positions.
CREATE VIRTUAL TABLE passage_term USING fts5 (
  terms, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii'
);
-- Segments are merged in small steps (documents.ts), never in the commit of a write.
INSERT INTO passage_term (passage_term, rank) VALUES ('automerge', 0);
INSERT INTO passage_term (passage_term, rank) VALUES ('crisismerge', 1999);
CREATE TRIGGER passage_removed AFTER DELETE ON passage BEGIN
  DELETE FROM passage_term WHERE rowid = old.number;
END;

CREATE TABLE thread_search (
  -- 2048 times the activity of the thread, and then the next free number: the order of listings.
  number INTEGER PRIMARY KEY,
  organization_id TEXT NOT NULL,
  thread_id TEXT NOT NULL,
  -- Of the thread when it was indexed.
  version INTEGER NOT NULL,
  state TEXT NOT NULL,
  -- The beginning of the latest reply.
  line TEXT NOT NULL,
  FOREIGN KEY (organization_id, thread_id) REFERENCES thread (organization_id, id) ON DELETE CASCADE
) STRICT;
CREATE UNIQUE INDEX thread_search_thread ON thread_search (organization_id, thread_id);

-- The words of a thread. Each term starts with a hash of its owner and, if the thread is published, once more with a hash
-- of its organization, so that a search reads nothing of what others keep to themselves.
CREATE VIRTUAL TABLE thread_term USING fts5 (
  terms, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii'
);
-- Merged in small steps, as passage_term is.
INSERT INTO thread_term (thread_term, rank) VALUES ('automerge', 0);
INSERT INTO thread_term (thread_term, rank) VALUES ('crisismerge', 1999);

CREATE TRIGGER thread_search_removed AFTER DELETE ON thread_search BEGIN
  DELETE FROM thread_term WHERE rowid = old.number;
END;
CREATE TRIGGER thread_due_added AFTER INSERT ON thread BEGIN
  INSERT INTO search_due VALUES (new.organization_id, new.id, abs(random() % 9007199254740991))
  ON CONFLICT DO UPDATE SET stamp = excluded.stamp;
END;
CREATE TRIGGER thread_due_changed AFTER UPDATE OF title, account_id, published, deleted_at, activity_at ON thread BEGIN
  INSERT INTO search_due VALUES (new.organization_id, new.id, abs(random() % 9007199254740991))
  ON CONFLICT DO UPDATE SET stamp = excluded.stamp;
END;
CREATE TRIGGER thread_due_removed AFTER DELETE ON thread BEGIN
  DELETE FROM search_due WHERE organization_id = old.organization_id AND thread_id = old.id;
END;
-- Only what is finished is indexed: progress of a reply does not set its end.
CREATE TRIGGER thread_due_answered AFTER UPDATE OF completed_at ON message
  WHEN new.completed_at IS NOT old.completed_at BEGIN
  INSERT INTO search_due VALUES (new.organization_id, new.thread_id, abs(random() % 9007199254740991))
  ON CONFLICT DO UPDATE SET stamp = excluded.stamp;
END;
