import type { MessageId, OrganizationId, ThreadId } from '../../domain/id.ts';
import type { Message, MessageStatus } from '../../domain/message.ts';
import type { NewReply, NewThread } from '../store.ts';
import type { Database } from './database.ts';

export type MessageRow = [
  id: MessageId,
  content: string,
  createdAt: number,
  status: MessageStatus | null,
  completedAt: number | null,
  steps: string | null,
  sources: string | null,
  model: string | null,
];

/** In the order of `MessageRow`. */
export const messageColumns =
  'message.id, content, message.created_at, status, completed_at, steps, sources, model';

/** Loads no text: SQLite knows the lengths from the header of a row. */
export const messageBytes = `octet_length(content) + coalesce(octet_length(steps), 0)
  + coalesce(octet_length(sources), 0) + coalesce(octet_length(verdict), 0)`;

/** Ids alone do not give the order: each is made by the clock of its node. */
export const inOrderOfCreation = 'message.created_at, message.id';

type InsertedReply = Omit<NewReply, 'budget'> & Pick<NewThread, 'claim'>;

/** Inserts the prompt, if any, and the reply to it. To be called in a transaction. */
export function prepareInsertMessages(
  database: Database,
): (organizationId: OrganizationId, threadId: ThreadId, reply: InsertedReply, at: number) => void {
  const insertUserMessage = database.prepare(
    `INSERT INTO message (organization_id, thread_id, id, role, content, created_at)
     VALUES (?, ?, ?, 'user', ?, ?)`,
  );
  const insertReply = database.prepare(
    `INSERT INTO message (organization_id, thread_id, id, role, content, created_at, status, steps,
       held, claim_token, available_at, attempts, deadline_at, trace_id)
     VALUES (?, ?, ?, 'assistant', '', ?, 'in_progress', '[]', ?, ?, ?, 0, ?, ?)`,
  );
  return (organizationId, threadId, { prompt, replyId, replyDeadlineMs, traceId, claim }, at) => {
    if (prompt !== null)
      insertUserMessage.run(organizationId, threadId, prompt.messageId, prompt.content, at);
    const held = claim === undefined ? [0, 0, at] : [1, claim.token, at + claim.leaseMs];
    insertReply.run(organizationId, threadId, replyId, at, ...held, at + replyDeadlineMs, traceId);
  };
}

export function toMessage(threadId: ThreadId, row: MessageRow): Message {
  const [id, content, createdAt, status, completedAt, steps, sources, model] = row;
  if (status === null) return { id, threadId, role: 'user', content, createdAt };
  return {
    id,
    threadId,
    role: 'assistant',
    content,
    createdAt,
    status,
    completedAt,
    steps: steps === null ? [] : JSON.parse(steps),
    sources: sources === null ? null : JSON.parse(sources),
    model,
  };
}
