-- Every statement that runs on SQLite, as it runs. `:name` is a value: the driver binds it by name or by position.
-- `npm run statements` writes this file.

-- file: sql/accounts.ts

-- name: list-memberships
SELECT member.organization_id AS "organizationId",
  organization.name AS "organizationName", api_enabled AS "apiEnabled", role, service,
  opened_at IS NOT NULL AS accepted, member.password_id AS "acceptedWith" FROM member JOIN organization ON organization.id = organization_id
  WHERE user_id = :userId ORDER BY joined_at, organization_id;

-- name: lock-user
SELECT 1 FROM "user" WHERE id = :userId;

-- name: list-passwords
SELECT id, hash, proven FROM password WHERE user_id = :userId AND (proven OR EXISTS (SELECT 1 FROM member WHERE member.password_id = password.id)) ORDER BY id;

-- name: close-memberships
UPDATE member SET opened_at = NULL, password_id = NULL
  WHERE password_id = :passwordId RETURNING organization_id AS "organizationId";

-- name: revoke-own-keys
UPDATE api_key SET revoked_at = :now
  WHERE organization_id = :organizationId AND user_id = :userId AND created_by IS NOT NULL AND (revoked_at IS NULL OR revoked_at > :now)
  RETURNING id;

-- name: remove-resets
DELETE FROM invitation WHERE user_id = :userId AND resets;

-- name: remove-mailed-resets
DELETE FROM invitation WHERE user_id = :userId AND resets AND NOT by_operator;

-- name: remove-password
DELETE FROM password WHERE id = :passwordId;

-- name: has-threads
SELECT 1 FROM listing_size
  WHERE organization_id = :organizationId AND user_id = :userId AND account_key = '' AND threads > 0;

-- name: find-invitee
SELECT EXISTS (SELECT 1 FROM identity WHERE user_id = :userId) AS "identityBound",
    EXISTS (SELECT 1 FROM listing_size
  WHERE organization_id = :organizationId AND user_id = :userId AND account_key = '' AND threads > 0) OR EXISTS (SELECT 1 FROM thread WHERE organization_id = :organizationId
      AND user_id = :userId AND deleted_at >= :now - 600000) AS "hasThreads",
    EXISTS (SELECT 1 FROM api_key WHERE organization_id = :organizationId AND user_id = :userId AND (revoked_at IS NULL OR revoked_at > :now))
      AS "hasKeys";

-- name: find-person
SELECT "user".id AS "userId", email FROM "user" WHERE email = :email AND EXISTS (SELECT 1 FROM member WHERE member.user_id = "user".id AND NOT service);

-- name: find-person-by-identity
SELECT "user".id AS "userId", email FROM "user" JOIN identity ON identity.user_id = "user".id
  WHERE issuer = :issuer AND subject = :subject AND EXISTS (SELECT 1 FROM member WHERE member.user_id = "user".id AND NOT service);

-- name: bind-identity
INSERT INTO identity (issuer, subject, user_id) VALUES (:issuer, :subject, :userId) ON CONFLICT DO NOTHING;

-- name: accept-membership
UPDATE member SET opened_at = :now, password_id = NULL
  WHERE organization_id = :organizationId AND user_id = :userId AND NOT service AND opened_at IS NULL
  RETURNING user_id;

-- name: remove-invitation
DELETE FROM invitation WHERE organization_id = :organizationId AND user_id = :userId;

-- name: change-password
UPDATE password SET hash = :next WHERE id = :passwordId;

-- name: end-sessions
DELETE FROM session
  WHERE user_id = :userId AND token_hash <> :keptTokenHash
    AND (CAST(:covered AS text) IS NULL OR password_id = :covered)
  RETURNING expires_at > :now AS live;

-- name: create-session
INSERT INTO session (token_hash, user_id, password_id, seen_at, expires_at, ends_at)
  SELECT :tokenHash, :userId, :passwordId, at, at + CAST(:firstMs AS bigint), at + CAST(:lifeMs AS bigint)
  FROM (SELECT :now AS at) AS moment RETURNING seen_at AS at;

-- name: find-session
SELECT session.user_id AS "userId", email, session.password_id AS "passwordId", proven, seen_at AS "seenAt",
    :now AS now, member.organization_id AS "organizationId",
  organization.name AS "organizationName", api_enabled AS "apiEnabled", role, service,
  opened_at IS NOT NULL AS accepted, member.password_id AS "acceptedWith"
  FROM session JOIN "user" ON "user".id = session.user_id
    LEFT JOIN password ON password.id = session.password_id
    LEFT JOIN member ON member.organization_id = :organizationId AND member.user_id = session.user_id
    LEFT JOIN organization ON organization.id = member.organization_id
  WHERE session.token_hash = :tokenHash AND session.expires_at > :now;

-- name: touch-session
UPDATE session SET seen_at = CASE WHEN seen_at < at THEN at ELSE seen_at END,
    expires_at = CASE WHEN at + CAST(:idleMs AS bigint) < ends_at THEN at + CAST(:idleMs AS bigint) ELSE ends_at END
  FROM (SELECT :now AS at) AS moment WHERE token_hash = :tokenHash AND expires_at > at;

-- name: end-session
DELETE FROM session WHERE token_hash = :tokenHash
  RETURNING user_id AS "userId", password_id AS "passwordId", expires_at > :now AS live,
    (SELECT proven FROM password WHERE password.id = session.password_id) AS proven;

-- file: sql/api-keys.ts

-- name: insert-api-key
INSERT INTO api_key (hash, organization_id, id, user_id, name, hint, created_by, created_at)
  VALUES (:hash, :organizationId, :id, :userId, :name, :hint, :createdBy, :now);

-- name: revoke-api-key
UPDATE api_key SET revoked_at = :now
  WHERE organization_id = :organizationId AND id = :keyId AND (revoked_at IS NULL OR revoked_at > :now) RETURNING id;

-- name: end-api-key-later
UPDATE api_key SET revoked_at = :now + CAST(:oldValidMs AS bigint)
  WHERE organization_id = :organizationId AND id = :keyId AND revoked_at IS NULL RETURNING id;

-- name: list-api-keys
SELECT * FROM (
  SELECT id, name, user_id AS "userId", hint, created_by AS "createdBy", created_at AS "createdAt",
    revoked_at AS "revokedAt", last_used_at AS "lastUsedAt"
  FROM api_key LEFT JOIN credential_use
    ON credential_use.organization_id = api_key.organization_id AND credential_id = id
  WHERE api_key.organization_id = :organizationId AND revoked_at IS NULL) AS live
  UNION ALL SELECT * FROM (
  SELECT id, name, user_id AS "userId", hint, created_by AS "createdBy", created_at AS "createdAt",
    revoked_at AS "revokedAt", last_used_at AS "lastUsedAt"
  FROM api_key LEFT JOIN credential_use
    ON credential_use.organization_id = api_key.organization_id AND credential_id = id
  WHERE api_key.organization_id = :organizationId AND revoked_at > :now) AS ending
  UNION ALL SELECT * FROM (
  SELECT id, name, user_id AS "userId", hint, created_by AS "createdBy", created_at AS "createdAt",
    revoked_at AS "revokedAt", last_used_at AS "lastUsedAt"
  FROM api_key LEFT JOIN credential_use
    ON credential_use.organization_id = api_key.organization_id AND credential_id = id
  WHERE api_key.organization_id = :organizationId AND revoked_at <= :now ORDER BY revoked_at DESC LIMIT 200) AS revoked
  ORDER BY "createdAt", id;

-- name: count-live-api-keys
SELECT (SELECT count(*) FROM api_key WHERE organization_id = :organizationId AND revoked_at IS NULL)
  + (SELECT count(*) FROM api_key WHERE organization_id = :organizationId AND revoked_at > :now) AS keys;

-- name: name-credentials
SELECT api_key.id, CASE WHEN name = '' THEN hint ELSE name END AS name
  FROM json_each(:ids) AS entry CROSS JOIN api_key
  WHERE organization_id = :organizationId AND api_key.id = (value ->> 'id')
  UNION ALL
  SELECT application.id, name
  FROM json_each(:ids) AS entry CROSS JOIN application
  WHERE application.id = (value ->> 'id') AND organization_id = :organizationId;

-- name: find-api-key
SELECT id, name, user_id AS "userId", hint, created_by AS "createdBy", created_at AS "createdAt",
    revoked_at AS "revokedAt", last_used_at AS "lastUsedAt"
  FROM api_key LEFT JOIN credential_use
    ON credential_use.organization_id = api_key.organization_id AND credential_id = id
  WHERE api_key.organization_id = :organizationId AND id = :keyId;

-- name: remove-ended-key-requests
DELETE FROM key_request
  WHERE organization_id = :organizationId AND user_id = :userId AND (expires_at <= :now OR state = 'declined');

-- name: find-waiting-key-requests
SELECT id FROM key_request
  WHERE organization_id = :organizationId AND user_id = :userId;

-- name: insert-key-request
INSERT INTO key_request (organization_id, id, user_id, name, state, requested_at, expires_at)
  SELECT :organizationId, :requestId, :userId, :name, 'pending', at, at + CAST(:keepMs AS bigint)
  FROM (SELECT :now AS at) AS moment;

-- name: list-key-requests
SELECT id, user_id AS "userId", name, state, requested_at AS "requestedAt", expires_at AS "expiresAt"
  FROM key_request WHERE organization_id = :organizationId AND expires_at > :now ORDER BY id;

-- name: decide-key-request
UPDATE key_request SET state = :state, decided_by = :by, expires_at = :now + CAST(:keepMs AS bigint)
  WHERE organization_id = :organizationId AND id = :requestId AND state = 'pending' AND expires_at > :now
  RETURNING id;

-- name: redeem-key-request
DELETE FROM key_request
  WHERE organization_id = :organizationId AND id = :requestId AND user_id = :userId AND state = 'approved'
    AND expires_at > :now
  RETURNING name, decided_by AS "decidedBy";

-- file: sql/applications.ts

-- name: insert-application
INSERT INTO application (id, organization_id, name, secret_hash, epoch, created_at)
  VALUES (:id, :organizationId, :name, :secretHash, 1, :now);

-- name: rotate-application
UPDATE application SET secret_hash = :secretHash, epoch = epoch + 1, rotated_at = :now
  WHERE organization_id = :organizationId AND id = :applicationId RETURNING id;

-- name: delete-application
DELETE FROM application
  WHERE organization_id = :organizationId AND id = :applicationId RETURNING id;

-- name: remove-use-of-application
DELETE FROM credential_use WHERE organization_id = :organizationId AND credential_id = :applicationId;

-- name: list-applications
SELECT id, name, created_at AS "createdAt", rotated_at AS "rotatedAt", last_used_at AS "lastUsedAt"
  FROM application LEFT JOIN credential_use
    ON credential_use.organization_id = application.organization_id AND credential_id = id
  WHERE application.organization_id = :organizationId ORDER BY created_at, id;

-- name: find-application-grant
SELECT organization_id AS "organizationId", secret_hash AS "secretHash", epoch, api_enabled AS "apiEnabled"
  FROM application JOIN organization ON organization.id = organization_id
  WHERE application.id = :applicationId;

-- name: find-active-signing-key
SELECT id, private_jwk AS "privateJwk", retired_at AS "retiredAt" FROM signing_key WHERE retired_at IS NULL;

-- name: lock-signing-keys
SELECT latest_at FROM store_clock;

-- name: insert-signing-key
INSERT INTO signing_key (id, private_jwk, created_at) VALUES (:id, :privateJwk, :now);

-- name: retire-signing-key
UPDATE signing_key SET retired_at = :now WHERE retired_at IS NULL;

-- name: remove-retired-signing-keys
DELETE FROM signing_key WHERE retired_at IS NOT NULL;

-- name: list-application-ids
SELECT id FROM application ORDER BY id;

-- name: raise-epoch
UPDATE application SET epoch = epoch + CAST(:by AS bigint) WHERE id = :id;

-- name: list-organizations-with-applications
SELECT DISTINCT organization_id AS "organizationId" FROM application ORDER BY 1;

-- name: list-signing-keys
SELECT id, private_jwk AS "privateJwk", retired_at AS "retiredAt" FROM signing_key
  WHERE retired_at IS NULL OR retired_at > :now - CAST(:verifyMs AS bigint) ORDER BY created_at DESC, id DESC;

-- file: sql/audit.ts

-- name: write-audit
INSERT INTO audit_event (organization_id, at, id, actor_kind, actor_user_id, action, subject, detail, trace_id) VALUES (:organizationId, :now, :noteId, :noteActorKind, :noteActorUserId, :noteAction, :noteSubject, :noteDetail, :noteTraceId) RETURNING at;

-- name: list-audit-of-trace
SELECT at, audit_event.id, actor_kind AS "actorKind", actor_user_id AS "actorUserId", actor.email AS "actorEmail",
    action, subject, target.email AS "subjectEmail", detail, trace_id AS "traceId"
  FROM audit_event INDEXED BY audit_event_trace LEFT JOIN "user" AS actor ON actor.id = actor_user_id
    LEFT JOIN "user" AS target ON target.id = subject
  WHERE organization_id = :organizationId AND (at, audit_event.id) < (:beforeAt, :beforeId) AND trace_id = :traceId AND at >= :since ORDER BY at DESC, audit_event.id DESC LIMIT :limit;

-- name: find-end-of-audit-search
SELECT at, id FROM audit_event WHERE organization_id = :organizationId AND (at, audit_event.id) < (:beforeAt, :beforeId) AND at >= :since ORDER BY at DESC, audit_event.id DESC LIMIT 1 OFFSET 4999;

-- name: list-audit
SELECT at, audit_event.id, actor_kind AS "actorKind", actor_user_id AS "actorUserId", actor.email AS "actorEmail",
    action, subject, target.email AS "subjectEmail", detail, trace_id AS "traceId"
  FROM audit_event  LEFT JOIN "user" AS actor ON actor.id = actor_user_id
    LEFT JOIN "user" AS target ON target.id = subject
  WHERE organization_id = :organizationId AND (at, audit_event.id) < (:beforeAt, :beforeId) AND at >= :endAt AND (at, audit_event.id) >= (:endAt, :endId) AND (:action = '' OR action = :action)
    AND (:actor = '' OR actor_user_id = :actor OR (actor_user_id IS NULL AND actor_kind = :actor)) ORDER BY at DESC, audit_event.id DESC LIMIT :limit;

-- file: sql/authority.ts

-- name: lock-organization
SELECT id, name, api_enabled AS "apiEnabled", daily_quota AS "dailyQuota",
  created_at AS "createdAt" FROM organization WHERE id = :organizationId;

-- name: lock-user-of-session
SELECT 1 FROM "user" WHERE id = :userId;

-- name: hold-session
SELECT password_id AS "passwordId",
    (SELECT proven FROM password WHERE password.id = session.password_id) AS proven
  FROM session WHERE token_hash = :sessionHash AND user_id = :userId AND expires_at > :now;

-- name: hold-membership
SELECT role, service, opened_at IS NOT NULL AS accepted, password_id AS "acceptedWith" FROM member
  WHERE organization_id = :organizationId AND user_id = :userId;

-- name: keep-member
SELECT service FROM member WHERE organization_id = :organizationId AND user_id = :userId;

-- name: lock-member
SELECT service FROM member WHERE organization_id = :organizationId AND user_id = :userId;

-- name: find-key-grant
SELECT organization_id AS "organizationId", api_key.id AS "keyId", user_id AS "userId", api_enabled AS "apiEnabled"
  FROM api_key JOIN organization ON organization.id = organization_id WHERE hash = :hash AND (revoked_at IS NULL OR revoked_at > :now);

-- name: hold-api-key
SELECT organization_id AS "organizationId", id AS "keyId", user_id AS "userId",
    (SELECT api_enabled FROM organization WHERE organization.id = organization_id) AS "apiEnabled"
  FROM api_key WHERE hash = :hash AND (revoked_at IS NULL OR revoked_at > :now);

-- file: sql/documents.ts

-- name: list-documents
SELECT id AS "storedId", coalesce(kept_id, id) AS id, account_key AS "accountKey", name, title, url,
  passages AS "passageCount", bytes, added_at AS "addedAt"
  FROM document WHERE organization_id = :organizationId AND state = 'ready'
  AND (name, account_key) > (:afterName, :afterAccountKey) ORDER BY name, account_key LIMIT :limit;

-- name: find-document
SELECT id AS "storedId", coalesce(kept_id, id) AS id, account_key AS "accountKey", name, title, url,
  passages AS "passageCount", bytes, added_at AS "addedAt"
  FROM document WHERE organization_id = :organizationId AND state = 'ready' AND coalesce(kept_id, id) = :documentId;

-- name: find-document-by-name
SELECT id AS "storedId", coalesce(kept_id, id) AS id, account_key AS "accountKey", name, title, url,
  passages AS "passageCount", bytes, added_at AS "addedAt"
  FROM document WHERE organization_id = :organizationId AND state = 'ready' AND account_key = :accountKey AND name = :name;

-- name: read-document-budget
SELECT count(*) AS documents, CAST(coalesce(sum(bytes), 0) AS bigint) AS bytes FROM document
  WHERE organization_id = :organizationId AND state <> 'removed' AND id <> :replacedId;

-- name: insert-document
INSERT INTO document (organization_id, id, account_key, name, title, url, passages, bytes, added_at, state)
  VALUES (:organizationId, :id, :accountKey, :name, :title, :url, :passages, :bytes, :now, 'writing');

-- name: show-document
UPDATE document SET state = 'ready', added_at = :now, kept_id = :keptId
  WHERE organization_id = :organizationId AND id = :id AND state = 'writing' RETURNING id;

