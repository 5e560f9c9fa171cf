import type { OrganizationId, UserId } from '../../domain/id.ts';
import { accountKey } from '../listings.ts';
import { findThread, isRevoked, threadColumns } from '../sql/thread-reads.ts';
import type { Threads } from '../store.ts';
import type { CommitQueue } from './commit-queue.ts';
import type { Database } from './database.ts';
import { prepareCancelReplies } from './replies.ts';
import { prepareRaiseVersion, type ThreadRow, toThread } from './thread-row.ts';
import { auditWriter, workRunner } from './transactions.ts';

const everyone = '';

interface Owned {
  readonly organizationId: OrganizationId;
  readonly userId: UserId;
  readonly accountId: string | null;
}

/**
 * Updates the sizes of listings in the transaction of the change. `threads` and `published`: by how much the number of
 * threads and of published threads changes.
 */
export function prepareAdjustSizes(
  database: Database,
): (thread: Owned, change: { readonly threads: number; readonly published: number }) => void {
  const adjust = database.prepare(
    `INSERT INTO listing_size (organization_id, user_id, account_key, threads, published)
     VALUES (@organizationId, @user, @account, @threads, @published)
     ON CONFLICT DO UPDATE SET threads = threads + excluded.threads, published = published + excluded.published`,
  );
  return ({ organizationId, userId, accountId }, { threads, published }) => {
    const accounts = accountId === null ? [accountKey(null)] : [accountKey(null), accountKey(accountId)];
    for (const account of accounts) {
      adjust.run({ organizationId, user: userId, account, threads, published });
      // The row of all users counts published threads only.
      if (published !== 0) adjust.run({ organizationId, user: everyone, account, threads: 0, published });
    }
  };
}

/** Which threads a listing shows: published ones, the user's own, or both. */
export type Counted = 'published' | 'mine' | 'own';

/** The size of a listing as an SQL expression. */
export function sizeExpression(counted: Counted): string {
  const one = (amount: string, user: string) => `coalesce((SELECT ${amount} FROM listing_size
    WHERE organization_id = @organizationId AND user_id = ${user} AND account_key = @accountKey), 0)`;
  const published = one('published', `'${everyone}'`);
  if (counted === 'mine') return one('threads', '@userId');
  return counted === 'own' ? `${published} + ${one('threads - published', '@userId')}` : published;
}

/** The changes that add a thread to listings or remove it from them, and so change their sizes. */
export function sqliteThreadListing(
  database: Database,
  commits: CommitQueue,
): Pick<Threads, 'deleteThread' | 'restoreThread' | 'setThreadPublished'> {
  const adjustSizes = prepareAdjustSizes(database);
  const cancelReplies = prepareCancelReplies(database);
  const runWork = workRunner(database);
  const writeNote = auditWriter(database);
  const raiseVersion = prepareRaiseVersion(database);
  const change = (set: string, condition: string) =>
    database
      .prepare<[object], ThreadRow>(
        `UPDATE thread SET ${set} WHERE organization_id = @organizationId AND id = @threadId AND ${condition}
         RETURNING ${threadColumns}`,
      )
      .raw();
  const softDelete = change('deleted_at = @now, deleted = 1', 'user_id = @userId AND deleted = 0');
  const restore = change(
    'deleted_at = NULL, deleted = 0',
    'user_id = @userId AND deleted = 1 AND deleted_at >= @since',
  );
  const publish = change('published = @published', 'deleted = 0 AND published <> @published');

  return {
    deleteThread: (organizationId, threadId, { userId, keyHash }, note) =>
      commits.durable((clock) => {
        const now = clock.now();
        if (runWork(isRevoked(organizationId, { userId, keyHash }), now)) return { outcome: 'revoked' };
        const deleted = softDelete.get({ organizationId, threadId, userId, now });
        if (deleted === undefined) {
          const kept = runWork(findThread(organizationId, threadId));
          return kept ? { outcome: 'refused', thread: kept } : { outcome: 'missing' };
        }
        raiseVersion(organizationId, threadId, now);
        const cancelled = cancelReplies(organizationId, threadId, now);
        const thread = toThread(deleted);
        adjustSizes(thread, { threads: -1, published: thread.published ? -1 : 0 });
        writeNote(organizationId, note, now);
        return { outcome: 'deleted', cancelled };
      }),

    restoreThread: (organizationId, threadId, userId, withinMs, note) =>
      commits.durable((clock) => {
        const now = clock.now();
        const restored = restore.get({ organizationId, threadId, userId, since: now - withinMs });
        if (restored === undefined) return 'missing';
        raiseVersion(organizationId, threadId, now);
        const thread = toThread(restored);
        adjustSizes(thread, { threads: 1, published: thread.published ? 1 : 0 });
        writeNote(organizationId, note, now);
        return 'restored';
      }),

    setThreadPublished: (organizationId, threadId, published, note) =>
      commits.durable((clock) => {
        const changed = publish.get({ organizationId, threadId, published: Number(published) });
        if (changed === undefined) {
          return runWork(findThread(organizationId, threadId))?.deletedAt === null ? 'done' : 'missing';
        }
        raiseVersion(organizationId, threadId, clock.now());
        adjustSizes(toThread(changed), { threads: 0, published: published ? 1 : -1 });
        writeNote(organizationId, note, clock.now());
        return 'done';
      }),
  };
}
