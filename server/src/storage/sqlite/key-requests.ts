import type { KeyRequest } from '../../domain/credential.ts';
import type { UserId } from '../../domain/id.ts';
import type { KeyRequests } from '../store.ts';
import { prepareApiEnabled, prepareInsertKey } from './api-keys.ts';
import { auditWriter } from './audit.ts';
import type { CommitQueue } from './commit-queue.ts';
import type { Database } from './database.ts';

export function sqliteKeyRequests(database: Database, commits: CommitQueue): KeyRequests {
  const audit = auditWriter(database);
  const apiEnabled = prepareApiEnabled(database);
  const insertKey = prepareInsertKey(database);
  const isMember = database.prepare<[string, string]>(
    'SELECT 1 FROM member WHERE organization_id = ? AND user_id = ? AND service = 0',
  );
  const forgetExpired = database.prepare<[string, string, number]>(
    'DELETE FROM key_request WHERE organization_id = ? AND user_id = ? AND expires_at <= ?',
  );
  const waiting = database
    .prepare<[string, string], number>(
      `SELECT count(*) FROM key_request WHERE organization_id = ? AND user_id = ? AND state <> 'declined'`,
    )
    .pluck();
  const insert = database.prepare<[string, string, string, string, number, number]>(
    `INSERT INTO key_request (organization_id, id, user_id, name, state, requested_at, expires_at)
     VALUES (?, ?, ?, ?, 'pending', ?, ?)`,
  );
  const all = database.prepare<[string, number], KeyRequest>(
    `SELECT id, user_id AS userId, name, state, requested_at AS requestedAt, expires_at AS expiresAt
     FROM key_request WHERE organization_id = ? AND expires_at > ? ORDER BY id`,
  );
  const decide = database.prepare<[string, string, number, string, string, number]>(
    `UPDATE key_request SET state = ?, decided_by = ?, expires_at = ?
     WHERE organization_id = ? AND id = ? AND state = 'pending' AND expires_at > ?`,
  );
  const use = database.prepare<[string, string, string, number], { name: string; decidedBy: UserId | null }>(
    `DELETE FROM key_request
     WHERE organization_id = ? AND id = ? AND user_id = ? AND state = 'approved' AND expires_at > ?
     RETURNING name, decided_by AS decidedBy`,
  );

  return {
    createKeyRequest: (organizationId, { id, userId, name, keepMs, waitingMax }, note) =>
      commits.durable((clock) => {
        const now = clock.now();
        if (isMember.get(organizationId, userId) === undefined) return 'not-a-member';
        if (apiEnabled.get(organizationId) === 0) return 'api-disabled';
        forgetExpired.run(organizationId, userId, now);
        if (waiting.get(organizationId, userId)! >= waitingMax) return 'too-many';
        insert.run(organizationId, id, userId, name, now, now + keepMs);
        audit(organizationId, note, now);
        return 'created';
      }),

    listKeyRequests: async (organizationId) => all.all(organizationId, commits.now()),

    decideKeyRequest: (organizationId, id, { state, by, keepMs }, note) =>
      commits.durable((clock) => {
        const now = clock.now();
        if (decide.run(state, by, now + keepMs, organizationId, id, now).changes === 0) return 'missing';
        audit(organizationId, note, now);
        return 'decided';
      }),

    redeemKeyRequest: (organizationId, id, userId, secret, note) =>
      commits.durable((clock) => {
        const now = clock.now();
        if (apiEnabled.get(organizationId) === 0) return 'api-disabled';
        const request = use.get(organizationId, id, userId, now);
        if (request === undefined) return 'missing';
        const { name, decidedBy: createdBy } = request;
        insertKey(organizationId, { ...secret, userId, name, createdBy }, now);
        audit(organizationId, note, now);
        return 'created';
      }),
  };
}
