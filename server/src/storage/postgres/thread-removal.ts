import type { OrganizationId, ThreadId } from '../../domain/id.ts';
import { empty, type Sql, type Statement, sql, statement } from '../sql/sql.ts';
import { row, type Work } from '../sql/work.ts';

export interface ThreadName {
  readonly organizationId: OrganizationId;
  readonly threadId: ThreadId;
}

/**
 * Deletes rows of `table` that belong to the named threads. It deletes by ctid, which the same statement has looked up by
 * index, so that no plan can turn into a scan of the table.
 */
const removeRows = (table: Sql, isOfThread: Sql, limit: Sql = empty) => sql`WITH removed AS (
    DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
      SELECT part.ctid FROM unnest(:organizationIds::text[], :threadIds::text[]) AS named (organization_id, id)
      CROSS JOIN LATERAL (
        SELECT ${table}.ctid FROM ${table}
        WHERE ${table}.organization_id = named.organization_id AND ${isOfThread} ${limit}) AS part
      ${limit})) RETURNING 1
  ) SELECT count(*) AS count FROM removed`;

const removeMessages = statement('remove-messages')`
  ${removeRows(sql`message`, sql`thread_id = named.id`, sql`LIMIT :limit`)}`;
const removeKeys = statement('remove-keys-of-threads')`
  ${removeRows(sql`idempotency_key`, sql`thread_id = named.id`)}`;
const removeThreads = statement('remove-threads')`${removeRows(
  sql`thread`,
  sql`thread.id = named.id AND deleted_at IS NOT NULL AND NOT EXISTS (
    SELECT FROM message WHERE message.organization_id = named.organization_id AND thread_id = named.id)`,
)}`;

/**
 * Removes deleted threads for good, with at most `limit` of their messages; a thread stays while it has messages. To be
 * called in a transaction that has locked the threads.
 */
export function* removeDeletedThreads(
  threads: readonly ThreadName[],
  limit: number,
): Work<{ messages: number; idempotencyKeys: number; threads: number }> {
  const values = {
    organizationIds: threads.map(({ organizationId }) => organizationId),
    threadIds: threads.map(({ threadId }) => threadId),
    limit,
  };
  function* removed(removal: Statement): Work<number> {
    return (yield* row<{ count: number }>(removal, values))!.count;
  }
  const messages = yield* removed(removeMessages);
  const idempotencyKeys = yield* removed(removeKeys);
  return { messages, idempotencyKeys, threads: yield* removed(removeThreads) };
}
