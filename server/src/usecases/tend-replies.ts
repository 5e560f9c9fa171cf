import { failedReplyContent } from '../domain/reply.ts';
import type { OverdueReply, ReplyName } from '../storage/store.ts';
import type { Context } from './context.ts';

/** Above this many, each round asks after a quarter of the watched replies. */
const askedAtOnceMax = 1000;
const parts = 4;

export const overdueFailure = 'The reply did not end by its deadline.';

/**
 * Sees to what no signal of this process tells: deadlines, leases of dead workers, and what other processes did. It is
 * called a few times a second, with the number of the round. Answers the replies that failed at their deadline.
 */
export async function tendReplies(
  { store, replySignals, telemetry }: Context,
  round: number,
): Promise<OverdueReply[]> {
  const overdue = await store.sweepReplies({ content: failedReplyContent, failure: overdueFailure });
  for (const reply of overdue) replySignals.replyEnded(reply);
  telemetry.repliesEnded('failed', overdue.length);
  const asked = partOf(replySignals.watched(), round);
  const ended = asked.length === 0 ? [] : await store.endedReplies(asked);
  replySignals.hear({ waiting: true, ended });
  return overdue;
}

function partOf(watched: readonly ReplyName[], round: number): readonly ReplyName[] {
  if (watched.length <= askedAtOnceMax) return watched;
  return watched.filter(
    ({ messageId }) => (messageId.codePointAt(messageId.length - 1) ?? 0) % parts === round % parts,
  );
}
