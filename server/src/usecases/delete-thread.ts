import { ServiceError, threadNotFound } from '../domain/errors.ts';
import { isThreadId, type ThreadId } from '../domain/id.ts';
import type { UserPrincipal } from '../domain/principal.ts';
import { canRead } from '../domain/visibility.ts';
import type { Context } from './context.ts';

export async function deleteThread(
  { store, replySignals, telemetry }: Context,
  principal: UserPrincipal,
  threadId: string,
): Promise<ThreadId> {
  if (!isThreadId(threadId)) throw threadNotFound();
  const result = await store.deleteThread(principal.organizationId, threadId, principal.userId);
  if (result.outcome === 'deleted') {
    const { organizationId } = principal;
    for (const messageId of result.cancelled)
      replySignals.replyEnded({ organizationId, threadId, messageId });
    telemetry.repliesEnded('cancelled', result.cancelled.length);
    return threadId;
  }
  // As for a rename: unreadable is not found, readable but another's is forbidden (§7).
  if (result.outcome === 'missing' || !canRead(principal, result.thread)) throw threadNotFound();
  throw new ServiceError('FORBIDDEN', 'Only the creator of a thread can delete it.');
}
