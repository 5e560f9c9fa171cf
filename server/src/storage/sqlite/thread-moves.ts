import type { OrganizationId, ThreadId } from '../../domain/id.ts';
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
