-- A member asks for a personal key, and an admin decides. The key exists once its owner has revealed it.
CREATE TABLE key_request (
  organization_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  name text NOT NULL,
  state text NOT NULL CHECK (state IN ('pending', 'approved', 'declined')),
  requested_at bigint NOT NULL,
  -- The admin who decided.
  decided_by text COLLATE "C" REFERENCES "user" (id),
  expires_at bigint NOT NULL,
  PRIMARY KEY (organization_id, id),
  FOREIGN KEY (organization_id, user_id) REFERENCES member (organization_id, user_id) ON DELETE CASCADE,
  CHECK ((state = 'pending') = (decided_by IS NULL))
);
CREATE INDEX key_request_of_member ON key_request (organization_id, user_id);
