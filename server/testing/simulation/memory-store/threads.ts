import type { UserId } from '../../../src/domain/id.ts';
import type { AssistantMessage, Message, UserMessage } from '../../../src/domain/message.ts';
import { isRunning } from '../../../src/domain/reply.ts';
import type { Thread } from '../../../src/domain/thread.ts';
import type { NewReply, NewThread, Reader, Threads, Walks } from '../../../src/storage/port/store.ts';
import { cancelReplies } from './replies.ts';
import type { Sync } from './sync.ts';
import { type OrganizationRow, type ReplyRow, raiseVersion, type Tables, type ThreadRow } from './tables.ts';

export function memoryThreads(tables: Tables): Sync<Omit<Threads, keyof Walks>> {
  const { clock } = tables;

  function insertThread(organization: OrganizationRow, userId: UserId, thread: NewThread, at: number): void {
    const { id, title, accountId, secondaryId, prompt, messageId } = thread;
    const row: ThreadRow = {
      ...{ organizationId: organization.id, id, userId, title, accountId, secondaryId },
      ...{ createdAt: at, updatedAt: null, published: false, deletedAt: null },
      ...{ sequence: tables.nextSequence(), version: at, activityAt: at, moves: [], messages: [] },
    };
    insertReply(row, { ...thread, prompt: { messageId, content: prompt } }, at);
    organization.threads.set(id, row);
    organization.listed.add(row);
  }

  function insertReply(
    thread: ThreadRow,
    reply: Omit<NewReply, 'budget'> & Pick<NewThread, 'claim'>,
    at: number,
    crashes = 0,
  ): void {
    const { prompt, replyId: id, replyDeadlineMs, traceId, claim } = reply;
    const shared = { threadId: thread.id, createdAt: at };
    if (prompt !== null) {
      const { messageId, ...written } = prompt;
      thread.messages.push({ ...shared, id: messageId, role: 'user', ...written });
    }
    const row: ReplyRow = {
      ...shared,
      ...{ id, thread, role: 'assistant', content: '', status: 'in_progress', completedAt: null },
      ...{ steps: [], sources: null, model: null, attempts: 0, crashes },
      ...{ held: claim !== undefined, token: claim?.token ?? 0, availableAt: at + (claim?.leaseMs ?? 0) },
      ...{ deadlineAt: at + replyDeadlineMs, traceId, failure: null, verdict: null },
    };
    thread.messages.push(row);
    tables.running.set(id, row);
  }

  return {
    createThread(organizationId, thread, { userId }) {
      const organization = tables.organizations.get(organizationId)!;
      const now = clock.now();
      const { id: threadId, messageId, replyId, idempotency } = thread;
      const key = idempotency && `${userId} ${idempotency.key}`;
      const seen = key === undefined ? undefined : organization.idempotency.get(key);
      if (seen !== undefined && seen.expiresAt > now) {
        const { bodyHash, expiresAt, ...repeated } = seen;
        return bodyHash === idempotency?.bodyHash
          ? { outcome: 'repeated', ...repeated }
          : { outcome: 'key-reused' };
      }
      if (organization.threads.has(thread.id)) throw new Error('the id is taken');
      insertThread(organization, userId, thread, now);
      if (key !== undefined && idempotency !== undefined) {
        const { bodyHash, keepMs } = idempotency;
        const made = { bodyHash, threadId, messageId, replyId, createdAt: now, expiresAt: now + keepMs };
        organization.idempotency.set(key, made);
      }
      return { outcome: 'created', createdAt: now };
    },

    getThread(organizationId, threadId, reader) {
      const thread = tables.thread(organizationId, threadId);
      if (thread === undefined || (reader && !canRead(reader, thread))) return undefined;
      if (bytesOfAll(thread) > (reader?.bytesMax ?? Infinity)) return undefined;
      return { thread: toThread(thread), version: thread.version, messages: thread.messages.map(toMessage) };
    },

    findThread(organizationId, threadId) {
      const thread = tables.thread(organizationId, threadId);
      return thread && toThread(thread);
    },

    getThreadHead(organizationId, threadId) {
      const thread = tables.thread(organizationId, threadId);
      if (thread === undefined) return undefined;
      const latest = withDetails(latestReply(thread)) as AssistantMessage;
      const { version, messages } = thread;
      return { thread: toThread(thread), version, messageCount: messages.length, latest };
    },

    listMessages(organizationId, threadId, { skip, limit, bytesMax }) {
      const part: Message[] = [];
      let bytes = 0;
      const messages = tables.thread(organizationId, threadId)?.messages ?? [];
      for (const message of messages.slice(skip, skip + limit)) {
        if (bytes >= bytesMax) break;
        part.push(withDetails(message));
        bytes += countBytes(message);
      }
      return part;
    },

    threadVersion(organizationId, threadId, reader) {
      const thread = tables.thread(organizationId, threadId);
      return thread && canRead(reader, thread) ? thread.version : undefined;
    },

    findRunningReply(organizationId, threadId, reader) {
      const thread = tables.thread(organizationId, threadId);
      if (thread === undefined || !canRead(reader, thread)) return undefined;
      const latest = latestReply(thread);
      return isRunning(latest.status) ? latest.id : null;
    },

    renameThread(organizationId, threadId, title, { userId }) {
      const thread = tables.thread(organizationId, threadId);
      if (thread === undefined) return { outcome: 'missing' };
      const mine = thread.userId === userId && thread.deletedAt === null;
      if (!mine) return { outcome: 'refused', thread: toThread(thread) };
      thread.title = title;
      tables.move(thread, clock.after());
      raiseVersion(thread, thread.activityAt);
      return { outcome: 'renamed', thread: toThread(thread) };
    },

    deleteThread(organizationId, threadId, note) {
      const thread = tables.thread(organizationId, threadId);
      if (thread === undefined) return { outcome: 'missing' };
      const mine = thread.userId === note.authority.userId && thread.deletedAt === null;
      if (!mine) return { outcome: 'refused', thread: toThread(thread) };
      const now = clock.now();
      thread.deletedAt = now;
      tables.organizations.get(organizationId)!.listed.delete(thread);
      raiseVersion(thread, now);
      tables.note(organizationId, note, now);
      return { outcome: 'deleted', cancelled: cancelReplies(tables, thread, now) };
    },

    restoreThread(organizationId, threadId, withinMs, note) {
      const thread = tables.thread(organizationId, threadId);
      const now = clock.now();
      if (thread?.userId !== note.authority.userId || thread.deletedAt === null) return 'missing';
      if (thread.deletedAt < now - withinMs) return 'missing';
      thread.deletedAt = null;
      tables.organizations.get(organizationId)!.listed.add(thread);
      raiseVersion(thread, now);
      tables.note(organizationId, note, now);
      return 'restored';
    },

    addReply(organizationId, threadId, reply, { userId }) {
      const thread = tables.thread(organizationId, threadId);
      if (thread === undefined || thread.deletedAt !== null) return { outcome: 'missing' };
      if (thread.userId !== userId) return { outcome: 'refused', thread: toThread(thread) };
      const { status, createdAt, crashes } = latestReply(thread);
      if (isRunning(status)) return { outcome: 'running' };
      const asked = thread.messages.findLast(({ role }) => role === 'user')!.id;
      if ((reply.prompt?.replaces ?? asked) !== asked) return { outcome: 'outdated' };
      const exceeded = exceededBy(reply, thread);
      if (exceeded !== undefined) return { outcome: 'full', exceeded };
      const at = clock.after(createdAt);
      insertReply(thread, reply, at, status === 'completed' ? 0 : crashes);
      raiseVersion(thread, at);
      if (reply.prompt !== null) tables.move(thread, at);
      return { outcome: 'added' };
    },

    listAccounts(organizationId, userId, prefix, limit) {
      const accounts = new Set<string>();
      for (const { accountId, ...thread } of tables.organizations.get(organizationId)?.listed ?? []) {
        const isVisible = thread.userId === userId || thread.published;
        if (isVisible && accountId?.startsWith(prefix)) accounts.add(accountId);
      }
      return [...accounts].sort().slice(0, limit);
    },

    setThreadPublished(organizationId, threadId, published, note) {
      const thread = tables.thread(organizationId, threadId);
      if (thread === undefined || thread.deletedAt !== null) return 'missing';
      if (thread.published === published) return 'done';
      thread.published = published;
      raiseVersion(thread, clock.now());
      tables.note(organizationId, note, clock.now());
      return 'done';
    },
  };
}

