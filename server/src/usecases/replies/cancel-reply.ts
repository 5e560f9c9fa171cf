import { ServiceError } from '../../domain/errors.ts';
import type { MessageId } from '../../domain/id.ts';
import type { UserPrincipal } from '../../domain/principal.ts';
import type { Context } from '../context.ts';
import { getThread } from '../threads/get-thread.ts';

/**
 * Stops the thread's running reply: its text so far stays, and its model call is aborted. Answers the message that was
 * cancelled; undefined when nothing was running. Only the thread's creator may.
 */
export async function cancelReply(
  context: Context,
  principal: UserPrincipal,
  threadId: string,
): Promise<MessageId | undefined> {
  const { store, replySignals, telemetry } = context;
  const { thread } = await getThread(context, principal, threadId);
  if (thread.userId !== principal.userId) {
    throw new ServiceError('FORBIDDEN', 'Only the creator of a thread can stop its reply.');
  }
  const { organizationId } = principal;
  const cancelled = await store.cancelReplies(organizationId, thread.id);
  for (const messageId of cancelled) {
    replySignals.replyEnded({ organizationId, threadId: thread.id, messageId });
  }
  telemetry.repliesEnded('cancelled', cancelled.length);
  return cancelled[0];
}
