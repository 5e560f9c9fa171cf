import { ServiceError, threadNotFound } from '../domain/errors.ts';
import { isThreadId, type MessageId } from '../domain/id.ts';
import type { UserPrincipal } from '../domain/principal.ts';
import { canRead } from '../domain/visibility.ts';
import type { Context } from './context.ts';

/**
 * Stops the thread's running reply: its text so far stays, and its model call is aborted. Answers the message that was
 * cancelled; undefined when nothing was running. Only the thread's creator may.
 */
export async function cancelReply(
  { store, replySignals, telemetry }: Context,
  { organizationId, ...principal }: UserPrincipal,
  threadId: string,
): Promise<MessageId | undefined> {
  const found = isThreadId(threadId) ? await store.getThread(organizationId, threadId) : undefined;
  if (found === undefined || !canRead({ organizationId, ...principal }, found.thread)) throw threadNotFound();
  if (found.thread.userId !== principal.userId) {
    throw new ServiceError('FORBIDDEN', 'Only the creator of a thread can stop its reply.');
  }
  const cancelled = await store.cancelReplies(organizationId, found.thread.id);
  for (const messageId of cancelled) {
    replySignals.replyEnded({ organizationId, threadId: found.thread.id, messageId });
  }
  telemetry.repliesEnded('cancelled', cancelled.length);
  return cancelled[0];
}