-- name: hide-document
UPDATE document SET state = 'removed'
  WHERE organization_id = :organizationId AND id = :id AND state = :state RETURNING id;

-- name: grow-corpus
INSERT INTO corpus (organization_id, account_key, passages, stamp)
  VALUES (:organizationId, :accountKey, :passages, :stamp)
  ON CONFLICT (organization_id, account_key)
    DO UPDATE SET passages = corpus.passages + excluded.passages, stamp = excluded.stamp
  RETURNING number;

-- name: delete-document
DELETE FROM document WHERE organization_id = :organizationId AND id = :id;

-- name: delete-passages
DELETE FROM passage
  WHERE organization_id = :organizationId AND number IN (
    SELECT number FROM passage WHERE organization_id = :organizationId AND document_id = :id LIMIT 10)
  RETURNING number;

-- name: abandon-silent-documents
UPDATE document SET state = 'removed'
  WHERE state <> 'ready' AND state = 'writing' AND added_at < :now - 60000;

-- name: find-removed-documents
SELECT organization_id AS "organizationId", id FROM document WHERE state <> 'ready' AND state = 'removed';

-- name: list-passages
SELECT number, heading, text FROM passage
  WHERE organization_id = :organizationId AND number > :after AND document_id = (
    SELECT id FROM document
    WHERE organization_id = :organizationId AND coalesce(kept_id, id) = :documentId AND state = 'ready')
  ORDER BY number LIMIT :limit OFFSET :skip;

-- name: find-document-without-questions
SELECT organization_id AS "organizationId", id FROM document WHERE questions IS NULL AND state = 'ready' LIMIT 1;

-- name: claim-document-for-questions
UPDATE document SET questions = '[]'
  WHERE organization_id = :organizationId AND id = :id AND questions IS NULL AND state = 'ready'
  RETURNING organization_id AS "organizationId", id AS "storedId", coalesce(kept_id, id) AS id, account_key AS "accountKey", name, title, url,
  passages AS "passageCount", bytes, added_at AS "addedAt";

-- name: set-document-questions
UPDATE document SET questions = :questions
  WHERE organization_id = :organizationId AND coalesce(kept_id, id) = :id AND added_at = :addedAt AND state = 'ready';

-- name: list-document-questions
SELECT questions FROM document
  WHERE organization_id = :organizationId AND account_key IN ('', :accountKey) AND state = 'ready'
    AND questions <> '[]'
  ORDER BY account_key DESC, name LIMIT :limit;

-- file: sql/invitations.ts

-- name: replace-invitation
INSERT INTO invitation (organization_id, user_id, token_hash, by_operator, resets, requested, created_at, expires_at,
    mail_state, sealed_link, mail_due_at)
  VALUES (:organizationId, :userId, :tokenHash, :byOperator, :resets, :requested, :now, :now + CAST(:keepMs AS bigint),
    CAST(:mailState AS text), :sealedLink, :now)
  ON CONFLICT (organization_id, user_id, requested) DO UPDATE SET token_hash = excluded.token_hash,
    by_operator = excluded.by_operator, resets = excluded.resets,
    created_at = excluded.created_at, expires_at = excluded.expires_at, mail_state = excluded.mail_state,
    sealed_link = excluded.sealed_link, mail_due_at = excluded.mail_due_at, mail_attempts = 0;

-- name: find-live-requested-link
SELECT 1 FROM invitation
  WHERE organization_id = :organizationId AND user_id = :userId AND requested AND expires_at > :now
    AND coalesce(mail_state, '') <> 'failed';

-- name: find-invitation
SELECT organization_id AS "organizationId", organization.name AS "organizationName", user_id AS "userId", email,
    by_operator AS "byOperator", resets, NOT by_operator AND mail_state IS NULL AS "shownToAdmin"
  FROM invitation JOIN organization ON organization.id = organization_id JOIN "user" ON "user".id = user_id
  WHERE token_hash = :tokenHash AND expires_at > :now;

-- name: use-invitation
DELETE FROM invitation WHERE token_hash = :tokenHash;

-- name: open-membership
UPDATE member SET opened_at = :now, password_id = :passwordId
  WHERE organization_id = :organizationId AND user_id = :userId;

-- name: close-other-memberships
UPDATE member SET opened_at = NULL, password_id = NULL
  WHERE user_id = :userId AND organization_id <> :organizationId AND opened_at IS NOT NULL
  RETURNING organization_id AS "organizationId";

-- name: add-password
INSERT INTO password (id, user_id, hash, proven) VALUES (:id, :userId, :hash, :proven);

-- name: prove-password
UPDATE password SET proven = true WHERE id = :passwordId;

-- name: prove-memberships
UPDATE member SET password_id = NULL WHERE password_id = :passwordId
  RETURNING organization_id AS "organizationId";

-- name: remove-unused-passwords
DELETE FROM password
  WHERE user_id = :userId AND NOT (proven OR EXISTS (SELECT 1 FROM member WHERE member.password_id = password.id));

-- name: find-due-mail
SELECT token_hash AS "tokenHash" FROM invitation
  WHERE organization_id > :after AND mail_state = 'waiting' AND mail_due_at <= :now AND expires_at > :now
  ORDER BY organization_id, mail_due_at LIMIT 1;

-- name: claim-mail
UPDATE invitation SET mail_due_at = :now + CAST(:leaseMs AS bigint), mail_attempts = mail_attempts + 1
  WHERE token_hash = :tokenHash;

-- name: read-claimed-mail
SELECT organization_id AS "organizationId", organization.name AS "organizationName", user_id AS "userId", email,
    by_operator AS "byOperator", resets, token_hash AS "tokenHash", sealed_link AS "sealedLink", expires_at AS "expiresAt", mail_attempts AS attempts
  FROM invitation JOIN organization ON organization.id = organization_id JOIN "user" ON "user".id = user_id
  WHERE token_hash = :tokenHash;

-- name: settle-mail
UPDATE invitation SET mail_state = :state,
    sealed_link = CASE WHEN :state = 'waiting' THEN sealed_link END,
    mail_due_at = CASE WHEN :state = 'waiting' THEN :now + CAST(:retryMs AS bigint) END
  WHERE token_hash = :tokenHash AND mail_state = 'waiting' AND (:state = 'sent' OR mail_attempts = :attempts) RETURNING user_id;

-- file: sql/organizations.ts

-- name: insert-organization
INSERT INTO organization (id, name, api_enabled, daily_quota, created_at)
  VALUES (:id, :name, :apiEnabled, :dailyQuota, :now);

-- name: update-organization
UPDATE organization SET api_enabled = :apiEnabled, daily_quota = :dailyQuota WHERE id = :organizationId;

-- name: find-organization
SELECT id, name, api_enabled AS "apiEnabled", daily_quota AS "dailyQuota",
  created_at AS "createdAt" FROM organization
  WHERE id = :idOrName OR name = :idOrName ORDER BY id = :idOrName DESC LIMIT 2;

-- name: list-organizations
SELECT id, name, api_enabled AS "apiEnabled", daily_quota AS "dailyQuota",
  created_at AS "createdAt" FROM organization ORDER BY created_at, id;

-- name: find-member
SELECT member.user_id AS "userId", email, role, service, joined_at AS "joinedAt", opened_at IS NOT NULL AS opened,
    expires_at AS "invitedUntil", mail_state AS "mailState"
  FROM member JOIN "user" ON "user".id = member.user_id
    LEFT JOIN invitation ON token_hash = (SELECT token_hash FROM invitation AS latest
      WHERE latest.organization_id = member.organization_id AND latest.user_id = member.user_id
        AND latest.expires_at + 0 > :now ORDER BY latest.created_at DESC, requested DESC LIMIT 1)
  WHERE member.organization_id = :organizationId AND email = :email;

-- name: find-member-by-id
SELECT member.user_id AS "userId", email, role, service, joined_at AS "joinedAt", opened_at IS NOT NULL AS opened,
    expires_at AS "invitedUntil", mail_state AS "mailState"
  FROM member JOIN "user" ON "user".id = member.user_id
    LEFT JOIN invitation ON token_hash = (SELECT token_hash FROM invitation AS latest
      WHERE latest.organization_id = member.organization_id AND latest.user_id = member.user_id
        AND latest.expires_at + 0 > :now ORDER BY latest.created_at DESC, requested DESC LIMIT 1)
  WHERE member.organization_id = :organizationId AND member.user_id = :userId;

-- name: list-members
SELECT member.user_id AS "userId", email, role, service, joined_at AS "joinedAt", opened_at IS NOT NULL AS opened,
    expires_at AS "invitedUntil", mail_state AS "mailState"
  FROM member JOIN "user" ON "user".id = member.user_id
    LEFT JOIN invitation ON token_hash = (SELECT token_hash FROM invitation AS latest
      WHERE latest.organization_id = member.organization_id AND latest.user_id = member.user_id
        AND latest.expires_at + 0 > :now ORDER BY latest.created_at DESC, requested DESC LIMIT 1)
  WHERE member.organization_id = :organizationId ORDER BY joined_at, member.user_id;

-- name: count-members
SELECT count(*) AS members FROM member WHERE organization_id = :organizationId;

-- name: insert-user
INSERT INTO "user" (id, email) VALUES (:candidateUserId, :email) ON CONFLICT (email) DO NOTHING RETURNING id;

-- name: keep-user
SELECT id FROM "user" WHERE email = :email;

-- name: end-sessions-of-returning-person
DELETE FROM session WHERE user_id = :userId
  AND NOT EXISTS (SELECT 1 FROM member WHERE member.user_id = session.user_id AND NOT service);

-- name: insert-member
INSERT INTO member (organization_id, user_id, role, service, joined_at)
  VALUES (:organizationId, :userId, :role, :service, :now);

-- name: find-member-with-admins
SELECT user_id AS "userId", role, service, opened_at IS NOT NULL AS opened FROM member
  WHERE organization_id = :organizationId AND (user_id = :userId OR role = 'admin');

-- name: remove-member
DELETE FROM member WHERE organization_id = :organizationId AND user_id = :userId;

-- name: revoke-keys-of-user
UPDATE api_key SET revoked_at = :now
  WHERE organization_id = :organizationId AND user_id = :userId AND (revoked_at IS NULL OR revoked_at > :now) RETURNING id;

-- name: set-member-role
UPDATE member SET role = :role WHERE organization_id = :organizationId AND user_id = :userId;

-- file: sql/passages.ts

-- name: find-corpora
SELECT number, passages, stamp FROM corpus WHERE organization_id = :organizationId AND account_key IN ('', :accountKey);

-- name: read-passages
SELECT coalesce(kept_id, document.id) AS "documentId", name, title, url, number, heading, text
  FROM json_each(:passages) AS entry CROSS JOIN passage
  LEFT JOIN document ON document.organization_id = passage.organization_id AND document.id = document_id
  WHERE passage.organization_id = :organizationId AND number = CAST(entry.value ->> 'number' AS bigint)
    AND CASE WHEN state = 'ready' AND account_key IN ('', :accountKey) THEN true END;

-- name: outline-documents
SELECT title, coalesce(questions, '[]') AS questions, coalesce((SELECT text FROM passage
      WHERE organization_id = :organizationId AND document_id = document.id ORDER BY number LIMIT 1), '') AS opening
  FROM document WHERE organization_id = :organizationId AND account_key IN ('', :accountKey) AND state = 'ready' ORDER BY name, id LIMIT :limit;

-- file: sql/purge.ts

-- name: find-user
SELECT id FROM "user" WHERE email = :email;

-- name: find-any-membership
SELECT 1 FROM member WHERE user_id = :userId LIMIT 1;

-- name: purge-email
UPDATE "user" SET email = :email WHERE id = :userId AND email <> :email RETURNING id;

-- name: purge-api_key-of-person
DELETE FROM "api_key" WHERE organization_id = :organizationId AND user_id = :userId RETURNING 1;

-- name: purge-complaints-of-person
UPDATE message SET unanswered_at = NULL
  WHERE organization_id = :organizationId AND unanswered_at <> completed_at
    AND (thread_id, id) IN (SELECT thread_id, message_id FROM rating
      WHERE organization_id = :organizationId AND user_id = :userId AND value = 'down')
    AND NOT EXISTS (SELECT 1 FROM rating AS other WHERE other.organization_id = message.organization_id
      AND other.thread_id = message.thread_id AND other.message_id = message.id
      AND other.user_id <> :userId AND other.value = 'down');

-- name: purge-credential_use-of-person
DELETE FROM "credential_use" WHERE organization_id = :organizationId AND credential_id IN (SELECT id FROM api_key WHERE organization_id = :organizationId AND user_id = :userId) RETURNING 1;

-- name: purge-idempotency_key-of-person
DELETE FROM "idempotency_key" WHERE organization_id = :organizationId AND user_id = :userId RETURNING 1;

-- name: purge-identity-of-person
DELETE FROM "identity" WHERE user_id = :userId RETURNING 1;

-- name: purge-listing_size-of-person
DELETE FROM "listing_size" WHERE organization_id = :organizationId AND user_id = :userId RETURNING 1;

-- name: purge-password-of-person
DELETE FROM "password" WHERE user_id = :userId RETURNING 1;

-- name: purge-prompt_use-of-person
DELETE FROM "prompt_use" WHERE organization_id = :organizationId AND (user_id IN (:userId, :invitations) OR instr(user_id, :passwordLinks) = 1) RETURNING 1;

-- name: purge-rating-of-person
DELETE FROM "rating" WHERE organization_id = :organizationId AND user_id = :userId AND thread_id NOT IN (SELECT id FROM thread WHERE organization_id = :organizationId AND user_id = :userId) RETURNING 1;

-- name: purge-session-of-person
DELETE FROM "session" WHERE user_id = :userId RETURNING 1;

-- name: purge-creator-of-keys
UPDATE api_key SET created_by = user_id
  WHERE organization_id = :organizationId AND created_by = :userId;

-- name: list-people-to-purge
SELECT user_id AS id FROM member WHERE organization_id = :organizationId
  UNION SELECT user_id FROM thread WHERE organization_id = :organizationId
  UNION SELECT user_id FROM api_key WHERE organization_id = :organizationId AND user_id IS NOT NULL
  UNION SELECT created_by FROM api_key WHERE organization_id = :organizationId AND created_by IS NOT NULL;

-- name: list-keys-to-purge
SELECT id FROM api_key WHERE organization_id = :organizationId AND user_id = :userId;

-- name: list-audit-to-purge
SELECT at, id, actor_user_id AS "actorUserId", action, subject, detail FROM audit_event
  WHERE organization_id = :organizationId AND (at, id) > (:afterAt, :afterId) ORDER BY at, id LIMIT 500;

-- name: purge-person-from-audit
UPDATE audit_event SET actor_user_id = :actorUserId, subject = :subject, detail = :detail
  WHERE organization_id = :organizationId AND at = :at AND id = :id;

-- name: purge-disable-api
UPDATE organization SET api_enabled = false WHERE id = :organizationId AND api_enabled;

-- name: purge-organization
DELETE FROM organization WHERE id = :organizationId RETURNING id;

-- name: purge-lock-people-of-keys
SELECT id FROM "user" WHERE id IN (SELECT user_id FROM (SELECT * FROM "api_key" WHERE organization_id = :organizationId LIMIT :limit) AS batch UNION SELECT created_by FROM (SELECT * FROM "api_key" WHERE organization_id = :organizationId LIMIT :limit) AS batch) ORDER BY id;

-- name: purge-lock-members
SELECT id FROM "user" WHERE id IN (SELECT user_id FROM (SELECT * FROM "member" WHERE organization_id = :organizationId LIMIT :limit) AS batch) ORDER BY id;

-- name: purge-api_key
DELETE FROM "api_key" WHERE ("hash") IN (
  SELECT "hash" FROM "api_key"  WHERE organization_id = :organizationId LIMIT :limit + 0)
    RETURNING user_id AS "userId", created_by AS "createdBy";

-- name: purge-application
DELETE FROM "application" WHERE ("id") IN (
  SELECT "id" FROM "application"  WHERE organization_id = :organizationId LIMIT :limit + 0)
    RETURNING NULL AS "userId";

-- name: purge-audit_event
DELETE FROM "audit_event" WHERE ("organization_id", "at", "id") IN (
  SELECT "organization_id", "at", "id" FROM "audit_event"  WHERE organization_id = :organizationId LIMIT :limit + 0)
    RETURNING NULL AS "userId";

-- name: purge-corpus
DELETE FROM "corpus" WHERE ("organization_id", "account_key") IN (
  SELECT "organization_id", "account_key" FROM "corpus"  WHERE organization_id = :organizationId LIMIT :limit + 0)
    RETURNING NULL AS "userId";

-- name: purge-credential_use
DELETE FROM "credential_use" WHERE ("organization_id", "credential_id") IN (
  SELECT "organization_id", "credential_id" FROM "credential_use"  WHERE organization_id = :organizationId LIMIT :limit + 0)
    RETURNING NULL AS "userId";

-- name: purge-document
DELETE FROM "document" WHERE ("organization_id", "id") IN (
  SELECT "organization_id", "id" FROM "document"  WHERE organization_id = :organizationId LIMIT :limit + 0)
    RETURNING NULL AS "userId";

-- name: purge-idempotency_key
DELETE FROM "idempotency_key" WHERE ("organization_id", "user_id", "key") IN (
  SELECT "organization_id", "user_id", "key" FROM "idempotency_key"  WHERE organization_id = :organizationId LIMIT :limit + 0)
    RETURNING NULL AS "userId";

