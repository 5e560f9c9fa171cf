import type { MessageId, OrganizationId, ThreadId, UserId } from '../../domain/id.ts';
import { isRunning, messageBytes } from '../sql/messages.ts';
import { findThread } from '../sql/thread-reads.ts';
import type { NewReply, Threads } from '../store.ts';
import type { CommitClock, CommitQueue } from './commit-queue.ts';
import type { Database } from './database.ts';
import { prepareInsertMessages, prepareNoteMove, prepareRaiseVersion } from './thread-row.ts';
import { workRunner } from './transactions.ts';

interface LatestReplyRow {
  activityAt: number;
  replyId: MessageId;
  createdAt: number;
  running: number;
  outdated: number;
}

type Added = Awaited<ReturnType<Threads['addReply']>>;

export function sqliteFollowUps(database: Database, commits: CommitQueue): Pick<Threads, 'addReply'> {
  const runWork = workRunner(database);
  const insertMessages = prepareInsertMessages(database);
  const noteMove = prepareNoteMove(database);
  const raiseVersion = prepareRaiseVersion(database);
  const latestReplyOfOwn = database.prepare<[object], LatestReplyRow>(
    `SELECT activity_at AS activityAt, message.id AS replyId, message.created_at AS createdAt, ${isRunning} AS running,
       @replaces IS NOT NULL AND @replaces <> (SELECT asked.id FROM message AS asked
         WHERE asked.organization_id = @organizationId AND asked.thread_id = @threadId AND asked.role = 'user'
         ORDER BY asked.created_at DESC, asked.id DESC LIMIT 1) AS outdated
     FROM thread JOIN message ON message.organization_id = thread.organization_id AND thread_id = thread.id
     WHERE thread.organization_id = @organizationId AND thread.id = @threadId AND user_id = @userId AND deleted = 0
       AND role = 'assistant'
     ORDER BY message.created_at DESC, message.id DESC LIMIT 1`,
  );
  const size = database.prepare<[object], { messages: number; bytes: number }>(
    `SELECT count(*) AS messages, sum(${messageBytes}) AS bytes
     FROM message WHERE organization_id = @organizationId AND thread_id = @threadId`,
  );
  const touch = database.prepare(
    `UPDATE thread SET updated_at = @at, activity_at = @at
     WHERE organization_id = @organizationId AND id = @threadId`,
  );
  const supersede = database.prepare(
    `UPDATE message SET unanswered_at = NULL
     WHERE organization_id = @organizationId AND thread_id = @threadId AND id = @replyId`,
  );

  function addNow(
    organizationId: OrganizationId,
    threadId: ThreadId,
    userId: UserId,
    reply: NewReply,
    clock: CommitClock,
  ): Added {
    const { prompt } = reply;
    const replaces = prompt?.replaces ?? null;
    const latest = latestReplyOfOwn.get({ organizationId, threadId, userId, replaces });
    if (latest === undefined) {
      const thread = runWork(findThread(organizationId, threadId));
      return thread && thread.deletedAt === null ? { outcome: 'refused', thread } : { outcome: 'missing' };
    }
    if (latest.running === 1) return { outcome: 'running' };
    if (latest.outdated === 1) return { outcome: 'outdated' };
    const exceeded = exceededBy(reply, size.get({ organizationId, threadId })!);
    if (exceeded !== undefined) return { outcome: 'full', exceeded };
    const at = clock.after(latest.createdAt);
    insertMessages(organizationId, threadId, reply, at);
    raiseVersion(organizationId, threadId, at);
    if (prompt === null || replaces !== null)
      supersede.run({ organizationId, threadId, replyId: latest.replyId });
    if (prompt !== null) {
      touch.run({ organizationId, threadId, at });
      noteMove(organizationId, threadId, { leftActivityAt: latest.activityAt, movedAt: at });
    }
    return { outcome: 'added' };
  }

  return {
    addReply: (organizationId, threadId, userId, reply) =>
      commits.durable((clock) => addNow(organizationId, threadId, userId, reply, clock)),
  };
}

function exceededBy(
  { prompt, budget }: NewReply,
  { messages, bytes }: { messages: number; bytes: number },
): 'messages' | 'bytes' | undefined {
  if (messages + (prompt === null ? 1 : 2) > budget.messagesMax) return 'messages';
  const added = prompt === null ? 0 : Buffer.byteLength(prompt.content);
  return bytes + added > budget.bytesMax ? 'bytes' : undefined;
}
