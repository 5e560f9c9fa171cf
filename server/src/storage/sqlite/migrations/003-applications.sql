-- A machine-to-machine application. Its id is its client id.
CREATE TABLE application (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organization (id),
  name TEXT NOT NULL,
  -- SHA-256 of the client secret, in hexadecimal.
  secret_hash TEXT NOT NULL CHECK (length(secret_hash) = 64),
  -- Raised by every rotation: a token of an earlier epoch is void.
  epoch INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  rotated_at INTEGER,
  deleted_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX application_organization ON application (organization_id, created_at, id);

-- What access tokens are signed with. The newest that is not retired signs; retired ones still verify for a while.
CREATE TABLE signing_key (
  id TEXT PRIMARY KEY,
  -- A JWK in JSON, private part included.
  private_jwk TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  retired_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX signing_key_active ON signing_key (retired_at IS NULL) WHERE retired_at IS NULL;
