import type { MessageId, ThreadId } from '../../domain/id.ts';
import type { Message, MessageStatus } from '../../domain/message.ts';
import { type Sql, sql } from '../sql/sql.ts';

export interface MessageRow {
  messageId: MessageId;
  content: string;
  messageCreatedAt: number;
  status: MessageStatus | null;
  completedAt: number | null;
  steps: string | null;
  sources: string | null;
  model: string | null;
}

export const messageColumns = sql`message.id AS "messageId", content, message.created_at AS "messageCreatedAt", status,
    completed_at AS "completedAt", steps, sources, model`;

/** Loads no text: PostgreSQL knows the length of a text that is stored out of line. */
export const messageBytes = sql`octet_length(content) + coalesce(octet_length(steps), 0)
    + coalesce(octet_length(sources), 0) + coalesce(octet_length(verdict), 0)`;

/** Ids alone do not give the order: each is made by the clock of its node. */
export const inOrderOfCreation = sql`message.created_at, message.id`;

/** `moment` has one row or none, and `at` is its column with the time. */
export const insertUserMessage = (moment: Sql, at: Sql) => sql`
      INSERT INTO message (organization_id, thread_id, id, role, content, created_at)
      SELECT :organizationId, :threadId, :messageId, 'user', :prompt, ${at} FROM ${moment}`;

/** `claim`: whether the reply is held, its token, and until when it is held or waits for a worker. */
export const insertReply = (moment: Sql, at: Sql, claim = sql`false, 0, ${at}`) => sql`
      INSERT INTO message (organization_id, thread_id, id, role, content, created_at, status, steps,
        held, claim_token, available_at, attempts, deadline_at, trace_id)
      SELECT :organizationId, :threadId, :replyId, 'assistant', '', ${at}, 'in_progress', '[]', ${claim}, 0,
        ${at} + :replyDeadlineMs::bigint, :traceId FROM ${moment}`;

export function toMessage(threadId: ThreadId, row: MessageRow): Message {
  const { messageId: id, content, messageCreatedAt: createdAt, status, completedAt, model } = row;
  const common = { id, threadId, content, createdAt };
  if (status === null) return { ...common, role: 'user' };
  return {
    ...common,
    role: 'assistant',
    status,
    completedAt,
    steps: row.steps === null ? [] : JSON.parse(row.steps),
    sources: row.sources === null ? null : JSON.parse(row.sources),
    model,
  };
}
