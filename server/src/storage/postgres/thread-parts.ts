import type { AssistantMessage } from '../../domain/message.ts';
import type { Thread } from '../../domain/thread.ts';
import { statement } from '../sql/sql.ts';
import type { Threads } from '../store.ts';
import type { Database } from './database.ts';
import { inOrderOfCreation, type MessageRow, messageBytes, messageColumns, toMessage } from './messages.ts';
import { findThread, threadColumns, threadOf } from './thread-row.ts';

const getHead = statement('get-thread-head')`SELECT ${threadColumns}, version, ${messageColumns}, (
    SELECT count(*) FROM message AS counted
    WHERE counted.organization_id = :organizationId AND counted.thread_id = :threadId) AS "messageCount"
  FROM thread JOIN message ON message.organization_id = :organizationId AND thread_id = :threadId
    AND message.id = (SELECT latest.id FROM message AS latest
      WHERE latest.organization_id = :organizationId AND latest.thread_id = :threadId AND role = 'assistant'
      ORDER BY latest.created_at DESC, latest.id DESC LIMIT 1)
  WHERE thread.organization_id = :organizationId AND thread.id = :threadId`;
const list = statement('list-messages')`WITH part AS (
    SELECT id, created_at, ${messageBytes} AS bytes FROM message
    WHERE organization_id = :organizationId AND thread_id = :threadId
    ORDER BY ${inOrderOfCreation} LIMIT :limit OFFSET :skip
  ), sums AS (
    SELECT id AS part_id, sum(bytes) OVER (ORDER BY created_at, id) - bytes AS bytes_before FROM part
  )
  SELECT ${messageColumns} FROM sums
  JOIN message ON organization_id = :organizationId AND thread_id = :threadId AND message.id = part_id
  WHERE bytes_before < :bytesMax ORDER BY ${inOrderOfCreation}`;

/** Reads of a thread that load few of its messages, or none. */
export function postgresThreadParts({
  run,
}: Database): Pick<Threads, 'findThread' | 'getThreadHead' | 'listMessages'> {
  return {
    findThread: (organizationId, threadId) => findThread(run, organizationId, threadId),

    async getThreadHead(organizationId, threadId) {
      type Row = Thread & MessageRow & { version: number; messageCount: number };
      const [row] = await run<Row>(getHead, { organizationId, threadId });
      if (row === undefined) return undefined;
      const { version, messageCount } = row;
      return {
        thread: threadOf(row),
        version,
        messageCount,
        latest: toMessage(threadId, row) as AssistantMessage,
      };
    },

    async listMessages(organizationId, threadId, part) {
      const rows = await run<MessageRow>(list, { ...part, organizationId, threadId });
      return rows.map((row) => toMessage(threadId, row));
    },
  };
}
