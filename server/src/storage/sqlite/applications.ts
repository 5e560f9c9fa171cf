import type { Application } from '../../domain/credential.ts';
import type { ApplicationGrant, Applications } from '../store.ts';
import { prepareApiEnabled } from './api-keys.ts';
import { auditWriter } from './audit.ts';
import type { CommitQueue } from './commit-queue.ts';
import { type Database, type Stored, withFlags } from './database.ts';

export function sqliteApplications(database: Database, commits: CommitQueue): Applications {
  const writeNote = auditWriter(database);
  const apiEnabled = prepareApiEnabled(database);
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
  const selectApplications = `SELECT id, name, created_at AS createdAt, rotated_at AS rotatedAt, last_used_at AS lastUsedAt
     FROM application LEFT JOIN credential_use
       ON credential_use.organization_id = application.organization_id AND credential_id = id
     WHERE application.organization_id = ? AND deleted_at IS NULL`;
  const list = database.prepare<[string], Application>(`${selectApplications} ORDER BY created_at, id`);
  const find = database.prepare<[string, string], Application>(`${selectApplications} AND id = ?`);
  const grant = database.prepare<[string], Stored<ApplicationGrant>>(
    `SELECT organization_id AS organizationId, secret_hash AS secretHash, epoch, api_enabled AS apiEnabled
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

    listApplications: async (organizationId) => list.all(organizationId),

    findApplication: async (organizationId, applicationId) => find.get(organizationId, applicationId),

    async findApplicationGrant(applicationId) {
      const row = grant.get(applicationId);
      return row && withFlags<ApplicationGrant>(row, 'apiEnabled');
    },
  };
}
