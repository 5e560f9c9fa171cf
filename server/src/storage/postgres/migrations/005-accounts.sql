-- When the member accepted an invitation of this organization; null while a password does not enter it.
ALTER TABLE member ADD COLUMN opened_at bigint;
CREATE INDEX member_user ON member (user_id);

CREATE TABLE password (
  user_id text COLLATE "C" PRIMARY KEY REFERENCES "user" (id),
  -- With its method and parameters.
  hash text NOT NULL,
  set_at bigint NOT NULL
);

-- Whom a provider of single sign-on means by its subject.
CREATE TABLE identity (
  issuer text COLLATE "C" NOT NULL,
  subject text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL REFERENCES "user" (id),
  bound_at bigint NOT NULL,
  PRIMARY KEY (issuer, subject)
);
-- One subject of a provider is one person, and one person is one subject.
CREATE UNIQUE INDEX identity_user ON identity (user_id, issuer);

-- One per membership, and gone with it.
CREATE TABLE invitation (
  organization_id text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  -- SHA-256 of the token, in hexadecimal.
  token_hash text COLLATE "C" NOT NULL UNIQUE CHECK (length(token_hash) = 64),
  resets boolean NOT NULL,
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  PRIMARY KEY (organization_id, user_id),
  FOREIGN KEY (organization_id, user_id) REFERENCES member (organization_id, user_id) ON DELETE CASCADE
);
CREATE INDEX invitation_expiry ON invitation (organization_id, expires_at);

-- Belongs to a person, not to an organization: which of them it enters is asked anew every time.
CREATE TABLE session (
  -- SHA-256 of the token, in hexadecimal.
  token_hash text COLLATE "C" PRIMARY KEY CHECK (length(token_hash) = 64),
  user_id text COLLATE "C" NOT NULL REFERENCES "user" (id),
  proof text NOT NULL CHECK (proof IN ('password', 'sso')),
  created_at bigint NOT NULL,
  seen_at bigint NOT NULL,
  -- When it has not been used for too long; never after ends_at.
  expires_at bigint NOT NULL CHECK (expires_at <= ends_at),
  ends_at bigint NOT NULL
);
CREATE INDEX session_of_user ON session (user_id);
CREATE INDEX session_expiry ON session (expires_at);
