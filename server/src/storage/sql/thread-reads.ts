import type { PersonAuthority } from '../../domain/authority.ts';
import type { MessageId, OrganizationId, ThreadId, UserId } from '../../domain/id.ts';
import type { AssistantMessage, Message, MessageStatus } from '../../domain/message.ts';
import type { Thread } from '../../domain/thread.ts';
import { accountKey, accountOfKey } from '../port/listings.ts';
import type { NewThread, Reader, ThreadReads, Threads, Unauthorized, WholeThread } from '../port/store.ts';
import { isAuthorized, unauthorized } from './authority.ts';
import { isRunning, messageBytes, ofLatest } from './replies.ts';
import { batchableStatement, callColumns, longText, opaque, type Sql, sql, statement } from './sql.ts';
import { method, row, rows, type Transactions, type Work } from './work.ts';

/** The columns of a listed thread: `relation` has the names of the table's columns. */
export const listedColumns = (relation: Sql) => sql`
  ${relation}.id, ${relation}.user_id AS "userId", ${relation}.title,
  ${relation}.account_id AS "accountId", ${relation}.secondary_id AS "secondaryId",
  ${relation}.created_at AS "createdAt", ${relation}.updated_at AS "updatedAt", ${relation}.published`;
export const threadColumns = sql`thread.organization_id AS "organizationId", ${listedColumns(sql`thread`)},
  thread.deleted_at AS "deletedAt"`;

interface MessageRow {
  messageId: MessageId;
  content: string;
  messageCreatedAt: number;
  status: MessageStatus | null;
  completedAt: number | null;
  steps: string | null;
  sources: string | null;
  model: string | null;
  replaces: MessageId | null;
  /** With the next ones, only in rows with `detailColumns`. */
  traceId?: string;
  failure?: string | null;
  verdict?: string | null;
}

export const messageColumns = sql`message.id AS "messageId", ${longText(sql`content`)} AS content,
  message.created_at AS "messageCreatedAt", status, completed_at AS "completedAt", steps, sources, model, replaces`;
const detailColumns = sql`trace_id AS "traceId", failure, verdict`;

/** Ids alone do not give the order: each is made by the clock of its node. */
const inOrderOfCreation = sql`message.created_at, message.id`;

/** A condition on the row of a thread: the reader may read it. */
export const isReadable = sql`deleted_at IS NULL AND (published OR user_id = :userId)`;

export const isThread = sql`thread.organization_id = :organizationId AND thread.id = :threadId`;

/** For the SET clause of every UPDATE of a thread. Usually the time, so that a version lost to a crash is not used again. */
export const nextVersion = sql`version = greatest(thread.version + 1, :now)`;

/**
 * The thread with this id, or the one after it if there is none. A thread that does not exist and one that the reader may
 * not read then take the same work: one row is read, and its columns are compared.
 */
export const nearestThread = (organizationId: Sql, threadId: Sql) => sql`(SELECT * FROM thread
    WHERE organization_id = ${organizationId} AND id >= ${threadId} ORDER BY id LIMIT 1)`;
const readableThread = nearestThread(sql`:organizationId`, sql`:threadId`);

const find = statement('find-thread', { booleans: ['published'] })`
  SELECT ${threadColumns} FROM thread WHERE ${isThread}`;
/** One statement, so one snapshot. CROSS JOIN makes SQLite check the condition on the thread before it reads messages. */
const selectWithMessages = (
  thread: Sql,
  condition: Sql,
) => sql`SELECT ${threadColumns}, version, ${messageColumns}
  FROM ${thread} AS thread CROSS JOIN message
  WHERE ${isThread} AND message.organization_id = thread.organization_id AND thread_id = thread.id AND ${condition}
  ORDER BY ${inOrderOfCreation}`;
/** Depends on the row of the thread, so that no message of a thread that fails another condition is read. */
const isSmall = sql`(SELECT sum(${messageBytes}) FROM message AS sized
    WHERE sized.organization_id = thread.organization_id AND sized.thread_id = thread.id) <= :bytesMax`;
