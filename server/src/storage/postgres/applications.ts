import type { Application } from '../../domain/credential.ts';
import type { ApplicationGrant, Applications } from '../store.ts';
import { isApiEnabled } from './api-keys.ts';
import { insertNote, noteValues } from './audit.ts';
import type { Database } from './database.ts';
import { sql, statement } from './sql.ts';
import { now } from './store-time.ts';

const issuer = sql`issuer AS (SELECT id FROM organization WHERE id = :organizationId AND api_enabled FOR SHARE)`;

const insert = statement('insert-application')`WITH ${issuer}, made AS (
    INSERT INTO application (id, organization_id, name, secret_hash, epoch, created_at)
    SELECT :applicationId, issuer.id, :name, :secretHash, 1, ${now} FROM issuer RETURNING id, created_at
  ), noted AS (${insertNote(sql`made`, sql`:organizationId`, sql`created_at`)})
  SELECT id FROM made`;
const rotate = statement('rotate-application')`WITH ${issuer}, rotated AS (
    UPDATE application SET secret_hash = :secretHash, epoch = epoch + 1, rotated_at = ${now} FROM issuer
    WHERE organization_id = issuer.id AND application.id = :applicationId AND deleted_at IS NULL
    RETURNING application.id, rotated_at
  ), noted AS (${insertNote(sql`rotated`, sql`:organizationId`, sql`rotated_at`)})
  SELECT id FROM rotated`;
const remove = statement('delete-application')`WITH deleted AS (
    UPDATE application SET epoch = epoch + 1, deleted_at = ${now}
    WHERE organization_id = :organizationId AND id = :applicationId AND deleted_at IS NULL RETURNING id, deleted_at
  ), noted AS (${insertNote(sql`deleted`, sql`:organizationId`, sql`deleted_at`)})
  SELECT id FROM deleted`;
const selectApplications = sql`
  SELECT id, name, created_at AS "createdAt", rotated_at AS "rotatedAt", last_used_at AS "lastUsedAt"
  FROM application LEFT JOIN credential_use
    ON credential_use.organization_id = application.organization_id AND credential_id = id
  WHERE application.organization_id = :organizationId AND deleted_at IS NULL`;
const list = statement('list-applications')`${selectApplications} ORDER BY created_at, id`;
const find = statement('find-application')`${selectApplications} AND id = :applicationId`;
const findGrant = statement('find-application-grant')`
  SELECT organization_id AS "organizationId", secret_hash AS "secretHash", epoch, api_enabled AS "apiEnabled"
  FROM application JOIN organization ON organization.id = organization_id
  WHERE application.id = :applicationId AND deleted_at IS NULL`;

export function postgresApplications({ run }: Database): Applications {
  return {
    async createApplication(organizationId, { id: applicationId, name, secretHash }, note) {
      const values = { organizationId, applicationId, name, secretHash, ...noteValues(note) };
      if ((await run(insert, values)).length === 1) return 'created';
      return (await isApiEnabled(run, organizationId)) === undefined
        ? 'organization-missing'
        : 'api-disabled';
    },

    async rotateApplication(organizationId, applicationId, secretHash, note) {
      const values = { organizationId, applicationId, secretHash, ...noteValues(note) };
      if ((await run(rotate, values)).length === 1) return 'rotated';
      return (await isApiEnabled(run, organizationId)) === false ? 'api-disabled' : 'missing';
    },

    async deleteApplication(organizationId, applicationId, note) {
      const deleted = await run(remove, { organizationId, applicationId, ...noteValues(note) });
      return deleted.length === 1 ? 'deleted' : 'missing';
    },

    listApplications: (organizationId) => run<Application>(list, { organizationId }),

    findApplication: async (organizationId, applicationId) =>
      (await run<Application>(find, { organizationId, applicationId }))[0],

    findApplicationGrant: async (applicationId) =>
      (await run<ApplicationGrant>(findGrant, { applicationId }))[0],
  };
}
