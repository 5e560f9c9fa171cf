import type { OrganizationId, ThreadId, UserId } from '../../domain/id.ts';
import type { Thread } from '../../domain/thread.ts';
import type { Database } from './database.ts';

/** Read with `.raw()`: a page of rows as arrays costs a quarter less than as objects. */
export type ThreadRow = [
  organizationId: OrganizationId,
  id: ThreadId,
  userId: UserId,
  title: string,
  accountId: string | null,
  secondaryId: string | null,
  createdAt: number,
  updatedAt: number | null,
  published: number,
  deletedAt: number | null,
];

/** In the order of `ThreadRow`. */
export const threadColumns = `thread.organization_id, thread.id, thread.user_id, thread.title, thread.account_id,
  thread.secondary_id, thread.created_at, thread.updated_at, thread.published, thread.deleted_at`;

export const threadColumnCount = 10;

export function toThread(row: readonly [...ThreadRow, ...unknown[]]): Thread {
  const [
    organizationId,
    id,
    userId,
    title,
    accountId,
    secondaryId,
    createdAt,
    updatedAt,
    published,
    deletedAt,
  ] = row;
  return {
    organizationId,
    id,
    userId,
    title,
    accountId,
    secondaryId,
    createdAt,
    updatedAt,
    published: published === 1,
    deletedAt,
  };
}

/**
 * To be called in the transaction of every change that a reader can see. The version is the time unless the clock is
 * behind, so that one that was lost to a power cut or to a restored backup is not given out again.
 */
export function prepareRaiseVersion(
  database: Database,
): (organizationId: OrganizationId, threadId: ThreadId, now: number) => void {
  const raise = database.prepare<[number, string, string]>(
    'UPDATE thread SET version = max(version + 1, ?) WHERE organization_id = ? AND id = ?',
  );
  return (organizationId, threadId, now) => {
    raise.run(now, organizationId, threadId);
  };
}

export function prepareFindThread(
  database: Database,
): (organizationId: OrganizationId, threadId: ThreadId) => Thread | undefined {
  const find = database
    .prepare<[string, string], ThreadRow>(
      `SELECT ${threadColumns} FROM thread WHERE organization_id = ? AND id = ?`,
    )
    .raw();
  return (organizationId, threadId) => {
    const row = find.get(organizationId, threadId);
    return row && toThread(row);
  };
}
