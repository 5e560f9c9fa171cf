import type { OrganizationId, ThreadId } from '../../domain/id.ts';
import type { Run } from './database.ts';

export interface ThreadName {
  readonly organization_id: OrganizationId;
  readonly id: ThreadId;
}

const named = 'unnest($1::text[], $2::text[]) AS named (organization_id, id)';

// By their places, which the same statement has looked up: no plan can turn into a scan of the table.
const removeMessages = {
  name: 'remove-messages',
  text: `WITH gone AS (
      DELETE FROM message WHERE ctid = ANY (ARRAY(
        SELECT part.ctid FROM ${named} CROSS JOIN LATERAL (
          SELECT message.ctid FROM message
          WHERE message.organization_id = named.organization_id AND thread_id = named.id LIMIT $3) AS part
        LIMIT $3)) RETURNING 1
    ) SELECT count(*) AS removed FROM gone`,
};
const removeKeys = {
  name: 'remove-keys-of-threads',
  text: `WITH gone AS (
      DELETE FROM idempotency_key WHERE ctid = ANY (ARRAY(
        SELECT part.ctid FROM ${named} CROSS JOIN LATERAL (
          SELECT idempotency_key.ctid FROM idempotency_key
          WHERE idempotency_key.organization_id = named.organization_id AND thread_id = named.id) AS part)) RETURNING 1
    ) SELECT count(*) AS removed FROM gone`,
};
const removeThreads = {
  name: 'remove-threads',
  text: `WITH gone AS (
      DELETE FROM thread WHERE ctid = ANY (ARRAY(
        SELECT part.ctid FROM ${named} CROSS JOIN LATERAL (
          SELECT thread.ctid FROM thread
          WHERE thread.organization_id = named.organization_id AND thread.id = named.id AND deleted_at IS NOT NULL
            AND NOT EXISTS (SELECT FROM message
              WHERE message.organization_id = named.organization_id AND thread_id = named.id)) AS part)) RETURNING 1
    ) SELECT count(*) AS removed FROM gone`,
};

export interface RemovedThreads {
  readonly messages: number;
  readonly idempotencyKeys: number;
  readonly threads: number;
}

/**
 * Removes deleted threads for good, with at most `limit` of their messages; a thread stays while it has messages. To be
 * called in a transaction that holds the threads.
 */
export async function removeDeletedThreads(
  run: Run,
  threads: readonly ThreadName[],
  limit: number,
): Promise<RemovedThreads> {
  const names = [threads.map(({ organization_id }) => organization_id), threads.map(({ id }) => id)];
  const counted = async (statement: typeof removeKeys, values: unknown[]) =>
    (await run<{ removed: number }>(statement, values))[0]!.removed;
  const messages = await counted(removeMessages, [...names, limit]);
  const idempotencyKeys = await counted(removeKeys, names);
  return { messages, idempotencyKeys, threads: await counted(removeThreads, names) };
}
