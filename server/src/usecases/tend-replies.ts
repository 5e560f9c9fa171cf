import { failedReplyContent } from '../domain/reply.ts';
import type { OverdueReply, ReplyName } from '../storage/store.ts';
import type { Context } from './context.ts';
import { replyFailedNote } from './reply-failed-note.ts';

/** Above this many, each round asks after a quarter of the watched replies. */
const askedAtOnceMax = 1000;
const parts = 4;

export const overdueFailure = 'The reply did not end by its deadline.';

/**
 * Sees to what no signal of this process tells: deadlines, leases of dead workers, and what other processes did. It is
 * called a few times a second, with the number of the round. Answers the replies that failed at their deadline.
 */
export async function tendReplies(context: Context, round: number): Promise<OverdueReply[]> {
  const { store, replySignals, telemetry } = context;
  const overdue = await store.sweepReplies({ content: failedReplyContent, failure: overdueFailure });
  for (const reply of overdue) replySignals.replyEnded(reply);
  telemetry.repliesEnded('failed', overdue.length);
  await writeDown(context, overdue);
  const asked = partOf(replySignals.watched(), round);
  const ended = asked.length === 0 ? [] : await store.endedReplies(asked);
  replySignals.hear({ waiting: true, ended });
  return overdue;
}

/** One by one: they are seldom many. A note that cannot be kept is still a line in the log of whoever called. */
async function writeDown(context: Context, overdue: readonly OverdueReply[]): Promise<void> {
  for (const reply of overdue) {
    const note = replyFailedNote(context, reply, overdueFailure);
    await context.store.writeAudit(reply.organizationId, note).catch(() => {});
  }
}

function partOf(watched: readonly ReplyName[], round: number): readonly ReplyName[] {
  if (watched.length <= askedAtOnceMax) return watched;
  return watched.filter(
    ({ messageId }) => (messageId.codePointAt(messageId.length - 1) ?? 0) % parts === round % parts,
  );
}