-- name: purge-invitation
DELETE FROM "invitation" WHERE ("token_hash") IN (
  SELECT "token_hash" FROM "invitation"  WHERE organization_id = :organizationId LIMIT :limit + 0)
    RETURNING NULL AS "userId";

-- name: purge-key_request
DELETE FROM "key_request" WHERE ("organization_id", "id") IN (
  SELECT "organization_id", "id" FROM "key_request"  WHERE organization_id = :organizationId LIMIT :limit + 0)
    RETURNING NULL AS "userId";

-- name: purge-listing_size
DELETE FROM "listing_size" WHERE ("organization_id", "user_id", "account_key") IN (
  SELECT "organization_id", "user_id", "account_key" FROM "listing_size"  WHERE organization_id = :organizationId LIMIT :limit + 0)
    RETURNING NULL AS "userId";

-- name: purge-member
DELETE FROM "member" WHERE ("organization_id", "user_id") IN (
  SELECT "organization_id", "user_id" FROM "member"  WHERE organization_id = :organizationId LIMIT :limit + 0)
    RETURNING user_id AS "userId";

-- name: purge-message
DELETE FROM "message" WHERE ("organization_id", "thread_id", "id") IN (
  SELECT "organization_id", "thread_id", "id" FROM "message"  WHERE organization_id = :organizationId LIMIT :limit + 0)
    RETURNING NULL AS "userId";

-- name: purge-passage
DELETE FROM "passage" WHERE ("organization_id", "document_id", "number") IN (
  SELECT "organization_id", "document_id", "number" FROM "passage"  WHERE organization_id = :organizationId LIMIT :limit + 0)
    RETURNING NULL AS "userId";

-- name: purge-prompt_use
DELETE FROM "prompt_use" WHERE ("organization_id", "period", "user_id") IN (
  SELECT "organization_id", "period", "user_id" FROM "prompt_use"  WHERE organization_id = :organizationId LIMIT :limit + 0)
    RETURNING NULL AS "userId";

-- name: purge-quota_use
DELETE FROM "quota_use" WHERE ("organization_id", "day") IN (
  SELECT "organization_id", "day" FROM "quota_use"  WHERE organization_id = :organizationId LIMIT :limit + 0)
    RETURNING NULL AS "userId";

-- name: purge-rating
DELETE FROM "rating" WHERE ("organization_id", "thread_id", "message_id", "user_id") IN (
  SELECT "organization_id", "thread_id", "message_id", "user_id" FROM "rating"  WHERE organization_id = :organizationId LIMIT :limit + 0)
    RETURNING NULL AS "userId";

-- name: purge-request_block
DELETE FROM "request_block" WHERE ("organization_id", "at", "id") IN (
  SELECT "organization_id", "at", "id" FROM "request_block"  WHERE organization_id = :organizationId LIMIT :limit + 0)
    RETURNING NULL AS "userId";

-- name: purge-running-replies
DELETE FROM "message" WHERE ("organization_id", "thread_id", "id") IN (
    SELECT "organization_id", "thread_id", "id" FROM "message" INDEXED BY message_running WHERE organization_id = :organizationId AND status IN ('in_progress', 'corroborating') LIMIT :limit + 0)
  RETURNING 1;

-- name: purge-thread
DELETE FROM "thread" WHERE ("organization_id", "id") IN (
  SELECT "organization_id", "id" FROM "thread"  WHERE organization_id = :organizationId LIMIT :limit + 0)
    RETURNING user_id AS "userId";

-- name: purge-thread_move
DELETE FROM "thread_move" WHERE ("organization_id", "sequence") IN (
  SELECT "organization_id", "sequence" FROM "thread_move"  WHERE organization_id = :organizationId LIMIT :limit + 0)
    RETURNING NULL AS "userId";

-- name: purge-traffic
DELETE FROM "traffic" WHERE ("organization_id", "unit", "period", "operation", "outcome", "bucket") IN (
  SELECT "organization_id", "unit", "period", "operation", "outcome", "bucket" FROM "traffic"  WHERE organization_id = :organizationId LIMIT :limit + 0)
    RETURNING NULL AS "userId";

-- name: purge-usage_day
DELETE FROM "usage_day" WHERE ("organization_id", "day", "credential_id", "operation", "outcome") IN (
  SELECT "organization_id", "day", "credential_id", "operation", "outcome" FROM "usage_day"  WHERE organization_id = :organizationId LIMIT :limit + 0)
    RETURNING NULL AS "userId";

-- name: find-deleted-threads-of-user
SELECT id FROM thread
  WHERE organization_id = :organizationId AND user_id = :userId AND deleted_at IS NOT NULL LIMIT :limit;

-- name: find-known-elsewhere
SELECT 1 AS known WHERE EXISTS (SELECT 1 FROM organization WHERE id <> :organizationId AND (
  EXISTS (SELECT 1 FROM listing_size
    WHERE organization_id = organization.id AND user_id = :userId AND account_key = '' AND threads > 0)
  OR EXISTS (SELECT 1 FROM api_key WHERE organization_id = organization.id AND user_id = :userId)));

-- name: count-api_key-of-organization
SELECT count(*) AS rows FROM "api_key" WHERE organization_id = :organizationId;

-- name: count-api_key-of-person
SELECT count(*) AS rows FROM "api_key" WHERE organization_id = :organizationId AND user_id = :userId;

-- name: count-application-of-organization
SELECT count(*) AS rows FROM "application" WHERE organization_id = :organizationId;

-- name: count-audit_event-of-organization
SELECT count(*) AS rows FROM "audit_event" WHERE organization_id = :organizationId;

-- name: count-corpus-of-organization
SELECT count(*) AS rows FROM "corpus" WHERE organization_id = :organizationId;

-- name: count-credential_use-of-organization
SELECT count(*) AS rows FROM "credential_use" WHERE organization_id = :organizationId;

-- name: count-credential_use-of-person
SELECT count(*) AS rows FROM "credential_use" WHERE organization_id = :organizationId AND credential_id IN (SELECT id FROM api_key WHERE organization_id = :organizationId AND user_id = :userId);

-- name: count-document-of-organization
SELECT count(*) AS rows FROM "document" WHERE organization_id = :organizationId;

-- name: count-idempotency_key-of-organization
SELECT count(*) AS rows FROM "idempotency_key" WHERE organization_id = :organizationId;

-- name: count-idempotency_key-of-person
SELECT count(*) AS rows FROM "idempotency_key" WHERE organization_id = :organizationId AND user_id = :userId;

-- name: count-identity-of-person
SELECT count(*) AS rows FROM "identity" WHERE NOT (EXISTS (
  SELECT 1 FROM member WHERE user_id = :userId AND organization_id <> :organizationId)) AND user_id = :userId;

-- name: count-invitation-of-organization
SELECT count(*) AS rows FROM "invitation" WHERE organization_id = :organizationId;

-- name: count-invitation-of-person
SELECT count(*) AS rows FROM "invitation" WHERE organization_id = :organizationId AND user_id = :userId;

-- name: count-key_request-of-organization
SELECT count(*) AS rows FROM "key_request" WHERE organization_id = :organizationId;

-- name: count-listing_size-of-organization
SELECT count(*) AS rows FROM "listing_size" WHERE organization_id = :organizationId;

-- name: count-listing_size-of-person
SELECT count(*) AS rows FROM "listing_size" WHERE organization_id = :organizationId AND user_id = :userId;

-- name: count-member-of-organization
SELECT count(*) AS rows FROM "member" WHERE organization_id = :organizationId;

-- name: count-member-of-person
SELECT count(*) AS rows FROM "member" WHERE organization_id = :organizationId AND user_id = :userId;

-- name: count-message-of-organization
SELECT count(*) AS rows FROM "message" WHERE organization_id = :organizationId;

-- name: count-message-of-person
SELECT count(*) AS rows FROM "message" WHERE organization_id = :organizationId AND thread_id IN (SELECT id FROM thread WHERE organization_id = :organizationId AND user_id = :userId);

-- name: count-organization-of-organization
SELECT count(*) AS rows FROM "organization" WHERE id = :organizationId;

-- name: count-passage-of-organization
SELECT count(*) AS rows FROM "passage" WHERE organization_id = :organizationId;

-- name: count-password-of-person
SELECT count(*) AS rows FROM "password" WHERE NOT (EXISTS (
  SELECT 1 FROM member WHERE user_id = :userId AND organization_id <> :organizationId)) AND user_id = :userId;

-- name: count-prompt_use-of-organization
SELECT count(*) AS rows FROM "prompt_use" WHERE organization_id = :organizationId;

-- name: count-prompt_use-of-person
SELECT count(*) AS rows FROM "prompt_use" WHERE organization_id = :organizationId AND (user_id IN (:userId, :invitations) OR instr(user_id, :passwordLinks) = 1);

-- name: count-quota_use-of-organization
SELECT count(*) AS rows FROM "quota_use" WHERE organization_id = :organizationId;

-- name: count-rating-of-organization
SELECT count(*) AS rows FROM "rating" WHERE organization_id = :organizationId;

-- name: count-rating-of-person
SELECT count(*) AS rows FROM "rating" WHERE organization_id = :organizationId AND user_id = :userId AND thread_id NOT IN (SELECT id FROM thread WHERE organization_id = :organizationId AND user_id = :userId);

-- name: count-request_block-of-organization
SELECT count(*) AS rows FROM "request_block" WHERE organization_id = :organizationId;

-- name: count-session-of-person
SELECT count(*) AS rows FROM "session" WHERE NOT (EXISTS (
  SELECT 1 FROM member WHERE user_id = :userId AND organization_id <> :organizationId)) AND user_id = :userId;

-- name: count-thread-of-organization
SELECT count(*) AS rows FROM "thread" WHERE organization_id = :organizationId;

-- name: count-thread-of-person
SELECT count(*) AS rows FROM "thread" WHERE organization_id = :organizationId AND user_id = :userId;

-- name: count-thread_move-of-organization
SELECT count(*) AS rows FROM "thread_move" WHERE organization_id = :organizationId;

-- name: count-traffic-of-organization
SELECT count(*) AS rows FROM "traffic" WHERE organization_id = :organizationId;

-- name: count-usage_day-of-organization
SELECT count(*) AS rows FROM "usage_day" WHERE organization_id = :organizationId;

-- name: count-user-of-person
SELECT count(*) AS rows FROM "user" WHERE NOT (EXISTS (
  SELECT 1 FROM member WHERE user_id = :userId AND organization_id <> :organizationId) OR EXISTS (SELECT 1 FROM organization WHERE id <> :organizationId AND (
  EXISTS (SELECT 1 FROM listing_size
    WHERE organization_id = organization.id AND user_id = :userId AND account_key = '' AND threads > 0)
  OR EXISTS (SELECT 1 FROM api_key WHERE organization_id = organization.id AND user_id = :userId)))) AND id = :userId;

-- file: sql/ratings.ts

-- name: lock-rated-reply
SELECT 1 FROM message
  WHERE organization_id = :organizationId AND thread_id = :threadId AND id = :messageId AND role = 'assistant' AND completed_at IS NOT NULL AND EXISTS (
    SELECT 1 FROM thread WHERE organization_id = :organizationId AND id = :threadId AND deleted_at IS NULL AND (published OR user_id = :userId));

-- name: set-rating
INSERT INTO rating (organization_id, thread_id, message_id, user_id, value, comment, rated_at)
  VALUES (:organizationId, :threadId, :messageId, :userId, :value, :comment, :now)
  ON CONFLICT (organization_id, thread_id, message_id, user_id)
  DO UPDATE SET value = excluded.value, comment = excluded.comment, rated_at = excluded.rated_at;

-- name: remove-rating
DELETE FROM rating WHERE organization_id = :organizationId AND thread_id = :threadId AND message_id = :messageId AND user_id = :userId;

-- name: set-unanswered
UPDATE message SET unanswered_at = CASE
    WHEN unanswered_at = completed_at THEN unanswered_at
    WHEN EXISTS (SELECT 1 FROM rating WHERE organization_id = :organizationId AND thread_id = :threadId AND message_id = :messageId AND value = 'down')
      THEN coalesce(unanswered_at, CASE WHEN :now > completed_at THEN :now ELSE completed_at + 1 END)
    END
  WHERE organization_id = :organizationId AND thread_id = :threadId AND id = :messageId;

-- name: list-ratings
SELECT message_id AS "messageId", value, comment FROM rating
  WHERE organization_id = :organizationId AND thread_id = :threadId AND user_id = :userId AND EXISTS (
    SELECT 1 FROM thread WHERE organization_id = :organizationId AND id = :threadId AND deleted_at IS NULL AND (published OR user_id = :userId))
  ORDER BY message_id;

-- name: scan-unanswered
WITH scanned AS MATERIALIZED (
    SELECT thread_id, id, unanswered_at FROM message INDEXED BY message_unanswered
    WHERE organization_id = :organizationId AND unanswered_at IS NOT NULL
      AND (unanswered_at, id) < (:beforeAt, :beforeId)
    ORDER BY unanswered_at DESC, id DESC LIMIT 500)
  SELECT thread_id AS "threadId", scanned.id AS "messageId", unanswered_at AS at,
    CASE WHEN deleted_at IS NULL AND (published OR user_id = :userId) THEN 1 ELSE 0 END AS readable
  FROM scanned JOIN thread ON organization_id = :organizationId AND thread.id = thread_id
  ORDER BY unanswered_at DESC, scanned.id DESC;

-- name: read-unanswered
SELECT reply.thread_id AS "threadId", reply.id AS "messageId", title, account_id AS "accountId",
    (SELECT email FROM member JOIN "user" ON "user".id = member.user_id
    WHERE member.organization_id = :organizationId AND member.user_id = thread.user_id) AS "askedBy", unanswered_at AS "unansweredAt", substr(content, 1, 500) AS reply,
    (SELECT substr(asked.content, 1, 500) FROM message AS asked
     WHERE asked.organization_id = :organizationId AND asked.thread_id = :threadId AND asked.role = 'user'
       AND asked.created_at <= reply.created_at
     ORDER BY asked.created_at DESC, asked.id DESC LIMIT 1) AS prompt
  FROM message AS reply
  JOIN thread ON thread.organization_id = reply.organization_id AND thread.id = reply.thread_id
  WHERE reply.organization_id = :organizationId AND reply.thread_id = :threadId AND reply.id = :messageId
    AND unanswered_at IS NOT NULL AND deleted_at IS NULL AND (published OR user_id = :userId);

-- name: list-complaints
SELECT (SELECT email FROM member JOIN "user" ON "user".id = member.user_id
    WHERE member.organization_id = :organizationId AND member.user_id = rating.user_id) AS email, comment, rated_at AS "ratedAt" FROM rating
  WHERE organization_id = :organizationId AND thread_id = :threadId AND message_id = :messageId AND value = 'down' ORDER BY rated_at DESC, user_id LIMIT 5;

-- file: sql/replies.ts

-- name: organizations-waiting-suspects
WITH RECURSIVE waiting (organization_id) AS (
    SELECT (SELECT message.organization_id FROM message INDEXED BY message_suspect
    WHERE NOT held AND crashes >= 2 AND status IN ('in_progress', 'corroborating') AND message.organization_id > :after ORDER BY message.organization_id LIMIT 1)
    UNION ALL
    SELECT (SELECT message.organization_id FROM message INDEXED BY message_suspect
    WHERE NOT held AND crashes >= 2 AND status IN ('in_progress', 'corroborating') AND message.organization_id > waiting.organization_id ORDER BY message.organization_id LIMIT 1) FROM waiting WHERE waiting.organization_id IS NOT NULL
  )
  SELECT organization_id AS id FROM waiting WHERE organization_id IS NOT NULL AND EXISTS (
    SELECT 1 FROM message INDEXED BY message_suspect
    WHERE message.organization_id = waiting.organization_id AND NOT held AND crashes >= 2 AND status IN ('in_progress', 'corroborating') AND available_at <= :now)
  LIMIT :limit + 0;

-- name: organizations-waiting-usual
WITH RECURSIVE waiting (organization_id) AS (
    SELECT (SELECT message.organization_id FROM message INDEXED BY message_waiting
    WHERE NOT held AND crashes < 2 AND status IN ('in_progress', 'corroborating') AND message.organization_id > :after ORDER BY message.organization_id LIMIT 1)
    UNION ALL
    SELECT (SELECT message.organization_id FROM message INDEXED BY message_waiting
    WHERE NOT held AND crashes < 2 AND status IN ('in_progress', 'corroborating') AND message.organization_id > waiting.organization_id ORDER BY message.organization_id LIMIT 1) FROM waiting WHERE waiting.organization_id IS NOT NULL
  )
  SELECT organization_id AS id FROM waiting WHERE organization_id IS NOT NULL AND EXISTS (
    SELECT 1 FROM message INDEXED BY message_waiting
    WHERE message.organization_id = waiting.organization_id AND NOT held AND crashes < 2 AND status IN ('in_progress', 'corroborating') AND available_at <= :now)
  LIMIT :limit + 0;

-- name: running-replies
SELECT message.id FROM json_each(:replies) AS entry CROSS JOIN message
  WHERE message.organization_id = (entry.value ->> 'organizationId') AND message.thread_id = (entry.value ->> 'threadId')
    AND message.id = (entry.value ->> 'messageId') AND CASE WHEN status IN ('in_progress', 'corroborating') THEN true END;

