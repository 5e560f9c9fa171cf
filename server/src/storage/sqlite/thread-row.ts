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
  return {
    organizationId: row[0],
    id: row[1],
    userId: row[2],
    title: row[3],
    accountId: row[4],
    secondaryId: row[5],
    createdAt: row[6],
    updatedAt: row[7],
    published: row[8] === 1,
    deletedAt: row[9],
  };
}

/**
 * To be called in the transaction of every change that a reader can see. The version is the time unless the clock is
 * behind, so that a version lost to a power cut or to a restored backup is not used again.
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

/** The position that a thread leaves, kept so that walks in progress still find the thread there. */
export interface ThreadMove {
  readonly leftActivityAt: number;
  readonly movedAt: number;
}

/** To be called in the transaction of the move. */
export function prepareNoteMove(
  database: Database,
): (organizationId: OrganizationId, threadId: ThreadId, move: ThreadMove) => void {
  const count = database
    .prepare<[], number>('UPDATE store_clock SET move_sequence = move_sequence + 1 RETURNING move_sequence')
    .pluck();
  const note = database.prepare<[string, number, string, number, number]>(
    `INSERT INTO thread_move (organization_id, sequence, thread_id, left_activity_at, moved_at)
     VALUES (?, ?, ?, ?, ?)`,
  );
  return (organizationId, threadId, { leftActivityAt, movedAt }) => {
    note.run(organizationId, count.get()!, threadId, leftActivityAt, movedAt);
  };
}
