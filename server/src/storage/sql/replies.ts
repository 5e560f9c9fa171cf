import type { MessageId, OrganizationId } from '../../domain/id.ts';
import { crashesOfSuspect, runningStatuses } from '../../domain/reply.ts';
import type { Diagnosis, NewReply, Replies, ReplyBacklog, ReplyProgress, ReplyQueue } from '../port/store.ts';
import { jsonRows, opaque, type Sql, sql, statement, type Values } from './sql.ts';
import { method, row, rows, type Transactions } from './work.ts';

export const isRunning = `status IN (${runningStatuses.map((status) => `'${status}'`).join(', ')})` as Sql;
/** For a SET clause. A waiting reply keeps nothing of an earlier claim, so that claiming it changes nothing visible. */
export const startOver = sql`status = 'in_progress', content = '', steps = '[]'`;

/** For a SET clause. */
export const endCancelled = sql`held = false, status = 'cancelled', completed_at = greatest(:now, created_at)`;

const progress = sql`status = :status, content = :content, steps = :steps`;
/** For SET clauses: what a worker changes of the reply that it has claimed. */
export const replyChanges = {
  progress,
  settle: sql`held = false, ${progress}, sources = :sources, model = :model, failure = :failure, verdict = :verdict,
    completed_at = greatest(:now, created_at),
    unanswered_at = CASE WHEN :unanswered THEN greatest(:now, created_at) END`,
  release: sql`held = false, attempts = attempts + :attemptsUsed, crashes = crashes + :crashesCounted,
    available_at = :now + :delayMs, failure = :failure,
    ${startOver}`,
};

/** Loads no text: both databases know the length of a text without it. */
export const messageBytes = sql`octet_length(content) + coalesce(octet_length(steps), 0)
  + coalesce(octet_length(sources), 0) + coalesce(octet_length(verdict), 0)`;

/** What the next reply of the thread inherits from this one: it may well be written from the same prompt. */
export const inheritedCrashes = sql`CASE status WHEN 'completed' THEN 0 ELSE crashes END`;

export type Exceeded = { readonly exceeded: 'messages' | 'bytes' | null };
/** Over the messages of a thread: what of the budget of a new reply it exceeds, with `roomValues`. */
export const exceeded = sql`CASE WHEN count(*) > CAST(:messagesRoom AS bigint) THEN 'messages'
    WHEN sum(${messageBytes}) > CAST(:bytesRoom AS bigint) THEN 'bytes' END`;

export function roomValues({ prompt, budget: { messagesMax, bytesMax } }: NewReply): Values {
  if (prompt === null) return { messagesRoom: messagesMax - 1, bytesRoom: bytesMax };
  return { messagesRoom: messagesMax - 2, bytesRoom: bytesMax - Buffer.byteLength(prompt.content) };
}

/** A column of the latest message of a thread with this role. */
export const ofLatest = (role: 'user' | 'assistant', column: Sql, threadId: Sql) => sql`(
      SELECT latest.${column} FROM message AS latest WHERE latest.organization_id = :organizationId
        AND latest.thread_id = ${threadId} AND latest.role = '${role as Sql}'
      ORDER BY latest.created_at DESC, latest.id DESC LIMIT 1)`;

/** Conditions on a running reply: a worker has claimed it, or it waits in a queue. Each has its own index. */
export const isHeld = sql`held AND ${isRunning}`;
export const isSuspect = sql`crashes >= ${crashesOfSuspect} AND ${isRunning}`;
export const queues = {
  usual: {
    index: sql`message_waiting`,
    isWaiting: sql`NOT held AND crashes < ${crashesOfSuspect} AND ${isRunning}`,
  },
  // Those that are held are few.
  suspects: { index: sql`message_suspect`, isWaiting: sql`NOT held AND ${isSuspect}` },
};

/** The statement of each queue. */
export const forQueues = <T>(make: (queue: ReplyQueue) => T) => ({
  usual: make('usual'),
  suspects: make('suspects'),
});

/** The backlog counts no further: 50 ms at most on SQLite. PostgreSQL took 3 ms for 3,000 running of 300,000 messages. */
const countedMax = 10_000;

