import type { OrganizationId, ThreadId, UserId } from '../../domain/id.ts';
import type { Thread } from '../../domain/thread.ts';
import type { Run } from './database.ts';
import { now } from './store-time.ts';

export interface ThreadRow {
  organization_id: OrganizationId;
  id: ThreadId;
  user_id: UserId;
  title: string;
  account_id: string | null;
  secondary_id: string | null;
  created_at: number;
  updated_at: number | null;
  published: boolean;
  deleted_at: number | null;
}

export const threadColumns = `thread.organization_id, thread.id, thread.user_id, thread.title, thread.account_id,
  thread.secondary_id, thread.created_at, thread.updated_at, thread.published, thread.deleted_at`;

/**
 * For the SET of every UPDATE of a thread: a number that no earlier change had. It is the time unless the clock is behind,
 * so that a version that was lost to a power cut or to a restored backup is not given out again.
 */
export const nextVersion = `version = greatest(thread.version + 1, ${now})`;

const select = {
  name: 'find-thread',
  text: `SELECT ${threadColumns} FROM thread WHERE organization_id = $1 AND id = $2`,
};

export function findThread(
  run: Run,
): (organizationId: OrganizationId, threadId: ThreadId) => Promise<Thread | undefined> {
  return async (organizationId, threadId) => {
    const [row] = await run<ThreadRow>(select, [organizationId, threadId]);
    return row && toThread(row);
  };
}

/**
 * The user's thread (organization $3, thread $4, user $5) as the latest commit left it, held until ours: a locked row is
 * read anew. `gate` is the relation that holds the organization's row.
 */
export function ownThread(gate: string): string {
  return `SELECT thread.*, ${gate}.* FROM ${gate} JOIN thread ON organization_id = $3
    AND thread.id = $4 AND user_id = $5 AND deleted_at IS NULL FOR UPDATE OF thread`;
}

/**
 * The thread as it was when the statement began, like all other rows that are not locked. Of another version than the
 * locked row, it was changed while we waited, and so may those others have been.
 */
export const seenThread = `seen AS (
      SELECT version, user_id, deleted_at FROM thread WHERE organization_id = $3 AND id = $4
    )`;

export function toThread(row: ThreadRow): Thread {
  return {
    organizationId: row.organization_id,
    id: row.id,
    userId: row.user_id,
    title: row.title,
    accountId: row.account_id,
    secondaryId: row.secondary_id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    published: row.published,
    deletedAt: row.deleted_at,
  };
}
