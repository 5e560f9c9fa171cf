import type { MessageId, OrganizationId, ThreadId, UserId } from '../../domain/id.ts';
import type { Message, MessageStatus } from '../../domain/message.ts';
import type { Thread } from '../../domain/thread.ts';
import { toMessage as messageOf } from '../sql/messages.ts';
import type { NewReply, NewThread } from '../store.ts';
import type { Database } from './database.ts';

/** `threadColumns`, read with `.raw()`: a page of rows as arrays costs a quarter less than as objects. */
export type ThreadRow = [
  organizationId: OrganizationId,
  id: ThreadId,
  userId: UserId,
  title: string,
  accountId: string | null,
  secondaryId: string | null,
  createdAt: number,
  updatedAt: number | null,
  published: number,
  deletedAt: number | null,
];

export const threadColumnCount = 10;

export function toThread(row: readonly [...ThreadRow, ...unknown[]]): Thread {
  return {
    organizationId: row[0],
    id: row[1],
    userId: row[2],
    title: row[3],
    accountId: row[4],
    secondaryId: row[5],
    createdAt: row[6],
    updatedAt: row[7],
    published: row[8] === 1,
    deletedAt: row[9],
  };
}

/** `messageColumns` as an array. */
export type MessageRow = [
  id: MessageId,
  content: string,
  createdAt: number,
  status: MessageStatus | null,
  completedAt: number | null,
  steps: string | null,
  sources: string | null,
  model: string | null,
  replaces: MessageId | null,
];

export function toMessage(threadId: ThreadId, row: MessageRow): Message {
  const [messageId, content, messageCreatedAt, status, completedAt, steps, sources, model, replaces] = row;
  return messageOf(threadId, {
    messageId,
    content,
    messageCreatedAt,
    status,
    completedAt,
    steps,
    sources,
    model,
    replaces,
  });
}

type InsertedReply = Omit<NewReply, 'budget'> & Pick<NewThread, 'claim'>;

/** Inserts the prompt, if any, and the reply to it. To be called in a transaction. */
export function prepareInsertMessages(
  database: Database,
): (organizationId: OrganizationId, threadId: ThreadId, reply: InsertedReply, at: number) => void {
  const insertPrompt = database.prepare(
    `INSERT INTO message (organization_id, thread_id, id, role, content, created_at, replaces)
     VALUES (@organizationId, @threadId, @messageId, 'user', @content, @at, @replaces)`,
  );
  const insertReply = database.prepare(
    `INSERT INTO message (organization_id, thread_id, id, role, content, created_at, status, steps,
       held, claim_token, available_at, attempts, deadline_at, trace_id)
     VALUES (@organizationId, @threadId, @replyId, 'assistant', '', @at, 'in_progress', '[]', @held, @token,
       @at + @leaseMs, 0, @at + @replyDeadlineMs, @traceId)`,
  );
  return (organizationId, threadId, { prompt, replyId, replyDeadlineMs, traceId, claim }, at) => {
    if (prompt !== null) insertPrompt.run({ organizationId, threadId, replaces: null, ...prompt, at });
    const { token, leaseMs } = claim ?? { token: 0, leaseMs: 0 };
    const held = { held: Number(claim !== undefined), token, leaseMs };
    insertReply.run({ organizationId, threadId, replyId, replyDeadlineMs, traceId, at, ...held });
  };
}

/**
 * To be called in the transaction of every change that a reader can see. The version is the time unless the clock is
 * behind, so that a version lost to a power cut or to a restored backup is not used again.
 */
export function prepareRaiseVersion(
  database: Database,
): (organizationId: OrganizationId, threadId: ThreadId, now: number) => void {
  const raise = database.prepare(
    `UPDATE thread SET version = max(version + 1, @now) WHERE organization_id = @organizationId AND id = @threadId`,
  );
  return (organizationId, threadId, now) => void raise.run({ organizationId, threadId, now });
}

/** Records the position that a thread leaves, so that walks in progress still find it there. Part of the move's transaction. */
export function prepareNoteMove(
  database: Database,
): (
  organizationId: OrganizationId,
  threadId: ThreadId,
  move: { leftActivityAt: number; movedAt: number },
) => void {
  const count = database
    .prepare<[], number>('UPDATE store_clock SET move_sequence = move_sequence + 1 RETURNING move_sequence')
    .pluck();
  const note = database.prepare(
    `INSERT INTO thread_move (organization_id, sequence, thread_id, left_activity_at, moved_at)
     VALUES (@organizationId, @sequence, @threadId, @leftActivityAt, @movedAt)`,
  );
  return (organizationId, threadId, move) =>
    void note.run({ organizationId, sequence: count.get()!, threadId, ...move });
}