const wholeThreadColumns = { booleans: ['published'], longTexts: ['content'] } as const;
const getAny = statement('get-any-thread', wholeThreadColumns)`${selectWithMessages(sql`thread`, sql`true`)}`;
const getReadable = statement('get-readable-thread', wholeThreadColumns)`
  ${selectWithMessages(readableThread, sql`${opaque(isReadable)} AND ${isSmall}`)}`;
const readerColumns = callColumns({ text: 'organizationId threadId userId' });
const readVersion = batchableStatement('thread-version', readerColumns)`
  SELECT version FROM ${readableThread} AS thread WHERE ${isThread} AND ${opaque(isReadable)}`;
const findRunning = batchableStatement('find-running-reply', readerColumns)`SELECT (
    SELECT message.id FROM message INDEXED BY message_running
    WHERE message.organization_id = :organizationId AND thread_id = :threadId AND ${isRunning} LIMIT 1) AS running
  FROM ${readableThread} AS thread WHERE ${isThread} AND ${isReadable}`;
// Finds the latest reply by its id first, so that sorting does not read texts.
const getHead = statement('get-thread-head', wholeThreadColumns)`
  SELECT ${threadColumns}, version, ${messageColumns}, ${detailColumns}, (
    SELECT count(*) FROM message AS counted
    WHERE counted.organization_id = :organizationId AND counted.thread_id = :threadId) AS "messageCount"
  FROM thread JOIN message ON message.organization_id = :organizationId AND thread_id = :threadId
    AND message.id = ${ofLatest('assistant', sql`id`, sql`:threadId`)}
  WHERE thread.organization_id = :organizationId AND thread.id = :threadId`;
// A left join, so that no database reads a message before it knows that it is part of the page.
const listMessages = statement('list-messages', { longTexts: ['content'] })`WITH part AS MATERIALIZED (
    SELECT id, created_at, ${messageBytes} AS bytes FROM message
    WHERE organization_id = :organizationId AND thread_id = :threadId
    ORDER BY created_at, id LIMIT :limit OFFSET :skip
  ), sums AS MATERIALIZED (
    SELECT id AS part_id, sum(bytes) OVER (ORDER BY created_at, id) - bytes AS bytes_before FROM part
  )
  SELECT ${messageColumns}, ${detailColumns} FROM sums
    LEFT JOIN message ON organization_id = :organizationId AND thread_id = :threadId AND message.id = part_id
  WHERE bytes_before < :bytesMax ORDER BY message.created_at, message.id`;

/** Listing accounts skips at most this many accounts without a thread. */
const emptyAccountsMax = 1_000;
const selectAccounts = (user: Sql) => sql`SELECT * FROM (SELECT * FROM listing_size
    WHERE organization_id = :organizationId AND user_id = ${user} AND account_key >= :prefix
    ORDER BY account_key LIMIT CAST(:limit AS bigint) + ${emptyAccountsMax}) AS scanned`;
const listAccounts = statement('list-accounts')`SELECT account_key AS "accountKey" FROM (
    ${selectAccounts(sql`:userId`)} WHERE threads > 0 UNION ALL ${selectAccounts(sql`''`)} WHERE published > 0) AS account
  WHERE substr(account_key, 1, length(CAST(:prefix AS text))) = :prefix
  GROUP BY account_key ORDER BY account_key LIMIT :limit`;

export const findThread = (organizationId: OrganizationId, threadId: ThreadId): Work<Thread | undefined> =>
  row<Thread>(find, { organizationId, threadId });

const findKey = statement('find-idempotency-key')`
  SELECT body_hash AS "knownHash", thread_id AS "threadId", message_id AS "messageId", reply_id AS "replyId",
    created_at AS "createdAt"
  FROM idempotency_key
  WHERE organization_id = :organizationId AND user_id = :userId AND key = :key AND expires_at > :now`;

export type Created = Awaited<ReturnType<Threads['createThread']>>;
type KnownKey = Omit<Extract<Exclude<Created, Unauthorized>, { outcome: 'repeated' }>, 'outcome'> & {
  knownHash: string;
};

/** What a create with an idempotency key returns if the key is known and has not expired. */
export function* repeatedCreate(
  organizationId: OrganizationId,
  userId: UserId,
  { key, bodyHash }: NonNullable<NewThread['idempotency']>,
): Work<Created | undefined> {
  const known = yield* row<KnownKey>(findKey, { organizationId, userId, key });
  if (known === undefined) return undefined;
  const { knownHash, ...first } = known;
  return knownHash === bodyHash ? { outcome: 'repeated', ...first } : { outcome: 'key-reused' };
}

