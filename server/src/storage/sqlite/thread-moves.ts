import type { OrganizationId, ThreadId } from '../../domain/id.ts';
import { limits } from '../../domain/limits.ts';
import type { Database } from './database.ts';

/** The position that a thread leaves for a new one, so that walks under way still meet it there. */
export interface ThreadMove {
  readonly leftActivityAt: number;
  readonly movedAt: number;
}

/** To be called in the transaction of the move. */
export function prepareNoteMove(
  database: Database,
): (organizationId: OrganizationId, threadId: ThreadId, move: ThreadMove) => void {
  const note = database.prepare<[string, string, number, number]>(
    `INSERT INTO thread_move (organization_id, sequence, thread_id, left_activity_at, moved_at)
     VALUES (?, coalesce((SELECT max(sequence) FROM thread_move), 0) + 1, ?, ?, ?)`,
  );
  // At most two of the oldest: the notes stay few without a sweep, and a move never pays for many.
  const forgetOld = database.prepare<[number]>(
    `DELETE FROM thread_move WHERE (organization_id, sequence) IN (
       SELECT organization_id, sequence FROM thread_move ORDER BY sequence LIMIT 2) AND moved_at < ?`,
  );
  return (organizationId, threadId, { leftActivityAt, movedAt }) => {
    note.run(organizationId, threadId, leftActivityAt, movedAt);
    forgetOld.run(movedAt - limits.walkMsMax.default);
  };
}
