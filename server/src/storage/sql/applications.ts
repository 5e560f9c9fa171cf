import { randomInt } from 'node:crypto';
import type { Application } from '../../domain/credential.ts';
import type { OrganizationId } from '../../domain/id.ts';
import { defaultLimits } from '../../domain/limits.ts';
import type { ApplicationGrant, Applications, SigningKey, SigningKeys } from '../port/store.ts';
import { writeNote, writeNotes } from './audit.ts';
import { authorized, authorizedInTurn } from './authority.ts';
import { sql, statement } from './sql.ts';
import { count, method, row, rows, run, type Transactions, type Work } from './work.ts';

const insert = statement('insert-application')`
  INSERT INTO application (id, organization_id, name, secret_hash, epoch, created_at)
  VALUES (:id, :organizationId, :name, :secretHash, 1, :now)`;
const rotate = statement('rotate-application')`
  UPDATE application SET secret_hash = :secretHash, epoch = epoch + 1, rotated_at = :now
  WHERE organization_id = :organizationId AND id = :applicationId RETURNING id`;
const remove = statement('delete-application')`DELETE FROM application
  WHERE organization_id = :organizationId AND id = :applicationId RETURNING id`;
const removeUse = statement('remove-use-of-application')`
  DELETE FROM credential_use WHERE organization_id = :organizationId AND credential_id = :applicationId`;
const list = statement('list-applications')`
  SELECT id, name, created_at AS "createdAt", rotated_at AS "rotatedAt", last_used_at AS "lastUsedAt"
  FROM application LEFT JOIN credential_use
    ON credential_use.organization_id = application.organization_id AND credential_id = id
  WHERE application.organization_id = :organizationId ORDER BY created_at, id`;
const findGrant = statement('find-application-grant', { booleans: ['apiEnabled'] })`
  SELECT organization_id AS "organizationId", secret_hash AS "secretHash", epoch, api_enabled AS "apiEnabled"
  FROM application JOIN organization ON organization.id = organization_id
  WHERE application.id = :applicationId`;

export const findApplicationGrant = (applicationId: string): Work<ApplicationGrant | undefined> =>
  row<ApplicationGrant>(findGrant, { applicationId });

export const applications = ({ read, write }: Transactions): Applications => ({
  createApplication: authorizedInTurn(write, function* (organization, organizationId, application, note) {
    if (organization === undefined) return 'organization-missing';
    if (!organization.apiEnabled) return 'api-disabled';
    const existing = yield* count(list, { organizationId });
    if (existing >= defaultLimits.organizationApplicationsMax) return 'too-many';
    yield* run(insert, { ...application, organizationId });
    yield* writeNote(organizationId, note);
    return 'created';
  }),

  rotateApplication: authorizedInTurn(
    write,
    function* (organization, organizationId, applicationId, secretHash, note) {
      if (organization?.apiEnabled === false) return 'api-disabled';
      if ((yield* count(rotate, { organizationId, applicationId, secretHash })) === 0) return 'missing';
      yield* writeNote(organizationId, note);
      return 'rotated';
    },
  ),

  deleteApplication: authorized(write, function* (organizationId, applicationId, note) {
    if ((yield* count(remove, { organizationId, applicationId })) === 0) return 'missing';
    yield* run(removeUse, { organizationId, applicationId });
    yield* writeNote(organizationId, note);
    return 'deleted';
  }),

  listApplications: (organizationId) => read(() => rows<Application>(list, { organizationId })),

  findApplicationGrant: (applicationId) => read(() => findApplicationGrant(applicationId)),
});

const keyColumns = sql`id, private_jwk AS "privateJwk", retired_at AS "retiredAt"`;
const findActive = statement('find-active-signing-key')`
  SELECT ${keyColumns} FROM signing_key WHERE retired_at IS NULL`;
// Any row that both kinds of change lock will do: one waits for the other, and then sees the key that it made active.
const lockKeys = statement('lock-signing-keys')`SELECT latest_at FROM store_clock FOR UPDATE`;
const insertKey = statement('insert-signing-key')`
  INSERT INTO signing_key (id, private_jwk, created_at) VALUES (:id, :privateJwk, :now)`;
const retire = statement('retire-signing-key')`
  UPDATE signing_key SET retired_at = :now WHERE retired_at IS NULL`;
const removeRetired = statement('remove-retired-signing-keys')`
  DELETE FROM signing_key WHERE retired_at IS NOT NULL`;
const listIds = statement('list-application-ids')`SELECT id FROM application ORDER BY id FOR UPDATE`;
const raiseEpoch = statement('raise-epoch')`
  UPDATE application SET epoch = epoch + CAST(:by AS bigint) WHERE id = :id`;
const listHolders = statement('list-organizations-with-applications')`
  SELECT DISTINCT organization_id AS "organizationId" FROM application ORDER BY 1`;
const listKeys = statement('list-signing-keys')`SELECT ${keyColumns} FROM signing_key
  WHERE retired_at IS NULL OR retired_at > :now - CAST(:verifyMs AS bigint) ORDER BY created_at DESC, id DESC`;

export const signingKeys = ({ read, write }: Transactions): SigningKeys => ({
  keepSigningKey: method(write, function* (candidate) {
    yield* run(lockKeys);
    if ((yield* count(findActive)) === 0) yield* run(insertKey, { ...candidate });
    return (yield* row<SigningKey>(findActive))!;
  }),

  rotateSigningKey: method(write, function* (next, forget, note) {
    yield* run(lockKeys);
    yield* run(retire);
    if (forget) {
      yield* run(removeRetired);
      // Random, so that the holder of the old key cannot have signed a token for the next epoch in advance.
      for (const { id } of yield* rows<{ id: string }>(listIds))
        yield* run(raiseEpoch, { id, by: randomInt(1, 2 ** 44) });
    }
    yield* run(insertKey, { ...next });
    yield* writeNotes(yield* rows<{ organizationId: OrganizationId }>(listHolders), note);
  }),

  listSigningKeys: (verifyMs) => read(() => rows<SigningKey>(listKeys, { verifyMs })),
});