// A skip scan: one index search for each organization with waiting replies, however many it has.
const listWaiting = forQueues((queue) => {
  const { index, isWaiting } = queues[queue];
  const nextAfter = (after: Sql) => sql`(SELECT message.organization_id FROM message INDEXED BY ${index}
    WHERE ${isWaiting} AND message.organization_id > ${after} ORDER BY message.organization_id LIMIT 1)`;
  return statement(`organizations-waiting-${queue}`)`WITH RECURSIVE waiting (organization_id) AS (
    SELECT ${nextAfter(sql`:after`)}
    UNION ALL
    SELECT ${nextAfter(sql`waiting.organization_id`)} FROM waiting WHERE waiting.organization_id IS NOT NULL
  )
  SELECT organization_id AS id FROM waiting WHERE organization_id IS NOT NULL AND EXISTS (
    SELECT 1 FROM message INDEXED BY ${index}
    WHERE message.organization_id = waiting.organization_id AND ${isWaiting} AND available_at <= :now)
  LIMIT :limit + 0`;
});
const findRunning = statement('running-replies')`
  SELECT message.id FROM json_each(:replies) AS entry CROSS JOIN message
  WHERE message.organization_id = (entry.value ->> 'organizationId') AND message.thread_id = (entry.value ->> 'threadId')
    AND message.id = (entry.value ->> 'messageId') AND ${opaque(isRunning)}`;
const countUpTo = (index: Sql, condition: Sql) => sql`(SELECT count(*) FROM (
      SELECT 1 FROM message INDEXED BY ${index} WHERE ${condition} LIMIT ${countedMax}) AS counted)`;
const countQueue = ({ index, isWaiting }: (typeof queues)[ReplyQueue]) => countUpTo(index, isWaiting);
const countWaiting = sql`least(${countedMax}, ${countQueue(queues.usual)} + ${countQueue(queues.suspects)})`;
const readBacklog = statement('reply-backlog')`SELECT
    ${countWaiting} AS waiting,
    ${countUpTo(sql`message_held`, isHeld)} AS held,
    ${countUpTo(queues.suspects.index, isSuspect)} AS suspects,
    (SELECT :now - created_at FROM (
      SELECT created_at, deadline_at, held FROM message INDEXED BY message_deadline WHERE ${isRunning}
      ORDER BY deadline_at LIMIT ${countedMax}) AS running
     WHERE NOT held ORDER BY deadline_at LIMIT 1) AS "oldestWaitingMs"`;

type ReplyReads = Pick<Replies, 'organizationsWaiting' | 'endedReplies' | 'replyBacklog'>;

export const replyReads = ({ read }: Transactions): ReplyReads => ({
  organizationsWaiting: method(read, function* (after, limit, queue = 'usual') {
    const list = listWaiting[queue];
    const first = yield* rows<{ id: OrganizationId }>(list, { after: after ?? '', limit });
    // Continue from the beginning, up to where the first round started.
    const values = { after: '', limit: limit - first.length };
    const isFull = after === undefined || first.length === limit;
    const rest = isFull ? [] : yield* rows<{ id: OrganizationId }>(list, values);
    return [...first, ...rest.filter(({ id }) => id <= after!)].map(({ id }) => id);
  }),

  async endedReplies(replies) {
    if (replies.length === 0) return [];
    const values = { replies: jsonRows(replies) };
    const running = await read(() => rows<{ id: MessageId }>(findRunning, values));
    const ids = new Set(running.map(({ id }) => id));
    return replies.filter(({ messageId }) => !ids.has(messageId));
  },

  replyBacklog: async () => (await read(() => row<ReplyBacklog>(readBacklog)))!,
});

export function progressValues({ status, content, steps }: ReplyProgress) {
  return { status, content, steps: JSON.stringify(steps) };
}

export function diagnoseReplies(running: number, suspects: number): Diagnosis {
  const apart = suspects === 0 ? '' : `, ${suspects} of them suspects`;
  return { check: 'replies', ok: true, detail: `${running} running${apart}` };
}

/** What a release counts against the reply. */
export function releaseValues(why: Parameters<Replies['releaseReply']>[1]) {
  const counted = { attemptsUsed: 0, crashesCounted: 0, delayMs: 0, failure: null };
  if (why === 'crash') return { ...counted, crashesCounted: 1 };
  return why === undefined ? counted : { ...counted, attemptsUsed: 1, ...why };
}

type Result = Parameters<Replies['settleReply']>[1];

export function resultValues({ steps, sources, verdict, ...result }: Omit<Result, 'note'>) {
  return {
    unanswered: false,
    failure: null,
    ...result,
    steps: JSON.stringify(steps),
    sources: sources && JSON.stringify(sources),
    verdict: verdict === undefined ? null : JSON.stringify(verdict),
  };
}