-- name: reply-backlog
SELECT
  min(10000, (SELECT count(*) FROM (
    SELECT 1 FROM message INDEXED BY message_waiting WHERE NOT held AND crashes < 2 AND status IN ('in_progress', 'corroborating') LIMIT 10000) AS counted) + (SELECT count(*) FROM (
    SELECT 1 FROM message INDEXED BY message_suspect WHERE NOT held AND crashes >= 2 AND status IN ('in_progress', 'corroborating') LIMIT 10000) AS counted)) AS waiting,
  (SELECT count(*) FROM (
    SELECT 1 FROM message INDEXED BY message_held WHERE held AND status IN ('in_progress', 'corroborating') LIMIT 10000) AS counted) AS held,
  (SELECT count(*) FROM (
    SELECT 1 FROM message INDEXED BY message_suspect WHERE crashes >= 2 AND status IN ('in_progress', 'corroborating') LIMIT 10000) AS counted) AS suspects,
  (SELECT :now - created_at FROM (
    SELECT created_at, deadline_at, held FROM message INDEXED BY message_deadline WHERE status IN ('in_progress', 'corroborating')
    ORDER BY deadline_at LIMIT 10000) AS running
   WHERE NOT held ORDER BY deadline_at LIMIT 1) AS "oldestWaitingMs";

-- file: sql/requests.ts

-- name: add-request-block
INSERT INTO request_block (organization_id, at, id, first_at, entries, requests)
  SELECT id, :at, :id, :firstAt, :entries, :requests FROM organization WHERE id = :organizationId
  ON CONFLICT DO NOTHING;

-- name: add-traffic
INSERT INTO traffic (organization_id, unit, period, operation, outcome, bucket, requests)
  SELECT organization.id, unit, CAST(value ->> 'hour' AS bigint) / hours, value ->> 'operation', value ->> 'outcome',
    CAST(value ->> 'bucket' AS bigint), sum(CAST(value ->> 'requests' AS bigint))
  FROM json_each(:reports) AS entry JOIN organization ON organization.id = (value ->> 'organizationId') CROSS JOIN (SELECT 'hour' AS unit, 1 AS hours UNION ALL SELECT 'day', 24) AS span
  GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY 1, 2, 3, 4, 5, 6
  ON CONFLICT (organization_id, unit, period, operation, outcome, bucket)
  DO UPDATE SET requests = traffic.requests + excluded.requests;

-- name: add-usage
INSERT INTO usage_day (organization_id, day, credential_id, operation, outcome, requests)
  SELECT organization.id, CAST(value ->> 'hour' AS bigint) / 24, value ->> 'credentialId', value ->> 'operation', value ->> 'outcome',
    sum(CAST(value ->> 'requests' AS bigint))
  FROM json_each(:reports) AS entry JOIN organization ON organization.id = (value ->> 'organizationId') WHERE value ->> 'credentialId' IS NOT NULL
  GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5
  ON CONFLICT (organization_id, day, credential_id, operation, outcome)
  DO UPDATE SET requests = usage_day.requests + excluded.requests;

-- name: keep-latest-use
INSERT INTO credential_use (organization_id, credential_id, last_used_at)
  SELECT organization.id, value ->> 'credentialId', max(CAST(value ->> 'lastAt' AS bigint)) FROM json_each(:reports) AS entry JOIN organization ON organization.id = (value ->> 'organizationId')
  WHERE EXISTS (SELECT 1 FROM api_key
      WHERE api_key.organization_id = organization.id AND api_key.id = (value ->> 'credentialId'))
    OR EXISTS (SELECT 1 FROM application
      WHERE application.organization_id = organization.id AND application.id = (value ->> 'credentialId'))
  GROUP BY 1, 2 ORDER BY 1, 2
  ON CONFLICT (organization_id, credential_id) DO UPDATE SET last_used_at = excluded.last_used_at
  WHERE credential_use.last_used_at < excluded.last_used_at
    OR credential_use.last_used_at > excluded.last_used_at + 86400000;

-- name: list-traffic
SELECT period, operation, outcome, bucket, requests FROM traffic
  WHERE organization_id = :organizationId AND unit = :unit AND period BETWEEN :first AND :last
  ORDER BY period, operation, outcome, bucket;

-- name: list-request-blocks
SELECT at, id, requests FROM request_block WHERE organization_id = :organizationId
    AND (at, id) < (:endAt, :endId) AND at >= :since AND first_at <= :beforeAt
  ORDER BY at DESC, id DESC LIMIT :limit;

-- name: find-request-block
SELECT requests FROM request_block WHERE organization_id = :organizationId
    AND at BETWEEN :first AND :last AND id < :idEnd AND instr(requests, :traceId) > 0
  ORDER BY at, id LIMIT 1;

-- name: find-old-request-block
SELECT at, id FROM (
    SELECT at, id, entries, sum(entries) OVER (ORDER BY at DESC, id DESC) AS total FROM request_block
    WHERE organization_id = :organizationId) AS block
  WHERE total - entries >= :keep ORDER BY at DESC, id DESC LIMIT 1;

-- name: find-end-of-request-removal
SELECT at, id FROM request_block WHERE organization_id = :organizationId AND (at, id) <= (:at, :id) ORDER BY at, id LIMIT 1 OFFSET 19;

-- name: remove-request-blocks
DELETE FROM request_block WHERE organization_id = :organizationId AND (at, id) <= (:at, :id) RETURNING 1;

-- name: list-usage
SELECT day, credential_id AS "credentialId", operation, outcome, requests FROM (
    SELECT * FROM usage_day WHERE organization_id = :organizationId AND day BETWEEN :firstDay AND :lastDay
    ORDER BY day DESC, credential_id DESC, operation DESC, outcome DESC LIMIT :limit) AS latest
  ORDER BY day, credential_id, operation, outcome;

-- name: list-usage-of-owner
SELECT day, credential_id AS "credentialId", operation, outcome, requests FROM (
    SELECT * FROM usage_day WHERE organization_id = :organizationId AND
  day IN (WITH RECURSIVE each_day (number) AS (
    SELECT CAST(:firstDay AS bigint) UNION ALL SELECT number + 1 FROM each_day WHERE number < :lastDay)
    SELECT number FROM each_day WHERE number <= :lastDay)
  AND credential_id IN (SELECT id FROM api_key WHERE organization_id = :organizationId AND user_id = :userId)
    ORDER BY day DESC, credential_id DESC, operation DESC, outcome DESC LIMIT :limit) AS latest
  ORDER BY day, credential_id, operation, outcome;

-- name: read-quota
SELECT coalesce(used, 0) AS used, daily_quota AS "limit" FROM organization
  LEFT JOIN quota_use ON organization_id = id AND day = :day WHERE id = :organizationId;

-- name: add-prompt-use
INSERT INTO prompt_use (organization_id, period, user_id, started_at, prompts)
  SELECT :organizationId, :period, :userId, at - at % CAST(:ms AS bigint), 1 FROM (SELECT :now AS at) AS moment
  WHERE true ON CONFLICT (organization_id, period, user_id) DO UPDATE SET
    started_at = CASE WHEN prompt_use.started_at BETWEEN excluded.started_at AND excluded.started_at + CAST(:ms AS bigint) THEN prompt_use.started_at ELSE excluded.started_at END,
    prompts = CASE WHEN prompt_use.started_at BETWEEN excluded.started_at AND excluded.started_at + CAST(:ms AS bigint) THEN prompt_use.prompts + 1 ELSE 1 END
  RETURNING prompts, max(1, started_at + CAST(:ms AS bigint) - :now) AS "resetMs";

-- name: remove-mail-uses
DELETE FROM prompt_use
  WHERE organization_id = :organizationId AND period = 'mail' AND user_id <> '' AND started_at <= :now - 86400000;

-- file: sql/retention.ts

-- name: remove-uses-of-keys
DELETE FROM credential_use
  WHERE organization_id = :organizationId AND credential_id IN (
    SELECT entry.value ->> 'id' FROM json_each(:keys) AS entry);

-- name: find-retention-page
SELECT id FROM organization WHERE id > :place ORDER BY id LIMIT 1 OFFSET 499;

-- name: remove-expired-audit_events
DELETE FROM "audit_event" WHERE ("organization_id", "at", "id") IN (
  SELECT "organization_id", "at", "id" FROM "audit_event"  WHERE organization_id = :organizationId  AND "at" < (SELECT CAST((:now - CAST(:keepMs AS bigint)) / 1 AS bigint)) ORDER BY "at" LIMIT :limit + 0)
    RETURNING 1;

-- name: remove-expired-deleted_threads
SELECT id FROM thread WHERE organization_id = :organizationId AND deleted_at IS NOT NULL AND "deleted_at" < (SELECT CAST((:now - CAST(:keepMs AS bigint)) / 1 AS bigint)) ORDER BY "deleted_at" LIMIT :limit;

-- name: remove-expired-idempotency_keys
DELETE FROM "idempotency_key" WHERE ("organization_id", "user_id", "key") IN (
  SELECT "organization_id", "user_id", "key" FROM "idempotency_key"  WHERE organization_id = :organizationId  AND "expires_at" < (SELECT CAST((:now - CAST(:keepMs AS bigint)) / 1 AS bigint)) ORDER BY "expires_at" LIMIT :limit + 0)
    RETURNING 1;

-- name: remove-expired-invitations
DELETE FROM "invitation" WHERE ("token_hash") IN (
  SELECT "token_hash" FROM "invitation"  WHERE organization_id = :organizationId  AND "expires_at" < (SELECT CAST((:now - CAST(:keepMs AS bigint)) / 1 AS bigint)) ORDER BY "expires_at" LIMIT :limit + 0)
    RETURNING 1;

-- name: remove-expired-quota_days
DELETE FROM "quota_use" WHERE ("organization_id", "day") IN (
  SELECT "organization_id", "day" FROM "quota_use"  WHERE organization_id = :organizationId  AND "day" < (SELECT CAST((:now - CAST(:keepMs AS bigint)) / 86400000 AS bigint)) ORDER BY "day" LIMIT :limit + 0)
    RETURNING 1;

-- name: remove-expired-requests
DELETE FROM "request_block" WHERE ("organization_id", "at", "id") IN (
  SELECT "organization_id", "at", "id" FROM "request_block"  WHERE organization_id = :organizationId  AND "at" < (SELECT CAST((:now - CAST(:keepMs AS bigint)) / 1 AS bigint)) ORDER BY "at" LIMIT :limit + 0)
    RETURNING 1;

-- name: remove-expired-revoked_keys
DELETE FROM "api_key" WHERE ("hash") IN (
  SELECT "hash" FROM "api_key"  WHERE organization_id = :organizationId  AND "revoked_at" < (SELECT CAST((:now - CAST(:keepMs AS bigint)) / 1 AS bigint)) ORDER BY "revoked_at" LIMIT :limit + 0)
    RETURNING id;

-- name: remove-expired-sessions
DELETE FROM "session" WHERE ("token_hash") IN (
  SELECT "token_hash" FROM "session"  WHERE true AND "expires_at" < (SELECT CAST((:now - CAST(:keepMs AS bigint)) / 1 AS bigint)) ORDER BY "expires_at" LIMIT :limit + 0)
    RETURNING 1;

-- name: remove-expired-thread_moves
DELETE FROM "thread_move" WHERE ("organization_id", "sequence") IN (
  SELECT "organization_id", "sequence" FROM "thread_move"  WHERE organization_id = :organizationId  AND "moved_at" < (SELECT CAST((:now - CAST(:keepMs AS bigint)) / 1 AS bigint)) ORDER BY "moved_at" LIMIT :limit + 0)
    RETURNING 1;

-- name: remove-expired-traffic_days
DELETE FROM "traffic" WHERE ("organization_id", "unit", "period", "operation", "outcome", "bucket") IN (
  SELECT "organization_id", "unit", "period", "operation", "outcome", "bucket" FROM "traffic"  WHERE organization_id = :organizationId AND unit = 'day' AND "period" < (SELECT CAST((:now - CAST(:keepMs AS bigint)) / 86400000 AS bigint)) ORDER BY "period" LIMIT :limit + 0)
    RETURNING 1;

-- name: remove-expired-traffic_hours
DELETE FROM "traffic" WHERE ("organization_id", "unit", "period", "operation", "outcome", "bucket") IN (
  SELECT "organization_id", "unit", "period", "operation", "outcome", "bucket" FROM "traffic"  WHERE organization_id = :organizationId AND unit = 'hour' AND "period" < (SELECT CAST((:now - CAST(:keepMs AS bigint)) / 3600000 AS bigint)) ORDER BY "period" LIMIT :limit + 0)
    RETURNING 1;

-- name: remove-expired-usage_days
DELETE FROM "usage_day" WHERE ("organization_id", "day", "credential_id", "operation", "outcome") IN (
  SELECT "organization_id", "day", "credential_id", "operation", "outcome" FROM "usage_day"  WHERE organization_id = :organizationId  AND "day" < (SELECT CAST((:now - CAST(:keepMs AS bigint)) / 86400000 AS bigint)) ORDER BY "day" LIMIT :limit + 0)
    RETURNING 1;

-- name: owners-of-expired-audit_events
SELECT id FROM organization WHERE id > :place AND id <= :pageEnd AND (
    SELECT min("at") FROM "audit_event" WHERE organization_id = organization.id
  ) < (SELECT CAST((:now - CAST(:keepMs AS bigint)) / 1 AS bigint)) ORDER BY id;

-- name: owners-of-expired-deleted_threads
SELECT id FROM organization WHERE id > :place AND id <= :pageEnd AND (
    SELECT min("deleted_at") FROM "thread" WHERE organization_id = organization.id AND deleted_at IS NOT NULL
  ) < (SELECT CAST((:now - CAST(:keepMs AS bigint)) / 1 AS bigint)) ORDER BY id;

-- name: owners-of-expired-idempotency_keys
SELECT id FROM organization WHERE id > :place AND id <= :pageEnd AND (
    SELECT min("expires_at") FROM "idempotency_key" WHERE organization_id = organization.id
  ) < (SELECT CAST((:now - CAST(:keepMs AS bigint)) / 1 AS bigint)) ORDER BY id;

-- name: owners-of-expired-invitations
SELECT id FROM organization WHERE id > :place AND id <= :pageEnd AND (
    SELECT min("expires_at") FROM "invitation" WHERE organization_id = organization.id
  ) < (SELECT CAST((:now - CAST(:keepMs AS bigint)) / 1 AS bigint)) ORDER BY id;

-- name: owners-of-expired-quota_days
SELECT id FROM organization WHERE id > :place AND id <= :pageEnd AND (
    SELECT min("day") FROM "quota_use" WHERE organization_id = organization.id
  ) < (SELECT CAST((:now - CAST(:keepMs AS bigint)) / 86400000 AS bigint)) ORDER BY id;

-- name: owners-of-expired-requests
SELECT id FROM organization WHERE id > :place AND id <= :pageEnd AND (
    SELECT min("at") FROM "request_block" WHERE organization_id = organization.id
  ) < (SELECT CAST((:now - CAST(:keepMs AS bigint)) / 1 AS bigint)) ORDER BY id;

-- name: owners-of-expired-revoked_keys
SELECT id FROM organization WHERE id > :place AND id <= :pageEnd AND (
    SELECT min("revoked_at") FROM "api_key" WHERE organization_id = organization.id
  ) < (SELECT CAST((:now - CAST(:keepMs AS bigint)) / 1 AS bigint)) ORDER BY id;

-- name: owners-of-expired-sessions
SELECT id FROM organization WHERE id > :place AND id <= :pageEnd AND (
    SELECT min("expires_at") FROM "session" WHERE true
  ) < (SELECT CAST((:now - CAST(:keepMs AS bigint)) / 1 AS bigint)) ORDER BY id;

-- name: owners-of-expired-thread_moves
SELECT id FROM organization WHERE id > :place AND id <= :pageEnd AND (
    SELECT min("moved_at") FROM "thread_move" WHERE organization_id = organization.id
  ) < (SELECT CAST((:now - CAST(:keepMs AS bigint)) / 1 AS bigint)) ORDER BY id;

-- name: owners-of-expired-traffic_days
SELECT id FROM organization WHERE id > :place AND id <= :pageEnd AND (
    SELECT min("period") FROM "traffic" WHERE organization_id = organization.id AND unit = 'day'
  ) < (SELECT CAST((:now - CAST(:keepMs AS bigint)) / 86400000 AS bigint)) ORDER BY id;

-- name: owners-of-expired-traffic_hours
SELECT id FROM organization WHERE id > :place AND id <= :pageEnd AND (
    SELECT min("period") FROM "traffic" WHERE organization_id = organization.id AND unit = 'hour'
  ) < (SELECT CAST((:now - CAST(:keepMs AS bigint)) / 3600000 AS bigint)) ORDER BY id;

-- name: owners-of-expired-usage_days
SELECT id FROM organization WHERE id > :place AND id <= :pageEnd AND (
    SELECT min("day") FROM "usage_day" WHERE organization_id = organization.id
  ) < (SELECT CAST((:now - CAST(:keepMs AS bigint)) / 86400000 AS bigint)) ORDER BY id;

-- name: count-expired-audit_events
SELECT count(*) AS due FROM (
  SELECT 1 FROM organization CROSS JOIN "audit_event"
  WHERE organization_id = organization.id  AND "at" < (SELECT CAST((:now - CAST(:keepMs AS bigint)) / 1 AS bigint)) LIMIT 10000) AS counted;

-- name: count-expired-deleted_threads
SELECT count(*) AS due FROM (
  SELECT 1 FROM organization CROSS JOIN "thread"
  WHERE organization_id = organization.id AND deleted_at IS NOT NULL AND "deleted_at" < (SELECT CAST((:now - CAST(:keepMs AS bigint)) / 1 AS bigint)) LIMIT 10000) AS counted;