/** The outcome of a write to a thread that has changed nothing. */
export type NoWrite = Unauthorized | { outcome: 'missing' } | { outcome: 'refused'; thread: Thread };

export function* outcomeOfNoWrite(
  organizationId: OrganizationId,
  threadId: ThreadId,
  authority: PersonAuthority,
): Work<NoWrite> {
  if (!(yield* isAuthorized(organizationId, authority))) return unauthorized;
  const thread = yield* findThread(organizationId, threadId);
  return thread ? { outcome: 'refused', thread } : { outcome: 'missing' };
}

/** Leaves out the other columns of the row. */
export function pickThread(row: Thread): Thread {
  const { organizationId, id, userId, title, accountId, secondaryId, createdAt, updatedAt } = row;
  const { published, deletedAt } = row;
  return {
    organizationId,
    id,
    userId,
    title,
    accountId,
    secondaryId,
    createdAt,
    updatedAt,
    published,
    deletedAt,
  };
}

function toMessage(threadId: ThreadId, row: MessageRow): Message {
  const { content, status, completedAt, steps, sources, model, replaces } = row;
  const { traceId, failure = null, verdict } = row;
  const common = { id: row.messageId, threadId, content, createdAt: row.messageCreatedAt };
  if (status === null) return { ...common, role: 'user', ...(replaces !== null && { replaces }) };
  return {
    ...common,
    role: 'assistant',
    status,
    completedAt,
    steps: JSON.parse(steps!),
    sources: sources === null ? null : JSON.parse(sources),
    model,
    ...(traceId !== undefined && {
      details: { traceId, failure, verdict: verdict ? JSON.parse(verdict) : null },
    }),
  };
}

/** A thread with one of its messages. */
export type WholeThreadRow = Thread & MessageRow & { version: number };

/** From rows in the order of creation. */
export function wholeThread(rows: readonly WholeThreadRow[]): WholeThread | undefined {
  const [first] = rows;
  if (first === undefined) return undefined;
  const messages = rows.map((each) => toMessage(first.id, each));
  return { thread: pickThread(first), version: first.version, messages };
}

export function* readWhole(
  organizationId: OrganizationId,
  threadId: ThreadId,
  reader?: Reader & { readonly bytesMax?: number },
): Work<WholeThread | undefined> {
  const values = { bytesMax: Number.MAX_SAFE_INTEGER, ...reader, organizationId, threadId };
  return wholeThread(yield* rows<WholeThreadRow>(reader ? getReadable : getAny, values));
}

export function threadReads({ read, readMany }: Transactions): ThreadReads {
  const findVersion = readMany<{ version: number }>(readVersion);
  const findRunningReply = readMany<{ running: MessageId | null }>(findRunning);
  return {
    findThread: method(read, findThread),

    threadVersion: async (organizationId, threadId, { userId }) =>
      (await findVersion({ organizationId, threadId, userId }))[0]?.version,

    findRunningReply: async (organizationId, threadId, { userId }) =>
      (await findRunningReply({ organizationId, threadId, userId }))[0]?.running,

    getThreadHead: method(read, function* (organizationId, threadId) {
      const found = yield* row<WholeThreadRow & { messageCount: number }>(getHead, {
        organizationId,
        threadId,
      });
      if (found === undefined) return undefined;
      const { version, messageCount } = found;
      const latest = toMessage(threadId, found) as AssistantMessage;
      return { thread: pickThread(found), version, messageCount, latest };
    }),

    listMessages: method(read, function* (organizationId, threadId, part) {
      const found = yield* rows<MessageRow>(listMessages, { ...part, organizationId, threadId });
      return found.map((each) => toMessage(threadId, each));
    }),

    listAccounts: method(read, function* (organizationId, userId, prefix, limit) {
      const values = { organizationId, userId, prefix: accountKey(prefix), limit };
      const found = yield* rows<{ accountKey: string }>(listAccounts, values);
      return found.map((each) => accountOfKey(each.accountKey)!);
    }),
  };
}
