-- A member asks for a personal key, and an admin decides. The key exists once its owner has revealed it.
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