-- name: count-expired-idempotency_keys
SELECT count(*) AS due FROM (
  SELECT 1 FROM organization CROSS JOIN "idempotency_key"
  WHERE organization_id = organization.id  AND "expires_at" < (SELECT CAST((:now - CAST(:keepMs AS bigint)) / 1 AS bigint)) LIMIT 10000) AS counted;

-- name: count-expired-invitations
SELECT count(*) AS due FROM (
  SELECT 1 FROM organization CROSS JOIN "invitation"
  WHERE organization_id = organization.id  AND "expires_at" < (SELECT CAST((:now - CAST(:keepMs AS bigint)) / 1 AS bigint)) LIMIT 10000) AS counted;

-- name: count-expired-quota_days
SELECT count(*) AS due FROM (
  SELECT 1 FROM organization CROSS JOIN "quota_use"
  WHERE organization_id = organization.id  AND "day" < (SELECT CAST((:now - CAST(:keepMs AS bigint)) / 86400000 AS bigint)) LIMIT 10000) AS counted;

-- name: count-expired-requests
SELECT count(*) AS due FROM (
  SELECT 1 FROM organization CROSS JOIN "request_block"
  WHERE organization_id = organization.id  AND "at" < (SELECT CAST((:now - CAST(:keepMs AS bigint)) / 1 AS bigint)) LIMIT 10000) AS counted;

-- name: count-expired-revoked_keys
SELECT count(*) AS due FROM (
  SELECT 1 FROM organization CROSS JOIN "api_key"
  WHERE organization_id = organization.id  AND "revoked_at" < (SELECT CAST((:now - CAST(:keepMs AS bigint)) / 1 AS bigint)) LIMIT 10000) AS counted;

-- name: count-expired-sessions
SELECT count(*) AS due FROM (
  SELECT 1 FROM "session"
  WHERE true AND "expires_at" < (SELECT CAST((:now - CAST(:keepMs AS bigint)) / 1 AS bigint)) LIMIT 10000) AS counted;

-- name: count-expired-thread_moves
SELECT count(*) AS due FROM (
  SELECT 1 FROM organization CROSS JOIN "thread_move"
  WHERE organization_id = organization.id  AND "moved_at" < (SELECT CAST((:now - CAST(:keepMs AS bigint)) / 1 AS bigint)) LIMIT 10000) AS counted;

-- name: count-expired-traffic_days
SELECT count(*) AS due FROM (
  SELECT 1 FROM organization CROSS JOIN "traffic"
  WHERE organization_id = organization.id AND unit = 'day' AND "period" < (SELECT CAST((:now - CAST(:keepMs AS bigint)) / 86400000 AS bigint)) LIMIT 10000) AS counted;

-- name: count-expired-traffic_hours
SELECT count(*) AS due FROM (
  SELECT 1 FROM organization CROSS JOIN "traffic"
  WHERE organization_id = organization.id AND unit = 'hour' AND "period" < (SELECT CAST((:now - CAST(:keepMs AS bigint)) / 3600000 AS bigint)) LIMIT 10000) AS counted;

-- name: count-expired-usage_days
SELECT count(*) AS due FROM (
  SELECT 1 FROM organization CROSS JOIN "usage_day"
  WHERE organization_id = organization.id  AND "day" < (SELECT CAST((:now - CAST(:keepMs AS bigint)) / 86400000 AS bigint)) LIMIT 10000) AS counted;

-- name: remove-messages-of-thread
DELETE FROM "message" WHERE ("organization_id", "thread_id", "id") IN (
  SELECT "organization_id", "thread_id", "id" FROM "message"  WHERE organization_id = :organizationId AND thread_id = :threadId LIMIT :limit + 0) RETURNING 1;

-- name: remove-keys-of-thread
DELETE FROM idempotency_key WHERE organization_id = :organizationId AND thread_id = :threadId RETURNING 1;

-- name: remove-thread
DELETE FROM thread
  WHERE organization_id = :organizationId AND id = :threadId AND deleted_at IS NOT NULL
  RETURNING user_id AS "userId", account_id AS "accountId";

-- name: remove-empty-sizes-of-account
DELETE FROM "listing_size" WHERE ("organization_id", "user_id", "account_key") IN (
  SELECT "organization_id", "user_id", "account_key" FROM "listing_size"  WHERE organization_id = :organizationId AND user_id IN ('', :userId) AND account_key = :account
    AND threads = 0 AND published = 0 LIMIT :limit + 0) RETURNING user_id AS "userId";

-- file: sql/shared-store.ts

-- name: keep-secret
INSERT INTO secret (name, value) VALUES (:name, :candidate) ON CONFLICT DO NOTHING;

-- name: read-secret
SELECT value FROM secret WHERE name = :name;

-- file: sql/sweeps.ts

-- name: any-replies-to-sweep
SELECT :now AS at, EXISTS (
    SELECT 1 FROM message INDEXED BY message_held WHERE held AND status IN ('in_progress', 'corroborating') AND available_at <= :now)
  OR EXISTS (
    SELECT 1 FROM message INDEXED BY message_deadline WHERE status IN ('in_progress', 'corroborating') AND deadline_at <= :now) AS found;

-- name: record-jump
UPDATE store_clock SET jump_at = :at WHERE jump_at < :seenByOthersFrom RETURNING jump_at;

-- name: move-times-of-replies
UPDATE message INDEXED BY message_deadline
  SET available_at = available_at + :jumpedMs, deadline_at = deadline_at + :jumpedMs
  WHERE status IN ('in_progress', 'corroborating') AND created_at < :datedBefore;

-- name: find-expired-replies
SELECT message.organization_id AS "organizationId", message.thread_id AS "threadId",
  message.id AS "messageId" FROM message INDEXED BY message_held WHERE held AND status IN ('in_progress', 'corroborating') AND available_at <= :until LIMIT :limit + 0;

-- name: find-overdue-replies
SELECT message.organization_id AS "organizationId", message.thread_id AS "threadId",
  message.id AS "messageId" FROM message INDEXED BY message_deadline WHERE status IN ('in_progress', 'corroborating') AND deadline_at <= :until LIMIT :limit + 0;

-- name: lock-expired-replies
SELECT message.organization_id AS "organizationId", message.thread_id AS "threadId",
  message.id AS "messageId" FROM json_each(:replies) AS entry CROSS JOIN thread CROSS JOIN message
  WHERE thread.organization_id = (entry.value ->> 'organizationId') AND thread.id = (entry.value ->> 'threadId')
    AND message.organization_id = thread.organization_id AND message.thread_id = thread.id
    AND message.id = (entry.value ->> 'messageId') AND CASE WHEN held AND status IN ('in_progress', 'corroborating') AND available_at <= :until THEN true END;

-- name: lock-overdue-replies
SELECT message.organization_id AS "organizationId", message.thread_id AS "threadId",
  message.id AS "messageId" FROM json_each(:replies) AS entry CROSS JOIN thread CROSS JOIN message
  WHERE thread.organization_id = (entry.value ->> 'organizationId') AND thread.id = (entry.value ->> 'threadId')
    AND message.organization_id = thread.organization_id AND message.thread_id = thread.id
    AND message.id = (entry.value ->> 'messageId') AND CASE WHEN status IN ('in_progress', 'corroborating') AND deadline_at <= :until THEN true END;

-- name: sweep-expired-replies
UPDATE message SET held = false, crashes = crashes + 1, available_at = CASE WHEN available_at > :now THEN :now ELSE available_at END, status = 'in_progress', content = '', steps = '[]'
  WHERE (organization_id, thread_id, id) IN (
    SELECT (entry.value ->> 'organizationId'), (entry.value ->> 'threadId'), (entry.value ->> 'messageId') FROM json_each(:replies) AS entry)
  RETURNING message.organization_id AS "organizationId", message.thread_id AS "threadId",
  message.id AS "messageId", trace_id AS "traceId", failure;

-- name: sweep-overdue-replies
UPDATE message SET held = false, status = 'failed', content = :content, failure = :failure, completed_at = max(:now, created_at)
  WHERE (organization_id, thread_id, id) IN (
    SELECT (entry.value ->> 'organizationId'), (entry.value ->> 'threadId'), (entry.value ->> 'messageId') FROM json_each(:replies) AS entry)
  RETURNING message.organization_id AS "organizationId", message.thread_id AS "threadId",
  message.id AS "messageId", trace_id AS "traceId", failure;

-- name: raise-versions
UPDATE thread SET version = max(thread.version + 1, :now)
  WHERE (organization_id, id) IN (
    SELECT (entry.value ->> 'organizationId'), (entry.value ->> 'threadId') FROM json_each(:replies) AS entry);

-- file: sql/thread-reads.ts

-- name: find-thread
SELECT thread.organization_id AS "organizationId",
  thread.id, thread.user_id AS "userId", thread.title,
  thread.account_id AS "accountId", thread.secondary_id AS "secondaryId",
  thread.created_at AS "createdAt", thread.updated_at AS "updatedAt", thread.published,
  thread.deleted_at AS "deletedAt" FROM thread WHERE thread.organization_id = :organizationId AND thread.id = :threadId;

-- name: get-any-thread
SELECT thread.organization_id AS "organizationId",
  thread.id, thread.user_id AS "userId", thread.title,
  thread.account_id AS "accountId", thread.secondary_id AS "secondaryId",
  thread.created_at AS "createdAt", thread.updated_at AS "updatedAt", thread.published,
  thread.deleted_at AS "deletedAt", version, message.id AS "messageId", iif(octet_length(content) > 1024, CAST(content AS BLOB), content) AS content,
  message.created_at AS "messageCreatedAt", status, completed_at AS "completedAt", steps, sources, model, replaces
  FROM thread AS thread CROSS JOIN message
  WHERE thread.organization_id = :organizationId AND thread.id = :threadId AND message.organization_id = thread.organization_id AND thread_id = thread.id AND true
  ORDER BY message.created_at, message.id;

-- name: get-readable-thread
SELECT thread.organization_id AS "organizationId",
  thread.id, thread.user_id AS "userId", thread.title,
  thread.account_id AS "accountId", thread.secondary_id AS "secondaryId",
  thread.created_at AS "createdAt", thread.updated_at AS "updatedAt", thread.published,
  thread.deleted_at AS "deletedAt", version, message.id AS "messageId", iif(octet_length(content) > 1024, CAST(content AS BLOB), content) AS content,
  message.created_at AS "messageCreatedAt", status, completed_at AS "completedAt", steps, sources, model, replaces
  FROM (SELECT * FROM thread
    WHERE organization_id = :organizationId AND id >= :threadId ORDER BY id LIMIT 1) AS thread CROSS JOIN message
  WHERE thread.organization_id = :organizationId AND thread.id = :threadId AND message.organization_id = thread.organization_id AND thread_id = thread.id AND CASE WHEN deleted_at IS NULL AND (published OR user_id = :userId) THEN true END AND (SELECT sum(octet_length(content) + coalesce(octet_length(steps), 0)
  + coalesce(octet_length(sources), 0) + coalesce(octet_length(verdict), 0)) FROM message AS sized
    WHERE sized.organization_id = thread.organization_id AND sized.thread_id = thread.id) <= :bytesMax
  ORDER BY message.created_at, message.id;

-- name: thread-version
SELECT version FROM (SELECT * FROM thread
  WHERE organization_id = :organizationId AND id >= :threadId ORDER BY id LIMIT 1) AS thread WHERE thread.organization_id = :organizationId AND thread.id = :threadId AND CASE WHEN deleted_at IS NULL AND (published OR user_id = :userId) THEN true END;

-- name: find-running-reply
SELECT (
    SELECT message.id FROM message INDEXED BY message_running
    WHERE message.organization_id = :organizationId AND thread_id = :threadId AND status IN ('in_progress', 'corroborating') LIMIT 1) AS running
  FROM (SELECT * FROM thread
    WHERE organization_id = :organizationId AND id >= :threadId ORDER BY id LIMIT 1) AS thread WHERE thread.organization_id = :organizationId AND thread.id = :threadId AND deleted_at IS NULL AND (published OR user_id = :userId);

-- name: get-thread-head
SELECT thread.organization_id AS "organizationId",
  thread.id, thread.user_id AS "userId", thread.title,
  thread.account_id AS "accountId", thread.secondary_id AS "secondaryId",
  thread.created_at AS "createdAt", thread.updated_at AS "updatedAt", thread.published,
  thread.deleted_at AS "deletedAt", version, message.id AS "messageId", iif(octet_length(content) > 1024, CAST(content AS BLOB), content) AS content,
  message.created_at AS "messageCreatedAt", status, completed_at AS "completedAt", steps, sources, model, replaces, trace_id AS "traceId", failure, verdict, (
    SELECT count(*) FROM message AS counted
    WHERE counted.organization_id = :organizationId AND counted.thread_id = :threadId) AS "messageCount"
  FROM thread JOIN message ON message.organization_id = :organizationId AND thread_id = :threadId
    AND message.id = (
      SELECT latest.id FROM message AS latest WHERE latest.organization_id = :organizationId
        AND latest.thread_id = :threadId AND latest.role = 'assistant'
      ORDER BY latest.created_at DESC, latest.id DESC LIMIT 1)
  WHERE thread.organization_id = :organizationId AND thread.id = :threadId;

-- name: list-messages
WITH part AS MATERIALIZED (
    SELECT id, created_at, octet_length(content) + coalesce(octet_length(steps), 0)
  + coalesce(octet_length(sources), 0) + coalesce(octet_length(verdict), 0) AS bytes FROM message
    WHERE organization_id = :organizationId AND thread_id = :threadId
    ORDER BY created_at, id LIMIT :limit OFFSET :skip
  ), sums AS MATERIALIZED (
    SELECT id AS part_id, sum(bytes) OVER (ORDER BY created_at, id) - bytes AS bytes_before FROM part
  )
  SELECT message.id AS "messageId", iif(octet_length(content) > 1024, CAST(content AS BLOB), content) AS content,
  message.created_at AS "messageCreatedAt", status, completed_at AS "completedAt", steps, sources, model, replaces, trace_id AS "traceId", failure, verdict FROM sums
    LEFT JOIN message ON organization_id = :organizationId AND thread_id = :threadId AND message.id = part_id
  WHERE bytes_before < :bytesMax ORDER BY message.created_at, message.id;

-- name: list-accounts
SELECT account_key AS "accountKey" FROM (
    SELECT * FROM (SELECT * FROM listing_size
    WHERE organization_id = :organizationId AND user_id = :userId AND account_key >= :prefix
    ORDER BY account_key LIMIT CAST(:limit AS bigint) + 1000) AS scanned WHERE threads > 0 UNION ALL SELECT * FROM (SELECT * FROM listing_size
    WHERE organization_id = :organizationId AND user_id = '' AND account_key >= :prefix
    ORDER BY account_key LIMIT CAST(:limit AS bigint) + 1000) AS scanned WHERE published > 0) AS account
  WHERE substr(account_key, 1, length(CAST(:prefix AS text))) = :prefix
  GROUP BY account_key ORDER BY account_key LIMIT :limit;

-- name: find-idempotency-key
SELECT body_hash AS "knownHash", thread_id AS "threadId", message_id AS "messageId", reply_id AS "replyId",
    created_at AS "createdAt"
  FROM idempotency_key
  WHERE organization_id = :organizationId AND user_id = :userId AND key = :key AND expires_at > :now;

-- file: sql/thread-search.ts

-- name: summarize-threads
SELECT thread.id, "user".email AS author, CASE
    WHEN EXISTS (SELECT 1 FROM message INDEXED BY message_running WHERE message.organization_id = :organizationId
      AND message.thread_id = thread.id AND status IN ('in_progress', 'corroborating')) THEN 'in_progress'
    WHEN thread_search.version = thread.version THEN thread_search.state
    WHEN (
      SELECT latest.status FROM message AS latest WHERE latest.organization_id = :organizationId
        AND latest.thread_id = thread.id AND latest.role = 'assistant'
      ORDER BY latest.created_at DESC, latest.id DESC LIMIT 1) = 'failed' THEN 'error' ELSE 'idle' END AS state,
    coalesce(thread_search.line, '') AS line
  FROM thread
  LEFT JOIN thread_search
    ON thread_search.organization_id = thread.organization_id AND thread_search.thread_id = thread.id
  LEFT JOIN member ON member.organization_id = thread.organization_id AND member.user_id = thread.user_id
  LEFT JOIN "user" ON "user".id = member.user_id
  WHERE thread.organization_id = :organizationId AND thread.id IN (
    SELECT entry.value ->> 'id' FROM json_each(:threads) AS entry);

-- file: sqlite/admissions.ts

-- name: find-endless-key
SELECT 1 FROM api_key WHERE hash = :hash AND revoked_at IS NULL;

-- name: add-to-quota
INSERT INTO quota_use (organization_id, day, used) VALUES (:organizationId, :day, :granted)
  ON CONFLICT DO UPDATE SET used = used + excluded.used;

-- file: sqlite/archive.ts

-- name: write passage_term
INSERT INTO passage_term (rowid, terms) VALUES (:number, :terms);

-- name: read api_key
SELECT "api_key"."hash" AS "hash", "api_key"."organization_id" AS "organization_id", "api_key"."id" AS "id", "api_key"."user_id" AS "user_id", "api_key"."name" AS "name", "api_key"."hint" AS "hint", "api_key"."created_by" AS "created_by", "api_key"."created_at" AS "created_at", "api_key"."revoked_at" AS "revoked_at" FROM "api_key"
  WHERE ("api_key"."hash") > (:hash) ORDER BY "api_key"."hash" LIMIT :limit;

-- name: read application
SELECT "application"."id" AS "id", "application"."organization_id" AS "organization_id", "application"."name" AS "name", "application"."secret_hash" AS "secret_hash", "application"."epoch" AS "epoch", "application"."created_at" AS "created_at", "application"."rotated_at" AS "rotated_at" FROM "application"
  WHERE ("application"."id") > (:id) ORDER BY "application"."id" LIMIT :limit;

