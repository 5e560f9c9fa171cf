import type { Application } from '../../domain/credential.ts';
import type { ApplicationId, OrganizationId } from '../../domain/id.ts';
import type { Applications } from '../store.ts';
import { auditWriter } from './audit.ts';
import type { CommitQueue } from './commit-queue.ts';
import type { Database } from './database.ts';

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
  api_enabled: number;
}

export function sqliteApplications(database: Database, commits: CommitQueue): Applications {
  const writeNote = auditWriter(database);
  const apiEnabled = database
    .prepare<[string], number>('SELECT api_enabled FROM organization WHERE id = ?')
    .pluck();
  const insert = database.prepare<[string, string, string, string, number]>(
    `INSERT INTO application (id, organization_id, name, secret_hash, epoch, created_at) VALUES (?, ?, ?, ?, 1, ?)`,
  );
  const rotate = database.prepare<[string, number, string, string]>(
    `UPDATE application SET secret_hash = ?, epoch = epoch + 1, rotated_at = ?
     WHERE organization_id = ? AND id = ? AND deleted_at IS NULL`,
  );
  const remove = database.prepare<[number, string, string]>(
    `UPDATE application SET epoch = epoch + 1, deleted_at = ?
     WHERE organization_id = ? AND id = ? AND deleted_at IS NULL`,
  );
  const selectApplications = `SELECT id, name, created_at, rotated_at, last_used_at
     FROM application LEFT JOIN credential_use
       ON credential_use.organization_id = application.organization_id AND credential_id = id
     WHERE application.organization_id = ? AND deleted_at IS NULL`;
  const list = database.prepare<[string], ApplicationRow>(`${selectApplications} ORDER BY created_at, id`);
  const find = database.prepare<[string, string], ApplicationRow>(`${selectApplications} AND id = ?`);
  const grant = database.prepare<[string], ApplicationGrantRow>(
    `SELECT organization_id, secret_hash, epoch, api_enabled
     FROM application JOIN organization ON organization.id = organization_id
     WHERE application.id = ? AND deleted_at IS NULL`,
  );

  return {
    createApplication: (organizationId, { id, name, secretHash }, note) =>
      commits.durable((clock) => {
        const enabled = apiEnabled.get(organizationId);
        if (enabled === undefined) return 'organization-missing';
        if (enabled === 0) return 'api-disabled';
        insert.run(id, organizationId, name, secretHash, clock.now());
        writeNote(organizationId, note, clock.now());
        return 'created';
      }),

    rotateApplication: (organizationId, applicationId, secretHash, note) =>
      commits.durable((clock) => {
        if (apiEnabled.get(organizationId) === 0) return 'api-disabled';
        const { changes } = rotate.run(secretHash, clock.now(), organizationId, applicationId);
        if (changes === 0) return 'missing';
        writeNote(organizationId, note, clock.now());
        return 'rotated';
      }),

    deleteApplication: (organizationId, applicationId, note) =>
      commits.durable((clock) => {
        const { changes } = remove.run(clock.now(), organizationId, applicationId);
        if (changes === 0) return 'missing';
        writeNote(organizationId, note, clock.now());
        return 'deleted';
      }),

    listApplications: async (organizationId) => list.all(organizationId).map(toApplication),

    async findApplication(organizationId, applicationId) {
      const row = find.get(organizationId, applicationId);
      return row && toApplication(row);
    },

    async findApplicationGrant(applicationId) {
      const row = grant.get(applicationId);
      return (
        row && {
          organizationId: row.organization_id,
          secretHash: row.secret_hash,
          epoch: row.epoch,
          apiEnabled: row.api_enabled === 1,
        }
      );
    },
  };
}

function toApplication({ id, name, created_at, rotated_at, last_used_at }: ApplicationRow): Application {
  return { id, name, createdAt: created_at, rotatedAt: rotated_at, lastUsedAt: last_used_at };
}
