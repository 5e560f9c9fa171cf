-- A list of keys reads the live ones and the latest revoked ones, and a list of applications none that were deleted.
CREATE INDEX api_key_revoked ON api_key (organization_id, revoked_at);
CREATE INDEX application_live ON application (organization_id, created_at, id) WHERE deleted_at IS NULL;
-- A list of documents is read in pages.
CREATE INDEX document_listed ON document (organization_id, name, account_key) WHERE state = 'ready';
