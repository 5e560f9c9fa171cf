import type { MessageId } from '../../domain/id.ts';
import type { NewReply, ReplyDetails, Threads } from '../store.ts';
import type { Database } from './database.ts';
import { inOrderOfCreation, insertReply, insertUserMessage } from './messages.ts';
import { isRunning } from './replies.ts';
import { now } from './store-time.ts';
import { noteMove } from './thread-moves.ts';
import { findThread, nextVersion, ownThread, seenThread } from './thread-row.ts';

interface AddedRow {
  running: boolean;
  retriable: boolean;
  exceeded: 'messages' | 'bytes' | null;
  /** When it was added; null where it was not. */
  at: number | null;
}

interface DetailsRow {
  id: MessageId;
  trace_id: string;
  failure: string | null;
  verdict: string | null;
}

/** None is loaded for it: PostgreSQL knows the length of a text that lies elsewhere. */
const messageBytes = `octet_length(content) + coalesce(octet_length(steps), 0) + coalesce(octet_length(sources), 0)
  + coalesce(octet_length(verdict), 0)`;

const reply = insertReply('same', 'tick_at', { replyId: '$6', deadlineMs: '$7', traceId: '$8' });

/**
 * The look at the latest reply is as old as the statement, which may have waited for its lock: it counts only if the
 * thread still has the version that was seen.
 */
function addText(allowed: string, prompt: { parts: string; bytes: string; change: string } | null): string {
  return `WITH ${seenThread}, latest AS (
      SELECT coalesce(${isRunning}, false) AS running, coalesce(status IN ('failed', 'cancelled'), false) AS retriable
      FROM seen JOIN message ON organization_id = $3 AND thread_id = $4 AND role = 'assistant'
      WHERE seen.user_id = $5 AND seen.deleted_at IS NULL
      ORDER BY message.created_at DESC, message.id DESC LIMIT 1
    ), size AS (
      SELECT CASE WHEN count(*) + ${prompt ? 2 : 1} > $9::bigint THEN 'messages'
        WHEN sum(${messageBytes}) + ${prompt?.bytes ?? 0} > $10::bigint THEN 'bytes' END AS exceeded
      FROM latest JOIN message ON organization_id = $3 AND thread_id = $4
    ), tick AS (
      UPDATE organization SET latest_at = greatest(${now}, latest_at + 1), move_sequence = move_sequence + ${prompt ? 1 : 0}
      WHERE id = $3 AND EXISTS (SELECT FROM latest, size WHERE ${allowed} AND exceeded IS NULL)
      RETURNING latest_at AS tick_at, move_sequence AS tick_sequence
    ), held_thread AS (${ownThread('tick')}
    ), same AS (
      SELECT held_thread.* FROM held_thread JOIN seen USING (version)
    ), ${prompt?.parts ?? ''}reply AS (${reply}
    ), changed AS (
      UPDATE thread SET ${prompt?.change ?? ''}${nextVersion} FROM same WHERE thread.organization_id = $3 AND thread.id = $4
    )
    SELECT running, retriable, exceeded, (SELECT tick_at FROM same) AS at FROM latest, size`;
}

const followUp = {
  name: 'add-follow-up',
  text: addText('NOT running', {
    parts: `${noteMove('same')}, asked AS (${insertUserMessage('same', 'tick_at', '$11', '$12')}), `,
    bytes: 'octet_length($12::text)',
    change: 'updated_at = tick_at, activity_at = tick_at, ',
  }),
};
const retry = { name: 'add-retry', text: addText('retriable', null) };

const details = {
  name: 'list-reply-details',
  text: `SELECT id, trace_id, failure, verdict FROM message
    WHERE organization_id = $1 AND thread_id = $2 AND role = 'assistant' ORDER BY ${inOrderOfCreation}`,
};

export function postgresFollowUps({ run, time }: Database): Pick<Threads, 'addReply' | 'listReplyDetails'> {
  const find = findThread(run);

  async function ask(values: unknown[], prompt: NewReply['prompt']): Promise<AddedRow | undefined> {
    const [row] = await (prompt === null
      ? run<AddedRow>(retry, values)
      : run<AddedRow>(followUp, [...values, prompt.messageId, prompt.content]));
    return row;
  }

  const addReply: Threads['addReply'] = async (organizationId, threadId, userId, added) => {
    const { prompt, replyId, replyDeadlineMs, traceId, budget } = added;
    const values = [organizationId, threadId, userId, replyId, replyDeadlineMs, traceId];
    const limits = [budget.messagesMax, budget.bytesMax];
    const row = await ask([...time.parameters(), ...values, ...limits], prompt);
    if (row === undefined) {
      const thread = await find(organizationId, threadId);
      const isOthers = thread !== undefined && thread.deletedAt === null && thread.userId !== userId;
      return isOthers ? { outcome: 'refused', thread } : { outcome: 'missing' };
    }
    if (row.at !== null) {
      time.see(row.at);
      return { outcome: 'added' };
    }
    if (row.running) return { outcome: 'running' };
    if (prompt === null && !row.retriable) return { outcome: 'nothing-to-retry' };
    if (row.exceeded !== null) return { outcome: 'full', exceeded: row.exceeded };
    // It was changed between the look and the lock.
    return addReply(organizationId, threadId, userId, added);
  };

  return {
    addReply,

    async listReplyDetails(organizationId, threadId) {
      const rows = await run<DetailsRow>(details, [organizationId, threadId]);
      return rows.map(toReplyDetails);
    },
  };
}

function toReplyDetails({ id, trace_id, failure, verdict }: DetailsRow): ReplyDetails {
  const parsed = verdict === null ? null : JSON.parse(verdict);
  return { messageId: id, traceId: trace_id, failure, verdict: parsed };
}
