import type { MessageId, OrganizationId, ThreadId, UserId } from '../../domain/id.ts';
import { isRetriable, isRunning } from '../reply-rules.ts';
import type { NewReply, ReplyDetails, Threads } from '../store.ts';
import type { CommitClock, CommitQueue } from './commit-queue.ts';
import type { Database } from './database.ts';
import { inOrderOfCreation, messageBytes, prepareInsertMessages } from './messages.ts';
import { prepareFindThread, prepareNoteMove, prepareRaiseVersion } from './thread-row.ts';

interface LatestReplyRow {
  activityAt: number;
  createdAt: number;
  running: number;
  retriable: number;
}

interface DetailsRow {
  id: MessageId;
  trace_id: string;
  failure: string | null;
  verdict: string | null;
}

type Added = Awaited<ReturnType<Threads['addReply']>>;

export function sqliteFollowUps(
  database: Database,
  commits: CommitQueue,
): Pick<Threads, 'addReply' | 'listReplyDetails'> {
  const findThread = prepareFindThread(database);
  const insertMessages = prepareInsertMessages(database);
  const noteMove = prepareNoteMove(database);
  const raiseVersion = prepareRaiseVersion(database);
  const latestReplyOfOwn = database.prepare<[string, string, string], LatestReplyRow>(
    `SELECT activity_at AS activityAt, message.created_at AS createdAt, ${isRunning} AS running,
       ${isRetriable} AS retriable
     FROM thread JOIN message ON message.organization_id = thread.organization_id AND thread_id = thread.id
     WHERE thread.organization_id = ? AND thread.id = ? AND user_id = ? AND deleted = 0 AND role = 'assistant'
     ORDER BY message.created_at DESC, message.id DESC LIMIT 1`,
  );
  const size = database.prepare<[string, string], { messages: number; bytes: number }>(
    `SELECT count(*) AS messages, sum(${messageBytes}) AS bytes
     FROM message WHERE organization_id = ? AND thread_id = ?`,
  );
  const touch = database.prepare<[number, number, string, string]>(
    'UPDATE thread SET updated_at = ?, activity_at = ? WHERE organization_id = ? AND id = ?',
  );
  const details = database.prepare<
    [{ organizationId: string; threadId: string; ids: string | null }],
    DetailsRow
  >(
    `SELECT id, trace_id, failure, verdict FROM message
     WHERE organization_id = @organizationId AND thread_id = @threadId AND role = 'assistant'
       AND (@ids IS NULL OR id IN (SELECT value FROM json_each(@ids))) ORDER BY ${inOrderOfCreation}`,
  );

  function addNow(
    organizationId: OrganizationId,
    threadId: ThreadId,
    userId: UserId,
    reply: NewReply,
    clock: CommitClock,
  ): Added {
    const latest = latestReplyOfOwn.get(organizationId, threadId, userId);
    if (latest === undefined) {
      const thread = findThread(organizationId, threadId);
      return thread && thread.deletedAt === null ? { outcome: 'refused', thread } : { outcome: 'missing' };
    }
    if (latest.running === 1) return { outcome: 'running' };
    if (reply.prompt === null && latest.retriable === 0) return { outcome: 'nothing-to-retry' };
    const exceeded = exceededBy(reply, size.get(organizationId, threadId)!);
    if (exceeded !== undefined) return { outcome: 'full', exceeded };
    const at = clock.after(latest.createdAt);
    insertMessages(organizationId, threadId, reply, at);
    raiseVersion(organizationId, threadId, at);
    if (reply.prompt !== null) {
      touch.run(at, at, organizationId, threadId);
      noteMove(organizationId, threadId, { leftActivityAt: latest.activityAt, movedAt: at });
    }
    return { outcome: 'added' };
  }

  return {
    addReply: (organizationId, threadId, userId, reply) =>
      commits.durable((clock) => addNow(organizationId, threadId, userId, reply, clock)),

    listReplyDetails: async (organizationId, threadId, ids) =>
      details.all({ organizationId, threadId, ids: ids ? JSON.stringify(ids) : null }).map(toReplyDetails),
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

function toReplyDetails({ id, trace_id, failure, verdict }: DetailsRow): ReplyDetails {
  const parsed = verdict === null ? null : JSON.parse(verdict);
  return { messageId: id, traceId: trace_id, failure, verdict: parsed };
}