-- name: read audit_event
SELECT "audit_event"."organization_id" AS "organization_id", "audit_event"."at" AS "at", "audit_event"."id" AS "id", "audit_event"."actor_kind" AS "actor_kind", "audit_event"."actor_user_id" AS "actor_user_id", "audit_event"."action" AS "action", "audit_event"."subject" AS "subject", "audit_event"."detail" AS "detail", "audit_event"."trace_id" AS "trace_id" FROM "audit_event"
  WHERE ("audit_event"."organization_id", "audit_event"."at", "audit_event"."id") > (:organization_id, :at, :id) ORDER BY "audit_event"."organization_id", "audit_event"."at", "audit_event"."id" LIMIT :limit;

-- name: read corpus
SELECT "corpus"."organization_id" AS "organization_id", "corpus"."account_key" AS "account_key", "corpus"."number" AS "number", "corpus"."passages" AS "passages", "corpus"."stamp" AS "stamp" FROM "corpus"
  WHERE ("corpus"."organization_id", "corpus"."account_key") > (:organization_id, :account_key) ORDER BY "corpus"."organization_id", "corpus"."account_key" LIMIT :limit;

-- name: read credential_use
SELECT "credential_use"."organization_id" AS "organization_id", "credential_use"."credential_id" AS "credential_id", "credential_use"."last_used_at" AS "last_used_at" FROM "credential_use"
  WHERE ("credential_use"."organization_id", "credential_use"."credential_id") > (:organization_id, :credential_id) ORDER BY "credential_use"."organization_id", "credential_use"."credential_id" LIMIT :limit;

-- name: read document
SELECT "document"."organization_id" AS "organization_id", "document"."id" AS "id", "document"."account_key" AS "account_key", "document"."name" AS "name", "document"."title" AS "title", "document"."url" AS "url", "document"."passages" AS "passages", "document"."added_at" AS "added_at", "document"."state" AS "state", "document"."kept_id" AS "kept_id", "document"."bytes" AS "bytes", "document"."questions" AS "questions" FROM "document"
  WHERE ("document"."organization_id", "document"."id") > (:organization_id, :id) ORDER BY "document"."organization_id", "document"."id" LIMIT :limit;

-- name: read idempotency_key
SELECT "idempotency_key"."organization_id" AS "organization_id", "idempotency_key"."user_id" AS "user_id", "idempotency_key"."key" AS "key", "idempotency_key"."body_hash" AS "body_hash", "idempotency_key"."thread_id" AS "thread_id", "idempotency_key"."message_id" AS "message_id", "idempotency_key"."reply_id" AS "reply_id", "idempotency_key"."created_at" AS "created_at", "idempotency_key"."expires_at" AS "expires_at" FROM "idempotency_key"
  WHERE ("idempotency_key"."organization_id", "idempotency_key"."user_id", "idempotency_key"."key") > (:organization_id, :user_id, :key) ORDER BY "idempotency_key"."organization_id", "idempotency_key"."user_id", "idempotency_key"."key" LIMIT :limit;

-- name: read identity
SELECT "identity"."issuer" AS "issuer", "identity"."subject" AS "subject", "identity"."user_id" AS "user_id" FROM "identity"
  WHERE ("identity"."issuer", "identity"."subject") > (:issuer, :subject) ORDER BY "identity"."issuer", "identity"."subject" LIMIT :limit;

-- name: read invitation
SELECT "invitation"."token_hash" AS "token_hash", "invitation"."organization_id" AS "organization_id", "invitation"."user_id" AS "user_id", "invitation"."resets" AS "resets", "invitation"."by_operator" AS "by_operator", "invitation"."requested" AS "requested", "invitation"."created_at" AS "created_at", "invitation"."expires_at" AS "expires_at", "invitation"."mail_state" AS "mail_state", "invitation"."sealed_link" AS "sealed_link", "invitation"."mail_due_at" AS "mail_due_at", "invitation"."mail_attempts" AS "mail_attempts" FROM "invitation"
  WHERE ("invitation"."token_hash") > (:token_hash) ORDER BY "invitation"."token_hash" LIMIT :limit;

-- name: read key_request
SELECT "key_request"."organization_id" AS "organization_id", "key_request"."id" AS "id", "key_request"."user_id" AS "user_id", "key_request"."name" AS "name", "key_request"."state" AS "state", "key_request"."requested_at" AS "requested_at", "key_request"."decided_by" AS "decided_by", "key_request"."expires_at" AS "expires_at" FROM "key_request"
  WHERE ("key_request"."organization_id", "key_request"."id") > (:organization_id, :id) ORDER BY "key_request"."organization_id", "key_request"."id" LIMIT :limit;

-- name: read listing_size
SELECT "listing_size"."organization_id" AS "organization_id", "listing_size"."user_id" AS "user_id", "listing_size"."account_key" AS "account_key", "listing_size"."threads" AS "threads", "listing_size"."published" AS "published" FROM "listing_size"
  WHERE ("listing_size"."organization_id", "listing_size"."user_id", "listing_size"."account_key") > (:organization_id, :user_id, :account_key) ORDER BY "listing_size"."organization_id", "listing_size"."user_id", "listing_size"."account_key" LIMIT :limit;

-- name: read member
SELECT "member"."organization_id" AS "organization_id", "member"."user_id" AS "user_id", "member"."role" AS "role", "member"."service" AS "service", "member"."joined_at" AS "joined_at", "member"."opened_at" AS "opened_at", "member"."password_id" AS "password_id" FROM "member"
  WHERE ("member"."organization_id", "member"."user_id") > (:organization_id, :user_id) ORDER BY "member"."organization_id", "member"."user_id" LIMIT :limit;

-- name: read message
SELECT "message"."organization_id" AS "organization_id", "message"."thread_id" AS "thread_id", "message"."id" AS "id", "message"."role" AS "role", "message"."content" AS "content", "message"."created_at" AS "created_at", "message"."status" AS "status", "message"."completed_at" AS "completed_at", "message"."steps" AS "steps", "message"."sources" AS "sources", "message"."model" AS "model", "message"."available_at" AS "available_at", "message"."claim_token" AS "claim_token", "message"."attempts" AS "attempts", "message"."deadline_at" AS "deadline_at", "message"."trace_id" AS "trace_id", "message"."failure" AS "failure", "message"."held" AS "held", "message"."crashes" AS "crashes", "message"."verdict" AS "verdict", "message"."replaces" AS "replaces", "message"."unanswered_at" AS "unanswered_at" FROM "message"
  WHERE ("message"."organization_id", "message"."thread_id", "message"."id") > (:organization_id, :thread_id, :id) ORDER BY "message"."organization_id", "message"."thread_id", "message"."id" LIMIT :limit;

-- name: read organization
SELECT "organization"."id" AS "id", "organization"."name" AS "name", "organization"."api_enabled" AS "api_enabled", "organization"."daily_quota" AS "daily_quota", "organization"."created_at" AS "created_at", (SELECT latest_at FROM store_clock) AS "latest_at", max(0, coalesce((SELECT max(sequence) FROM thread), 0)) AS "thread_sequence", (SELECT move_sequence FROM store_clock) AS "move_sequence" FROM "organization"
  WHERE ("organization"."id") > (:id) ORDER BY "organization"."id" LIMIT :limit;

-- name: read passage
SELECT "passage"."organization_id" AS "organization_id", "passage"."document_id" AS "document_id", "passage"."number" AS "number", "passage"."heading" AS "heading", "passage"."text" AS "text", document.name, document.title, corpus.number AS corpus FROM "passage" LEFT JOIN document ON document.organization_id = passage.organization_id AND document.id = document_id
  LEFT JOIN corpus ON corpus.organization_id = document.organization_id AND corpus.account_key = document.account_key
  WHERE ("passage"."organization_id", "passage"."document_id", "passage"."number") > (:organization_id, :document_id, :number) ORDER BY "passage"."organization_id", "passage"."document_id", "passage"."number" LIMIT :limit;

-- name: read password
SELECT "password"."id" AS "id", "password"."user_id" AS "user_id", "password"."hash" AS "hash", "password"."proven" AS "proven" FROM "password"
  WHERE ("password"."id") > (:id) ORDER BY "password"."id" LIMIT :limit;

-- name: read prompt_use
SELECT "prompt_use"."organization_id" AS "organization_id", "prompt_use"."period" AS "period", "prompt_use"."user_id" AS "user_id", "prompt_use"."started_at" AS "started_at", "prompt_use"."prompts" AS "prompts" FROM "prompt_use"
  WHERE ("prompt_use"."organization_id", "prompt_use"."period", "prompt_use"."user_id") > (:organization_id, :period, :user_id) ORDER BY "prompt_use"."organization_id", "prompt_use"."period", "prompt_use"."user_id" LIMIT :limit;

-- name: read quota_use
SELECT "quota_use"."organization_id" AS "organization_id", "quota_use"."day" AS "day", "quota_use"."used" AS "used" FROM "quota_use"
  WHERE ("quota_use"."organization_id", "quota_use"."day") > (:organization_id, :day) ORDER BY "quota_use"."organization_id", "quota_use"."day" LIMIT :limit;

-- name: read rating
SELECT "rating"."organization_id" AS "organization_id", "rating"."thread_id" AS "thread_id", "rating"."message_id" AS "message_id", "rating"."user_id" AS "user_id", "rating"."value" AS "value", "rating"."comment" AS "comment", "rating"."rated_at" AS "rated_at" FROM "rating"
  WHERE ("rating"."organization_id", "rating"."thread_id", "rating"."message_id", "rating"."user_id") > (:organization_id, :thread_id, :message_id, :user_id) ORDER BY "rating"."organization_id", "rating"."thread_id", "rating"."message_id", "rating"."user_id" LIMIT :limit;

-- name: read request_block
SELECT "request_block"."organization_id" AS "organization_id", "request_block"."at" AS "at", "request_block"."id" AS "id", "request_block"."first_at" AS "first_at", "request_block"."entries" AS "entries", "request_block"."requests" AS "requests" FROM "request_block"
  WHERE ("request_block"."organization_id", "request_block"."at", "request_block"."id") > (:organization_id, :at, :id) ORDER BY "request_block"."organization_id", "request_block"."at", "request_block"."id" LIMIT :limit;

-- name: read secret
SELECT "secret"."name" AS "name", "secret"."value" AS "value" FROM "secret"
  WHERE ("secret"."name") > (:name) ORDER BY "secret"."name" LIMIT :limit;

-- name: read session
SELECT "session"."token_hash" AS "token_hash", "session"."user_id" AS "user_id", "session"."password_id" AS "password_id", "session"."seen_at" AS "seen_at", "session"."expires_at" AS "expires_at", "session"."ends_at" AS "ends_at" FROM "session"
  WHERE ("session"."token_hash") > (:token_hash) ORDER BY "session"."token_hash" LIMIT :limit;

-- name: read signing_key
SELECT "signing_key"."id" AS "id", "signing_key"."private_jwk" AS "private_jwk", "signing_key"."created_at" AS "created_at", "signing_key"."retired_at" AS "retired_at" FROM "signing_key"
  WHERE ("signing_key"."id") > (:id) ORDER BY "signing_key"."id" LIMIT :limit;

-- name: read store_clock
SELECT "store_clock"."only_row" AS "only_row", "store_clock"."latest_at" AS "latest_at", "store_clock"."jump_at" AS "jump_at", "store_clock"."move_sequence" AS "move_sequence" FROM "store_clock"
  WHERE ("store_clock"."only_row") > (:only_row) ORDER BY "store_clock"."only_row" LIMIT :limit;

-- name: read thread
SELECT "thread"."organization_id" AS "organization_id", "thread"."id" AS "id", "thread"."sequence" AS "sequence", "thread"."user_id" AS "user_id", "thread"."title" AS "title", "thread"."account_id" AS "account_id", "thread"."secondary_id" AS "secondary_id", "thread"."created_at" AS "created_at", "thread"."updated_at" AS "updated_at", "thread"."activity_at" AS "activity_at", "thread"."published" AS "published", "thread"."deleted_at" AS "deleted_at", "thread"."version" AS "version" FROM "thread"
  WHERE ("thread"."organization_id", "thread"."id") > (:organization_id, :id) ORDER BY "thread"."organization_id", "thread"."id" LIMIT :limit;

-- name: read thread_move
SELECT "thread_move"."organization_id" AS "organization_id", "thread_move"."sequence" AS "sequence", "thread_move"."thread_id" AS "thread_id", "thread_move"."left_activity_at" AS "left_activity_at", "thread_move"."moved_at" AS "moved_at" FROM "thread_move"
  WHERE ("thread_move"."organization_id", "thread_move"."sequence") > (:organization_id, :sequence) ORDER BY "thread_move"."organization_id", "thread_move"."sequence" LIMIT :limit;

-- name: read traffic
SELECT "traffic"."organization_id" AS "organization_id", "traffic"."unit" AS "unit", "traffic"."period" AS "period", "traffic"."operation" AS "operation", "traffic"."outcome" AS "outcome", "traffic"."bucket" AS "bucket", "traffic"."requests" AS "requests" FROM "traffic"
  WHERE ("traffic"."organization_id", "traffic"."unit", "traffic"."period", "traffic"."operation", "traffic"."outcome", "traffic"."bucket") > (:organization_id, :unit, :period, :operation, :outcome, :bucket) ORDER BY "traffic"."organization_id", "traffic"."unit", "traffic"."period", "traffic"."operation", "traffic"."outcome", "traffic"."bucket" LIMIT :limit;

-- name: read usage_day
SELECT "usage_day"."organization_id" AS "organization_id", "usage_day"."day" AS "day", "usage_day"."credential_id" AS "credential_id", "usage_day"."operation" AS "operation", "usage_day"."outcome" AS "outcome", "usage_day"."requests" AS "requests" FROM "usage_day"
  WHERE ("usage_day"."organization_id", "usage_day"."day", "usage_day"."credential_id", "usage_day"."operation", "usage_day"."outcome") > (:organization_id, :day, :credential_id, :operation, :outcome) ORDER BY "usage_day"."organization_id", "usage_day"."day", "usage_day"."credential_id", "usage_day"."operation", "usage_day"."outcome" LIMIT :limit;

-- name: read user
SELECT "user"."id" AS "id", "user"."email" AS "email" FROM "user"
  WHERE ("user"."id") > (:id) ORDER BY "user"."id" LIMIT :limit;

-- name: count api_key
SELECT count(*) FROM "api_key";

-- name: count application
SELECT count(*) FROM "application";

-- name: count audit_event
SELECT count(*) FROM "audit_event";

-- name: count corpus
SELECT count(*) FROM "corpus";

-- name: count credential_use
SELECT count(*) FROM "credential_use";

-- name: count document
SELECT count(*) FROM "document";

-- name: count idempotency_key
SELECT count(*) FROM "idempotency_key";

-- name: count identity
SELECT count(*) FROM "identity";

-- name: count invitation
SELECT count(*) FROM "invitation";

-- name: count key_request
SELECT count(*) FROM "key_request";

-- name: count listing_size
SELECT count(*) FROM "listing_size";

-- name: count member
SELECT count(*) FROM "member";

-- name: count message
SELECT count(*) FROM "message";

-- name: count organization
SELECT count(*) FROM "organization";

-- name: count passage
SELECT count(*) FROM "passage";

-- name: count password
SELECT count(*) FROM "password";

-- name: count prompt_use
SELECT count(*) FROM "prompt_use";

-- name: count quota_use
SELECT count(*) FROM "quota_use";

-- name: count rating
SELECT count(*) FROM "rating";

-- name: count request_block
SELECT count(*) FROM "request_block";

-- name: count secret
SELECT count(*) FROM "secret";

-- name: count session
SELECT count(*) FROM "session";

-- name: count signing_key
SELECT count(*) FROM "signing_key";

-- name: count store_clock
SELECT count(*) FROM "store_clock";

-- name: count thread
SELECT count(*) FROM "thread";

-- name: count thread_move
SELECT count(*) FROM "thread_move";

-- name: count traffic
SELECT count(*) FROM "traffic";

-- name: count usage_day
SELECT count(*) FROM "usage_day";

-- name: count user
SELECT count(*) FROM "user";

-- name: write api_key
INSERT INTO "api_key"
  ("hash", "organization_id", "id", "user_id", "name", "hint", "created_by", "created_at", "revoked_at") VALUES (:hash, :organization_id, :id, :user_id, :name, :hint, :created_by, :created_at, :revoked_at);

-- name: write application
INSERT INTO "application"
  ("id", "organization_id", "name", "secret_hash", "epoch", "created_at", "rotated_at") VALUES (:id, :organization_id, :name, :secret_hash, :epoch, :created_at, :rotated_at);

-- name: write audit_event
INSERT INTO "audit_event"
  ("organization_id", "at", "id", "actor_kind", "actor_user_id", "action", "subject", "detail", "trace_id") VALUES (:organization_id, :at, :id, :actor_kind, :actor_user_id, :action, :subject, :detail, :trace_id);

-- name: write corpus
INSERT INTO "corpus"
  ("organization_id", "account_key", "number", "passages", "stamp") VALUES (:organization_id, :account_key, :number, :passages, :stamp);

-- name: write credential_use
INSERT INTO "credential_use"
  ("organization_id", "credential_id", "last_used_at") VALUES (:organization_id, :credential_id, :last_used_at);

