import type { AssistantMessage } from '../../domain/message.ts';
import type { Threads } from '../store.ts';
import type { Database } from './database.ts';
import { inOrderOfCreation, type MessageRow, messageBytes, messageColumns, toMessage } from './messages.ts';
import {
  prepareFindThread,
  type ThreadRow,
  threadColumnCount,
  threadColumns,
  toThread,
} from './thread-row.ts';

/** Reads of a thread that load few of its messages, or none. */
export function sqliteThreadParts(
  database: Database,
): Pick<Threads, 'findThread' | 'getThreadHead' | 'listMessages'> {
  const findThread = prepareFindThread(database);
  // The ids are sorted without their texts.
  const selectHead = database
    .prepare<[string, string], [...ThreadRow, version: number, messageCount: number, ...MessageRow]>(
      `SELECT ${threadColumns}, version, (SELECT count(*) FROM message AS counted
         WHERE counted.organization_id = thread.organization_id AND counted.thread_id = thread.id), ${messageColumns}
       FROM thread JOIN message ON message.organization_id = thread.organization_id AND thread_id = thread.id
         AND message.id = (SELECT latest.id FROM message AS latest
           WHERE latest.organization_id = thread.organization_id AND latest.thread_id = thread.id AND role = 'assistant'
           ORDER BY latest.created_at DESC, latest.id DESC LIMIT 1)
       WHERE thread.organization_id = ? AND thread.id = ?`,
    )
    .raw();
  const selectMessages = database
    .prepare<
      [Record<'organizationId' | 'threadId' | 'skip' | 'limit' | 'bytesMax', string | number>],
      MessageRow
    >(
      `WITH part AS MATERIALIZED (
         SELECT id, created_at, ${messageBytes} AS bytes
         FROM message WHERE organization_id = @organizationId AND thread_id = @threadId
         ORDER BY ${inOrderOfCreation} LIMIT @limit OFFSET @skip
       ), sums AS MATERIALIZED (
         SELECT id, sum(bytes) OVER (ORDER BY created_at, id) - bytes AS bytes_before FROM part
       )
       SELECT ${messageColumns} FROM sums CROSS JOIN message ON organization_id = @organizationId
         AND thread_id = @threadId AND message.id = sums.id
       WHERE bytes_before < @bytesMax ORDER BY ${inOrderOfCreation}`,
    )
    .raw();
  return {
    findThread: async (organizationId, threadId) => findThread(organizationId, threadId),

    async getThreadHead(organizationId, threadId) {
      const row = selectHead.get(organizationId, threadId);
      if (row === undefined) return undefined;
      const [version, messageCount, ...latest] = row.slice(threadColumnCount) as [
        number,
        number,
        ...MessageRow,
      ];
      return {
        thread: toThread(row),
        version,
        messageCount,
        latest: toMessage(threadId, latest) as AssistantMessage,
      };
    },

    listMessages: async (organizationId, threadId, part) =>
      selectMessages.all({ organizationId, threadId, ...part }).map((row) => toMessage(threadId, row)),
  };
}
