import type { MessageId } from '../../domain/id.ts';
import type { Message, MessageStatus } from '../../domain/message.ts';
import type { ThreadRow } from './thread-row.ts';

export interface MessageRow {
  message_id: MessageId;
  content: string;
  message_created_at: number;
  status: MessageStatus | null;
  completed_at: number | null;
  steps: string | null;
  sources: string | null;
  model: string | null;
}

export const messageColumns = `message.id AS message_id, content, message.created_at AS message_created_at, status,
  completed_at, steps, sources, model`;

/** Ids alone do not tell which came first: each is made by the clock of its node. */
export const inOrderOfCreation = 'message.created_at, message.id';

/** Which parameters hold what; the organization is $3, the thread $4. */
interface Places {
  readonly replyId: string;
  readonly deadlineMs: string;
  readonly traceId: string;
}

/** `moment` is a relation of one row or none, and `at` its column with the time. */
export function insertUserMessage(moment: string, at: string, messageId: string, content: string): string {
  return `INSERT INTO message (organization_id, thread_id, id, role, content, created_at)
    SELECT $3, $4, ${messageId}, 'user', ${content}, ${at} FROM ${moment}`;
}

/** The reply waits from its creation on. */
export function insertReply(moment: string, at: string, { replyId, deadlineMs, traceId }: Places): string {
  return `INSERT INTO message (organization_id, thread_id, id, role, content, created_at, status, steps,
      available_at, claim_token, attempts, deadline_at, trace_id)
    SELECT $3, $4, ${replyId}, 'assistant', '', ${at}, 'in_progress', '[]', ${at}, 0, 0, ${at} + ${deadlineMs}::bigint,
      ${traceId} FROM ${moment}`;
}

export function toMessage(row: ThreadRow & MessageRow): Message {
  const common = {
    id: row.message_id,
    threadId: row.id,
    content: row.content,
    createdAt: row.message_created_at,
  };
  if (row.status === null) return { ...common, role: 'user' };
  return {
    ...common,
    role: 'assistant',
    status: row.status,
    completedAt: row.completed_at,
    steps: row.steps === null ? [] : JSON.parse(row.steps),
    sources: row.sources === null ? null : JSON.parse(row.sources),
    model: row.model,
  };
}