-- name: write document
INSERT INTO "document"
  ("organization_id", "id", "account_key", "name", "title", "url", "passages", "added_at", "state", "kept_id", "bytes", "questions") VALUES (:organization_id, :id, :account_key, :name, :title, :url, :passages, :added_at, :state, :kept_id, :bytes, :questions);

-- name: write idempotency_key
INSERT INTO "idempotency_key"
  ("organization_id", "user_id", "key", "body_hash", "thread_id", "message_id", "reply_id", "created_at", "expires_at") VALUES (:organization_id, :user_id, :key, :body_hash, :thread_id, :message_id, :reply_id, :created_at, :expires_at);

-- name: write identity
INSERT INTO "identity"
  ("issuer", "subject", "user_id") VALUES (:issuer, :subject, :user_id);

-- name: write invitation
INSERT INTO "invitation"
  ("token_hash", "organization_id", "user_id", "resets", "by_operator", "requested", "created_at", "expires_at", "mail_state", "sealed_link", "mail_due_at", "mail_attempts") VALUES (:token_hash, :organization_id, :user_id, :resets, :by_operator, :requested, :created_at, :expires_at, :mail_state, :sealed_link, :mail_due_at, :mail_attempts);

-- name: write key_request
INSERT INTO "key_request"
  ("organization_id", "id", "user_id", "name", "state", "requested_at", "decided_by", "expires_at") VALUES (:organization_id, :id, :user_id, :name, :state, :requested_at, :decided_by, :expires_at);

-- name: write listing_size
INSERT INTO "listing_size"
  ("organization_id", "user_id", "account_key", "threads", "published") VALUES (:organization_id, :user_id, :account_key, :threads, :published);

-- name: write member
INSERT INTO "member"
  ("organization_id", "user_id", "role", "service", "joined_at", "opened_at", "password_id") VALUES (:organization_id, :user_id, :role, :service, :joined_at, :opened_at, :password_id);

-- name: write message
INSERT INTO "message"
  ("organization_id", "thread_id", "id", "role", "content", "created_at", "status", "completed_at", "steps", "sources", "model", "available_at", "claim_token", "attempts", "deadline_at", "trace_id", "failure", "held", "crashes", "verdict", "replaces", "unanswered_at") VALUES (:organization_id, :thread_id, :id, :role, :content, :created_at, :status, :completed_at, :steps, :sources, :model, :available_at, :claim_token, :attempts, :deadline_at, :trace_id, :failure, :held, :crashes, :verdict, :replaces, :unanswered_at);

-- name: write organization
INSERT INTO "organization"
  ("id", "name", "api_enabled", "daily_quota", "created_at") VALUES (:id, :name, :api_enabled, :daily_quota, :created_at);

-- name: write passage
INSERT INTO "passage"
  ("organization_id", "document_id", "number", "heading", "text") VALUES (:organization_id, :document_id, :number, :heading, :text);

-- name: write password
INSERT INTO "password"
  ("id", "user_id", "hash", "proven") VALUES (:id, :user_id, :hash, :proven);

-- name: write prompt_use
INSERT INTO "prompt_use"
  ("organization_id", "period", "user_id", "started_at", "prompts") VALUES (:organization_id, :period, :user_id, :started_at, :prompts);

-- name: write quota_use
INSERT INTO "quota_use"
  ("organization_id", "day", "used") VALUES (:organization_id, :day, :used);

-- name: write rating
INSERT INTO "rating"
  ("organization_id", "thread_id", "message_id", "user_id", "value", "comment", "rated_at") VALUES (:organization_id, :thread_id, :message_id, :user_id, :value, :comment, :rated_at);

-- name: write request_block
INSERT INTO "request_block"
  ("organization_id", "at", "id", "first_at", "entries", "requests") VALUES (:organization_id, :at, :id, :first_at, :entries, :requests);

-- name: write secret
INSERT INTO "secret"
  ("name", "value") VALUES (:name, :value);

-- name: write session
INSERT INTO "session"
  ("token_hash", "user_id", "password_id", "seen_at", "expires_at", "ends_at") VALUES (:token_hash, :user_id, :password_id, :seen_at, :expires_at, :ends_at);

-- name: write signing_key
INSERT INTO "signing_key"
  ("id", "private_jwk", "created_at", "retired_at") VALUES (:id, :private_jwk, :created_at, :retired_at);

-- name: write store_clock
INSERT INTO "store_clock"
  ("only_row", "latest_at", "jump_at", "move_sequence") VALUES (:only_row, :latest_at, :jump_at, :move_sequence);

-- name: write thread
INSERT INTO "thread"
  ("organization_id", "id", "sequence", "user_id", "title", "account_id", "secondary_id", "created_at", "updated_at", "activity_at", "published", "deleted_at", "version") VALUES (:organization_id, :id, :sequence, :user_id, :title, :account_id, :secondary_id, :created_at, :updated_at, :activity_at, :published, :deleted_at, :version);

-- name: write thread_move
INSERT INTO "thread_move"
  ("organization_id", "sequence", "thread_id", "left_activity_at", "moved_at") VALUES (:organization_id, :sequence, :thread_id, :left_activity_at, :moved_at);

-- name: write traffic
INSERT INTO "traffic"
  ("organization_id", "unit", "period", "operation", "outcome", "bucket", "requests") VALUES (:organization_id, :unit, :period, :operation, :outcome, :bucket, :requests);

-- name: write usage_day
INSERT INTO "usage_day"
  ("organization_id", "day", "credential_id", "operation", "outcome", "requests") VALUES (:organization_id, :day, :credential_id, :operation, :outcome, :requests);

-- name: write user
INSERT INTO "user"
  ("id", "email") VALUES (:id, :email);

-- file: sqlite/documents.ts

-- name: find-holders
SELECT rowid FROM passage_term WHERE passage_term MATCH :anyCorpus LIMIT :limit + 0;

-- name: list-hidden-passages
SELECT number FROM passage WHERE organization_id = :organizationId AND document_id IN (
  SELECT id FROM document WHERE organization_id = :organizationId AND state <> 'ready');

-- name: lock-documents
SELECT id FROM organization WHERE id = :organizationId;

-- name: touch-document
UPDATE document SET added_at = :now WHERE organization_id = :organizationId AND id = :id AND state = 'writing'
  RETURNING id;

-- name: insert-passage
INSERT INTO passage (organization_id, document_id, heading, text) VALUES (:organizationId, :id, :heading, :text);

-- name: insert-terms
INSERT INTO passage_term (rowid, terms) VALUES (last_insert_rowid(), :terms);

-- file: sqlite/open.ts

-- name: count-running-replies
SELECT count(*) FROM message WHERE status IN ('in_progress', 'corroborating');

-- name: count-suspects
SELECT count(*) FROM message WHERE crashes >= 2 AND status IN ('in_progress', 'corroborating');

-- file: sqlite/replies.ts

-- name: due-replies-suspects
SELECT reply.organization_id AS "organizationId", thread_id AS "threadId", reply.id AS "messageId",
    claim_token + 1 AS token, attempts, deadline_at - :now AS "remainingMs", trace_id AS "traceId",
    account_id AS "accountId"
  FROM message AS reply INDEXED BY message_suspect
  JOIN thread ON thread.organization_id = reply.organization_id AND thread.id = reply.thread_id
  WHERE NOT held AND crashes >= 2 AND status IN ('in_progress', 'corroborating') AND reply.organization_id = :organizationId AND available_at <= :now AND deadline_at > :now
  ORDER BY available_at, reply.id LIMIT :limit + 0;

-- name: due-replies-usual
SELECT reply.organization_id AS "organizationId", thread_id AS "threadId", reply.id AS "messageId",
    claim_token + 1 AS token, attempts, deadline_at - :now AS "remainingMs", trace_id AS "traceId",
    account_id AS "accountId"
  FROM message AS reply INDEXED BY message_waiting
  JOIN thread ON thread.organization_id = reply.organization_id AND thread.id = reply.thread_id
  WHERE NOT held AND crashes < 2 AND status IN ('in_progress', 'corroborating') AND reply.organization_id = :organizationId AND available_at <= :now AND deadline_at > :now
  ORDER BY available_at, reply.id LIMIT :limit + 0;

-- name: claim-reply
UPDATE message SET held = 1, claim_token = :token, available_at = :now + :leaseMs WHERE organization_id = :organizationId AND thread_id = :threadId AND id = :messageId;

-- name: renew-reply
UPDATE message SET available_at = :now + :leaseMs WHERE organization_id = :organizationId AND thread_id = :threadId AND id = :messageId AND claim_token = :token AND held AND status IN ('in_progress', 'corroborating') RETURNING id;

-- name: record-reply-progress
UPDATE message SET status = :status, content = :content, steps = :steps WHERE organization_id = :organizationId AND thread_id = :threadId AND id = :messageId AND claim_token = :token AND held AND status IN ('in_progress', 'corroborating') RETURNING id;

-- name: settle-reply
UPDATE message SET held = false, status = :status, content = :content, steps = :steps, sources = :sources, model = :model, failure = :failure, verdict = :verdict,
  completed_at = max(:now, created_at),
  unanswered_at = CASE WHEN :unanswered THEN max(:now, created_at) END WHERE organization_id = :organizationId AND thread_id = :threadId AND id = :messageId AND claim_token = :token AND held AND status IN ('in_progress', 'corroborating') RETURNING id;

-- name: release-reply
UPDATE message SET held = false, attempts = attempts + :attemptsUsed, crashes = crashes + :crashesCounted,
  available_at = :now + :delayMs, failure = :failure,
  status = 'in_progress', content = '', steps = '[]' WHERE organization_id = :organizationId AND thread_id = :threadId AND id = :messageId AND claim_token = :token AND held AND status IN ('in_progress', 'corroborating') RETURNING id;

-- file: sqlite/store-time.ts

-- name: read-latest-time
SELECT latest_at FROM store_clock;

-- name: keep-latest-time
UPDATE store_clock SET latest_at = :latestAt;

-- file: sqlite/thread-changes.ts

-- name: raise-version
UPDATE thread SET version = max(thread.version + 1, :now) WHERE thread.organization_id = :organizationId AND thread.id = :threadId;

-- name: adjust-listing-size
INSERT INTO listing_size (organization_id, user_id, account_key, threads, published)
  VALUES (:organizationId, :user, :account, :threads, :published)
  ON CONFLICT (organization_id, user_id, account_key) DO UPDATE
  SET threads = listing_size.threads + excluded.threads, published = listing_size.published + excluded.published;

-- name: insert-move
INSERT INTO thread_move (organization_id, sequence, thread_id, left_activity_at, moved_at)
  VALUES (:organizationId, :move, :threadId, :leftActivityAt, :at);

-- name: insert-prompt
INSERT INTO message (organization_id, thread_id, id, role, content, created_at, replaces)
  VALUES (:organizationId, :threadId, :messageId, 'user', :content, :at, :replaces);

-- name: insert-reply
INSERT INTO message (organization_id, thread_id, id, role, content, created_at, status, steps,
    held, claim_token, available_at, attempts, crashes, deadline_at, trace_id)
  VALUES (:organizationId, :threadId, :replyId, 'assistant', '', :at, 'in_progress', '[]',
    :held, :token, :availableAt, 0, :crashes, :deadlineAt, :traceId);

-- name: cancel-replies
UPDATE message INDEXED BY message_running
  SET held = false, status = 'cancelled', completed_at = max(:now, created_at)
  WHERE organization_id = :organizationId AND thread_id = :threadId AND status IN ('in_progress', 'corroborating') RETURNING id;

-- name: tick
UPDATE store_clock SET move_sequence = move_sequence + :moves RETURNING :later AS at, move_sequence AS move;

-- name: restore-thread
UPDATE thread SET deleted_at = NULL, version = max(thread.version + 1, :now)
  WHERE thread.organization_id = :organizationId AND thread.id = :threadId AND user_id = :userId AND deleted_at >= :now - :withinMs RETURNING thread.organization_id AS "organizationId",
  thread.id, thread.user_id AS "userId", thread.title,
  thread.account_id AS "accountId", thread.secondary_id AS "secondaryId",
  thread.created_at AS "createdAt", thread.updated_at AS "updatedAt", thread.published,
  thread.deleted_at AS "deletedAt";

-- name: publish-thread
UPDATE thread SET published = :published, version = max(thread.version + 1, :now)
  WHERE thread.organization_id = :organizationId AND thread.id = :threadId AND deleted_at IS NULL AND published <> :published RETURNING thread.organization_id AS "organizationId",
  thread.id, thread.user_id AS "userId", thread.title,
  thread.account_id AS "accountId", thread.secondary_id AS "secondaryId",
  thread.created_at AS "createdAt", thread.updated_at AS "updatedAt", thread.published,
  thread.deleted_at AS "deletedAt";

-- name: find-latest-reply
SELECT id, created_at AS "createdAt", status, CASE status WHEN 'completed' THEN 0 ELSE crashes END AS crashes FROM message WHERE organization_id = :organizationId AND thread_id = :threadId AND role = 'assistant'
  ORDER BY created_at DESC, id DESC LIMIT 1;

-- name: find-last-prompt
SELECT (
  SELECT latest.id FROM message AS latest WHERE latest.organization_id = :organizationId
    AND latest.thread_id = :threadId AND latest.role = 'user'
  ORDER BY latest.created_at DESC, latest.id DESC LIMIT 1) AS id;

-- name: read-thread-size
SELECT CASE WHEN count(*) > CAST(:messagesRoom AS bigint) THEN 'messages'
    WHEN sum(octet_length(content) + coalesce(octet_length(steps), 0)
  + coalesce(octet_length(sources), 0) + coalesce(octet_length(verdict), 0)) > CAST(:bytesRoom AS bigint) THEN 'bytes' END AS exceeded FROM message WHERE organization_id = :organizationId AND thread_id = :threadId;

-- name: supersede-reply
UPDATE message SET unanswered_at = NULL WHERE organization_id = :organizationId AND thread_id = :threadId AND id = :id AND unanswered_at IS NOT NULL;

-- name: touch-thread
UPDATE thread SET updated_at = :at, activity_at = :at, version = max(thread.version + 1, :now) WHERE thread.organization_id = :organizationId AND thread.id = :threadId;

-- file: sqlite/thread-search.ts

-- name: search-threads
SELECT thread.organization_id AS "organizationId",
  thread.id, thread.user_id AS "userId", thread.title,
  thread.account_id AS "accountId", thread.secondary_id AS "secondaryId",
  thread.created_at AS "createdAt", thread.updated_at AS "updatedAt", thread.published,
  thread.deleted_at AS "deletedAt", thread_term.rowid FROM thread_term
  CROSS JOIN thread_search ON thread_search.number = thread_term.rowid
  CROSS JOIN thread ON thread.organization_id = thread_search.organization_id AND thread.id = thread_search.thread_id
  WHERE thread_term MATCH :match AND thread_term.rowid < :before AND thread_term.rowid >= :since AND thread.organization_id = :organizationId AND thread.deleted_at IS NULL
  AND (thread.user_id = :userId AND :scope <> 'published' OR thread.published AND :scope <> 'mine')
  AND (thread.account_id = :accountId OR :accountId IS NULL)
  ORDER BY thread_term.rowid DESC LIMIT :limit;

-- name: list-unindexed
SELECT organization_id AS "organizationId", thread_id AS "threadId", stamp FROM search_due
  WHERE organization_id > :after ORDER BY organization_id, thread_id LIMIT :limit + 0;

-- name: remove-indexed
DELETE FROM search_due WHERE organization_id = :organizationId AND thread_id = :threadId AND stamp = :stamp;

-- name: find-in-index
SELECT number, version FROM thread_search WHERE organization_id = :organizationId AND thread_id = :threadId;

-- name: find-last-number
SELECT max(number) AS last FROM thread_search WHERE number >= :first AND number < :end;

-- name: remove-from-index
DELETE FROM thread_search WHERE number = :number;

-- name: index-thread
INSERT INTO thread_search (number, organization_id, thread_id, version, state, line)
  SELECT :number, organization_id, id, :version, :state, :line FROM thread WHERE thread.organization_id = :organizationId AND thread.id = :threadId RETURNING number;

-- name: index-terms
INSERT INTO thread_term (rowid, terms) VALUES (:number, :terms);

-- name: merge-passage-terms
INSERT INTO passage_term (passage_term, rank) VALUES ('merge', :pages);

-- name: merge-thread-terms
INSERT INTO thread_term (thread_term, rank) VALUES ('merge', :pages);

-- name: count-changes
SELECT total_changes();

-- file: sqlite/threads.ts

-- name: insert-thread
INSERT INTO thread (organization_id, id, user_id, title, account_id, secondary_id, created_at, activity_at, published,
    version)
  VALUES (:organizationId, :id, :userId, :title, :accountId, :secondaryId, :now, :now, 0, :now)
  RETURNING created_at AS at;

-- name: insert-idempotency-key
INSERT OR REPLACE INTO idempotency_key
    (organization_id, user_id, key, body_hash, thread_id, message_id, reply_id, created_at, expires_at)
  VALUES (:organizationId, :userId, :key, :bodyHash, :id, :messageId, :replyId, :now, :now + :keepMs);

-- name: rename-thread
UPDATE thread SET title = :title, updated_at = :at, activity_at = :at, version = max(thread.version + 1, :now) WHERE thread.organization_id = :organizationId AND thread.id = :threadId
  RETURNING thread.organization_id AS "organizationId",
  thread.id, thread.user_id AS "userId", thread.title,
  thread.account_id AS "accountId", thread.secondary_id AS "secondaryId",
  thread.created_at AS "createdAt", thread.updated_at AS "updatedAt", thread.published,
  thread.deleted_at AS "deletedAt";

