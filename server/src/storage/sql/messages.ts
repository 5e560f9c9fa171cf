import type { MessageId, ThreadId } from '../../domain/id.ts';
import type { Message, MessageStatus } from '../../domain/message.ts';
import { runningStatuses } from '../../domain/reply.ts';
import type { NewReply } from '../store.ts';
import { type Sql, sql, type Values } from './sql.ts';

export const isRunning = `status IN (${runningStatuses.map((status) => `'${status}'`).join(', ')})` as Sql;
/** For a SET clause. A waiting reply keeps nothing of an earlier claim, so that claiming it changes nothing visible. */
export const startOver = sql`status = 'in_progress', content = '', steps = '[]'`;

/** For a SET clause. */
export const endCancelled = sql`held = false, status = 'cancelled', completed_at = greatest(:now, created_at)`;

/** One sweep changes no more than this many replies; the next one continues. */
export const sweptMax = 500;

/** Loads no text: both databases know the length of a text without it. */
export const messageBytes = sql`octet_length(content) + coalesce(octet_length(steps), 0)
  + coalesce(octet_length(sources), 0) + coalesce(octet_length(verdict), 0)`;

/** Over the messages of a thread: what of the budget of a new reply it exceeds, with `roomValues`. */
export const exceeded = sql`CASE WHEN count(*) > CAST(:messagesRoom AS bigint) THEN 'messages'
    WHEN sum(${messageBytes}) > CAST(:bytesRoom AS bigint) THEN 'bytes' END`;

export function roomValues({ prompt, budget: { messagesMax, bytesMax } }: NewReply): Values {
  if (prompt === null) return { messagesRoom: messagesMax - 1, bytesRoom: bytesMax };
  return { messagesRoom: messagesMax - 2, bytesRoom: bytesMax - Buffer.byteLength(prompt.content) };
}

/** Ids alone do not give the order: each is made by the clock of its node. */
export const inOrderOfCreation = sql`message.created_at, message.id`;

export interface MessageRow {
  messageId: MessageId;
  content: string;
  messageCreatedAt: number;
  status: MessageStatus | null;
  completedAt: number | null;
  steps: string | null;
  sources: string | null;
  model: string | null;
  replaces: MessageId | null;
}

export const messageColumns = sql`message.id AS "messageId", content, message.created_at AS "messageCreatedAt", status,
  completed_at AS "completedAt", steps, sources, model, replaces`;

export function toMessage(threadId: ThreadId, row: MessageRow): Message {
  const { content, status, completedAt, steps, sources, model, replaces } = row;
  const common = { id: row.messageId, threadId, content, createdAt: row.messageCreatedAt };
  if (status === null) return { ...common, role: 'user', ...(replaces !== null && { replaces }) };
  return {
    ...common,
    role: 'assistant',
    status,
    completedAt,
    steps: steps === null ? [] : JSON.parse(steps),
    sources: sources === null ? null : JSON.parse(sources),
    model,
  };
}
