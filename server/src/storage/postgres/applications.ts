import type { Application } from '../../domain/credential.ts';
import type { ApplicationId, OrganizationId } from '../../domain/id.ts';
import type { Applications } from '../store.ts';
import { auditText, auditValues } from './audit.ts';
import type { Database } from './database.ts';
import { now } from './store-time.ts';

interface ApplicationRow {
  id: ApplicationId;
  name: string;
  created_at: number;
  rotated_at: number | null;
  last_used_at: number | null;
}

interface ApplicationGrantRow {
  organization_id: OrganizationId;
  secret_hash: string;
  epoch: number;
  api_enabled: boolean;
}

const insert = {
  name: 'insert-application',
  text: `WITH issuer AS (SELECT id FROM organization WHERE id = $4 AND api_enabled FOR SHARE
    ), made AS (
      INSERT INTO application (id, organization_id, name, secret_hash, epoch, created_at)
      SELECT $3, issuer.id, $5, $6, 1, ${now} FROM issuer RETURNING id, created_at
    ), noted AS (${auditText('made', '$4', 'created_at', 7)})
    SELECT id FROM made`,
};
const apiEnabled = { name: 'is-api-enabled', text: 'SELECT api_enabled FROM organization WHERE id = $1' };
const rotate = {
  name: 'rotate-application',
  text: `WITH issuer AS (SELECT id FROM organization WHERE id = $4 AND api_enabled FOR SHARE
    ), rotated AS (
      UPDATE application SET secret_hash = $3, epoch = epoch + 1, rotated_at = ${now} FROM issuer
      WHERE organization_id = issuer.id AND application.id = $5 AND deleted_at IS NULL
      RETURNING application.id, rotated_at
    ), noted AS (${auditText('rotated', '$4', 'rotated_at', 6)})
    SELECT id FROM rotated`,
};
const remove = {
  name: 'delete-application',
  text: `WITH gone AS (
      UPDATE application SET epoch = epoch + 1, deleted_at = ${now}
      WHERE organization_id = $3 AND id = $4 AND deleted_at IS NULL RETURNING id, deleted_at
    ), noted AS (${auditText('gone', '$3', 'deleted_at', 5)})
    SELECT id FROM gone`,
};
const selectApplications = `SELECT id, name, created_at, rotated_at, last_used_at
    FROM application LEFT JOIN credential_use
      ON credential_use.organization_id = application.organization_id AND credential_id = id
    WHERE application.organization_id = $1 AND deleted_at IS NULL`;
const list = { name: 'list-applications', text: `${selectApplications} ORDER BY created_at, id` };
const find = { name: 'find-application', text: `${selectApplications} AND id = $2` };
const grant = {
  name: 'find-application-grant',
  text: `SELECT organization_id, secret_hash, epoch, api_enabled
    FROM application JOIN organization ON organization.id = organization_id
    WHERE application.id = $1 AND deleted_at IS NULL`,
};

export function postgresApplications({ run, time }: Database): Applications {
  async function isApiEnabled(organizationId: OrganizationId): Promise<boolean | undefined> {
    const [row] = await run<{ api_enabled: boolean }>(apiEnabled, [organizationId]);
    return row?.api_enabled;
  }

  return {
    async createApplication(organizationId, { id, name, secretHash }, note) {
      const values = [id, organizationId, name, secretHash, ...auditValues(note)];
      const [made] = await run(insert, [...time.parameters(), ...values]);
      if (made !== undefined) return 'created';
      return (await isApiEnabled(organizationId)) === undefined ? 'organization-missing' : 'api-disabled';
    },

    async rotateApplication(organizationId, applicationId, secretHash, note) {
      const values = [secretHash, organizationId, applicationId, ...auditValues(note)];
      const [rotated] = await run(rotate, [...time.parameters(), ...values]);
      if (rotated !== undefined) return 'rotated';
      return (await isApiEnabled(organizationId)) === false ? 'api-disabled' : 'missing';
    },

    async deleteApplication(organizationId, applicationId, note) {
      const values = [organizationId, applicationId, ...auditValues(note)];
      const deleted = await run(remove, [...time.parameters(), ...values]);
      return deleted.length === 1 ? 'deleted' : 'missing';
    },

    listApplications: async (organizationId) =>
      (await run<ApplicationRow>(list, [organizationId])).map(toApplication),

    async findApplication(organizationId, applicationId) {
      const [row] = await run<ApplicationRow>(find, [organizationId, applicationId]);
      return row && toApplication(row);
    },

    async findApplicationGrant(applicationId) {
      const [row] = await run<ApplicationGrantRow>(grant, [applicationId]);
      return (
        row && {
          organizationId: row.organization_id,
          secretHash: row.secret_hash,
          epoch: row.epoch,
          apiEnabled: row.api_enabled,
        }
      );
    },
  };
}

function toApplication({ id, name, created_at, rotated_at, last_used_at }: ApplicationRow): Application {
  return { id, name, createdAt: created_at, rotatedAt: rotated_at, lastUsedAt: last_used_at };
}