-- name: delete-thread
UPDATE thread SET deleted_at = :now, version = max(thread.version + 1, :now) WHERE thread.organization_id = :organizationId AND thread.id = :threadId;

-- file: sqlite/walks.ts

-- name: firstPage mine
SELECT thread.organization_id AS "organizationId",
  thread.id, thread.user_id AS "userId", thread.title,
  thread.account_id AS "accountId", thread.secondary_id AS "secondaryId",
  thread.created_at AS "createdAt", thread.updated_at AS "updatedAt", thread.published,
  thread.deleted_at AS "deletedAt", thread.activity_at,
        (SELECT max(sequence) FROM thread), (SELECT move_sequence FROM store_clock),
        coalesce((SELECT threads FROM listing_size
    WHERE organization_id = :organizationId AND user_id = :userId AND account_key = :accountKey), 0) FROM (SELECT activity_at, id, sequence FROM thread
      WHERE organization_id = :organizationId AND deleted_at IS NULL AND thread.user_id = :userId ORDER BY activity_at DESC, id DESC, sequence DESC LIMIT :count + 0) AS page
    CROSS JOIN thread ON thread.sequence = page.sequence;

-- name: firstPage mineAccount
SELECT thread.organization_id AS "organizationId",
  thread.id, thread.user_id AS "userId", thread.title,
  thread.account_id AS "accountId", thread.secondary_id AS "secondaryId",
  thread.created_at AS "createdAt", thread.updated_at AS "updatedAt", thread.published,
  thread.deleted_at AS "deletedAt", thread.activity_at,
        (SELECT max(sequence) FROM thread), (SELECT move_sequence FROM store_clock),
        coalesce((SELECT threads FROM listing_size
    WHERE organization_id = :organizationId AND user_id = :userId AND account_key = :accountKey), 0) FROM (SELECT activity_at, id, sequence FROM thread
      WHERE organization_id = :organizationId AND deleted_at IS NULL AND thread.user_id = :userId AND thread.account_id = :accountId ORDER BY activity_at DESC, id DESC, sequence DESC LIMIT :count + 0) AS page
    CROSS JOIN thread ON thread.sequence = page.sequence;

-- name: firstPage own
SELECT thread.organization_id AS "organizationId",
  thread.id, thread.user_id AS "userId", thread.title,
  thread.account_id AS "accountId", thread.secondary_id AS "secondaryId",
  thread.created_at AS "createdAt", thread.updated_at AS "updatedAt", thread.published,
  thread.deleted_at AS "deletedAt", thread.activity_at,
        (SELECT max(sequence) FROM thread), (SELECT move_sequence FROM store_clock),
        coalesce((SELECT published FROM listing_size
    WHERE organization_id = :organizationId AND user_id = '' AND account_key = :accountKey), 0) + coalesce((SELECT threads - published FROM listing_size
    WHERE organization_id = :organizationId AND user_id = :userId AND account_key = :accountKey), 0) FROM (SELECT activity_at, id, sequence FROM thread
      WHERE organization_id = :organizationId AND deleted_at IS NULL AND thread.user_id = :userId UNION SELECT activity_at, id, sequence FROM thread
      WHERE organization_id = :organizationId AND deleted_at IS NULL AND published = 1 ORDER BY activity_at DESC, id DESC, sequence DESC LIMIT :count + 0) AS page
    CROSS JOIN thread ON thread.sequence = page.sequence;

-- name: firstPage ownAccount
SELECT thread.organization_id AS "organizationId",
  thread.id, thread.user_id AS "userId", thread.title,
  thread.account_id AS "accountId", thread.secondary_id AS "secondaryId",
  thread.created_at AS "createdAt", thread.updated_at AS "updatedAt", thread.published,
  thread.deleted_at AS "deletedAt", thread.activity_at,
        (SELECT max(sequence) FROM thread), (SELECT move_sequence FROM store_clock),
        coalesce((SELECT published FROM listing_size
    WHERE organization_id = :organizationId AND user_id = '' AND account_key = :accountKey), 0) + coalesce((SELECT threads - published FROM listing_size
    WHERE organization_id = :organizationId AND user_id = :userId AND account_key = :accountKey), 0) FROM (SELECT activity_at, id, sequence FROM thread
      WHERE organization_id = :organizationId AND deleted_at IS NULL AND thread.user_id = :userId AND thread.account_id = :accountId UNION SELECT activity_at, id, sequence FROM thread
      WHERE organization_id = :organizationId AND deleted_at IS NULL AND published = 1 AND thread.account_id = :accountId ORDER BY activity_at DESC, id DESC, sequence DESC LIMIT :count + 0) AS page
    CROSS JOIN thread ON thread.sequence = page.sequence;

-- name: firstPage published
SELECT thread.organization_id AS "organizationId",
  thread.id, thread.user_id AS "userId", thread.title,
  thread.account_id AS "accountId", thread.secondary_id AS "secondaryId",
  thread.created_at AS "createdAt", thread.updated_at AS "updatedAt", thread.published,
  thread.deleted_at AS "deletedAt", thread.activity_at,
        (SELECT max(sequence) FROM thread), (SELECT move_sequence FROM store_clock),
        coalesce((SELECT published FROM listing_size
    WHERE organization_id = :organizationId AND user_id = '' AND account_key = :accountKey), 0) FROM (SELECT activity_at, id, sequence FROM thread
      WHERE organization_id = :organizationId AND deleted_at IS NULL AND published = 1 ORDER BY activity_at DESC, id DESC, sequence DESC LIMIT :count + 0) AS page
    CROSS JOIN thread ON thread.sequence = page.sequence;

-- name: firstPage publishedAccount
SELECT thread.organization_id AS "organizationId",
  thread.id, thread.user_id AS "userId", thread.title,
  thread.account_id AS "accountId", thread.secondary_id AS "secondaryId",
  thread.created_at AS "createdAt", thread.updated_at AS "updatedAt", thread.published,
  thread.deleted_at AS "deletedAt", thread.activity_at,
        (SELECT max(sequence) FROM thread), (SELECT move_sequence FROM store_clock),
        coalesce((SELECT published FROM listing_size
    WHERE organization_id = :organizationId AND user_id = '' AND account_key = :accountKey), 0) FROM (SELECT activity_at, id, sequence FROM thread
      WHERE organization_id = :organizationId AND deleted_at IS NULL AND published = 1 AND thread.account_id = :accountId ORDER BY activity_at DESC, id DESC, sequence DESC LIMIT :count + 0) AS page
    CROSS JOIN thread ON thread.sequence = page.sequence;

-- name: laterPage mine
SELECT thread.organization_id AS "organizationId",
  thread.id, thread.user_id AS "userId", thread.title,
  thread.account_id AS "accountId", thread.secondary_id AS "secondaryId",
  thread.created_at AS "createdAt", thread.updated_at AS "updatedAt", thread.published,
  thread.deleted_at AS "deletedAt", thread.activity_at
      FROM (SELECT activity_at, id, sequence FROM thread
      WHERE organization_id = :organizationId AND deleted_at IS NULL AND thread.user_id = :userId AND (activity_at, id) < (:afterActivityAt, :afterId) AND sequence <= :lastSequence ORDER BY activity_at DESC, id DESC, sequence DESC LIMIT :count + 0) AS page
    CROSS JOIN thread ON thread.sequence = page.sequence;

-- name: laterPage mineAccount
SELECT thread.organization_id AS "organizationId",
  thread.id, thread.user_id AS "userId", thread.title,
  thread.account_id AS "accountId", thread.secondary_id AS "secondaryId",
  thread.created_at AS "createdAt", thread.updated_at AS "updatedAt", thread.published,
  thread.deleted_at AS "deletedAt", thread.activity_at
      FROM (SELECT activity_at, id, sequence FROM thread
      WHERE organization_id = :organizationId AND deleted_at IS NULL AND thread.user_id = :userId AND thread.account_id = :accountId AND (activity_at, id) < (:afterActivityAt, :afterId) AND sequence <= :lastSequence ORDER BY activity_at DESC, id DESC, sequence DESC LIMIT :count + 0) AS page
    CROSS JOIN thread ON thread.sequence = page.sequence;

-- name: laterPage own
SELECT thread.organization_id AS "organizationId",
  thread.id, thread.user_id AS "userId", thread.title,
  thread.account_id AS "accountId", thread.secondary_id AS "secondaryId",
  thread.created_at AS "createdAt", thread.updated_at AS "updatedAt", thread.published,
  thread.deleted_at AS "deletedAt", thread.activity_at
      FROM (SELECT activity_at, id, sequence FROM thread
      WHERE organization_id = :organizationId AND deleted_at IS NULL AND thread.user_id = :userId AND (activity_at, id) < (:afterActivityAt, :afterId) AND sequence <= :lastSequence UNION SELECT activity_at, id, sequence FROM thread
      WHERE organization_id = :organizationId AND deleted_at IS NULL AND published = 1 AND (activity_at, id) < (:afterActivityAt, :afterId) AND sequence <= :lastSequence ORDER BY activity_at DESC, id DESC, sequence DESC LIMIT :count + 0) AS page
    CROSS JOIN thread ON thread.sequence = page.sequence;

-- name: laterPage ownAccount
SELECT thread.organization_id AS "organizationId",
  thread.id, thread.user_id AS "userId", thread.title,
  thread.account_id AS "accountId", thread.secondary_id AS "secondaryId",
  thread.created_at AS "createdAt", thread.updated_at AS "updatedAt", thread.published,
  thread.deleted_at AS "deletedAt", thread.activity_at
      FROM (SELECT activity_at, id, sequence FROM thread
      WHERE organization_id = :organizationId AND deleted_at IS NULL AND thread.user_id = :userId AND thread.account_id = :accountId AND (activity_at, id) < (:afterActivityAt, :afterId) AND sequence <= :lastSequence UNION SELECT activity_at, id, sequence FROM thread
      WHERE organization_id = :organizationId AND deleted_at IS NULL AND published = 1 AND thread.account_id = :accountId AND (activity_at, id) < (:afterActivityAt, :afterId) AND sequence <= :lastSequence ORDER BY activity_at DESC, id DESC, sequence DESC LIMIT :count + 0) AS page
    CROSS JOIN thread ON thread.sequence = page.sequence;

-- name: laterPage published
SELECT thread.organization_id AS "organizationId",
  thread.id, thread.user_id AS "userId", thread.title,
  thread.account_id AS "accountId", thread.secondary_id AS "secondaryId",
  thread.created_at AS "createdAt", thread.updated_at AS "updatedAt", thread.published,
  thread.deleted_at AS "deletedAt", thread.activity_at
      FROM (SELECT activity_at, id, sequence FROM thread
      WHERE organization_id = :organizationId AND deleted_at IS NULL AND published = 1 AND (activity_at, id) < (:afterActivityAt, :afterId) AND sequence <= :lastSequence ORDER BY activity_at DESC, id DESC, sequence DESC LIMIT :count + 0) AS page
    CROSS JOIN thread ON thread.sequence = page.sequence;

-- name: laterPage publishedAccount
SELECT thread.organization_id AS "organizationId",
  thread.id, thread.user_id AS "userId", thread.title,
  thread.account_id AS "accountId", thread.secondary_id AS "secondaryId",
  thread.created_at AS "createdAt", thread.updated_at AS "updatedAt", thread.published,
  thread.deleted_at AS "deletedAt", thread.activity_at
      FROM (SELECT activity_at, id, sequence FROM thread
      WHERE organization_id = :organizationId AND deleted_at IS NULL AND published = 1 AND thread.account_id = :accountId AND (activity_at, id) < (:afterActivityAt, :afterId) AND sequence <= :lastSequence ORDER BY activity_at DESC, id DESC, sequence DESC LIMIT :count + 0) AS page
    CROSS JOIN thread ON thread.sequence = page.sequence;

-- name: moves mine
SELECT thread.organization_id AS "organizationId",
  thread.id, thread.user_id AS "userId", thread.title,
  thread.account_id AS "accountId", thread.secondary_id AS "secondaryId",
  thread.created_at AS "createdAt", thread.updated_at AS "updatedAt", thread.published,
  thread.deleted_at AS "deletedAt", left_activity_at
      FROM thread_move INDEXED BY thread_move_position CROSS JOIN thread
    ON thread.organization_id = thread_move.organization_id AND thread.id = thread_id
      WHERE thread_move.organization_id = :organizationId AND thread_move.sequence > :lastMove
        AND (left_activity_at, thread_id) < (:afterActivityAt, :afterId) AND (left_activity_at, thread_id) >= (:lowestActivityAt, :lowestId)
        AND (thread.user_id = :userId) AND deleted_at IS NULL AND thread.sequence <= :lastSequence
      ORDER BY left_activity_at DESC, thread_id DESC LIMIT :count + 0;

-- name: moves mineAccount
SELECT thread.organization_id AS "organizationId",
  thread.id, thread.user_id AS "userId", thread.title,
  thread.account_id AS "accountId", thread.secondary_id AS "secondaryId",
  thread.created_at AS "createdAt", thread.updated_at AS "updatedAt", thread.published,
  thread.deleted_at AS "deletedAt", left_activity_at
      FROM thread_move INDEXED BY thread_move_position CROSS JOIN thread
    ON thread.organization_id = thread_move.organization_id AND thread.id = thread_id
      WHERE thread_move.organization_id = :organizationId AND thread_move.sequence > :lastMove
        AND (left_activity_at, thread_id) < (:afterActivityAt, :afterId) AND (left_activity_at, thread_id) >= (:lowestActivityAt, :lowestId)
        AND (thread.user_id = :userId AND thread.account_id = :accountId) AND deleted_at IS NULL AND thread.sequence <= :lastSequence
      ORDER BY left_activity_at DESC, thread_id DESC LIMIT :count + 0;

-- name: moves own
SELECT thread.organization_id AS "organizationId",
  thread.id, thread.user_id AS "userId", thread.title,
  thread.account_id AS "accountId", thread.secondary_id AS "secondaryId",
  thread.created_at AS "createdAt", thread.updated_at AS "updatedAt", thread.published,
  thread.deleted_at AS "deletedAt", left_activity_at
      FROM thread_move INDEXED BY thread_move_position CROSS JOIN thread
    ON thread.organization_id = thread_move.organization_id AND thread.id = thread_id
      WHERE thread_move.organization_id = :organizationId AND thread_move.sequence > :lastMove
        AND (left_activity_at, thread_id) < (:afterActivityAt, :afterId) AND (left_activity_at, thread_id) >= (:lowestActivityAt, :lowestId)
        AND (thread.user_id = :userId OR published = 1) AND deleted_at IS NULL AND thread.sequence <= :lastSequence
      ORDER BY left_activity_at DESC, thread_id DESC LIMIT :count + 0;

-- name: moves ownAccount
SELECT thread.organization_id AS "organizationId",
  thread.id, thread.user_id AS "userId", thread.title,
  thread.account_id AS "accountId", thread.secondary_id AS "secondaryId",
  thread.created_at AS "createdAt", thread.updated_at AS "updatedAt", thread.published,
  thread.deleted_at AS "deletedAt", left_activity_at
      FROM thread_move INDEXED BY thread_move_position CROSS JOIN thread
    ON thread.organization_id = thread_move.organization_id AND thread.id = thread_id
      WHERE thread_move.organization_id = :organizationId AND thread_move.sequence > :lastMove
        AND (left_activity_at, thread_id) < (:afterActivityAt, :afterId) AND (left_activity_at, thread_id) >= (:lowestActivityAt, :lowestId)
        AND (thread.user_id = :userId AND thread.account_id = :accountId OR published = 1 AND thread.account_id = :accountId) AND deleted_at IS NULL AND thread.sequence <= :lastSequence
      ORDER BY left_activity_at DESC, thread_id DESC LIMIT :count + 0;

-- name: moves published
SELECT thread.organization_id AS "organizationId",
  thread.id, thread.user_id AS "userId", thread.title,
  thread.account_id AS "accountId", thread.secondary_id AS "secondaryId",
  thread.created_at AS "createdAt", thread.updated_at AS "updatedAt", thread.published,
  thread.deleted_at AS "deletedAt", left_activity_at
      FROM thread_move INDEXED BY thread_move_position CROSS JOIN thread
    ON thread.organization_id = thread_move.organization_id AND thread.id = thread_id
      WHERE thread_move.organization_id = :organizationId AND thread_move.sequence > :lastMove
        AND (left_activity_at, thread_id) < (:afterActivityAt, :afterId) AND (left_activity_at, thread_id) >= (:lowestActivityAt, :lowestId)
        AND (published = 1) AND deleted_at IS NULL AND thread.sequence <= :lastSequence
      ORDER BY left_activity_at DESC, thread_id DESC LIMIT :count + 0;

-- name: moves publishedAccount
SELECT thread.organization_id AS "organizationId",
  thread.id, thread.user_id AS "userId", thread.title,
  thread.account_id AS "accountId", thread.secondary_id AS "secondaryId",
  thread.created_at AS "createdAt", thread.updated_at AS "updatedAt", thread.published,
  thread.deleted_at AS "deletedAt", left_activity_at
      FROM thread_move INDEXED BY thread_move_position CROSS JOIN thread
    ON thread.organization_id = thread_move.organization_id AND thread.id = thread_id
      WHERE thread_move.organization_id = :organizationId AND thread_move.sequence > :lastMove
        AND (left_activity_at, thread_id) < (:afterActivityAt, :afterId) AND (left_activity_at, thread_id) >= (:lowestActivityAt, :lowestId)
        AND (published = 1 AND thread.account_id = :accountId) AND deleted_at IS NULL AND thread.sequence <= :lastSequence
      ORDER BY left_activity_at DESC, thread_id DESC LIMIT :count + 0;
