-- Times are integer milliseconds since 1970, UTC, stored exactly as they are shown and compared.
-- Keys and indexes of tenant tables start with the organization. Exceptions: rows that are looked up before the
-- organization is known (api_key by its hash, application by its id), and indexes over the running replies of all
-- organizations (message_held, message_deadline).

CREATE TABLE store_clock (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  -- The latest time of any row. The store's clock starts here, even if the machine's clock was set back.
  latest_at INTEGER NOT NULL,
  -- When leases and deadlines were last moved because the clock had been set forward.
  jump_at INTEGER NOT NULL DEFAULT 0,
  -- The number of the last move. It is kept when the moves are removed because running walks compare with it.
  move_sequence INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO store_clock (only_row, latest_at) VALUES (1, 0);

CREATE TABLE secret (
  name TEXT PRIMARY KEY,
  value BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- Access tokens are signed by the one key that is not retired. Retired keys still verify tokens for a while.
CREATE TABLE signing_key (
  id TEXT PRIMARY KEY,
  -- A JWK in JSON, private part included.
  private_jwk TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  retired_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX signing_key_active ON signing_key (retired_at IS NULL) WHERE retired_at IS NULL;

CREATE TABLE organization (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  api_enabled INTEGER NOT NULL CHECK (api_enabled IN (0, 1)),
  daily_quota INTEGER NOT NULL CHECK (daily_quota >= 0),
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX organization_name ON organization (name);

-- A person or a service account, in any number of organizations.
CREATE TABLE user (
  id TEXT PRIMARY KEY,
  email TEXT NOT NULL UNIQUE,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- A person may have several passwords until one is proven: one for each organization whose link they used.
CREATE TABLE password (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES user (id),
  -- With its method and parameters.
  hash TEXT NOT NULL,
  -- A proven password enters all memberships of the person, others only those that were accepted with them.
  proven INTEGER NOT NULL CHECK (proven IN (0, 1)),
  set_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX password_of_user ON password (user_id);

CREATE TABLE member (
  organization_id TEXT NOT NULL REFERENCES organization (id),
  user_id TEXT NOT NULL REFERENCES user (id),
  role TEXT NOT NULL CHECK (role IN ('admin', 'member')),
  service INTEGER NOT NULL CHECK (service IN (0, 1)),
  joined_at INTEGER NOT NULL,
  -- When the member accepted the membership; null until then.
  opened_at INTEGER,
  -- The unproven password that the membership was accepted with.
  password_id TEXT REFERENCES password (id),
  PRIMARY KEY (organization_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX member_user ON member (user_id);
CREATE INDEX member_password ON member (password_id) WHERE password_id IS NOT NULL;

-- Which user a provider of single sign-on means by its subject.
CREATE TABLE identity (
  issuer TEXT NOT NULL,
  subject TEXT NOT NULL,
  user_id TEXT NOT NULL REFERENCES user (id),
  bound_at INTEGER NOT NULL,
  PRIMARY KEY (issuer, subject)
) STRICT, WITHOUT ROWID;
-- One subject of a provider is one person, and one person is one subject.
CREATE UNIQUE INDEX identity_user ON identity (user_id, issuer);

-- At most one invitation and one requested link per membership; removed with it.
CREATE TABLE invitation (
  organization_id TEXT NOT NULL,
  user_id TEXT NOT NULL,
  -- SHA-256 of the token, in hexadecimal.
  token_hash TEXT NOT NULL UNIQUE CHECK (length(token_hash) = 64),
  resets INTEGER NOT NULL CHECK (resets IN (0, 1)),
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  -- Whether the operator made the link, and so is responsible for who receives it.
  by_operator INTEGER NOT NULL DEFAULT 0 CHECK (by_operator IN (0, 1)),
  -- Whether the person asked for the link, to choose a new password.
  requested INTEGER NOT NULL CHECK (requested IN (0, 1)),
  -- Null: the invitation is not sent by mail.
  mail_state TEXT CHECK (mail_state IN ('waiting', 'sent', 'failed')),
  -- Only while the mail waits.
  sealed_link TEXT,
  mail_due_at INTEGER,
  mail_attempts INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (organization_id, user_id, requested),
  FOREIGN KEY (organization_id, user_id) REFERENCES member (organization_id, user_id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX invitation_expiry ON invitation (organization_id, expires_at);
CREATE INDEX invitation_mail ON invitation (organization_id, mail_due_at) WHERE mail_state = 'waiting';

-- Belongs to a person. Which organizations it may enter is decided at every request.
CREATE TABLE session (
  -- SHA-256 of the token, in hexadecimal.
  token_hash TEXT PRIMARY KEY CHECK (length(token_hash) = 64),
  user_id TEXT NOT NULL REFERENCES user (id),
  proof TEXT NOT NULL CHECK (proof IN ('password', 'sso')),
  created_at INTEGER NOT NULL,
  seen_at INTEGER NOT NULL,
  -- When it ends unless it is used before; never after ends_at.
  expires_at INTEGER NOT NULL CHECK (expires_at <= ends_at),
  ends_at INTEGER NOT NULL,
  -- The password that the session was started with, if any.
  password_id TEXT REFERENCES password (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX session_of_user ON session (user_id);
CREATE INDEX session_expiry ON session (expires_at);
CREATE INDEX session_password ON session (password_id) WHERE password_id IS NOT NULL;

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
  revoked_at INTEGER,
  -- Null: the operator.
  created_by TEXT REFERENCES user (id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX api_key_id ON api_key (organization_id, id);
CREATE INDEX api_key_user ON api_key (organization_id, user_id) WHERE user_id IS NOT NULL;
-- A list reads the live keys and the latest revoked ones.
CREATE INDEX api_key_revoked ON api_key (organization_id, revoked_at);

-- A member requests a personal key and an admin decides. The key is created when its owner reveals it.
CREATE TABLE key_request (
  organization_id TEXT NOT NULL,
  id TEXT NOT NULL,
  user_id TEXT NOT NULL,
  name TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('pending', 'approved', 'declined')),
  requested_at INTEGER NOT NULL,
  -- The admin who decided.
  decided_by TEXT REFERENCES user (id),
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (organization_id, id),
  FOREIGN KEY (organization_id, user_id) REFERENCES member (organization_id, user_id) ON DELETE CASCADE,
  CHECK ((state = 'pending') = (decided_by IS NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX key_request_of_member ON key_request (organization_id, user_id);

-- A machine-to-machine application. Its id is its client id.
CREATE TABLE application (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organization (id),
  name TEXT NOT NULL,
  -- SHA-256 of the client secret, in hexadecimal.
  secret_hash TEXT NOT NULL CHECK (length(secret_hash) = 64),
  -- Raised by every rotation: tokens of an earlier epoch are invalid.
  epoch INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  rotated_at INTEGER,
  deleted_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX application_organization ON application (organization_id, created_at, id);
CREATE INDEX application_live ON application (organization_id, created_at, id) WHERE deleted_at IS NULL;

CREATE TABLE quota_use (
  organization_id TEXT NOT NULL REFERENCES organization (id),
  -- Days since 1970, UTC.
  day INTEGER NOT NULL,
  used INTEGER NOT NULL,
  PRIMARY KEY (organization_id, day)
) STRICT, WITHOUT ROWID;

-- Prompts sent in the console in the current minute and day, and mails of the current day. '' in user_id means the whole
-- organization.
CREATE TABLE prompt_use (
  organization_id TEXT NOT NULL REFERENCES organization (id),
  period TEXT NOT NULL CHECK (period IN ('minute', 'day', 'mail')),
  user_id TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  prompts INTEGER NOT NULL,
  PRIMARY KEY (organization_id, period, user_id)
) STRICT, WITHOUT ROWID;

-- Who did what. Written in the commit of the change itself.
CREATE TABLE audit_event (
  organization_id TEXT NOT NULL REFERENCES organization (id),
  at INTEGER NOT NULL,
  id TEXT NOT NULL,
  actor_kind TEXT NOT NULL CHECK (actor_kind IN ('user', 'operator', 'skein')),
  -- No reference, because the log outlives users.
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

-- Statistics. Quotas are enforced with quota_use.
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

CREATE TABLE thread (
  -- Grows with every thread, so that a walk can skip threads created after its start.
  sequence INTEGER PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organization (id),
  id TEXT NOT NULL,
  user_id TEXT NOT NULL REFERENCES user (id),
  title TEXT NOT NULL CHECK (title <> ''),
  account_id TEXT,
  secondary_id TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER,
  -- Checked, not generated: an index on a generated column would not cover the queries of listings.
  activity_at INTEGER NOT NULL CHECK (activity_at = coalesce(updated_at, created_at)),
  published INTEGER NOT NULL CHECK (published IN (0, 1)),
  deleted_at INTEGER,
  -- A flag besides the time, for the same reason: `deleted_at IS NULL` would be read from the row.
  deleted INTEGER NOT NULL CHECK (deleted = (deleted_at IS NOT NULL)),
  -- Raised by every change of the thread or its messages that a reader can see.
  version INTEGER NOT NULL DEFAULT 1
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
-- For retention, like every other index over the organization and a time: no batch scans a table.
CREATE INDEX thread_deleted ON thread (organization_id, deleted_at, user_id) WHERE deleted = 1;

-- The number of threads in each listing, updated with every write, so that `truncated` does not need a count.
CREATE TABLE listing_size (
  organization_id TEXT NOT NULL REFERENCES organization (id),
  -- '' means every user.
  user_id TEXT NOT NULL,
  -- '' means any account, '=x' the account x.
  account_key TEXT NOT NULL,
  threads INTEGER NOT NULL,
  published INTEGER NOT NULL,
  PRIMARY KEY (organization_id, user_id, account_key)
) STRICT, WITHOUT ROWID;

-- The position that a thread had before a rename or a prompt moved it, kept for a day, so that running walks still find
-- the thread there. No reference to the thread, because it may be removed earlier.
CREATE TABLE thread_move (
  organization_id TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  thread_id TEXT NOT NULL,
  left_activity_at INTEGER NOT NULL,
  moved_at INTEGER NOT NULL,
  PRIMARY KEY (organization_id, sequence)
) STRICT, WITHOUT ROWID;
CREATE INDEX thread_move_position ON thread_move (organization_id, left_activity_at, thread_id);
CREATE INDEX thread_move_age ON thread_move (organization_id, moved_at);

-- An assistant message is also the job of writing it. The messages of a thread are adjacent, so that one search reads them.
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
  -- The job. When it may be claimed: at the end of a lease or of the pause before the next attempt.
  available_at INTEGER,
  -- Counts the claims. A write that names an older claim changes nothing.
  claim_token INTEGER,
  attempts INTEGER,
  deadline_at INTEGER,
  -- The request that asked for the reply, and why it failed: for the log and the console, not for the public interface.
  trace_id TEXT,
  failure TEXT,
  -- Whether a worker has claimed the reply; its lease ends at available_at. A running reply is in exactly one of the
  -- indexes message_waiting and message_held, so that a search for work does not read claimed replies.
  held INTEGER NOT NULL DEFAULT 0 CHECK (held IN (0, 1)),
  -- Which statements of the reply its sources say, as JSON. Null in replies that were not checked.
  verdict TEXT,
  -- The prompt that an edited prompt replaces.
  replaces TEXT,
  -- Since when the reply is listed as unanswered: completed_at if it found no answer, a later time if a person rated it down.
  unanswered_at INTEGER,
  PRIMARY KEY (organization_id, thread_id, id),
  FOREIGN KEY (organization_id, thread_id) REFERENCES thread (organization_id, id),
  CHECK ((role = 'assistant') = (status IS NOT NULL)),
  CHECK ((role = 'assistant') = (steps IS NOT NULL AND claim_token IS NOT NULL AND attempts IS NOT NULL
    AND available_at IS NOT NULL AND deadline_at IS NOT NULL AND trace_id IS NOT NULL)),
  CHECK ((completed_at IS NOT NULL) = (status IS NOT NULL AND status IN ('completed', 'failed', 'cancelled')))
) STRICT, WITHOUT ROWID;
-- By organization, so that one search skips an organization with very many waiting replies.
CREATE INDEX message_waiting ON message (organization_id, available_at)
  WHERE NOT held AND status IN ('in_progress', 'corroborating');
CREATE INDEX message_held ON message (available_at)
  WHERE held AND status IN ('in_progress', 'corroborating');
CREATE INDEX message_deadline ON message (deadline_at)
  WHERE status IN ('in_progress', 'corroborating');
-- The running reply of a thread. Without this index the search reads every page of the thread: 15 ms in a thread of 10 MB.
CREATE INDEX message_running ON message (organization_id, thread_id)
  WHERE status IN ('in_progress', 'corroborating');
CREATE INDEX message_unanswered ON message (organization_id, unanswered_at, id) WHERE unanswered_at IS NOT NULL;

-- What a person thinks of a reply.
CREATE TABLE rating (
  organization_id TEXT NOT NULL,
  thread_id TEXT NOT NULL,
  message_id TEXT NOT NULL,
  user_id TEXT NOT NULL REFERENCES user (id),
  value TEXT NOT NULL CHECK (value IN ('up', 'down')),
  comment TEXT,
  rated_at INTEGER NOT NULL,
  PRIMARY KEY (organization_id, thread_id, message_id, user_id),
  FOREIGN KEY (organization_id, thread_id, message_id) REFERENCES message (organization_id, thread_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
-- For a purge of the person.
CREATE INDEX rating_of_person ON rating (organization_id, user_id);

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
CREATE INDEX idempotency_key_thread ON idempotency_key (organization_id, thread_id);

-- A document is written and removed in several commits. Readers see documents that are 'ready', not those that are still
-- 'writing' or already 'removed'. While a document is being written, added_at is the time of its latest part.
CREATE TABLE document (
  organization_id TEXT NOT NULL REFERENCES organization (id),
  id TEXT NOT NULL,
  -- '' means the whole organization, '=x' the account x.
  account_key TEXT NOT NULL,
  name TEXT NOT NULL,
  title TEXT NOT NULL,
  url TEXT,
  passages INTEGER NOT NULL,
  added_at INTEGER NOT NULL,
  state TEXT NOT NULL DEFAULT 'ready',
  -- The public id if the document replaced another one and kept its id; null: `id` is public.
  kept_id TEXT,
  -- The size of the headings and texts of its passages in UTF-8.
  bytes INTEGER NOT NULL DEFAULT 0,
  -- Questions that the document answers, as a JSON array. Null until they have been made.
  questions TEXT,
  PRIMARY KEY (organization_id, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX document_name ON document (organization_id, account_key, name) WHERE state = 'ready';
CREATE UNIQUE INDEX document_known_id ON document (organization_id, coalesce(kept_id, id)) WHERE state = 'ready';
-- Lists are read in pages.
CREATE INDEX document_listed ON document (organization_id, name, account_key) WHERE state = 'ready';
CREATE INDEX document_hidden ON document (organization_id, id) WHERE state <> 'ready';
CREATE INDEX document_budget ON document (organization_id, state, bytes);
CREATE INDEX document_without_questions ON document (organization_id, id) WHERE questions IS NULL AND state = 'ready';

CREATE TABLE passage (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  organization_id TEXT NOT NULL,
  document_id TEXT NOT NULL,
  heading TEXT NOT NULL,
  text TEXT NOT NULL,
  FOREIGN KEY (organization_id, document_id) REFERENCES document (organization_id, id)
) STRICT;
CREATE INDEX passage_document ON passage (organization_id, document_id);

-- What one search covers: an organization's general documents, or those of one account.
CREATE TABLE corpus (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  organization_id TEXT NOT NULL REFERENCES organization (id),
  account_key TEXT NOT NULL,
  passages INTEGER NOT NULL,
  UNIQUE (organization_id, account_key)
) STRICT;

-- The passages that contain a term. Each term starts with the number of its corpus ('7·refund'), so that a search does not
-- read passages of other organizations. The table stores the index only: no text and no positions.
CREATE VIRTUAL TABLE passage_term USING fts5 (
  terms, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii'
);
-- Segments are merged in small steps (document-writer.ts), never in the commit of a write.
INSERT INTO passage_term (passage_term, rank) VALUES ('automerge', 0);
INSERT INTO passage_term (passage_term, rank) VALUES ('crisismerge', 1999);
CREATE TRIGGER passage_removed AFTER DELETE ON passage BEGIN
  DELETE FROM passage_term WHERE rowid = old.number;
END;

-- Threads that changed since they were indexed. Triggers write it, so that no writer can forget to, not even an older
-- release that runs beside this one. The stamp is random: it tells whether the thread changed again meanwhile.
CREATE TABLE search_due (
  organization_id TEXT NOT NULL,
  thread_id TEXT NOT NULL,
  stamp INTEGER NOT NULL,
  PRIMARY KEY (organization_id, thread_id)
) STRICT, WITHOUT ROWID;

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

-- The log of API requests, in blocks. No foreign key to credentials, because the log outlives them.
CREATE TABLE request_block (
  organization_id TEXT NOT NULL REFERENCES organization (id),
  -- When its newest request was answered, by the clock of the node that answered it.
  at INTEGER NOT NULL,
  -- The trace id of a request in it.
  id TEXT NOT NULL,
  -- When its oldest request was answered.
  first_at INTEGER NOT NULL,
  -- The number of its requests.
  entries INTEGER NOT NULL,
  -- A JSON array.
  requests TEXT NOT NULL,
  PRIMARY KEY (organization_id, at, id)
) STRICT;

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
