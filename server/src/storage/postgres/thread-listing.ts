import type { MessageId } from '../../domain/id.ts';
import type { Threads } from '../store.ts';
import { auditText, auditValues } from './audit.ts';
import type { Database } from './database.ts';
import { adjustSizes } from './listing-sizes.ts';
import { isRunning } from './replies.ts';
import { now } from './store-time.ts';
import { findThread, nextVersion, ownThread, seenThread } from './thread-row.ts';
import { apiOpen, grantedText, isRevoked } from './write-grant.ts';

/** In the order in which creates and renames lock, too. */
const gateText = (condition: string) =>
  `gate AS (SELECT id AS gate_id FROM organization WHERE id = $3 AND ${condition} FOR NO KEY UPDATE)`;
const gate = gateText('true');

const softDelete = {
  name: 'delete-thread',
  text: `WITH ${seenThread}, ${gateText(apiOpen('$6'))}, ${grantedText('gate', '$6')},
    held_thread AS (${ownThread('granted')}
    ), doomed AS (
      SELECT held_thread.* FROM held_thread JOIN seen USING (version)
    ), deleted AS (
      UPDATE thread SET deleted_at = greatest(${now}, doomed.activity_at), ${nextVersion} FROM doomed
      WHERE thread.organization_id = $3 AND thread.id = $4
      RETURNING thread.user_id, thread.account_id, thread.deleted_at, -1 AS threads,
        CASE WHEN thread.published THEN -1 ELSE 0 END AS published
    ), cancelled AS (
      UPDATE message SET held = false, status = 'cancelled', completed_at = greatest(${now}, message.created_at)
      FROM doomed WHERE message.organization_id = $3 AND message.thread_id = $4 AND ${isRunning}
      RETURNING message.id
    ), sizes AS (${adjustSizes('$3', 'deleted')}
    ), noted AS (${auditText('deleted', '$3', 'deleted_at', 7)})
    SELECT (SELECT count(*) FROM held_thread)::int AS held, (SELECT count(*) FROM deleted)::int AS deleted,
      ARRAY(SELECT id FROM cancelled) AS cancelled`,
};
const restore = {
  name: 'restore-thread',
  text: `WITH ${gate}, gone AS (
      SELECT thread.* FROM gate JOIN thread ON organization_id = $3 AND thread.id = $4 AND user_id = $5
        AND deleted_at >= ${now} - $6::bigint FOR UPDATE OF thread
    ), restored AS (
      UPDATE thread SET deleted_at = NULL, ${nextVersion} FROM gone WHERE thread.organization_id = $3 AND thread.id = $4
      RETURNING thread.user_id, thread.account_id, gone.deleted_at, 1 AS threads,
        CASE WHEN thread.published THEN 1 ELSE 0 END AS published
    ), sizes AS (${adjustSizes('$3', 'restored')}
    ), noted AS (${auditText('restored', '$3', `greatest(${now}, deleted_at)`, 7)})
    SELECT count(*)::int AS restored FROM restored`,
};
const publish = {
  name: 'publish-thread',
  text: `WITH ${gate}, shown AS (
      SELECT thread.* FROM gate JOIN thread ON organization_id = $3 AND thread.id = $4 AND deleted_at IS NULL
        AND published <> $5 FOR UPDATE OF thread
    ), changed AS (
      UPDATE thread SET published = $5, ${nextVersion} FROM shown WHERE thread.organization_id = $3 AND thread.id = $4
      RETURNING thread.user_id, thread.account_id, 0 AS threads,
        CASE WHEN thread.published THEN 1 ELSE -1 END AS published
    ), sizes AS (${adjustSizes('$3', 'changed')}
    ), noted AS (${auditText('changed', '$3', now, 6)})
    SELECT count(*)::int AS changed FROM changed`,
};

/** What puts a thread into listings and takes it out of them, and so changes their sizes. */
export function postgresThreadListing(
  database: Database,
): Pick<Threads, 'deleteThread' | 'restoreThread' | 'setThreadPublished'> {
  const { run, time } = database;
  const find = findThread(run);
  const revoked = isRevoked(database);

  const deleteThread: Threads['deleteThread'] = async (organizationId, threadId, writer, note) => {
    const values = [organizationId, threadId, writer.userId, writer.keyHash, ...auditValues(note)];
    const [row] = await run<{ held: number; deleted: number; cancelled: MessageId[] }>(softDelete, [
      ...time.parameters(),
      ...values,
    ]);
    const { held, deleted, cancelled } = row!;
    if (deleted === 1) return { outcome: 'deleted', cancelled };
    // It was changed between the look and the lock: a reply may have been added, which has to be cancelled too.
    if (held === 1) return deleteThread(organizationId, threadId, writer, note);
    if (await revoked(organizationId, writer)) return { outcome: 'revoked' };
    const thread = await find(organizationId, threadId);
    return thread ? { outcome: 'refused', thread } : { outcome: 'missing' };
  };

  return {
    deleteThread,

    async restoreThread(organizationId, threadId, userId, withinMs, note) {
      const values = [organizationId, threadId, userId, withinMs, ...auditValues(note)];
      const [row] = await run<{ restored: number }>(restore, [...time.parameters(), ...values]);
      return row!.restored === 1 ? 'restored' : 'missing';
    },

    async setThreadPublished(organizationId, threadId, published, note) {
      const values = [organizationId, threadId, published, ...auditValues(note)];
      const [row] = await run<{ changed: number }>(publish, [...time.parameters(), ...values]);
      if (row!.changed === 1) return 'done';
      const thread = await find(organizationId, threadId);
      return thread !== undefined && thread.deletedAt === null ? 'done' : 'missing';
    },
  };
}