export function toThread(row: ThreadRow): Thread {
  const { organizationId, id, userId, title, accountId, secondaryId } = row;
  const { createdAt, updatedAt, published, deletedAt } = row;
  return {
    ...{ organizationId, id, userId, title, accountId, secondaryId },
    ...{ createdAt, updatedAt, published, deletedAt },
  };
}

function toMessage(row: UserMessage | ReplyRow): Message {
  if (row.role === 'user') return row;
  const { id, threadId, role, content, createdAt, status, completedAt, steps, sources, model } = row;
  return { id, threadId, role, content, createdAt, status, completedAt, steps, sources, model };
}

function withDetails(row: UserMessage | ReplyRow): Message {
  if (row.role === 'user') return row;
  const { traceId, failure, verdict } = row;
  return { ...(toMessage(row) as AssistantMessage), details: { traceId, failure, verdict } };
}

/** Every thread starts with a reply. */
function latestReply({ messages }: ThreadRow): ReplyRow {
  return messages.at(-1) as ReplyRow;
}

function canRead({ userId }: Reader, thread: ThreadRow): boolean {
  return thread.deletedAt === null && (thread.published || thread.userId === userId);
}

function exceededBy({ prompt, budget }: NewReply, thread: ThreadRow): 'messages' | 'bytes' | undefined {
  if (thread.messages.length + (prompt === null ? 1 : 2) > budget.messagesMax) return 'messages';
  return bytesOfAll(thread) + Buffer.byteLength(prompt?.content ?? '') > budget.bytesMax
    ? 'bytes'
    : undefined;
}

function bytesOfAll({ messages }: ThreadRow): number {
  return messages.reduce((sum, message) => sum + countBytes(message), 0);
}

function countBytes(message: UserMessage | ReplyRow): number {
  const content = Buffer.byteLength(message.content);
  if (message.role === 'user') return content;
  const { steps, sources, verdict } = message;
  const json = [steps, sources, verdict].filter((value) => value !== null);
  return json.reduce((sum: number, value) => sum + Buffer.byteLength(JSON.stringify(value)), content);
}
