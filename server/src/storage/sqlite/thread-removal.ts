import type { OrganizationId, ThreadId } from '../../domain/id.ts';
import type { TableName } from '../archive.ts';
import { archiveTables } from '../archive.ts';
import type { Database } from './database.ts';

/** A batch ends after this time, so that one turn of the event loop stays below 20 ms. */
export const batchMs = 10;
/** Long messages take time to remove, so the clock is checked after this many. */
const messagesAtOnce = 20;

/** Deletes the first rows that match `condition`, which may end with an ORDER BY. The last parameter is their number. */
export function deleteText(table: TableName, condition: string): string {
  const { columns, keyLength } = archiveTables.find(({ name }) => name === table)!;
  const keys = Object.keys(columns).slice(0, keyLength).join(', ');
  return `DELETE FROM "${table}" WHERE (${keys}) IN (SELECT ${keys} FROM "${table}" WHERE ${condition} LIMIT ? + 0)`;
}

export interface RemovedThread {
  readonly messages: number;
  readonly idempotencyKeys: number;
  /** False while messages are left: another call continues. */
  readonly removed: boolean;
}

export const threadRemovalTexts = {
  messages: deleteText('message', 'organization_id = ? AND thread_id = ?'),
  keys: 'DELETE FROM idempotency_key WHERE organization_id = ? AND thread_id = ?',
  thread: 'DELETE FROM thread WHERE organization_id = ? AND id = ? AND deleted = 1',
};

/**
 * Removes a deleted thread for good. Stops after `limit` messages and when `isLate`. To be called in a
 * transaction.
 */
export function prepareRemoveThread(
  database: Database,
): (
  organizationId: OrganizationId,
  threadId: ThreadId,
  limit: number,
  isLate: () => boolean,
) => RemovedThread {
  const removeMessages = database.prepare<[string, string, number]>(threadRemovalTexts.messages);
  const removeKeys = database.prepare<[string, string]>(threadRemovalTexts.keys);
  const removeThread = database.prepare<[string, string]>(threadRemovalTexts.thread);
  return (organizationId, threadId, limit, isLate) => {
    let messages = 0;
    while (messages < limit && !isLate()) {
      const count = Math.min(messagesAtOnce, limit - messages);
      const { changes } = removeMessages.run(organizationId, threadId, count);
      messages += changes;
      if (changes < count) {
        const idempotencyKeys = removeKeys.run(organizationId, threadId).changes;
        removeThread.run(organizationId, threadId);
        return { messages, idempotencyKeys, removed: true };
      }
    }
    return { messages, idempotencyKeys: 0, removed: false };
  };
}
