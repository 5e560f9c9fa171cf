/**
 * The part of a statement that moves a thread ($4 of organization $3) which notes the position that it leaves, so that
 * walks under way still meet it there. `left` is a relation of one row or none, with the thread as it was and the move's
 * `tick_at` and `tick_sequence`.
 */
export function noteMove(left: string): string {
  return `moved AS (
      INSERT INTO thread_move (organization_id, sequence, thread_id, left_activity_at, moved_at)
      SELECT $3, tick_sequence, $4, activity_at, tick_at FROM ${left}
    )`;
}
