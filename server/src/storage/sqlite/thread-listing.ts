import type { Threads } from '../store.ts';
import type { CommitQueue } from './commit-queue.ts';
import type { Database } from './database.ts';
import { prepareAdjustSizes } from './listing-sizes.ts';
import { prepareCancelReplies } from './replies.ts';
import {
  prepareFindThread,
  prepareRaiseVersion,
  type ThreadRow,
  threadColumns,
  toThread,
} from './thread-row.ts';
import { auditWriter } from './transactions.ts';
import { prepareMayWrite } from './write-grant.ts';

/** The changes that add a thread to listings or remove it from them, and so change their sizes. */
export function sqliteThreadListing(
  database: Database,
  commits: CommitQueue,
): Pick<Threads, 'deleteThread' | 'restoreThread' | 'setThreadPublished'> {
  const adjustSizes = prepareAdjustSizes(database);
  const cancelReplies = prepareCancelReplies(database);
  const findThread = prepareFindThread(database);
  const writeNote = auditWriter(database);
  const mayWrite = prepareMayWrite(database);
  const raiseVersion = prepareRaiseVersion(database);
  const softDelete = database
    .prepare<[number, string, string, string], ThreadRow>(
      `UPDATE thread SET deleted_at = ?, deleted = 1
       WHERE organization_id = ? AND id = ? AND user_id = ? AND deleted = 0 RETURNING ${threadColumns}`,
    )
    .raw();
  const restore = database
    .prepare<[string, string, string, number], ThreadRow>(
      `UPDATE thread SET deleted_at = NULL, deleted = 0
       WHERE organization_id = ? AND id = ? AND user_id = ? AND deleted = 1 AND deleted_at >= ?
       RETURNING ${threadColumns}`,
    )
    .raw();
  const publish = database
    .prepare<[number, string, string, number], ThreadRow>(
      `UPDATE thread SET published = ?
       WHERE organization_id = ? AND id = ? AND deleted = 0 AND published <> ? RETURNING ${threadColumns}`,
    )
    .raw();

  return {
    deleteThread: (organizationId, threadId, writer, note) =>
      commits.durable((clock) => {
        if (!mayWrite(organizationId, writer, clock.now())) return { outcome: 'revoked' };
        const deleted = softDelete.get(clock.now(), organizationId, threadId, writer.userId);
        if (deleted === undefined) {
          const kept = findThread(organizationId, threadId);
          return kept ? { outcome: 'refused', thread: kept } : { outcome: 'missing' };
        }
        raiseVersion(organizationId, threadId, clock.now());
        const cancelled = cancelReplies(organizationId, threadId, clock.now());
        const thread = toThread(deleted);
        adjustSizes(thread, { threads: -1, published: thread.published ? -1 : 0 });
        writeNote(organizationId, note, clock.now());
        return { outcome: 'deleted', cancelled };
      }),

    restoreThread: (organizationId, threadId, userId, withinMs, note) =>
      commits.durable((clock) => {
        const restored = restore.get(organizationId, threadId, userId, clock.now() - withinMs);
        if (restored === undefined) return 'missing';
        raiseVersion(organizationId, threadId, clock.now());
        const thread = toThread(restored);
        adjustSizes(thread, { threads: 1, published: thread.published ? 1 : 0 });
        writeNote(organizationId, note, clock.now());
        return 'restored';
      }),

    setThreadPublished: (organizationId, threadId, published, note) =>
      commits.durable((clock) => {
        const changed = publish.get(Number(published), organizationId, threadId, Number(published));
        if (changed !== undefined) {
          raiseVersion(organizationId, threadId, clock.now());
          adjustSizes(toThread(changed), { threads: 0, published: published ? 1 : -1 });
          writeNote(organizationId, note, clock.now());
          return 'done';
        }
        return findThread(organizationId, threadId)?.deletedAt === null ? 'done' : 'missing';
      }),
  };
}
