import type { MessageId } from '../../domain/id.ts';
import { changeRefused, isCreator, type UserPrincipal } from '../../domain/principal.ts';
import type { Context } from '../context.ts';
import { findReadableThread } from '../threads/get-thread.ts';

/**
 * Stops the thread's running reply: keeps its text so far and aborts its model call. Returns the cancelled message, or
 * undefined if no reply was running. Only the thread's creator may.
 */
export async function cancelReply(
  context: Context,
  principal: UserPrincipal,
  threadId: string,
): Promise<MessageId | undefined> {
  const { store, replySignals, telemetry } = context;
  const thread = await findReadableThread(context, principal, threadId);
  if (!isCreator(principal, thread)) throw changeRefused(principal, thread, 'stop its reply');
  const { organizationId } = principal;
  const cancelled = await store.cancelReplies(organizationId, thread.id);
  for (const messageId of cancelled) {
    replySignals.replyEnded({ organizationId, threadId: thread.id, messageId });
  }
  telemetry.repliesEnded('cancelled', cancelled.length);
  return cancelled[0];
}
