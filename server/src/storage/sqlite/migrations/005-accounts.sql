-- When the member accepted an invitation of this organization; null while a password does not enter it.
ALTER TABLE member ADD COLUMN opened_at INTEGER;
CREATE INDEX member_user ON member (user_id);

CREATE TABLE password (
  user_id TEXT PRIMARY KEY REFERENCES user (id),
  -- With its method and parameters.
  hash TEXT NOT NULL,
  set_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Whom a provider of single sign-on means by its subject.
CREATE TABLE identity (
  issuer TEXT NOT NULL,
  subject TEXT NOT NULL,
  user_id TEXT NOT NULL REFERENCES user (id),
  bound_at INTEGER NOT NULL,
  PRIMARY KEY (issuer, subject)
) STRICT, WITHOUT ROWID;
-- One subject of a provider is one person, and one person is one subject.
CREATE UNIQUE INDEX identity_user ON identity (user_id, issuer);

-- One per membership, and gone with it.
CREATE TABLE invitation (
  organization_id TEXT NOT NULL,
  user_id TEXT NOT NULL,
  -- SHA-256 of the token, in hexadecimal.
  token_hash TEXT NOT NULL UNIQUE CHECK (length(token_hash) = 64),
  resets INTEGER NOT NULL CHECK (resets IN (0, 1)),
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (organization_id, user_id),
  FOREIGN KEY (organization_id, user_id) REFERENCES member (organization_id, user_id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX invitation_expiry ON invitation (organization_id, expires_at);

-- Belongs to a person, not to an organization: which of them it enters is asked anew every time.
CREATE TABLE session (
  -- SHA-256 of the token, in hexadecimal.
  token_hash TEXT PRIMARY KEY CHECK (length(token_hash) = 64),
  user_id TEXT NOT NULL REFERENCES user (id),
  proof TEXT NOT NULL CHECK (proof IN ('password', 'sso')),
  created_at INTEGER NOT NULL,
  seen_at INTEGER NOT NULL,
  -- When it has not been used for too long; never after ends_at.
  expires_at INTEGER NOT NULL CHECK (expires_at <= ends_at),
  ends_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX session_of_user ON session (user_id);
CREATE INDEX session_expiry ON session (expires_at);
